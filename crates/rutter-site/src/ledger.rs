//! The ledger (`ledger.tsv`): what was published for each URL, and when.
//!
//! The file has tab-separated columns and one line per page, sorted by the bytes of the URL, so
//! that an edited page is one changed line. It is read and written line by line. The last line
//! holds the number of rows and the digest of all lines before it.
//!
//! The reader rejects lines that cannot be parsed, rows out of order, and empty, truncated or
//! changed files. Files of format 1 have no end line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use rutter_extract::TemplateVersionId;
use rutter_page::checksum::RecordChecksum;
use rutter_page::{LineDigest, Timestamp};

use crate::error::{IoErrorContext, StateError};

/// First line of the ledger: format, version and columns.
const HEADING: &str = "# rutter ledger 2: url state section digest modified recorded first-seen removed template dated arc";

/// First line of older ledgers, which have no end line.
const UNSEALED: &str = "# rutter ledger 1: url state section digest modified recorded first-seen removed template dated arc";

/// Start of the last line of the ledger.
const END: &str = "# end ";

/// Number of days that the row of a removed page is kept (D26).
pub const REMEMBERED_DAYS: i64 = 400;

/// Placeholder for the digest of a page line that was never published.
pub const UNKNOWN_DIGEST: LineDigest = LineDigest([0; 16]);

/// Which layers may show a page (D85).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// All layers may show the page.
    Public,
    /// The sitemap lists the page, but no layer for AI shows its content.
    Listed,
    /// Only layers that can list a URL without content may show the page.
    AddressOnly,
    /// No layer may show the page.
    Hidden,
    /// The page was removed from the site.
    Removed,
}

impl Visibility {
    const ALL: [Self; 5] =
        [Self::Public, Self::Listed, Self::AddressOnly, Self::Hidden, Self::Removed];

    /// Returns whether layers may show the content of the page.
    pub fn shows_content(self) -> bool {
        matches!(self, Self::Public)
    }

    /// Returns whether the sitemap lists the page.
    pub fn is_listed(self) -> bool {
        matches!(self, Self::Public | Self::Listed)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Listed => "listed",
            Self::AddressOnly => "bare",
            Self::Hidden => "hidden",
            Self::Removed => "gone",
        }
    }
}

/// Source of the first date of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateSource {
    /// The page itself states the date.
    Page,
    /// The sitemap of the site's generator states the date.
    Sitemap,
    /// The date is that of a commit in the git history.
    Git,
    /// The date is the time when Rutter first read the page.
    Seen,
    /// The date comes from a published collection, because the state was lost.
    Collection,
}

impl DateSource {
    const ALL: [Self; 5] = [Self::Page, Self::Sitemap, Self::Git, Self::Seen, Self::Collection];

    fn name(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Sitemap => "sitemap",
            Self::Git => "git",
            Self::Seen => "seen",
            Self::Collection => "collection",
        }
    }
}

/// One row of the ledger: the publication data of one page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerRow {
    /// URL of the page.
    pub url: String,
    /// Which layers may show the page.
    pub visibility: Visibility,
    /// Section of the page.
    pub section: String,
    /// Digest of the page's line, even if the line was never published.
    pub digest: LineDigest,
    /// Modification date of the page.
    pub modified: Timestamp,
    /// Time when this version of the page was first published.
    pub recorded: Timestamp,
    /// Time when the page was first read.
    pub first_seen: Timestamp,
    /// Time when the page was removed or excluded; `None` if it is public.
    pub removed: Option<Timestamp>,
    /// Template version with which the page was read; `None` if no template was used.
    pub template: Option<TemplateVersionId>,
    /// Source of the first date of the page.
    pub date_source: DateSource,
    /// Value of the column `arc`: digest and time of the page's last ARC entry.
    pub arc: String,
}

impl LedgerRow {
    /// Returns whether all layers may show the page.
    pub fn is_public(&self) -> bool {
        self.visibility == Visibility::Public
    }

