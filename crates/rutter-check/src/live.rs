//! A live site, judged as a folder is: what it announces is fetched politely,
//! and so are some of its pages; then the same rules are asked.
//!
//! Each answer becomes a file under its address. A preview host can stand in
//! for the real one: addresses of the site are then asked for there.
//!
//! Refuses: to fetch without bounds, to follow the site to other hosts, and to
//! believe a host that answers everything.

mod answer;
mod plan;

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use rutter_fetch::decode::DecodeError;
use rutter_fetch::{
    BadAnswer, Body, Cause, Client, FetchError, Fetched, Probe, Request, Url, Validators, What,
};
use rutter_finding::{Finding, Place, Rule};

use crate::rules;
use crate::site::{FileKind, Files, Home, OneFile, SiteJudging, SiteOutcome, check_files};

/// How much of a live site is fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveBounds {
    /// Pages.
    pub pages: usize,
    /// Sitemaps, those an index names included.
    pub sitemaps: usize,
    /// Collections; a section is fetched whole or not at all.
    pub collections: usize,
    /// Packets of entities.
    pub packets: usize,
    /// Bytes of one file, before and after its codings are undone; collections
    /// go to the disk as they come, and may be larger.
    pub file: u64,
    /// Bytes in all.
    pub bytes: u64,
}

impl LiveBounds {
    /// A look that costs a host little.
    pub const USUAL: Self = Self {
        pages: 30,
        sitemaps: 100,
        collections: 100,
        packets: 50,
        file: 64 << 20,
        bytes: 512 << 20,
    };
}

/// Where the site is asked for, and where it says that it is.
#[derive(Debug, Clone)]
struct Twofold {
    live: Home,
    home: Home,
}

impl Twofold {
    /// Where an address of the site is asked for.
    fn to_live(&self, url: &str) -> Option<Url> {
        let path = if url == self.home.as_str() { "" } else { self.home.path_of(url)? };
        Url::parse(&self.live.join(path)).ok()
    }
}

/// Judges a live site. `home` is the address it says it has, where that is not
/// the one it is asked at.
///
/// `folder` takes what is fetched, and should be empty. An error is a site
/// that cannot be had at all.
pub async fn check_live(
    client: &Client,
    site: &Url,
    home: Option<Home>,
    bounds: LiveBounds,
    folder: &Path,
    judging: &SiteJudging,
) -> Result<SiteOutcome, FetchError> {
    let probe = client.probe(site).await?;
    let live = Home::parse(site.as_str()).or_else(|| home.clone());
    let Some(live) = live else {
        let nothing = Files::fetched(Vec::new(), BTreeSet::new());
        return Ok(check_files(&nothing, None, Vec::new(), judging, Vec::new()));
    };
    let place = Twofold { home: home.clone().unwrap_or_else(|| live.clone()), live };
    let mut visit = Visit {
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
        visit.say(place.home.as_str(), &rules::SOFT_404, format!("status {}", visit.probe.status));
    }
    visit.all().await?;
    let files = Files::fetched(visit.files, visit.unseen);
    Ok(check_files(&files, Some(place.home), Vec::new(), judging, visit.found))
}

/// A visit under way.
struct Visit<'c> {
    client: &'c Client,
    site: Url,
    place: Twofold,
    bounds: LiveBounds,
    folder: std::path::PathBuf,
    probe: Probe,
    files: Vec<OneFile>,
    /// Addresses that were asked for.
    asked: HashSet<String>,
    /// What may be there and was not looked at: nobody may call it missing.
    unseen: BTreeSet<(What, String)>,
    found: Vec<(String, Finding)>,
    n_bytes: u64,
    /// What the last answer can be asked for again with.
    last_validators: Validators,
}

/// Whether somebody said that a file is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Announced,
    Guessed,
}

