//! `served.json`: what a server needs to know of each file, so that it need
//! not find it out again: type, coding, digest, date, twin, lifetime, and who
//! may have it.
//!
//! Its head says of which folder it speaks, how often the site changes, and
//! below which names everything is closed, whether the build read it or not.
//!
//! A page has the ledger's date, unless its bytes changed and that date did
//! not, as with a new menu: a date stands for one state of the bytes, or a
//! reader that asks by it alone never learns of the next. What was told last
//! time says which bytes had which date.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Component, Path, PathBuf};

use rutter_page::seal::Seal;
use rutter_page::{Digest, Timestamp};
use serde::{Deserialize, Serialize};

use crate::chain::Published;
use crate::error::{At, BuildError};
use crate::inventory;
use crate::ledger::Row;
use crate::manifest::{Ours, Whose};
use crate::plan::Plan;
use crate::publish;

/// Version 1 did not say what is closed beside pages, so a server that knows
/// only one of the two must not read the other.
pub(crate) const VERSION: u32 = 3;

/// Raised where more is said within a version, so that it is written anew.
pub(crate) const REVISION: u32 = 2;

/// What stands before the files.
#[derive(Debug, Serialize)]
struct Head<'h> {
    version: u32,
    base: &'h str,
    /// The folder it speaks of, seen from the folder of the state.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    /// Seconds between two snapshots.
    update: u64,
    /// Beginnings of names, decoded: what is below needs a token.
    closed: &'h [String],
}

/// What is known of one file.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Served<'s> {
    path: &'s str,
    #[serde(rename = "type")]
    media_type: &'s str,
    #[serde(skip_serializing_if = "Option::is_none")]
    coding: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    /// Of a collection: the digest of its coded bytes, because the same text
    /// may be coded anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    stored: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<Timestamp>,
    /// When a collection ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    twin: Option<&'s str>,
    cache: &'s str,
    /// `token` for what is not for everybody, `open` for what we made below a
    /// name that is closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    access: Option<&'s str>,
}

/// Writes entries one by one.
#[derive(Debug)]
pub(crate) struct ServedWriter {
    path: PathBuf,
    out: BufWriter<File>,
    closed: Vec<String>,
    /// Pages that are closed one by one.
    closed_pages: Vec<String>,
    before: Before,
    now: Timestamp,
    is_first: bool,
    seal: Seal,
}

/// What was told of pages last time, sorted: the starts of the digests of a
/// name and of its bytes, and the date these have.
#[derive(Debug, Default)]
struct Before(Vec<([u8; 8], [u8; 8], i64)>);

#[derive(Deserialize)]
struct Told<'t> {
    #[serde(borrow)]
    path: Cow<'t, str>,
    #[serde(borrow)]
    digest: Cow<'t, str>,
    modified: Timestamp,
    #[serde(borrow)]
    cache: Cow<'t, str>,
}

fn start(digest: Digest) -> [u8; 8] {
    *digest.0.first_chunk().expect("a digest has 32 bytes")
}

impl Before {
    /// Reads it line by line, as it was written. One that is not there or
    /// cannot be read says nothing.
    fn read(path: &Path) -> Self {
        let Ok(file) = File::open(path) else { return Self::default() };
        let mut rows = Vec::new();
        for line in BufReader::new(file).split(b'\n').map_while(Result::ok) {
            let line = line.strip_suffix(b",").unwrap_or(&line);
            let Ok(told) = serde_json::from_slice::<Told<'_>>(line) else { continue };
            let Some(digest) = Digest::parse(&told.digest).filter(|_| told.cache == "page") else {
                continue;
            };
            let name = start(Digest::of(told.path.as_bytes()));
            rows.push((name, start(digest), told.modified.unix_seconds()));
        }
        rows.sort_unstable();
        Self(rows)
    }

    /// The date of a page with these bytes; `modified` is the ledger's.
    fn date(
        &self,
        path: &str,
        digest: Option<Digest>,
        modified: Timestamp,
        now: Timestamp,
    ) -> Timestamp {
        let name = start(Digest::of(path.as_bytes()));
        let at = self.0.binary_search_by_key(&name, |(name, ..)| *name);
        let before = at.ok().and_then(|at| self.0.get(at)).zip(digest);
        let Some(((_, bytes, then), digest)) = before else { return modified };
        if *then < modified.unix_seconds() {
            return modified;
        }
        // Dates of HTTP are whole seconds, so the next one is a second later.
        let seconds = if *bytes == start(digest) {
            *then
        } else {
            now.unix_seconds().max(then.saturating_add(1))
        };
        Timestamp::from_unix_seconds(seconds).map_or(modified, |date| date.max(modified))
    }
}

