//! What a sync stores about URLs for its next requests: validators, and notes of several kinds.

use rutter_page::Timestamp;
use serde_json::{Value, json};

/// The cache validators of a file, for conditional requests (SCP-154).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validator {
    /// URL of the file.
    pub url: String,
    /// Value of the `ETag` header.
    pub etag: Option<String>,
    /// Value of the `Last-Modified` header.
    pub last_modified: Option<String>,
    /// When the server last sent or confirmed the validator.
    pub checked: Timestamp,
}

rutter_page::named_values! {
    /// The kind of a note about a URL. A URL has at most one note of each kind.
    NoteKind {
        /// See [`NoteValue::ArcChecksum`].
        ArcChecksum = "arc-checksum",
        /// See [`NoteValue::NoPage`].
        NoPage = "no-page",
        /// See [`NoteValue::NoPageReason`].
        NoPageReason = "no-page-reason",
        /// See [`NoteValue::WithheldPage`].
        WithheldPage = "withheld-page",
        /// See [`NoteValue::MissingSince`].
        MissingSince = "missing-since",
        /// See [`NoteValue::MovedTo`].
        MovedTo = "moved-to",
        /// See [`NoteValue::Requested`].
        Requested = "requested",
        /// See [`NoteValue::Lastmod`].
        Lastmod = "lastmod",
        /// See [`NoteValue::Training`].
        Training = "ai-train",
        /// See [`NoteValue::ArcSnapshot`].
        ArcSnapshot = "arc-snapshot",
        /// See [`NoteValue::Expiry`].
        Expiry = "expiry",
        /// See [`NoteValue::LeftOut`].
        LeftOut = "left-out",
    }
}

/// A note about a URL, which a sync stores for the next sync.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlNote {
    /// Page key of the URL (D30).
    pub url: String,
    /// Kind and value of the note.
    pub value: NoteValue,
    /// When the note was stored.
    pub noted: Timestamp,
}

impl UrlNote {
    /// Creates a note.
    pub fn new(url: &str, value: NoteValue, noted: Timestamp) -> Self {
        Self { url: url.to_owned(), value, noted }
    }

    /// Returns the kind of the note.
    pub fn kind(&self) -> NoteKind {
        self.value.kind()
    }
}

/// The value of a note about a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoteValue {
    /// Checksum of the ARC entry of the page when the page was last fetched.
    ArcChecksum(Option<String>),
    /// Validators of a response that was not a page.
    NoPage(ResponseValidators),
    /// Why the response was not a page.
    NoPageReason(String),
    /// Validators of a page whose content was withheld, because its usage statements do not allow
    /// to store it.
    WithheldPage(ResponseValidators),
    /// The URL had no page when a crawl by links requested it; the time when it was first missing.
    MissingSince(Option<Timestamp>),
    /// Target of the redirect that the URL gave.
    MovedTo(String),
    /// The URL was requested, and gave no usable response.
    Requested,
    /// `lastmod` of the sitemap entry of the URL when the URL was last fetched.
    Lastmod(Timestamp),
    /// Statement of the page about training models.
    Training(Option<bool>),
    /// ARC snapshot from the `data-ai-*` attributes of the page, as JSON. It is content: the store
    /// deletes it with the content of the page.
    ArcSnapshot(Option<String>),
    /// Dates from which the page must not be used.
    Expiry(Expiry),
    /// Why the URL is not in the replica.
    LeftOut(String),
}

/// The validators of a response that is not a stored page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResponseValidators {
    /// Value of the `ETag` header.
    pub etag: Option<String>,
    /// Value of the `Last-Modified` header.
    pub last_modified: Option<String>,
}

/// Dates from which a page must not be used (`unavailable_after`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Expiry {
    /// Date in the page.
    pub page: Option<Timestamp>,
    /// Date in `X-Robots-Tag`. A 304 response, which has no body, may change this date.
    pub header: Option<Timestamp>,
}

impl Expiry {
    /// Returns whether both dates are missing.
    pub fn is_none(self) -> bool {
        self == Self::default()
    }

    /// Returns whether one of the dates has passed.
    pub fn is_past(self, now: Timestamp) -> bool {
        [self.page, self.header].into_iter().flatten().any(|date| date <= now)
    }
}

impl NoteValue {
    /// Returns the kind of the note with this value.
    pub fn kind(&self) -> NoteKind {
        match self {
            Self::ArcChecksum(_) => NoteKind::ArcChecksum,
            Self::NoPage(_) => NoteKind::NoPage,
            Self::NoPageReason(_) => NoteKind::NoPageReason,
            Self::WithheldPage(_) => NoteKind::WithheldPage,
            Self::MissingSince(_) => NoteKind::MissingSince,
            Self::MovedTo(_) => NoteKind::MovedTo,
            Self::Requested => NoteKind::Requested,
            Self::Lastmod(_) => NoteKind::Lastmod,
            Self::Training(_) => NoteKind::Training,
            Self::ArcSnapshot(_) => NoteKind::ArcSnapshot,
            Self::Expiry(_) => NoteKind::Expiry,
            Self::LeftOut(_) => NoteKind::LeftOut,
        }
    }

    /// Returns whether the note says more than that the page has no such value.
    pub fn has_value(&self) -> bool {
        self.to_column().is_some() && *self != Self::Expiry(Expiry::default())
    }

