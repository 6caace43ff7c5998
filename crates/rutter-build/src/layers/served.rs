//! Writes `served.json`, the list of files for a web server: media type, coding, digest, date,
//! twin, cache lifetime and access of each file.
//!
//! The header names the output folder, the update frequency and the restricted path prefixes, which
//! also cover files that the build did not read.
//!
//! The date of a page is its date in the ledger, unless its bytes changed and that date did not,
//! such as after a change of the menu. Each date belongs to one version of the bytes; otherwise a
//! client that revalidates by date alone would miss a change. The previous `served.json` contains
//! the dates of the previous bytes.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Component, Path};

use rutter_page::{Digest, Timestamp};
use rutter_site::{
    CacheClass, FileAccess, FileRecord, LedgerRow, Owner, Publication, SERVED_VERSION, ServedEntry,
    ServedFileWriter, ServedHeader,
};

use crate::address;
use crate::error::BuildError;
use crate::plan::BuildPlan;

/// Writer of `served.json`, entry by entry.
#[derive(Debug)]
pub(crate) struct ServedWriter {
    out: ServedFileWriter,
    closed: Vec<String>,
    /// Paths of restricted pages that are not below a restricted prefix.
    closed_pages: Vec<String>,
    before: PreviousDates,
    now: Timestamp,
}

/// Dates of pages in the previous `served.json`, sorted. Each has a hash prefix of the path, a hash
/// prefix of the bytes, and the date.
#[derive(Debug, Default)]
struct PreviousDates(Vec<([u8; 8], [u8; 8], i64)>);

fn hash_prefix(digest: Digest) -> [u8; 8] {
    *digest.0.first_chunk().expect("a digest has 32 bytes")
}

impl PreviousDates {
    /// Reads the previous `served.json` line by line. Lines that cannot be parsed are skipped; a
    /// missing file has no dates.
    fn read(path: &Path) -> Self {
        let Ok(file) = File::open(path) else { return Self::default() };
        let mut rows = Vec::new();
        for line in BufReader::new(file).split(b'\n').map_while(Result::ok) {
            let Some(entry) = ServedEntry::of_line(&line) else { continue };
            let digest = entry.digest.as_deref().and_then(Digest::parse);
            let digest = digest.filter(|_| entry.cache == CacheClass::Page);
            let (Some(digest), Some(modified)) = (digest, entry.modified) else { continue };
            let name = hash_prefix(Digest::of(entry.path.as_bytes()));
            rows.push((name, hash_prefix(digest), modified.unix_seconds()));
        }
        rows.sort_unstable();
        Self(rows)
    }

    /// Returns the date of a page whose bytes have this digest; `modified` is the page's date in
    /// the ledger.
    fn date(
        &self,
        path: &str,
        digest: Option<Digest>,
        modified: Timestamp,
        now: Timestamp,
    ) -> Timestamp {
        let name = hash_prefix(Digest::of(path.as_bytes()));
        let at = self.0.binary_search_by_key(&name, |(name, ..)| *name);
        let before = at.ok().and_then(|at| self.0.get(at)).zip(digest);
        let Some(((_, bytes, then), digest)) = before else { return modified };
        if *then < modified.unix_seconds() {
            return modified;
        }
        // Different bytes get a date that is at least one second later, because HTTP dates have a
        // resolution of one second.
        let seconds = if *bytes == hash_prefix(digest) {
            *then
        } else {
            now.unix_seconds().max(then.saturating_add(1))
        };
        Timestamp::from_unix_seconds(seconds).map_or(modified, |date| date.max(modified))
    }
}

impl ServedWriter {
    pub(crate) fn create(path: &Path, plan: &BuildPlan) -> Result<Self, BuildError> {
        let closed: Vec<String> =
            plan.restricted.iter().map(|written| name_prefix(plan, written)).collect();
        let header = ServedHeader {
            version: SERVED_VERSION,
            base: plan.base.as_str().to_owned(),
            output: relative_path(&plan.state, plan.target()),
            update: Some(plan.update.seconds().unsigned_abs()),
            closed: closed.clone(),
        };
        Ok(Self {
            out: ServedFileWriter::create(path, &header)?,
            closed,
            closed_pages: Vec::new(),
            before: PreviousDates::read(&plan.state.join("served.json")),
            now: plan.now,
        })
    }