impl ServedWriter {
    pub(crate) fn create(path: &Path, plan: &Plan) -> Result<Self, BuildError> {
        let mut out = publish::create(path)?;
        let closed: Vec<String> =
            plan.restricted.iter().map(|written| name_prefix(plan, written)).collect();
        let head = Head {
            version: VERSION,
            base: plan.base.as_str(),
            output: from_to(&plan.state, plan.target()),
            update: plan.update.seconds().unsigned_abs(),
            closed: &closed,
        };
        let head = serde_json::to_string(&head).expect("what we say is JSON");
        let head = head.strip_suffix('}').unwrap_or(&head);
        let head = format!("{head},\"files\":[");
        out.write_all(head.as_bytes()).at(path)?;
        let mut seal = Seal::default();
        seal.update(head.as_bytes());
        Ok(Self {
            seal,
            path: path.to_owned(),
            out,
            closed,
            closed_pages: Vec::new(),
            before: Before::read(&plan.state.join("served.json")),
            now: plan.now,
            is_first: true,
        })
    }

    fn entry(&mut self, served: &Served<'_>) -> Result<(), BuildError> {
        let gap = if std::mem::take(&mut self.is_first) { "\n" } else { ",\n" };
        let text = serde_json::to_string(served).expect("what we serve is JSON");
        let text = format!("{gap}{text}");
        self.seal.record(text.as_bytes());
        self.out.write_all(text.as_bytes()).at(&self.path)
    }

    /// A page of the site, by the digest of what is published of it.
    pub(crate) fn page(
        &mut self,
        (row, path): (&Row, &str),
        twin: Option<&str>,
        digest: Option<Digest>,
    ) -> Result<(), BuildError> {
        let modified = self.before.date(path, digest, row.modified, self.now);
        self.entry(&Served {
            path,
            media_type: "text/html",
            digest: digest.map(|digest| digest.to_string()),
            modified: Some(modified),
            twin,
            cache: "page",
            ..Served::default()
        })
    }

    /// A page that only those who are let in may see.
    pub(crate) fn closed(
        &mut self,
        (row, path): (&Row, &str),
        digest: Option<Digest>,
    ) -> Result<(), BuildError> {
        if !self.is_below(path) {
            self.closed_pages.push(path.to_owned());
        }
        let modified = self.before.date(path, digest, row.modified, self.now);
        self.entry(&Served {
            path,
            media_type: "text/html",
            digest: digest.map(|digest| digest.to_string()),
            modified: Some(modified),
            cache: "page",
            access: Some("token"),
            ..Served::default()
        })
    }

    /// A file we wrote beside the pages.
    pub(crate) fn file(
        &mut self,
        path: &str,
        file: &Ours,
        published: &Published,
    ) -> Result<(), BuildError> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let collection =
            published.collections.iter().find(|one| one.files.iter().any(|file| file.name == name));
        let (media_type, coding, cache) = kind_of(path);
        let digest = match collection {
            // Of the text, not of the coded bytes (D08).
            Some(one) => one.checksum().map(|sum| sum.to_string()),
            None => Some(file.digest.to_string()),
        };
        let modified = collection.map(|one| one.generated);
        let cache = match collection {
            Some(one) if one.since.is_some() => "delta",
            Some(_) => "snapshot",
            None => cache,
        };
        // What we make says nothing of pages that are closed.
        let is_made = file.whose != Whose::Site;
        let is_below = self.is_below(path);
        self.entry(&Served {
            path,
            media_type,
            coding,
            digest,
            stored: collection.map(|_| file.digest.to_string()),
            modified,
            expires: collection.map(|one| one.expires),
            cache,
            access: (is_made && is_below).then_some("open"),
            ..Served::default()
        })
    }

    /// Whether a file lies below a name that is closed.
    fn is_below(&self, path: &str) -> bool {
        let lower = path.to_lowercase();
        self.closed.iter().any(|name| lower.starts_with(&name.to_lowercase()))
    }

    /// What is closed: beginnings of names, and pages beside those.
    pub(crate) fn all_closed(&self) -> (&[String], &[String]) {
        (&self.closed, &self.closed_pages)
    }

    pub(crate) fn finish(mut self) -> Result<(), BuildError> {
        self.seal.update(b"\n]");
        write!(self.out, "\n]{}", self.seal.to_json()).at(&self.path)?;
        publish::close(self.out, &self.path)
    }
}

/// A beginning of addresses as one of names of files.
fn name_prefix(plan: &Plan, written: &str) -> String {
    let address = inventory::prefix(&plan.base, written);
    let inside = address.strip_prefix(plan.base.path()).unwrap_or(&address);
    inventory::decoded(inside)
}

