//! Checks a live site: downloads the files that the site announces and some of its pages, then
//! checks them like a folder.
//!
//! Each response is stored as a file, together with its URL. A preview host may deliver the URLs of
//! the site instead. The numbers of requests and bytes are limited, and other hosts are not
//! contacted. The check detects hosts that answer unknown paths with status 200.

pub(crate) mod answer;
mod plan;

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use rutter_fetch::decode::DecodeError;
use rutter_fetch::{
    BadResponse, Client, FailureCause, FetchError, FetchedResponse, MissingPageProbe, Request,
    ResourceKind, ResponseBody, Url, Validators,
};
use rutter_finding::{Finding, Place, Rule};

use crate::rules;
use crate::site::{
    MediaKind, SiteBase, SiteCheckOptions, SiteFile, SiteFiles, SiteOutcome, check_files,
};

rutter_finding::rules! {
    SOFT_404 = "HP003" "answers-everything" (advice, "D74") {
        title: "server answers a nonexistent path with status 200",
        why: "Readers cannot determine which files exist.",
        fix: "Answer unknown paths with status 404.",
        wrong: "`GET /no-such-page-7c1` answered with `200 OK`.",
        right: "`GET /no-such-page-7c1` answered with `404 Not Found`.",
    }
    NOT_WHAT_IT_SAYS = "HP004" "page-instead-of-file" (warning, "D74") {
        title: "server sends an HTML page instead of an announced file",
        why: "Readers reject the page or misread it as the announced file.",
        fix: "Publish the file, and answer paths that do not exist with status 404.",
        wrong: "`GET /spxi-index.jsonld` answered with `<!doctype html>`.",
        right: "The index, or `404 Not Found`.",
    }
    STATUS = "HP005" "announced-file-fails" (warning, "D65") {
        title: "server does not deliver an announced file",
        why: "Readers request the file and get an error.",
        fix: "Publish the file, or delete the announcement.",
        wrong: "`GET /sitemap.xml`, named in robots.txt, answered with `500`.",
        right: "`200 OK` and the sitemap.",
    }
    NOT_CONDITIONAL = "HP008" "validator-without-effect" (advice, "SCP-152") {
        title: "server sends the whole file although the validator matches",
        why: "Without conditional responses each check costs a full download.",
        fix: "Answer with status 304 when the file is unchanged.",
        wrong: r#"`If-None-Match: "5f2c"` answered with `200 OK`, `ETag: "5f2c"` and the whole file."#,
        right: "`304 Not Modified`",
    }
}

/// Limits for downloading a live site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveBounds {
    /// The maximum number of pages that are fetched.
    pub pages: usize,
    /// The maximum number of sitemaps that are fetched, including those in a sitemap index.
    pub sitemaps: usize,
    /// The maximum number of collections that are fetched. A section is fetched completely or not
    /// at all.
    pub collections: usize,
    /// The maximum number of entity packets that are fetched.
    pub packets: usize,
    /// The maximum size of one file in bytes, compressed and decompressed.
    /// Collections are stored compressed and may be larger.
    pub file: u64,
    /// The maximum total size of all downloads in bytes.
    pub bytes: u64,
}

impl LiveBounds {
    /// Limits for a check that causes little load.
    pub const USUAL: Self = Self {
        pages: 30,
        sitemaps: 100,
        collections: 100,
        packets: 50,
        file: 64 << 20,
        bytes: 512 << 20,
    };
}

/// The URL at which the site is fetched, and the base URL that the site states.
#[derive(Debug, Clone)]
struct SiteUrls {
    live: SiteBase,
    home: SiteBase,
}

impl SiteUrls {
    /// Returns the URL at which a URL of the site is actually fetched.
    fn to_live(&self, url: &str) -> Option<Url> {
        let path = if url == self.home.as_str() { "" } else { self.home.path_of(url)? };
        Url::parse(&self.live.join(path)).ok()
    }
}