    fn push(&mut self, entry: &ServedEntry<'_>) -> Result<(), BuildError> {
        Ok(self.out.push(entry)?)
    }

    /// Adds a public page; `digest` is the digest of its published bytes.
    pub(crate) fn page(
        &mut self,
        (row, path): (&LedgerRow, &str),
        twin: Option<&str>,
        digest: Option<Digest>,
    ) -> Result<(), BuildError> {
        let modified = self.before.date(path, digest, row.modified, self.now);
        self.push(&ServedEntry {
            path: Cow::Borrowed(path),
            media_type: Cow::Borrowed("text/html"),
            digest: digest.map(|digest| digest.to_string()),
            modified: Some(modified),
            twin: twin.map(Cow::Borrowed),
            cache: CacheClass::Page,
            ..ServedEntry::default()
        })
    }

    /// Adds a page that needs a token.
    pub(crate) fn restricted_page(
        &mut self,
        (row, path): (&LedgerRow, &str),
        digest: Option<Digest>,
    ) -> Result<(), BuildError> {
        if !self.is_below(path) {
            self.closed_pages.push(path.to_owned());
        }
        let modified = self.before.date(path, digest, row.modified, self.now);
        self.push(&ServedEntry {
            path: Cow::Borrowed(path),
            media_type: Cow::Borrowed("text/html"),
            digest: digest.map(|digest| digest.to_string()),
            modified: Some(modified),
            cache: CacheClass::Page,
            access: Some(FileAccess::Token),
            ..ServedEntry::default()
        })
    }

    /// Adds a file that is not a page.
    pub(crate) fn file(
        &mut self,
        path: &str,
        file: &FileRecord,
        published: &Publication,
    ) -> Result<(), BuildError> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let collection =
            published.collections.iter().find(|one| one.files.iter().any(|file| file.name == name));
        let (media_type, coding, cache) = delivery_of(path);
        let digest = match collection {
            // The digest of a collection covers its content and not the compressed bytes (D08).
            Some(one) => one.checksum().map(|sum| sum.to_string()),
            None => Some(file.digest.to_string()),
        };
        let modified = collection.map(|one| one.generated);
        let cache = match collection {
            Some(one) if one.since.is_some() => CacheClass::Delta,
            Some(_) => CacheClass::Snapshot,
            None => cache,
        };
        // Artifacts need no token, because they contain nothing from restricted pages.
        let is_made = file.owner != Owner::Site;
        let is_below = self.is_below(path);
        self.push(&ServedEntry {
            path: Cow::Borrowed(path),
            media_type: Cow::Borrowed(media_type),
            coding: coding.map(Cow::Borrowed),
            digest,
            stored: collection.map(|_| file.digest.to_string()),
            modified,
            expires: collection.map(|one| one.expires),
            cache,
            access: (is_made && is_below).then_some(FileAccess::Open),
            ..ServedEntry::default()
        })
    }

    /// Returns whether a file is below a restricted prefix.
    fn is_below(&self, path: &str) -> bool {
        let lower = path.to_lowercase();
        self.closed.iter().any(|name| lower.starts_with(&name.to_lowercase()))
    }

    /// Returns the restricted path prefixes, and the restricted pages that are not below one of
    /// them.
    pub(crate) fn restricted_files(&self) -> (&[String], &[String]) {
        (&self.closed, &self.closed_pages)
    }

    pub(crate) fn finish(self) -> Result<(), BuildError> {
        Ok(self.out.finish()?)
    }
}

/// Converts a configured URL path prefix into a file path prefix.
fn name_prefix(plan: &BuildPlan, written: &str) -> String {
    let address = address::prefix(&plan.base, written);
    let inside = address.strip_prefix(plan.base.path()).unwrap_or(&address);
    address::decoded(inside)
}

