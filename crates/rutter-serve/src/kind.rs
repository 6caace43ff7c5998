//! A table of what a name says of a file: type, coding, and how long it may be
//! kept (D05, D10).
//!
//! `served.json` knows better where it speaks of a file; pictures, styles and
//! whatever else a site has are known by this table alone.

/// Why a file may be kept for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Kind {
    Snapshot,
    Delta,
    /// What announces everything else: sitemaps, index, policy.
    Entry,
    /// The Markdown of a page.
    Twin,
    Page,
    #[default]
    Other,
}

impl Kind {
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

/// How stored bytes are coded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Coding {
    Gzip,
    Zstd,
}

impl Coding {
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

/// The type of collections; it has no parameters (SCP-213).
pub(crate) const SCP: &str = "application/scp";
pub(crate) const HTML: &str = "text/html";
pub(crate) const MARKDOWN: &str = "text/markdown; charset=utf-8";

type Row = (&'static str, &'static str, Option<Coding>, Kind);

/// The first ending that fits counts.
const ROWS: [Row; 52] = [
    (".scp.zst", SCP, Some(Coding::Zstd), Kind::Snapshot),
    (".scp.gz", SCP, Some(Coding::Gzip), Kind::Snapshot),
    (".scp", SCP, None, Kind::Snapshot),
    (".html", HTML, None, Kind::Page),
    (".htm", HTML, None, Kind::Page),
    (".xhtml", "application/xhtml+xml", None, Kind::Page),
    (".md", MARKDOWN, None, Kind::Twin),
    (".xml", "application/xml", None, Kind::Entry),
    (".xml.gz", "application/xml", Some(Coding::Gzip), Kind::Entry),
    (".json", "application/json", None, Kind::Entry),
    (".json.gz", "application/json", Some(Coding::Gzip), Kind::Entry),
    (".jsonld", "application/ld+json", None, Kind::Entry),
    (".jsonld.gz", "application/ld+json", Some(Coding::Gzip), Kind::Entry),
    (".yaml", "application/yaml", None, Kind::Entry),
    (".yaml.gz", "application/yaml", Some(Coding::Gzip), Kind::Entry),
    (".yml", "application/yaml", None, Kind::Entry),
    (".txt", "text/plain; charset=utf-8", None, Kind::Entry),
    (".css", "text/css; charset=utf-8", None, Kind::Other),
    (".js", "text/javascript; charset=utf-8", None, Kind::Other),
    (".mjs", "text/javascript; charset=utf-8", None, Kind::Other),
    (".map", "application/json", None, Kind::Other),
    (".webmanifest", "application/manifest+json", None, Kind::Other),
    (".rss", "application/rss+xml", None, Kind::Other),
    (".atom", "application/atom+xml", None, Kind::Other),
    (".csv", "text/csv; charset=utf-8", None, Kind::Other),
    (".png", "image/png", None, Kind::Other),
    (".jpg", "image/jpeg", None, Kind::Other),
    (".jpeg", "image/jpeg", None, Kind::Other),
    (".gif", "image/gif", None, Kind::Other),
    (".svg", "image/svg+xml", None, Kind::Other),
    (".webp", "image/webp", None, Kind::Other),
    (".avif", "image/avif", None, Kind::Other),
    (".ico", "image/vnd.microsoft.icon", None, Kind::Other),
    (".bmp", "image/bmp", None, Kind::Other),
    (".woff", "font/woff", None, Kind::Other),
    (".woff2", "font/woff2", None, Kind::Other),
    (".ttf", "font/ttf", None, Kind::Other),
    (".otf", "font/otf", None, Kind::Other),
    (".mp3", "audio/mpeg", None, Kind::Other),
    (".ogg", "audio/ogg", None, Kind::Other),
    (".opus", "audio/ogg", None, Kind::Other),
    (".flac", "audio/flac", None, Kind::Other),
    (".wav", "audio/wav", None, Kind::Other),
    (".mp4", "video/mp4", None, Kind::Other),
    (".webm", "video/webm", None, Kind::Other),
    (".vtt", "text/vtt; charset=utf-8", None, Kind::Other),
    (".pdf", "application/pdf", None, Kind::Other),
    (".epub", "application/epub+zip", None, Kind::Other),
    (".zip", "application/zip", None, Kind::Other),
    (".wasm", "application/wasm", None, Kind::Other),
    (".gz", "application/gzip", None, Kind::Other),
    (".zst", "application/zstd", None, Kind::Other),
];

/// Type, coding and kind of a file of this name.
pub(crate) fn of(name: &str) -> (&'static str, Option<Coding>, Kind) {
    let file = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    let found = ROWS.into_iter().find(|(ending, ..)| file.ends_with(ending));
    match found {
        // Deltas are told by their name; line 1 knows it too.
        Some((_, SCP, coding, _)) if file.contains("-delta-") => (SCP, coding, Kind::Delta),
        Some((_, media_type, coding, kind)) => (media_type, coding, kind),
        None => ("application/octet-stream", None, Kind::Other),
    }
}

/// Whether a file of this name is a collection.
pub(crate) fn is_collection(name: &str) -> bool {
    of(name).0 == SCP
}

/// Whether a file of this type may be sent in its compressed form instead:
/// sitemaps, ARC and SPXI files, never collections (D05).
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
    fn spec_names_say_types_and_codings() {
        assert_eq!(of("scp/a.scp.gz"), ("application/scp", Some(Coding::Gzip), Kind::Snapshot));
        assert_eq!(of("scp/a-delta-1.scp.zst"), (SCP, Some(Coding::Zstd), Kind::Delta));
        assert_eq!(of("a.SCP"), (SCP, None, Kind::Snapshot));
        assert_eq!(of("spxi-index.jsonld").0, "application/ld+json");
        assert_eq!(of("backup.tar.gz"), ("application/gzip", None, Kind::Other));
        assert_eq!(of("a-delta-b.json").2, Kind::Entry);
        assert_eq!(of("LICENSE").0, "application/octet-stream");
        assert!(has_coded_twin("application/json") && !has_coded_twin(SCP));
        assert!(!has_coded_twin("text/markdown; charset=utf-8"));
    }
}