/// The way from one folder to another, so that both can be moved together;
/// `None` where it cannot be written.
fn from_to(from: &Path, to: &Path) -> Option<String> {
    let whole = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path)).ok();
    let (from, to) = (whole(from)?, whole(to)?);
    let n_same = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(n_same).map(|_| Some(".."));
    let down = to.components().skip(n_same).map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    let parts: Option<Vec<&str>> = up.chain(down).collect();
    let way = parts?.join("/");
    Some(if way.is_empty() { ".".to_owned() } else { way })
}

fn kind_of(path: &str) -> (&'static str, Option<&'static str>, &'static str) {
    let kinds = [
        (".scp.zst", "application/scp", Some("zstd"), "snapshot"),
        (".scp.gz", "application/scp", Some("gzip"), "snapshot"),
        (".scp", "application/scp", None, "snapshot"),
        (".xml", "application/xml", None, "entry"),
        (".md", "text/markdown; charset=utf-8", None, "twin"),
        (".txt", "text/plain; charset=utf-8", None, "entry"),
        (".json", "application/json", None, "entry"),
        (".json.gz", "application/json", Some("gzip"), "entry"),
        (".jsonld", "application/ld+json", None, "entry"),
        (".jsonld.gz", "application/ld+json", Some("gzip"), "entry"),
        (".yaml", "application/yaml", None, "entry"),
        (".yaml.gz", "application/yaml", Some("gzip"), "entry"),
        (".html", "text/html", None, "page"),
    ];
    let found = kinds.into_iter().find(|(ending, ..)| path.ends_with(ending));
    found.map_or(("application/octet-stream", None, "other"), |(_, kind, coding, cache)| {
        (kind, coding, cache)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Base;

    #[test]
    fn ours_a_closed_beginning_of_addresses_is_one_of_names() {
        let now = Timestamp::parse("2026-05-01T00:00:00Z").unwrap();
        let base = Base::parse("https://harbour.example/docs/").unwrap();
        let plan = Plan::new("site".into(), "state".into(), base, now);
        for (written, wanted) in [
            ("/members/", "members/"),
            ("/docs/members/", "members/"),
            ("members", "members"),
            ("/nur für%20uns/", "nur für uns/"),
            ("/100%/", "100%/"),
            ("/%zz%ff", "%zz%ff"),
            ("/", ""),
        ] {
            assert_eq!(name_prefix(&plan, written), wanted, "{written}");
        }
    }

    #[test]
    fn ours_a_date_stands_for_one_state_of_the_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("served.json");
        let digest = |text: &str| Some(Digest::of(text.as_bytes()));
        let time = |text: &str| Timestamp::parse(text).unwrap();
        let (day, now) = (time("2026-05-01T12:00:00.5Z"), time("2026-06-01T12:00:00Z"));
        let old = Digest::of(b"old");
        let text = format!(
            "{{\"version\":2,\"files\":[\n{{\"path\":\"b\",\"cache\":\"entry\"}},\n\
             {{\"path\":\"a\",\"digest\":\"{old}\",\"modified\":\"{day}\",\"cache\":\"page\"}}\n]}}\n"
        );
        std::fs::write(&path, text).unwrap();
        let before = Before::read(&path);
        assert_eq!(before.0.len(), 1);
        let (next, later) = (time("2026-05-01T12:00:01Z"), time("2026-05-02T12:00:00Z"));
        let earlier = time("2026-04-01T12:00:00Z");
        for (path, bytes, modified, now, wanted) in [
            ("a", "old", day, now, day),
            ("a", "new", day, now, now),
            ("a", "new", later, now, later),
            ("a", "old", later, now, later),
            // Built twice within a second, or by a clock that was put back.
            ("a", "new", day, day, next),
            ("a", "new", day, earlier, next),
            ("a", "new", earlier, now, now),
            ("a", "old", earlier, now, time("2026-05-01T12:00:00Z")),
            ("b", "new", day, now, day),
        ] {
            let found = before.date(path, digest(bytes), modified, now);
            assert_eq!(found, wanted, "{path} {bytes} {modified}");
        }
        assert_eq!(before.date("a", None, day, now), day);
        assert_eq!(Before::default().date("a", digest("new"), day, now), day);
    }

    #[test]
    fn ours_a_folder_is_named_by_the_way_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
            folder.path().join(name)
        };
        for (from, to, wanted) in [
            (".rutter", "public", "../public"),
            ("site/.rutter", "site", ".."),
            ("state", "a/b", "../a/b"),
            ("state", "state", "."),
        ] {
            assert_eq!(from_to(&at(from), &at(to)).as_deref(), Some(wanted));
        }
    }
}
