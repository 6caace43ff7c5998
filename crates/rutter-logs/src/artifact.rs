//! Classifies a request path: page, Markdown, collection, sitemap and so on.
//!
//! Only the path decides, because a log does not contain the media type of the response. A page
//! that was served as Markdown because of the `Accept` header counts as a page. A path without
//! extension counts as a page, too.

/// Kind of the artifact that a client requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Artifact {
    /// An HTML page.
    Page,
    /// A Markdown twin.
    Markdown,
    /// A sitemap or an index of sitemaps.
    Sitemap,
    /// An SCP snapshot.
    ScpSnapshot,
    /// An SCP delta.
    ScpDelta,
    /// An ARC sitemap, or the pointer to an ARC sitemap.
    ArcSitemap,
    /// An ARC delta.
    ArcDelta,
    /// An ARC policy.
    ArcPolicy,
    /// The partner API.
    ArcApi,
    /// The SPXI index.
    SpxiIndex,
    /// An SPXI packet.
    SpxiPacket,
    /// `llms.txt` or `llms-full.txt`.
    Llms,
    /// `robots.txt`.
    Robots,
    /// RSS, Atom or a JSON feed.
    Feed,
    /// A file that pages load: image, style sheet, script, font, audio or video.
    Asset,
    /// A file of none of these kinds.
    Other,
}

impl Artifact {
    /// All kinds of artifacts, in the order in which outputs list them.
    pub const ALL: [Self; 16] = [
        Self::Page,
        Self::Markdown,
        Self::Sitemap,
        Self::ScpSnapshot,
        Self::ScpDelta,
        Self::ArcSitemap,
        Self::ArcDelta,
        Self::ArcPolicy,
        Self::ArcApi,
        Self::SpxiIndex,
        Self::SpxiPacket,
        Self::Llms,
        Self::Robots,
        Self::Feed,
        Self::Asset,
        Self::Other,
    ];

    /// Returns the name that all outputs use for this kind of artifact.
    pub fn name(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Markdown => "markdown",
            Self::Sitemap => "sitemap",
            Self::ScpSnapshot => "scp snapshot",
            Self::ScpDelta => "scp delta",
            Self::ArcSitemap => "arc sitemap",
            Self::ArcDelta => "arc delta",
            Self::ArcPolicy => "arc policy",
            Self::ArcApi => "arc api",
            Self::SpxiIndex => "spxi index",
            Self::SpxiPacket => "spxi packet",
            Self::Llms => "llms.txt",
            Self::Robots => "robots.txt",
            Self::Feed => "feed",
            Self::Asset => "asset",
            Self::Other => "other",
        }
    }

    /// Returns whether this kind of artifact is an SCP collection.
    pub fn is_collection(self) -> bool {
        matches!(self, Self::ScpSnapshot | Self::ScpDelta)
    }

    /// Returns whether a client that reads this artifact need not request its pages one by one.
    pub fn replaces_pages(self) -> bool {
        self.is_collection() || matches!(self, Self::ArcSitemap | Self::ArcDelta | Self::ArcApi)
    }

    /// Returns the kind of artifact that the target of a request has.
    ///
    /// ```
    /// # use rutter_logs::Artifact;
    /// assert_eq!(Artifact::of("/docs/?page=2"), Artifact::Page);
    /// assert_eq!(Artifact::of("/scp/docs-delta-20260501.scp.zst"), Artifact::ScpDelta);
    /// ```
    pub fn of(target: &str) -> Self {
        let path = path(target);
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        if name.is_empty() {
            let is_feed = folder.ends_with("/feed") || folder.ends_with("/rss");
            return if is_feed { Self::Feed } else { Self::Page };
        }
        let bare = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name);
        if let Some(stem) = bare.strip_suffix(".scp") {
            return if stem.contains("-delta-") { Self::ScpDelta } else { Self::ScpSnapshot };
        }
        // If the base URL of a site has a path, the partner API is below that path.
        if path.starts_with("/arc-api/") || path.ends_with("/arc-api/v1/pages") {
            return Self::ArcApi;
        }
        let Some((stem, ending)) = name.rsplit_once('.') else {
            return if matches!(name, "feed" | "rss" | "atom") { Self::Feed } else { Self::Page };
        };
        // `/v1.2` and `/.` are pages: the text after the last dot is not an extension.
        if stem.is_empty() || ending.bytes().all(|byte| byte.is_ascii_digit()) {
            return Self::Page;
        }
        match by_ending(ending) {
            Self::Other => by_name(path, bare).unwrap_or(Self::Other),
            known => known,
        }
    }
}

/// Returns the path of a request target, which may be an absolute URL, without query and fragment.
pub(crate) fn path(target: &str) -> &str {
    let target = if target.starts_with('/') {
        target
    } else {
        let rest = target.split_once("://").map_or(target, |(_, rest)| rest);
        rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/")
    };
    let end = memchr::memchr2(b'?', b'#', target.as_bytes()).unwrap_or(target.len());
    target.get(..end).unwrap_or(target)
}