    fn parse(line: &str) -> Option<Self> {
        let mut columns = line.split('\t');
        let mut next = || columns.next();
        let time = |text: &str| Timestamp::parse(text).ok();
        let or_none = |text: &str| (text != "-").then(|| text.to_owned());
        let row = Self {
            url: next()?.to_owned(),
            visibility: next()
                .and_then(|name| Visibility::ALL.into_iter().find(|it| it.name() == name))?,
            section: next()?.to_owned(),
            digest: LineDigest::parse(next()?)?,
            modified: time(next()?)?,
            recorded: time(next()?)?,
            first_seen: time(next()?)?,
            removed: match or_none(next()?) {
                Some(text) => Some(time(&text)?),
                None => None,
            },
            template: match or_none(next()?) {
                Some(text) => Some(TemplateVersionId(text.parse().ok()?)),
                None => None,
            },
            date_source: next()
                .and_then(|name| DateSource::ALL.into_iter().find(|it| it.name() == name))?,
            arc: next()?.to_owned(),
        };
        columns.next().is_none().then_some(row)
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let removed = self.removed.map_or_else(|| "-".to_owned(), |time| time.to_string());
        let template = self.template.map_or_else(|| "-".to_owned(), |id| id.0.to_string());
        let (visibility, date_source) = (self.visibility.name(), self.date_source.name());
        writeln!(
            out,
            "{}\t{visibility}\t{}\t{}\t{}\t{}\t{}\t{removed}\t{template}\t{date_source}\t{}",
            self.url,
            self.section,
            self.digest,
            self.modified,
            self.recorded,
            self.first_seen,
            self.arc,
        )
    }
}

/// Reads the rows of a ledger in order.
#[derive(Debug)]
pub struct LedgerReader {
    path: PathBuf,
    input: Option<BufReader<File>>,
    line: String,
    n_line: u64,
    last: String,
    seal: RecordChecksum,
    /// Whether the end line must still come.
    is_sealed: bool,
}

