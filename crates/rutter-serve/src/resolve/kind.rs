//! Determines media type, coding and class of a file by its name (D05, D10).
//!
//! Used for files that `served.json` does not describe, such as images and style sheets.

/// The class of a file, which decides its cache lifetime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum FileKind {
    Snapshot,
    Delta,
    /// Files that announce other files: sitemaps, indexes, policies.
    Entry,
    /// A Markdown twin.
    Twin,
    Page,
    #[default]
    Other,
}

impl FileKind {
    pub(crate) fn parse(text: &str) -> Self {
        match text {
            "snapshot" => Self::Snapshot,
            "delta" => Self::Delta,
            "entry" => Self::Entry,
            "twin" => Self::Twin,
            "page" => Self::Page,
            _ => Self::Other,
        }
    }
}

/// A content coding of stored bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ContentCoding {
    Gzip,
    Zstd,
}

impl ContentCoding {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "gzip" => Some(Self::Gzip),
            "zstd" => Some(Self::Zstd),
            _ => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// The media type of collections; it has no parameters (SCP-213).
pub(crate) const SCP: &str = "application/scp";
pub(crate) const HTML: &str = "text/html";
pub(crate) const MARKDOWN: &str = "text/markdown; charset=utf-8";

type ExtensionRow = (&'static str, &'static str, Option<ContentCoding>, FileKind);

/// File extensions; the first match applies.
const ROWS: [ExtensionRow; 52] = [
    (".scp.zst", SCP, Some(ContentCoding::Zstd), FileKind::Snapshot),
    (".scp.gz", SCP, Some(ContentCoding::Gzip), FileKind::Snapshot),
    (".scp", SCP, None, FileKind::Snapshot),
    (".html", HTML, None, FileKind::Page),
    (".htm", HTML, None, FileKind::Page),
    (".xhtml", "application/xhtml+xml", None, FileKind::Page),
    (".md", MARKDOWN, None, FileKind::Twin),
    (".xml", "application/xml", None, FileKind::Entry),
    (".xml.gz", "application/xml", Some(ContentCoding::Gzip), FileKind::Entry),
    (".json", "application/json", None, FileKind::Entry),
    (".json.gz", "application/json", Some(ContentCoding::Gzip), FileKind::Entry),
    (".jsonld", "application/ld+json", None, FileKind::Entry),
    (".jsonld.gz", "application/ld+json", Some(ContentCoding::Gzip), FileKind::Entry),
    (".yaml", "application/yaml", None, FileKind::Entry),
    (".yaml.gz", "application/yaml", Some(ContentCoding::Gzip), FileKind::Entry),
    (".yml", "application/yaml", None, FileKind::Entry),
    (".txt", "text/plain; charset=utf-8", None, FileKind::Entry),
    (".css", "text/css; charset=utf-8", None, FileKind::Other),
    (".js", "text/javascript; charset=utf-8", None, FileKind::Other),
    (".mjs", "text/javascript; charset=utf-8", None, FileKind::Other),
    (".map", "application/json", None, FileKind::Other),
    (".webmanifest", "application/manifest+json", None, FileKind::Other),
    (".rss", "application/rss+xml", None, FileKind::Other),
    (".atom", "application/atom+xml", None, FileKind::Other),
    (".csv", "text/csv; charset=utf-8", None, FileKind::Other),
    (".png", "image/png", None, FileKind::Other),
    (".jpg", "image/jpeg", None, FileKind::Other),
    (".jpeg", "image/jpeg", None, FileKind::Other),
    (".gif", "image/gif", None, FileKind::Other),
    (".svg", "image/svg+xml", None, FileKind::Other),
    (".webp", "image/webp", None, FileKind::Other),
    (".avif", "image/avif", None, FileKind::Other),
    (".ico", "image/vnd.microsoft.icon", None, FileKind::Other),
    (".bmp", "image/bmp", None, FileKind::Other),
    (".woff", "font/woff", None, FileKind::Other),
    (".woff2", "font/woff2", None, FileKind::Other),
    (".ttf", "font/ttf", None, FileKind::Other),
    (".otf", "font/otf", None, FileKind::Other),
    (".mp3", "audio/mpeg", None, FileKind::Other),
    (".ogg", "audio/ogg", None, FileKind::Other),
    (".opus", "audio/ogg", None, FileKind::Other),
    (".flac", "audio/flac", None, FileKind::Other),
    (".wav", "audio/wav", None, FileKind::Other),
    (".mp4", "video/mp4", None, FileKind::Other),
    (".webm", "video/webm", None, FileKind::Other),
    (".vtt", "text/vtt; charset=utf-8", None, FileKind::Other),
    (".pdf", "application/pdf", None, FileKind::Other),
    (".epub", "application/epub+zip", None, FileKind::Other),
    (".zip", "application/zip", None, FileKind::Other),
    (".wasm", "application/wasm", None, FileKind::Other),
    (".gz", "application/gzip", None, FileKind::Other),
    (".zst", "application/zstd", None, FileKind::Other),
];

/// Returns media type, coding and class for a file name.
pub(crate) fn of(name: &str) -> (&'static str, Option<ContentCoding>, FileKind) {
    let file = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    let found = ROWS.into_iter().find(|(ending, ..)| file.ends_with(ending));
    match found {
        // A delta is recognized by its name here, and by its first line later.
        Some((_, SCP, coding, _)) if file.contains("-delta-") => (SCP, coding, FileKind::Delta),
        Some((_, media_type, coding, kind)) => (media_type, coding, kind),
        None => ("application/octet-stream", None, FileKind::Other),
    }
}

/// Returns whether a file of this name is a collection.
pub(crate) fn is_collection(name: &str) -> bool {
    of(name).0 == SCP
}

/// Returns whether a compressed file may be served in place of a file of this type: sitemaps, ARC
/// and SPXI files, never collections (D05).
pub(crate) fn has_coded_twin(media_type: &str) -> bool {
    let base = media_type.split(';').next().unwrap_or_default();
    matches!(
        base,
        "application/xml" | "application/json" | "application/ld+json" | "application/yaml"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SCP-144 SCP-145 SCP-146 SCP-213 SPX-050
    fn maps_names_to_types_and_codings() {
        assert_eq!(
            of("scp/a.scp.gz"),
            ("application/scp", Some(ContentCoding::Gzip), FileKind::Snapshot)
        );
        assert_eq!(of("scp/a-delta-1.scp.zst"), (SCP, Some(ContentCoding::Zstd), FileKind::Delta));
        assert_eq!(of("a.SCP"), (SCP, None, FileKind::Snapshot));
        assert_eq!(of("spxi-index.jsonld").0, "application/ld+json");
        assert_eq!(of("backup.tar.gz"), ("application/gzip", None, FileKind::Other));
        assert_eq!(of("a-delta-b.json").2, FileKind::Entry);
        assert_eq!(of("LICENSE").0, "application/octet-stream");
        assert!(has_coded_twin("application/json") && !has_coded_twin(SCP));
        assert!(!has_coded_twin("text/markdown; charset=utf-8"));
    }
}