impl Visit<'_> {
    fn say(&mut self, url: &str, rule: &'static Rule, detail: String) {
        self.found.push((url.to_owned(), Finding::new(rule, Place::WHOLE, detail)));
    }

    /// Fetches a file of the site by its address there; gives its bytes with
    /// codings undone. A collection stays as it came.
    async fn fetch(
        &mut self,
        url: &str,
        what: What,
        said: Said,
    ) -> Result<Option<Vec<u8>>, FetchError> {
        let Some(live) = self.place.to_live(url) else { return Ok(None) };
        if !self.asked.insert(url.to_owned()) {
            return Ok(None);
        }
        let left = self.bounds.bytes.saturating_sub(self.n_bytes);
        if left == 0 {
            self.pass(url, what, format!("{} bytes were fetched", self.n_bytes));
            return Ok(None);
        }
        let spool = self.folder.join(format!("{:06}", self.files.len()));
        let is_collection = what == What::Collection;
        let most = if is_collection { left } else { left.min(self.bounds.file) };
        let request = Request {
            site: Some(self.site.clone()),
            spool: is_collection.then(|| spool.clone()),
            most: Some(most),
            ..Request::new(live.clone(), what)
        };
        let answer = match self.client.fetch(&request).await {
            Ok(answer) => answer,
            Err(error) => {
                self.failed(url, what, said, most, &error);
                // A host that cannot be reached at all is no finding.
                let is_first = self.files.is_empty() && what == What::Robots;
                let is_network = matches!(error.cause, Cause::Network(_));
                return if is_first && is_network { Err(error) } else { Ok(None) };
            }
        };
        self.n_bytes += answer.wire_bytes;
        if !answer.is_new() {
            if said == Said::Announced {
                self.say(url, &rules::STATUS, format!("status {}", answer.status));
            }
            if !matches!(answer.status, 404 | 410) {
                self.unseen.insert((what, url.to_owned()));
            }
            return Ok(None);
        }
        let (bytes, text) = match &answer.body {
            Body::Spooled { length, .. } => (*length, Vec::new()),
            _ => {
                let text = match answer.text_within(what, most) {
                    Ok(text) => text,
                    Err(DecodeError::TooLarge(_)) => {
                        self.pass(url, what, too_large(most));
                        return Ok(None);
                    }
                    Err(error) => {
                        self.say(url, &rules::CODING, error.to_string());
                        self.unseen.insert((what, url.to_owned()));
                        return Ok(None);
                    }
                };
                (text.len() as u64, text)
            }
        };
        if what != What::Page && !self.is_believed(url, said, &answer, &text) {
            return Ok(None);
        }
        if what == What::Page
            && self.probe.is_lost_page(&text)
            && said == Said::Announced
            && url != self.place.home.join("")
        {
            self.say(url, &rules::NOT_WHAT_IT_SAYS, "the page for lost visitors".to_owned());
            return Ok(None);
        }
        self.look_at(url, &live, what, &answer);
        self.last_validators = answer.validators;
        if !is_collection && std::fs::write(&spool, &text).is_err() {
            return Ok(None);
        }
        let kind = if what == What::Page { FileKind::Page } else { FileKind::Other };
        self.files.push(OneFile { path: url.into(), bytes, spool: Some(spool), kind });
        Ok(Some(text))
    }

    /// Leaves a file aside that may be there, and says why.
    fn pass(&mut self, url: &str, what: What, why: String) {
        self.say(url, &rules::STOPPED, why);
        self.unseen.insert((what, url.to_owned()));
    }

    fn failed(&mut self, url: &str, what: What, said: Said, most: u64, error: &FetchError) {
        self.unseen.insert((what, url.to_owned()));
        match &error.cause {
            Cause::Refused(why) => {
                self.say(url, &rules::STOPPED, format!("not fetched: {why}"));
            }
            Cause::Answer(BadAnswer::TooLarge { .. }) => {
                self.say(url, &rules::STOPPED, too_large(most));
            }
            cause if said == Said::Announced => {
                self.say(url, &rules::STATUS, cause.to_string());
            }
            _ => {}
        }
    }

    /// Says of the whole site that some of it was not looked at.
    fn cut(&mut self, n_unseen: usize, what: &str, setting: &str) {
        let home = self.place.home.as_str().to_owned();
        let detail = format!("{n_unseen} {what} were not looked at; {setting} sets how many are");
        self.say(&home, &rules::STOPPED, detail);
    }

    /// Whether an answer is what was asked for.
    fn is_believed(&mut self, url: &str, said: Said, answer: &Fetched, text: &[u8]) -> bool {
        let media = answer.fields.media_type();
        let is_page = matches!(media.as_str(), "text/html" | "application/xhtml+xml");
        let start: Vec<u8> = text.iter().copied().take(256).collect();
        let start = String::from_utf8_lossy(&start).trim_start().to_ascii_lowercase();
        let looks_so = start.starts_with("<!doctype html") || start.starts_with("<html");
        let is_lost = !self.probe.believes(answer, text);
        if !(is_lost || is_page && looks_so) {
            return true;
        }
        if said == Said::Announced {
            self.say(url, &rules::NOT_WHAT_IT_SAYS, format!("type {media}"));
        }
        false
    }

    /// Asks once more with the validators of the first answer.
    async fn ask_again(
        &mut self,
        url: &str,
        what: What,
        known: Validators,
    ) -> Result<(), FetchError> {
        let Some(live) = self.place.to_live(url).filter(|_| !known.is_empty()) else {
            return Ok(());
        };
        let request = Request { known, site: Some(self.site.clone()), ..Request::new(live, what) };
        if let Ok(answer) = self.client.fetch(&request).await
            && answer.is_new()
        {
            self.say(url, &rules::NOT_CONDITIONAL, format!("status {}", answer.status));
        }
        Ok(())
    }
}

fn too_large(most: u64) -> String {
    format!("not read: more than {most} bytes")
}
