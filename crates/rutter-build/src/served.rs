//! `served.json`: what a server needs to know of each file, so that it need
//! not find it out again: type, coding, digest, date, twin, lifetime.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use rutter_page::Timestamp;
use serde::Serialize;

use crate::chain::Published;
use crate::error::{At, BuildError};
use crate::manifest::Ours;
use crate::publish;

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
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    twin: Option<&'s str>,
    cache: &'s str,
    /// `token` for what is not for everybody.
    #[serde(skip_serializing_if = "Option::is_none")]
    access: Option<&'s str>,
}

/// Writes entries one by one.
#[derive(Debug)]
pub(crate) struct ServedWriter {
    path: PathBuf,
    out: BufWriter<File>,
    is_first: bool,
}

impl ServedWriter {
    pub(crate) fn create(path: &Path, base: &str) -> Result<Self, BuildError> {
        let mut out = publish::create(path)?;
        let base = serde_json::to_string(base).expect("an address is JSON");
        write!(out, "{{\"version\":1,\"base\":{base},\"files\":[").at(path)?;
        Ok(Self { path: path.to_owned(), out, is_first: true })
    }

    fn entry(&mut self, served: &Served<'_>) -> Result<(), BuildError> {
        let gap = if std::mem::take(&mut self.is_first) { "\n" } else { ",\n" };
        let text = serde_json::to_string(served).expect("what we serve is JSON");
        write!(self.out, "{gap}{text}").at(&self.path)
    }

    /// A page of the site.
    pub(crate) fn page(
        &mut self,
        path: &str,
        modified: Timestamp,
        twin: Option<&str>,
    ) -> Result<(), BuildError> {
        self.entry(&Served {
            path,
            media_type: "text/html",
            modified: Some(modified),
            twin,
            cache: "page",
            ..Served::default()
        })
    }

    /// A page that only those who are let in may see.
    pub(crate) fn closed(&mut self, path: &str, modified: Timestamp) -> Result<(), BuildError> {
        self.entry(&Served {
            path,
            media_type: "text/html",
            modified: Some(modified),
            cache: "private",
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
        self.entry(&Served {
            path,
            media_type,
            coding,
            digest,
            modified,
            cache,
            ..Served::default()
        })
    }

    pub(crate) fn finish(mut self) -> Result<(), BuildError> {
        write!(self.out, "\n]}}\n").at(&self.path)?;
        publish::close(self.out, &self.path)
    }
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