/// Checks a live site.
///
/// `home` is the base URL of the site, if it differs from the URL at which the site is fetched.
/// Downloads are stored in `folder`, which should be empty. Returns an error only if the site
/// cannot be reached at all.
pub async fn check_live(
    client: &Client,
    site: &Url,
    home: Option<SiteBase>,
    bounds: LiveBounds,
    folder: &Path,
    check_options: &SiteCheckOptions,
) -> Result<SiteOutcome, FetchError> {
    let probe = client.probe_missing_page(site).await?;
    let live = SiteBase::parse(site.as_str()).or_else(|| home.clone());
    let Some(live) = live else {
        let nothing = SiteFiles::fetched(Vec::new(), BTreeSet::new());
        return Ok(check_files(&nothing, None, Vec::new(), check_options, Vec::new()));
    };
    let place = SiteUrls { home: home.clone().unwrap_or_else(|| live.clone()), live };
    let mut visit = LiveDownload {
        client,
        site: site.clone(),
        place: place.clone(),
        bounds,
        folder: folder.to_owned(),
        probe,
        files: Vec::new(),
        asked: HashSet::new(),
        unseen: BTreeSet::new(),
        found: Vec::new(),
        n_bytes: 0,
        last_validators: Validators::default(),
    };
    if visit.probe.is_soft() {
        visit.report(place.home.as_str(), &SOFT_404, format!("status {}", visit.probe.status));
    }
    visit.all().await?;
    let files = SiteFiles::fetched(visit.files, visit.unseen);
    Ok(check_files(&files, Some(place.home), Vec::new(), check_options, visit.found))
}

/// The state of the download.
struct LiveDownload<'c> {
    client: &'c Client,
    site: Url,
    place: SiteUrls,
    bounds: LiveBounds,
    folder: std::path::PathBuf,
    probe: MissingPageProbe,
    files: Vec<SiteFile>,
    /// The URLs that were requested already.
    asked: HashSet<String>,
    /// Files that may exist but were not fetched, and so must not be reported as missing.
    unseen: BTreeSet<(ResourceKind, String)>,
    found: Vec<(String, Finding)>,
    n_bytes: u64,
    /// The validators of the last response.
    last_validators: Validators,
}

/// Whether the site announced a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileAnnouncement {
    Announced,
    Guessed,
}

