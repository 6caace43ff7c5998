//! Kinds of files that are fetched, with the size limits and timeouts of each.

use std::time::Duration;

use rutter_robots::RobotsTxt;

/// The kind of a fetched file, which decides its limits (D89).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ResourceKind {
    /// robots.txt; of a file that is too large, only the beginning is read.
    Robots,
    /// A sitemap in XML or text.
    Sitemap,
    /// An ARC sitemap or a delta of one.
    Arc,
    /// An ARC policy.
    Policy,
    /// An SPXI index.
    SpxiIndex,
    /// An SPXI packet.
    SpxiPacket,
    /// llms.txt.
    Llms,
    /// An HTML page or its Markdown twin.
    Page,
    /// An SCP collection.
    Collection,
}

/// The size limits of one kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeLimits {
    /// Maximum size on the wire, in bytes.
    pub wire: u64,
    /// Maximum size after decompression, in bytes.
    pub decoded: u64,
}

impl ResourceKind {
    /// Returns the size limits of this kind.
    pub fn size_limits(self) -> SizeLimits {
        let same = |bytes: u64| SizeLimits { wire: bytes, decoded: bytes };
        match self {
            Self::Robots => same(RobotsTxt::MAX_BYTES as u64 + 1),
            Self::Sitemap => same(52_428_800),
            Self::Arc => same(2_000_000_000),
            Self::Policy => same(256_000),
            Self::SpxiIndex => same(5_000_000),
            Self::SpxiPacket | Self::Llms => same(1_000_000),
            Self::Page => same(10_000_000),
            Self::Collection => SizeLimits { wire: 2_000_000_000, decoded: 20_000_000_000 },
        }
    }

    /// Returns the value of the `Accept` header for this kind.
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

    /// Returns whether the file is a single page. The client fetches no single pages from hosts
    /// that ask for a long delay (D52).
    pub(crate) fn is_page(self) -> bool {
        self == Self::Page
    }
}

/// The timeouts of the phases of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Resolving a host name.
    pub resolve: Duration,
    /// Opening a TCP connection to one address.
    pub connect: Duration,
    /// The TLS handshake.
    pub tls: Duration,
    /// Waiting for the response head.
    pub headers: Duration,
    /// Waiting for the next bytes of the body.
    pub idle: Duration,
    /// Receiving a body that arrives at less than 1 KiB per second.
    pub crawl: Duration,
    /// The whole request, for all kinds of files except those of `whole_large`.
    pub whole: Duration,
    /// The whole request for a collection or an ARC sitemap.
    pub whole_large: Duration,
}

impl Timeouts {
    /// The default timeouts.
    pub const DEFAULT: Self = Self {
        resolve: Duration::from_secs(5),
        connect: Duration::from_secs(5),
        tls: Duration::from_secs(10),
        headers: Duration::from_secs(15),
        idle: Duration::from_secs(30),
        crawl: Duration::from_secs(30),
        whole: Duration::from_mins(2),
        whole_large: Duration::from_hours(6),
    };

    /// Returns the timeout of the whole request for this kind of file.
    pub(crate) fn total_for(&self, kind: ResourceKind) -> Duration {
        match kind {
            ResourceKind::Collection | ResourceKind::Arc => self.whole_large,
            _ => self.whole,
        }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self::DEFAULT
    }
}
