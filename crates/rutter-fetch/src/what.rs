//! What is fetched: kinds of files, how large each may be, how long it may take.

use std::time::Duration;

use rutter_signpost::robots::Robots;

/// The kind of a file decides its limits (D89).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum What {
    /// robots.txt: what is too much is not read.
    Robots,
    /// A sitemap in XML or text.
    Sitemap,
    /// An ARC sitemap or a delta of it.
    Arc,
    /// An ARC policy.
    Policy,
    /// An SPXI index.
    SpxiIndex,
    /// A packet of SPXI.
    SpxiPacket,
    /// llms.txt.
    Llms,
    /// A page for people, or its Markdown.
    Page,
    /// An SCP collection.
    Collection,
}

/// Ceilings of one kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Bytes on the wire.
    pub wire: u64,
    /// Bytes after all codings are undone.
    pub decoded: u64,
}

impl What {
    /// How large a file of this kind may be.
    pub fn sizes(self) -> Sizes {
        let same = |bytes: u64| Sizes { wire: bytes, decoded: bytes };
        match self {
            Self::Robots => same(Robots::MOST_BYTES as u64 + 1),
            Self::Sitemap => same(52_428_800),
            Self::Arc => same(2_000_000_000),
            Self::Policy => same(256_000),
            Self::SpxiIndex => same(5_000_000),
            Self::SpxiPacket | Self::Llms => same(1_000_000),
            Self::Page => same(10_000_000),
            Self::Collection => Sizes { wire: 2_000_000_000, decoded: 20_000_000_000 },
        }
    }

    /// What is said to be welcome.
    pub(crate) fn accept(self) -> &'static str {
        match self {
            Self::Robots | Self::Llms => "text/plain, text/markdown, */*;q=0.1",
            Self::Sitemap => "application/xml, text/xml, text/plain;q=0.8, */*;q=0.1",
            Self::Arc | Self::Policy => "application/json, application/yaml;q=0.8, */*;q=0.1",
            Self::SpxiIndex | Self::SpxiPacket => {
                "application/ld+json, application/json;q=0.9, */*;q=0.1"
            }
            Self::Page => "text/html, application/xhtml+xml, text/markdown;q=0.9, */*;q=0.1",
            Self::Collection => "application/scp, */*;q=0.1",
        }
    }

    /// Whether so much is one page among many, for which slow hosts have no
    /// time (D52).
    pub(crate) fn is_page(self) -> bool {
        self == Self::Page
    }
}

/// How long each phase may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// Finding the address of a name.
    pub resolve: Duration,
    /// Connecting, each address.
    pub connect: Duration,
    /// The handshake.
    pub tls: Duration,
    /// Until the head of the answer is there.
    pub headers: Duration,
    /// Between two pieces of the body.
    pub idle: Duration,
    /// A body that brings less than 1 KiB a second for so long is given up.
    pub crawl: Duration,
    /// One exchange of anything but a large file.
    pub whole: Duration,
    /// One exchange of a collection or an ARC sitemap.
    pub whole_large: Duration,
}

impl Deadlines {
    /// What patient people wait.
    pub const USUAL: Self = Self {
        resolve: Duration::from_secs(5),
        connect: Duration::from_secs(5),
        tls: Duration::from_secs(10),
        headers: Duration::from_secs(15),
        idle: Duration::from_secs(30),
        crawl: Duration::from_secs(30),
        whole: Duration::from_mins(2),
        whole_large: Duration::from_hours(6),
    };

    pub(crate) fn whole_of(&self, what: What) -> Duration {
        match what {
            What::Collection | What::Arc => self.whole_large,
            _ => self.whole,
        }
    }
}

impl Default for Deadlines {
    fn default() -> Self {
        Self::USUAL
    }
}