/// Returns the relative path from one folder to another; `None` if it is not valid UTF-8. With a
/// relative path, both folders can be moved together.
fn relative_path(from: &Path, to: &Path) -> Option<String> {
    let whole = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path)).ok();
    let (from, to) = (whole(from)?, whole(to)?);
    let n_same = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(n_same).map(|_| Some(".."));
    let down = to.components().skip(n_same).map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    let parts: Option<Vec<&str>> = up.chain(down).collect();
    let path = parts?.join("/");
    Some(if path.is_empty() { ".".to_owned() } else { path })
}

fn delivery_of(path: &str) -> (&'static str, Option<&'static str>, CacheClass) {
    let kinds = [
        (".scp.zst", "application/scp", Some("zstd"), CacheClass::Snapshot),
        (".scp.gz", "application/scp", Some("gzip"), CacheClass::Snapshot),
        (".scp", "application/scp", None, CacheClass::Snapshot),
        (".xml", "application/xml", None, CacheClass::Entry),
        (".md", "text/markdown; charset=utf-8", None, CacheClass::Twin),
        (".txt", "text/plain; charset=utf-8", None, CacheClass::Entry),
        (".json", "application/json", None, CacheClass::Entry),
        (".json.gz", "application/json", Some("gzip"), CacheClass::Entry),
        (".jsonld", "application/ld+json", None, CacheClass::Entry),
        (".jsonld.gz", "application/ld+json", Some("gzip"), CacheClass::Entry),
        (".yaml", "application/yaml", None, CacheClass::Entry),
        (".yaml.gz", "application/yaml", Some("gzip"), CacheClass::Entry),
        (".html", "text/html", None, CacheClass::Page),
    ];
    let found = kinds.into_iter().find(|(ending, ..)| path.ends_with(ending));
    found.map_or(
        ("application/octet-stream", None, CacheClass::Other),
        |(_, kind, coding, cache)| (kind, coding, cache),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::BaseUrl;

    #[test]
    fn restricted_url_prefix_becomes_a_file_prefix() {
        let now = Timestamp::parse("2026-05-01T00:00:00Z").unwrap();
        let base = BaseUrl::parse("https://harbour.example/docs/").unwrap();
        let plan = BuildPlan::new("site".into(), "state".into(), base, now);
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
    fn each_date_belongs_to_one_version_of_the_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("served.json");
        let digest = |text: &str| Some(Digest::of(text.as_bytes()));
        let time = |text: &str| Timestamp::parse(text).unwrap();
        let (day, now) = (time("2026-05-01T12:00:00.5Z"), time("2026-06-01T12:00:00Z"));
        let old = Digest::of(b"old");
        let text = format!(
            "{{\"version\":2,\"files\":[\n{{\"path\":\"b\",\"type\":\"x\",\"cache\":\"entry\"}},\n\
             {{\"path\":\"a\",\"type\":\"x\",\"digest\":\"{old}\",\"modified\":\"{day}\",\"cache\":\"page\"}}\n]}}\n"
        );
        std::fs::write(&path, text).unwrap();
        let before = PreviousDates::read(&path);
        assert_eq!(before.0.len(), 1);
        let (next, later) = (time("2026-05-01T12:00:01Z"), time("2026-05-02T12:00:00Z"));
        let earlier = time("2026-04-01T12:00:00Z");
        for (path, bytes, modified, now, wanted) in [
            ("a", "old", day, now, day),
            ("a", "new", day, now, now),
            ("a", "new", later, now, later),
            ("a", "old", later, now, later),
            // The site is built twice within a second, or after the clock was set back.
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
        assert_eq!(PreviousDates::default().date("a", digest("new"), day, now), day);
    }

    #[test]
    fn output_folder_is_relative_to_the_state() {
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
            assert_eq!(relative_path(&at(from), &at(to)).as_deref(), Some(wanted));
        }
    }
}
