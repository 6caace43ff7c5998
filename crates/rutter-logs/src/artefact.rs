//! What a path is: a page, its Markdown, a collection, a signpost.
//!
//! Decided by the path alone, because that is what a log has. A page that was
//! given as Markdown because the client asked for it with `Accept` is a page
//! here, and so is whatever has no ending at all.

/// What a request asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Artefact {
    /// A page for people.
    Page,
    /// A page as Markdown.
    Markdown,
    /// A sitemap or an index of sitemaps.
    Sitemap,
    /// An SCP snapshot.
    ScpSnapshot,
    /// An SCP delta.
    ScpDelta,
    /// An ARC sitemap, or the pointer to it.
    ArcSitemap,
    /// What changed in an ARC sitemap on a day.
    ArcDelta,
    /// An ARC policy.
    ArcPolicy,
    /// Pages for partners.
    ArcApi,
    /// The SPXI index.
    SpxiIndex,
    /// What SPXI says of one entity.
    SpxiPacket,
    /// `llms.txt` or `llms-full.txt`.
    Llms,
    /// `robots.txt`.
    Robots,
    /// RSS, Atom or a JSON feed.
    Feed,
    /// What a page needs to be shown: pictures, styles, scripts, fonts.
    Asset,
    /// Any other file.
    Other,
}

impl Artefact {
    /// All kinds, in the order in which they are listed.
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

    /// The name used in all outputs.
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

    /// Tells whether it holds many pages at once.
    pub fn is_collection(self) -> bool {
        matches!(self, Self::ScpSnapshot | Self::ScpDelta)
    }

    /// Tells whether it exists so that machines need not read every page.
    pub fn spares_pages(self) -> bool {
        self.is_collection() || matches!(self, Self::ArcSitemap | Self::ArcDelta | Self::ArcApi)
    }

    /// Says what the target of a request is.
    ///
    /// ```
    /// # use rutter_logs::Artefact;
    /// assert_eq!(Artefact::of("/docs/?page=2"), Artefact::Page);
    /// assert_eq!(Artefact::of("/scp/docs-delta-20260501.scp.zst"), Artefact::ScpDelta);
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
        // Of a site under a path it lies below that.
        if path.starts_with("/arc-api/") || path.ends_with("/arc-api/v1/pages") {
            return Self::ArcApi;
        }
        let Some((stem, ending)) = name.rsplit_once('.') else {
            return if matches!(name, "feed" | "rss" | "atom") { Self::Feed } else { Self::Page };
        };
        // `/v1.2` is a page; so is `/.` for what it is worth.
        if stem.is_empty() || ending.bytes().all(|byte| byte.is_ascii_digit()) {
            return Self::Page;
        }
        match by_ending(ending) {
            Self::Other => by_name(path, bare).unwrap_or(Self::Other),
            known => known,
        }
    }
}

/// The path of a target, without the query; also of a whole address.
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

/// Files that are known by their names; compressed or not.
fn by_name(path: &str, name: &str) -> Option<Artefact> {
    Some(match name {
        "robots.txt" if path == "/robots.txt" => Artefact::Robots,
        "llms.txt" | "llms-full.txt" => Artefact::Llms,
        "arc-policy.json" => Artefact::ArcPolicy,
        "spxi-index.jsonld" => Artefact::SpxiIndex,
        "spxi-packet.jsonld" => Artefact::SpxiPacket,
        "feed.xml" | "rss.xml" | "atom.xml" | "index.xml" | "feed.json" => Artefact::Feed,
        _ if path.contains("/arc-sitemap-deltas/") => Artefact::ArcDelta,
        _ if name.starts_with("arc-sitemap.") => Artefact::ArcSitemap,
        _ if name.contains("sitemap") && matches!(ending(name), "xml" | "txt") => Artefact::Sitemap,
        _ => return None,
    })
}

fn ending(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, ending)| ending)
}