    /// Returns the text in which a database stores the value.
    pub(crate) fn to_column(&self) -> Option<String> {
        match self {
            Self::ArcChecksum(text) | Self::ArcSnapshot(text) => text.clone(),
            Self::NoPage(known) | Self::WithheldPage(known) => {
                let ResponseValidators { etag, last_modified } = known;
                Some(json!({ "etag": etag, "last_modified": last_modified }).to_string())
            }
            Self::NoPageReason(text) | Self::MovedTo(text) | Self::LeftOut(text) => {
                Some(text.clone())
            }
            Self::MissingSince(time) => time.map(|time| time.to_string()),
            Self::Requested => None,
            Self::Lastmod(time) => Some(time.to_string()),
            Self::Training(is_allowed) => {
                is_allowed.map(|is_allowed| if is_allowed { "yes" } else { "no" }.to_owned())
            }
            Self::Expiry(Expiry { page, header }) => {
                let [page, header] = [page, header].map(|date| date.map(|date| date.to_string()));
                Some(json!({ "page": page, "header": header }).to_string())
            }
        }
    }

    /// Reads a text that [`NoteValue::to_column`] returned; `None` if the text is invalid.
    pub(crate) fn of_column(kind: NoteKind, text: Option<String>) -> Option<Self> {
        let time = |text: &str| Timestamp::parse(text).ok();
        Some(match kind {
            NoteKind::ArcChecksum => Self::ArcChecksum(text),
            NoteKind::NoPage => Self::NoPage(validators_of(&text?)?),
            NoteKind::NoPageReason => Self::NoPageReason(text?),
            NoteKind::WithheldPage => Self::WithheldPage(validators_of(&text?)?),
            NoteKind::MissingSince => match text {
                Some(text) => Self::MissingSince(Some(time(&text)?)),
                None => Self::MissingSince(None),
            },
            NoteKind::MovedTo => Self::MovedTo(text?),
            NoteKind::Requested => Self::Requested,
            NoteKind::Lastmod => Self::Lastmod(time(&text?)?),
            NoteKind::Training => Self::Training(text.map(|text| text == "yes")),
            NoteKind::ArcSnapshot => Self::ArcSnapshot(text),
            NoteKind::Expiry => {
                let [page, header] = members(&text?, ["page", "header"])?;
                let date = |text: Option<String>| text.as_deref().and_then(time);
                Self::Expiry(Expiry { page: date(page), header: date(header) })
            }
            NoteKind::LeftOut => Self::LeftOut(text?),
        })
    }
}

fn validators_of(json: &str) -> Option<ResponseValidators> {
    let [etag, last_modified] = members(json, ["etag", "last_modified"])?;
    Some(ResponseValidators { etag, last_modified })
}

/// Returns two text members of a JSON object; `None` if the text is not an object.
fn members(json: &str, names: [&str; 2]) -> Option<[Option<String>; 2]> {
    let Ok(Value::Object(object)) = serde_json::from_str(json) else { return None };
    Some(names.map(|name| object.get(name).and_then(Value::as_str).map(str::to_owned)))
}

/// Validators and notes that are stored together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UrlRecords {
    /// Validators of files and pages.
    pub validators: Vec<Validator>,
    /// Notes about URLs.
    pub notes: Vec<UrlNote>,
}

impl UrlRecords {
    /// Returns the number of records.
    pub fn len(&self) -> usize {
        self.validators.len() + self.notes.len()
    }

    /// Returns whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Moves other records to the end of these.
    pub fn append(&mut self, more: Self) {
        self.validators.extend(more.validators);
        self.notes.extend(more.notes);
    }
}

impl From<Vec<UrlNote>> for UrlRecords {
    fn from(notes: Vec<UrlNote>) -> Self {
        Self { validators: Vec::new(), notes }
    }
}

impl From<UrlNote> for UrlRecords {
    fn from(note: UrlNote) -> Self {
        vec![note].into()
    }
}

impl From<Validator> for UrlRecords {
    fn from(validator: Validator) -> Self {
        Self { validators: vec![validator], notes: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn note_values_round_trip_through_their_column() {
        let time = Timestamp::parse("2027-01-10T00:00:00Z").unwrap();
        let known = ResponseValidators { etag: Some("\"a\"".into()), last_modified: None };
        let values = [
            NoteValue::ArcChecksum(None),
            NoteValue::NoPage(known.clone()),
            NoteValue::NoPageReason("file".into()),
            NoteValue::WithheldPage(known),
            NoteValue::MissingSince(Some(time)),
            NoteValue::MissingSince(None),
            NoteValue::MovedTo("https://harbour.example/".into()),
            NoteValue::Requested,
            NoteValue::Lastmod(time),
            NoteValue::Training(Some(false)),
            NoteValue::Training(None),
            NoteValue::ArcSnapshot(Some("{}".into())),
            NoteValue::Expiry(Expiry { page: None, header: Some(time) }),
            NoteValue::LeftOut("http-status:404".into()),
        ];
        for value in values {
            let read = NoteValue::of_column(value.kind(), value.to_column());
            assert_eq!(read, Some(value));
        }
        assert_eq!(NoteValue::of_column(NoteKind::Lastmod, None), None);
        assert_eq!(NoteValue::of_column(NoteKind::NoPage, Some("[]".into())), None);
    }
}