impl LiveDownload<'_> {
    fn report(&mut self, url: &str, rule: &'static Rule, detail: String) {
        self.found.push((url.to_owned(), Finding::new(rule, Place::WHOLE, detail)));
    }

    /// Fetches a file of the site and returns its decoded bytes. A collection is stored compressed.
    async fn fetch(
        &mut self,
        url: &str,
        what: ResourceKind,
        announcement: FileAnnouncement,
    ) -> Result<Option<Vec<u8>>, FetchError> {
        let Some(live) = self.place.to_live(url) else { return Ok(None) };
        if !self.asked.insert(url.to_owned()) {
            return Ok(None);
        }
        let left = self.bounds.bytes.saturating_sub(self.n_bytes);
        if left == 0 {
            self.pass(url, what, format!("not fetched after {} bytes in total", self.n_bytes));
            return Ok(None);
        }
        let spool = self.folder.join(format!("{:06}", self.files.len()));
        let is_collection = what == ResourceKind::Collection;
        let most = if is_collection { left } else { left.min(self.bounds.file) };
        let request = Request {
            site: Some(self.site.clone()),
            spool: is_collection.then(|| spool.clone()),
            max_bytes: Some(most),
            ..Request::new(live.clone(), what)
        };
        let answer = match self.client.fetch(&request).await {
            Ok(answer) => answer,
            Err(error) => {
                self.failed(url, what, announcement, most, &error);
                // An unreachable host is an error, not a finding.
                let is_first = self.files.is_empty() && what == ResourceKind::Robots;
                let is_network = matches!(error.cause, FailureCause::Network(_));
                return if is_first && is_network { Err(error) } else { Ok(None) };
            }
        };
        self.n_bytes += answer.wire_bytes;
        if !answer.is_success() {
            if announcement == FileAnnouncement::Announced {
                self.report(url, &STATUS, format!("status {}", answer.status));
            }
            if !matches!(answer.status, 404 | 410) {
                self.unseen.insert((what, url.to_owned()));
            }
            return Ok(None);
        }
        let (bytes, text) = match &answer.body {
            ResponseBody::Spooled { length, .. } => (*length, Vec::new()),
            _ => match self.decode(url, what, most, &answer) {
                Some(text) => (text.len() as u64, text),
                None => return Ok(None),
            },
        };
        if what != ResourceKind::Page && !self.is_believed(url, announcement, &answer, &text) {
            return Ok(None);
        }
        if what == ResourceKind::Page
            && self.probe.is_missing_page(&text)
            && announcement == FileAnnouncement::Announced
            && url != self.place.home.join("")
        {
            self.report(url, &NOT_WHAT_IT_SAYS, "the error page for unknown paths".to_owned());
            return Ok(None);
        }
        self.look_at(url, &live, what, &answer);
        self.last_validators = answer.validators;
        if !is_collection && std::fs::write(&spool, &text).is_err() {
            return Ok(None);
        }
        let kind = if what == ResourceKind::Page { MediaKind::Page } else { MediaKind::Other };
        self.files.push(SiteFile { path: url.into(), bytes, spool: Some(spool), kind });
        Ok(Some(text))
    }

    /// Returns the decoded body of a response. Reports a body that is too large or cannot be
    /// decoded.
    fn decode(
        &mut self,
        url: &str,
        what: ResourceKind,
        most: u64,
        answer: &FetchedResponse,
    ) -> Option<Vec<u8>> {
        match answer.decoded_body_within(what, most) {
            Ok(text) => Some(text),
            Err(DecodeError::TooLarge(_)) => {
                self.pass(url, what, too_large(most));
                None
            }
            Err(error) => {
                self.report(url, &rules::CODING, error.to_string());
                self.unseen.insert((what, url.to_owned()));
                None
            }
        }
    }

    /// Records that a file was not fetched, and why.
    fn pass(&mut self, url: &str, what: ResourceKind, why: String) {
        self.report(url, &rules::STOPPED, why);
        self.unseen.insert((what, url.to_owned()));
    }

    fn failed(
        &mut self,
        url: &str,
        what: ResourceKind,
        announcement: FileAnnouncement,
        most: u64,
        error: &FetchError,
    ) {
        self.unseen.insert((what, url.to_owned()));
        match &error.cause {
            FailureCause::Refused(why) => {
                self.report(url, &rules::STOPPED, format!("not fetched: {why}"));
            }
            FailureCause::Response(BadResponse::TooLarge { .. }) => {
                self.report(url, &rules::STOPPED, too_large(most));
            }
            cause if announcement == FileAnnouncement::Announced => {
                self.report(url, &STATUS, cause.to_string());
            }
            _ => {}
        }
    }

    /// Reports that a part of the site was not checked.
    fn report_limit(&mut self, n_unseen: usize, what: &str) {
        let home = self.place.home.as_str().to_owned();
        let detail = format!("{n_unseen} {what} over the limit were not checked");
        self.report(&home, &rules::STOPPED, detail);
    }

    /// Returns whether a response is the requested file, not an error page.
    fn is_believed(
        &mut self,
        url: &str,
        announcement: FileAnnouncement,
        answer: &FetchedResponse,
        text: &[u8],
    ) -> bool {
        let media = answer.fields.media_type();
        let is_page = matches!(media.as_str(), "text/html" | "application/xhtml+xml");
        let start: Vec<u8> = text.iter().copied().take(256).collect();
        let start = String::from_utf8_lossy(&start).trim_start().to_ascii_lowercase();
        let looks_so = start.starts_with("<!doctype html") || start.starts_with("<html");
        let is_lost = !self.probe.accepts(answer, text);
        if !(is_lost || is_page && looks_so) {
            return true;
        }
        if announcement == FileAnnouncement::Announced {
            self.report(url, &NOT_WHAT_IT_SAYS, format!("type {media}"));
        }
        false
    }

    /// Repeats a request with the validators of the first response to it.
    async fn ask_again(
        &mut self,
        url: &str,
        what: ResourceKind,
        known: Validators,
    ) -> Result<(), FetchError> {
        let Some(live) = self.place.to_live(url).filter(|_| !known.is_empty()) else {
            return Ok(());
        };
        let request = Request {
            validators: known,
            site: Some(self.site.clone()),
            ..Request::new(live, what)
        };
        if let Ok(answer) = self.client.fetch(&request).await
            && answer.is_success()
        {
            self.report(url, &NOT_CONDITIONAL, format!("status {}", answer.status));
        }
        Ok(())
    }
}

fn too_large(most: u64) -> String {
    format!("larger than {most} bytes")
}