fn by_ending(ending: &str) -> Artefact {
    let mut lower = [0; 8];
    let Some(lower) = lower.get_mut(..ending.len()) else { return Artefact::Other };
    lower.copy_from_slice(ending.as_bytes());
    lower.make_ascii_lowercase();
    match &*lower {
        b"html" | b"htm" | b"xhtml" | b"shtml" | b"php" | b"asp" | b"aspx" | b"jsp" => {
            Artefact::Page
        }
        b"md" | b"markdown" => Artefact::Markdown,
        b"rss" | b"atom" => Artefact::Feed,
        b"css" | b"js" | b"mjs" | b"map" | b"png" | b"jpg" | b"jpeg" | b"gif" | b"webp"
        | b"avif" | b"svg" | b"ico" | b"woff" | b"woff2" | b"ttf" | b"otf" | b"eot" | b"mp4"
        | b"webm" | b"mp3" | b"ogg" | b"wav" | b"wasm" | b"webmanifest" => Artefact::Asset,
        _ => Artefact::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_paths_are_what_they_look_like() {
        for (target, wanted) in [
            ("/", Artefact::Page),
            ("/a/b", Artefact::Page),
            ("/a/b.HTML?x=1", Artefact::Page),
            ("/v1.2", Artefact::Page),
            ("/a.md", Artefact::Markdown),
            ("/index.html.md", Artefact::Markdown),
            ("/sitemap.xml", Artefact::Sitemap),
            ("/sitemap-3.xml.gz", Artefact::Sitemap),
            ("/sitemap_index.xml", Artefact::Sitemap),
            ("/sitemap.txt", Artefact::Sitemap),
            ("/sitemap", Artefact::Page),
            ("/scp/all-snapshot-20260501T000000Z.scp.gz", Artefact::ScpSnapshot),
            ("/scp/all-delta-20260501T000000Z.scp", Artefact::ScpDelta),
            ("/scp/river-deltas-snapshot-20260501T000000Z.scp.zst", Artefact::ScpSnapshot),
            ("/arc-sitemap.json", Artefact::ArcSitemap),
            ("/.well-known/arc-sitemap.json", Artefact::ArcSitemap),
            ("/arc-sitemap.yaml.gz", Artefact::ArcSitemap),
            ("/arc-sitemap-deltas/2026-05-01.json", Artefact::ArcDelta),
            ("/.well-known/arc-policy.json", Artefact::ArcPolicy),
            ("/arc-api/v1/pages?url=https%3A%2F%2Fa", Artefact::ArcApi),
            ("/docs/arc-api/v1/pages", Artefact::ArcApi),
            ("/docs/arc-api/v1/pages?limit=9", Artefact::ArcApi),
            ("/blog/arc-api/", Artefact::Page),
            ("/blog/arc-api/intro", Artefact::Page),
            ("/spxi-index.jsonld", Artefact::SpxiIndex),
            ("/museum/spxi-packet.jsonld", Artefact::SpxiPacket),
            ("/llms.txt", Artefact::Llms),
            ("/docs/llms-full.txt", Artefact::Llms),
            ("/robots.txt", Artefact::Robots),
            ("/blog/robots.txt", Artefact::Other),
            ("/feed.xml", Artefact::Feed),
            ("/feed/", Artefact::Feed),
            ("/blog/rss", Artefact::Feed),
            ("/style.css?v=3", Artefact::Asset),
            ("/a/photo.JPG", Artefact::Asset),
            ("/paper.pdf", Artefact::Other),
            ("/data.json", Artefact::Other),
            ("/x.averyverylongending", Artefact::Other),
            ("https://harbour.example/llms.txt", Artefact::Llms),
            ("https://harbour.example", Artefact::Page),
            ("*", Artefact::Page),
            ("", Artefact::Page),
            ("/a?b=/robots.txt", Artefact::Page),
            ("/é.é", Artefact::Other),
        ] {
            assert_eq!(Artefact::of(target), wanted, "{target}");
        }
    }
}