impl LedgerReader {
    /// Opens a ledger. A missing file counts as a ledger without rows.
    pub fn open(path: &Path) -> Result<Self, StateError> {
        let input = match File::open(path) {
            Ok(file) => Some(BufReader::with_capacity(256 << 10, file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(StateError::Io(path.to_owned(), error)),
        };
        let path = path.to_owned();
        let mut rows = Self {
            path,
            input,
            line: String::new(),
            n_line: 0,
            last: String::new(),
            seal: RecordChecksum::default(),
            is_sealed: false,
        };
        if rows.input.is_some() {
            rows.read_line()?;
            rows.seal.update(rows.line.as_bytes());
            match rows.line.trim_end() {
                HEADING => rows.is_sealed = true,
                UNSEALED => {}
                other if other.starts_with("# rutter ledger ") => {
                    return Err(StateError::NewerFormat(rows.path));
                }
                _ => return Err(StateError::Damaged(rows.path, 1)),
            }
        }
        Ok(rows)
    }

    fn read_line(&mut self) -> Result<bool, StateError> {
        let Some(input) = &mut self.input else { return Ok(false) };
        self.line.clear();
        self.n_line += 1;
        Ok(0 < input.read_line(&mut self.line).at(&self.path)?)
    }

    /// Returns the next row; `None` at the end.
    pub fn next_row(&mut self) -> Result<Option<LedgerRow>, StateError> {
        let is_over = !self.read_line()?;
        let broken = || StateError::Damaged(self.path.clone(), self.n_line);
        if is_over {
            // If the end line is missing, the file was truncated.
            return if self.is_sealed { Err(broken()) } else { Ok(None) };
        }
        // A line without a line end shows that the file was truncated.
        let line = self.line.strip_suffix('\n').ok_or_else(broken)?;
        if let Some(end) = line.strip_prefix(END).filter(|_| self.is_sealed) {
            if end != self.seal.to_text() || self.read_line()? {
                return Err(StateError::Damaged(self.path.clone(), self.n_line));
            }
            self.is_sealed = false;
            self.input = None;
            return Ok(None);
        }
        self.seal.record(self.line.as_bytes());
        let row = LedgerRow::parse(line).ok_or_else(broken)?;
        if row.url <= self.last {
            return Err(broken());
        }
        self.last.clone_from(&row.url);
        Ok(Some(row))
    }
}

/// Writes the rows of a ledger in order.
#[derive(Debug)]
pub struct LedgerWriter {
    path: PathBuf,
    out: BufWriter<File>,
    seal: RecordChecksum,
    line: Vec<u8>,
}

impl LedgerWriter {
    /// Creates a ledger.
    pub fn create(path: &Path) -> Result<Self, StateError> {
        let mut out = BufWriter::with_capacity(256 << 10, File::create(path).at(path)?);
        let heading = format!("{HEADING}\n");
        out.write_all(heading.as_bytes()).at(path)?;
        let mut seal = RecordChecksum::default();
        seal.update(heading.as_bytes());
        Ok(Self { path: path.to_owned(), out, seal, line: Vec::new() })
    }

    /// Adds a row. Rows must be in ascending order of their URLs.
    pub fn push(&mut self, row: &LedgerRow) -> Result<(), StateError> {
        self.line.clear();
        row.write(&mut self.line).at(&self.path)?;
        self.seal.record(&self.line);
        self.out.write_all(&self.line).at(&self.path)
    }

    /// Writes the end line and closes the file.
    pub fn finish(mut self) -> Result<(), StateError> {
        writeln!(self.out, "{END}{}", self.seal.to_text()).at(&self.path)?;
        self.out.flush().at(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> LedgerRow {
        let time = |text: &str| Timestamp::parse(text).unwrap();
        LedgerRow {
            url: "https://h.example/a".into(),
            visibility: Visibility::Public,
            section: "main".into(),
            digest: LineDigest::of(b"{}"),
            modified: time("2026-01-01T00:00:00Z"),
            recorded: time("2026-02-01T00:00:00Z"),
            first_seen: time("2026-02-01T00:00:00Z"),
            removed: None,
            template: Some(TemplateVersionId(7)),
            date_source: DateSource::Page,
            arc: "-".into(),
        }
    }

    #[test]
    fn row_round_trips() {
        for row in [
            row(),
            LedgerRow {
                visibility: Visibility::Removed,
                removed: Some(row().recorded),
                template: None,
                ..row()
            },
        ] {
            let mut line = Vec::new();
            row.write(&mut line).unwrap();
            let line = String::from_utf8(line).unwrap();
            assert_eq!(LedgerRow::parse(line.trim_end()), Some(row));
        }
    }

    #[test]
    fn rejects_damaged_ledger_with_line_number() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.tsv");
        let mut writer = LedgerWriter::create(&path).unwrap();
        writer.push(&row()).unwrap();
        writer.finish().unwrap();
        let good = std::fs::read_to_string(&path).unwrap();
        for (text, line) in [
            (String::new(), 1),
            (format!("{good}nonsense\n"), 4),
            (good.replace("# end", "nonsense\n# end"), 3),
            (good.lines().take(2).collect::<Vec<_>>().join("\n"), 2),
            // The file is truncated at the end of a line.
            (good.split_inclusive('\n').take(2).collect(), 3),
            (good.split_inclusive('\n').take(1).collect(), 2),
            (good.replace("/a\t", "/b\t"), 3),
            (good.replace("# end 1", "# end 2"), 3),
            (good.replace("# end", &format!("{}\n# end", good.lines().nth(1).unwrap())), 3),
        ] {
            std::fs::write(&path, text).unwrap();
            let mut rows = match LedgerReader::open(&path) {
                Ok(rows) => rows,
                Err(error) => {
                    assert!(matches!(error, StateError::Damaged(_, 1)) && line == 1, "{error}");
                    continue;
                }
            };
            let error = loop {
                match rows.next_row() {
                    Ok(Some(_)) => {}
                    Ok(None) => panic!("a damaged ledger was read"),
                    Err(error) => break error,
                }
            };
            assert!(matches!(error, StateError::Damaged(_, found) if found == line), "{error}");
        }
        // Earlier versions of Rutter wrote no end line.
        let old: Vec<&str> = good.lines().take(2).collect();
        let old = format!("{}\n", old.join("\n").replace("ledger 2", "ledger 1"));
        std::fs::write(&path, old).unwrap();
        let mut rows = LedgerReader::open(&path).unwrap();
        assert!(rows.next_row().unwrap().is_some() && rows.next_row().unwrap().is_none());
        std::fs::write(&path, "# rutter ledger 9: x\n").unwrap();
        assert!(matches!(LedgerReader::open(&path), Err(StateError::NewerFormat(_))));
    }
}