/// Returns the kind of artifact that has this well-known file name (`name` has no `.gz` or `.zst`
/// at its end).
fn by_name(path: &str, name: &str) -> Option<Artifact> {
    Some(match name {
        "robots.txt" if path == "/robots.txt" => Artifact::Robots,
        "llms.txt" | "llms-full.txt" => Artifact::Llms,
        "arc-policy.json" => Artifact::ArcPolicy,
        "spxi-index.jsonld" => Artifact::SpxiIndex,
        "spxi-packet.jsonld" => Artifact::SpxiPacket,
        "feed.xml" | "rss.xml" | "atom.xml" | "index.xml" | "feed.json" => Artifact::Feed,
        _ if path.contains("/arc-sitemap-deltas/") => Artifact::ArcDelta,
        _ if name.starts_with("arc-sitemap.") => Artifact::ArcSitemap,
        _ if name.contains("sitemap") && matches!(ending(name), "xml" | "txt") => Artifact::Sitemap,
        _ => return None,
    })
}

fn ending(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, ending)| ending)
}

fn by_ending(ending: &str) -> Artifact {
    let mut lower = [0; 8];
    let Some(lower) = lower.get_mut(..ending.len()) else { return Artifact::Other };
    lower.copy_from_slice(ending.as_bytes());
    lower.make_ascii_lowercase();
    match &*lower {
        b"html" | b"htm" | b"xhtml" | b"shtml" | b"php" | b"asp" | b"aspx" | b"jsp" => {
            Artifact::Page
        }
        b"md" | b"markdown" => Artifact::Markdown,
        b"rss" | b"atom" => Artifact::Feed,
        b"css" | b"js" | b"mjs" | b"map" | b"png" | b"jpg" | b"jpeg" | b"gif" | b"webp"
        | b"avif" | b"svg" | b"ico" | b"woff" | b"woff2" | b"ttf" | b"otf" | b"eot" | b"mp4"
        | b"webm" | b"mp3" | b"ogg" | b"wav" | b"wasm" | b"webmanifest" => Artifact::Asset,
        _ => Artifact::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classifies_paths() {
        for (target, wanted) in [
            ("/", Artifact::Page),
            ("/a/b", Artifact::Page),
            ("/a/b.HTML?x=1", Artifact::Page),
            ("/v1.2", Artifact::Page),
            ("/a.md", Artifact::Markdown),
            ("/index.html.md", Artifact::Markdown),
            ("/sitemap.xml", Artifact::Sitemap),
            ("/sitemap-3.xml.gz", Artifact::Sitemap),
            ("/sitemap_index.xml", Artifact::Sitemap),
            ("/sitemap.txt", Artifact::Sitemap),
            ("/sitemap", Artifact::Page),
            ("/scp/all-snapshot-20260501T000000Z.scp.gz", Artifact::ScpSnapshot),
            ("/scp/all-delta-20260501T000000Z.scp", Artifact::ScpDelta),
            ("/scp/river-deltas-snapshot-20260501T000000Z.scp.zst", Artifact::ScpSnapshot),
            ("/arc-sitemap.json", Artifact::ArcSitemap),
            ("/.well-known/arc-sitemap.json", Artifact::ArcSitemap),
            ("/arc-sitemap.yaml.gz", Artifact::ArcSitemap),
            ("/arc-sitemap-deltas/2026-05-01.json", Artifact::ArcDelta),
            ("/.well-known/arc-policy.json", Artifact::ArcPolicy),
            ("/arc-api/v1/pages?url=https%3A%2F%2Fa", Artifact::ArcApi),
            ("/docs/arc-api/v1/pages", Artifact::ArcApi),
            ("/docs/arc-api/v1/pages?limit=9", Artifact::ArcApi),
            ("/blog/arc-api/", Artifact::Page),
            ("/blog/arc-api/intro", Artifact::Page),
            ("/spxi-index.jsonld", Artifact::SpxiIndex),
            ("/museum/spxi-packet.jsonld", Artifact::SpxiPacket),
            ("/llms.txt", Artifact::Llms),
            ("/docs/llms-full.txt", Artifact::Llms),
            ("/robots.txt", Artifact::Robots),
            ("/blog/robots.txt", Artifact::Other),
            ("/feed.xml", Artifact::Feed),
            ("/feed/", Artifact::Feed),
            ("/blog/rss", Artifact::Feed),
            ("/style.css?v=3", Artifact::Asset),
            ("/a/photo.JPG", Artifact::Asset),
            ("/paper.pdf", Artifact::Other),
            ("/data.json", Artifact::Other),
            ("/x.averyverylongending", Artifact::Other),
            ("https://harbour.example/llms.txt", Artifact::Llms),
            ("https://harbour.example", Artifact::Page),
            ("*", Artifact::Page),
            ("", Artifact::Page),
            ("/a?b=/robots.txt", Artifact::Page),
            ("/é.é", Artifact::Other),
        ] {
            assert_eq!(Artifact::of(target), wanted, "{target}");
        }
    }
}
