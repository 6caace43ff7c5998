//! Requests one file, and parses the response.

use std::io::Read;

use rutter_fetch::{
    FailureCause, FetchedResponse, MissingPageProbe, Request, RequestRefusal, ResourceKind,
    RobotsReason, Url, redact_url,
};
use rutter_finding::{FindingSink, quoted};

use super::lookup::{CheckInterval, LookupOutcome, UrlLookup};
use super::run::{CATCH_ALL_PAGE, DiscoveryRun, MAX_BYTES_IN_MEMORY};
use crate::discover::cache::{CachedFile, is_recent};
use crate::discover::parse::{self, BodyLength, FileFormat};
use crate::discover::parsed_file::{DiscoverySource, ParsedFile, kind_name};
use crate::discover::rules;
use crate::discover::sink::{PageSink, RenamedSink};

impl DiscoveryRun<'_> {
    /// Looks up one URL, by a request or in the cache.
    #[expect(
        clippy::too_many_lines,
        reason = "one step after another, in the order of the protocol"
    )]
    // More than 80 lines: one request and its outcomes, in the order in which they are decided.
    pub(super) async fn check(
        &mut self,
        url: &Url,
        source: DiscoverySource,
        what: ResourceKind,
        need: CheckInterval,
        pages: &mut (dyn PageSink + Send),
    ) {
        let key = url.as_str().to_owned();
        let previous = self.previous.files.get(&key).cloned();
        // Sitemaps, ARC sitemaps and SPXI indexes are requested in every run once they are
        // known, because their content changes.
        let is_entry = need == CheckInterval::Always
            || previous.as_ref().and_then(|previous| previous.parsed.as_ref()).is_some_and(
                |parsed| {
                    matches!(parsed, ParsedFile::Sitemap(_) | ParsedFile::Arc(_) | ParsedFile::Spxi)
                },
            );
        // The caller of discovery requests this file itself.
        let is_theirs = self.previous.fetched_by_caller.contains(&key);
        let is_known = |previous: &&CachedFile| {
            if is_theirs {
                previous.parsed.is_some()
            } else {
                !is_entry && previous.is_recent(self.now)
            }
        };
        if let Some(previous) = previous.as_ref().filter(is_known) {
            let outcome = match &previous.parsed {
                Some(parsed) => LookupOutcome::Cached(kind_name(parsed)),
                None => LookupOutcome::Cached("nothing"),
            };
            self.record_cached(url, source, outcome, previous.clone());
            return;
        }
        if self.limits.bytes <= self.discovery.wire_bytes {
            self.report(&key, &rules::OUT_OF_BOUNDS, "");
            self.parsed.insert(key, None);
            return;
        }
        let is_guess = matches!(source, DiscoverySource::DefaultPath | DiscoverySource::WellKnown);
        if let Some(delay) = self.long_delay.filter(|_| is_guess && what != ResourceKind::Sitemap) {
            let text = RequestRefusal::TooSlow(delay).to_string();
            self.record(url, source, LookupOutcome::Refused(text), None, previous);
            return;
        }
        let probe = if is_guess && self.long_delay.is_none() { self.probe().await } else { None };
        let left = self.limits.bytes - self.discovery.wire_bytes;
        let known = previous.as_ref().filter(|previous| previous.parsed.is_some());
        let request = Request {
            site: Some(self.discovery.site.clone()),
            validators: known.map(|previous| previous.validators.clone()).unwrap_or_default(),
            ..Request::new(url.clone(), what)
        };
        // Large files are written to a temporary directory, which is deleted at the end of
        // this function.
        let is_large = matches!(what, ResourceKind::Arc | ResourceKind::Sitemap);
        let folder = if is_large { tempfile::tempdir().ok() } else { None };
        let request = Request {
            spool: folder.as_ref().map(|folder| folder.path().join("entry")),
            max_bytes: Some(if is_large && folder.is_none() {
                left.min(MAX_BYTES_IN_MEMORY)
            } else {
                left
            }),
            ..request
        };
        let answer = match self.client.fetch(&request).await {
            Ok(answer) => answer,
            Err(error) if matches!(error.cause, FailureCause::Spool(_)) => {
                // The local disk failed, so nothing is known about the file of the site.
                self.parsed.insert(key, None);
                self.spool_error.get_or_insert(error);
                return;
            }
            Err(error) => {
                let outcome = self.failed(url, &error.cause);
                // A failed request does not prove that the file no longer exists, so its
                // cache entry is kept.
                self.record(url, source, outcome, None, previous);
                return;
            }
        };
        self.discovery.wire_bytes += answer.wire_bytes;
        if let Some(previous) = known.filter(|_| answer.is_not_modified()) {
            let outcome = LookupOutcome::Unchanged(previous.parsed.as_ref().map_or("", kind_name));
            self.record_cached(
                url,
                source,
                outcome,
                CachedFile { requested: self.now, ..previous.clone() },
            );
            return;
        }
        let (outcome, parsed) = match answer.status {
            200..=299 => {
                let mut named = RenamedSink { url: &key, pages };
                let mut findings = std::mem::take(&mut self.findings);
                let read = self.read(&answer, what, probe.as_ref(), &mut named, &mut findings);
                let of_file = findings.next_file().into_iter();
                self.discovery.findings.extend(of_file.map(|it| (redact_url(url), it)));
                self.findings = findings;
                read
            }
            404 | 410 => (LookupOutcome::Absent(answer.status), None),
            status => (LookupOutcome::Failed(format!("status {status}")), None),
        };
        let status = Some(answer.status);
        let is_failed = matches!(outcome, LookupOutcome::Failed(_));
        // After a failure, the file may still exist, so the previous cache entry is kept.
        // Only a 4xx response for a file that was never known is cached as a missing file.
        let is_trouble = is_failed && (known.is_some() || !matches!(answer.status, 400..=499));
        let kept = if is_trouble {
            previous
        } else {
            let (requested, validators) = (self.now, answer.validators);
            Some(CachedFile { requested, validators, parsed: parsed.clone() })
        };
        self.record(url, source, outcome, parsed, kept);
        if let Some(lookup) = self.discovery.lookups.last_mut() {
            lookup.status = status;
        }
    }

    /// Returns the outcome of a request without a response.
    pub(super) fn failed(&self, url: &Url, cause: &FailureCause) -> LookupOutcome {
        let text = cause.to_string();
        let is_other_host = url.origin() != self.discovery.site.origin();
        match cause {
            // The robots.txt of the other host may be available in the next run, so this is
            // a failure and not a refusal.
            FailureCause::Refused(RequestRefusal::Robots(RobotsReason::Unreachable(_)))
                if is_other_host =>
            {
                LookupOutcome::Failed(text)
            }
            FailureCause::Refused(_) => LookupOutcome::Refused(text),
            _ => LookupOutcome::Failed(text),
        }
    }

    /// Records a lookup that the cache answered; drops cached content that exceeds the
    /// budget.
    pub(super) fn record_cached(
        &mut self,
        url: &Url,
        source: DiscoverySource,
        outcome: LookupOutcome,
        mut previous: CachedFile,
    ) {
        if let Some(parsed) = &mut previous.parsed
            && !self.budget.trim(parsed)
        {
            self.report(url.as_str(), &rules::OUT_OF_BOUNDS, "");
        }
        self.record(url, source, outcome, previous.parsed.clone(), Some(previous));
    }

    pub(super) fn record(
        &mut self,
        url: &Url,
        source: DiscoverySource,
        outcome: LookupOutcome,
        parsed: Option<ParsedFile>,
        kept: Option<CachedFile>,
    ) {
        self.discovery.lookups.push(UrlLookup {
            url: redact_url(url),
            source,
            outcome,
            status: None,
        });
        self.order.push((url.as_str().to_owned(), source));
        if let Some(ParsedFile::Arc(arc)) = &parsed
            && let Some(rate) = arc.crawl_rate.as_deref().and_then(rutter_arc::CrawlRate::parse)
            && let Some(host) = self.discovery.site.host_str()
        {
            self.client.set_min_delay(host, rate.delay);
        }
        if let Some(ParsedFile::Sitemap(sitemap)) = &parsed {
            self.n_sitemaps += 1;
            self.has_adverts |= !sitemap.adverts.is_empty();
        }
        self.parsed.insert(url.as_str().to_owned(), parsed);
        if let Some(kept) = kept {
            self.discovery.cache.files.insert(url.as_str().to_owned(), kept);
        }
    }

    /// Returns how the host answers a request for a URL that does not exist. Sends such a
    /// request at most once a week.
    pub(super) async fn probe(&mut self) -> Option<MissingPageProbe> {
        if let Some((requested, probe)) = &self.discovery.cache.probe
            && is_recent(*requested, self.now)
        {
            return Some(probe.clone());
        }
        let site = self.discovery.site.clone();
        let probe = self.client.probe_missing_page(&site).await.ok()?;
        if probe.is_soft() {
            self.report(site.as_str(), &rules::SOFT_404, "");
        }
        self.discovery.cache.probe = Some((self.now, probe.clone()));
        Some(probe)
    }

    /// Detects the format of a response and parses its content.
    pub(super) fn read(
        &mut self,
        answer: &FetchedResponse,
        what: ResourceKind,
        probe: Option<&MissingPageProbe>,
        pages: &mut dyn PageSink,
        sink: &mut dyn FindingSink,
    ) -> (LookupOutcome, Option<ParsedFile>) {
        let failed =
            |error: &dyn std::fmt::Display| (LookupOutcome::Failed(error.to_string()), None);
        let mut start = Vec::new();
        let begun = parse::open(answer, what)
            .and_then(|input| input.take(64 << 10).read_to_end(&mut start).map(|_| ()));
        if let Err(error) = begun {
            return failed(&error);
        }
        if let Some(probe) = probe
            && !probe.accepts(answer, &start)
        {
            return (LookupOutcome::Other(CATCH_ALL_PAGE.to_owned()), None);
        }
        let input = match parse::open(answer, what) {
            Ok(input) => input,
            Err(error) => return failed(&error),
        };
        let url = &answer.url;
        let is_compressed = answer.fields.content_encoding.is_some();
        let is_sure = answer.is_length_known || is_compressed || start.starts_with(&[0x1f, 0x8b]);
        let ending = if is_sure { BodyLength::Known } else { BodyLength::Unknown };
        let parsed = match what {
            ResourceKind::Sitemap | ResourceKind::Arc => match parse::detect_format(&start) {
                FileFormat::Sitemap => {
                    let budget = &mut self.budget;
                    parse::sitemap(input, url, ending, budget, pages, sink).map(ParsedFile::Sitemap)
                }
                FileFormat::Arc(form) => parse::arc(input, form, url, pages, sink),
                FileFormat::Other => None,
            },
            _ => {
                let mut text = Vec::new();
                let mut input = input;
                if let Err(error) = input.read_to_end(&mut text) {
                    return failed(&error);
                }
                match what {
                    ResourceKind::Llms => parse::llms(&text, url).map(ParsedFile::Llms),
                    ResourceKind::SpxiIndex => parse::is_spxi_index(&text).then(|| {
                        pages.spxi(url.as_str(), &text);
                        ParsedFile::Spxi
                    }),
                    ResourceKind::Policy => parse::is_policy(&text).then_some(ParsedFile::Policy),
                    _ => {
                        let charset = answer.fields.charset();
                        Some(ParsedFile::Home(parse::home(&text, url, charset, self.now)))
                    }
                }
            }
        };
        match parsed {
            Some(parsed) => (LookupOutcome::Found(kind_name(&parsed)), Some(parsed)),
            None => {
                let media = answer.fields.media_type();
                (
                    LookupOutcome::Other(format!("unexpected content of type {}", quoted(&media))),
                    None,
                )
            }
        }
    }
}
