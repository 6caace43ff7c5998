//! Reads the ARC sitemap in all formats, and its dated deltas.

use rutter_arc::{Consent, parse_delta_file_name};
use rutter_finding::{Finding, Place};
use rutter_page::{LineDigest, find_model_instruction};

use super::{ArcDelta, ArcFile};
use crate::rules;
use crate::site::SiteView;
use crate::site::page_rows::{ArcPageEntry, RestrictionReason};

rutter_finding::rules! {
    ARC_COPIES = "XL045" "arc-copies-differ" (warning, "D54") {
        title: "copy of the ARC sitemap differs from arc-sitemap.json",
        why: "The file that an agent reads decides which version it obeys.",
        fix: "Build the site again, so that all formats have the same content.",
        wrong: "`arc-sitemap.yaml` of yesterday next to `arc-sitemap.json` of today.",
        right: "Both files of the same build.",
    }
}

/// The maximum number of deltas that are read.
const MOST_DAYS: usize = 1000;
/// The maximum number of delta entries that are compared with the sitemap.
const MOST_SAID: usize = 1_000_000;

impl SiteView<'_> {
    pub(super) fn read_arc(&mut self) {
        let well_known = ".well-known/arc-sitemap.json";
        let root = self.files.at_root(self.home, "arc-sitemap.json");
        let copy = self.files.at_root(self.home, well_known);
        let Some(main) = root.or(copy) else { return };
        self.read_sitemap_of_arc(main);
        if let (Some(copy), Some(root)) = (copy, root) {
            // Identical files are checked only once.
            if !self.are_same(copy, root) {
                self.compare_copy(copy);
            }
        }
        for name in ["arc-sitemap.yaml", "arc-sitemap.yml"] {
            if let Some(yaml) = self.files.at_root(self.home, name) {
                self.compare_copy(yaml);
            }
        }
        let days: Vec<(u32, String)> = self
            .files
            .iter()
            .filter(|(_, file)| {
                file.path.contains("arc-sitemap-deltas/") && file.path.ends_with(".json")
            })
            .map(|(at, file)| (at, file.path.to_string()))
            .take(MOST_DAYS)
            .collect();
        let mut n_said = 0;
        for (at, path) in days {
            let Some(Some(_)) = parse_delta_file_name(&path) else {
                self.check_file(at);
                continue;
            };
            let name = path.rsplit('/').next().unwrap_or_default();
            let name = name.trim_end_matches(".json").to_owned();
            let mut entries = Vec::new();
            let head = self.each_entry(at, &mut |entry, idx| {
                if n_said < MOST_SAID {
                    n_said += 1;
                    entries.push((entry.url.key().into(), entry_hash(entry), entry.removed, idx));
                }
            });
            if head.is_some() {
                self.machine_files.days.push(ArcDelta { file: at, name, entries });
            }
        }
    }

    fn read_sitemap_of_arc(&mut self, at: u32) {
        let (mut found, mut latest, mut sum) = (Vec::new(), None, 0_u64);
        let mut findings = Vec::new();
        let head = self.each_entry(at, &mut |entry, idx| {
            latest = latest.max(entry.lastmod);
            sum = sum.wrapping_add(entry_hash(entry));
            if let Some(order) = entry.ai_summary.as_deref().and_then(find_model_instruction) {
                let place = Place { line: None, pointer: format!("/pages/{idx}/ai_summary") };
                findings.push(Finding::new(&rules::ORDER, place, rutter_finding::quoted(order)));
            }
            found.push((
                Box::<str>::from(entry.url.key()),
                ArcPageEntry {
                    idx,
                    lastmod: entry.lastmod,
                    closed: closed_of(entry),
                    checksum: entry.ai_checksum.as_deref().map(Box::from),
                    hash: entry_hash(entry),
                },
            ));
        });
        for finding in findings {
            self.findings.add(at, finding);
        }
        let Some(head) = head else { return };
        if let Some(home) = self.home {
            for (url, entry) in found {
                if let Some(row) = self.rows.at(self.files, home, &url)
                    && row.arc.is_none()
                {
                    row.arc = Some(Box::new(entry));
                }
            }
        }
        self.machine_files.arc = Some(ArcFile { file: at, head, latest, sum });
    }

    fn compare_copy(&mut self, at: u32) {
        let Some(arc) = &self.machine_files.arc else { return };
        let (wanted, generated) = (arc.sum, arc.head.generated_at);
        let mut sum = 0_u64;
        // The report of the file contains read errors already.
        let head = self.each_entry(at, &mut |entry, _| sum = sum.wrapping_add(entry_hash(entry)));
        let Some(head) = head else { return };
        let detail = if head.generated_at != generated {
            "`generated_at` differs"
        } else if sum != wanted {
            "the entries differ"
        } else {
            return;
        };
        self.findings.add(at, Finding::new(&ARC_COPIES, Place::WHOLE, detail));
    }

    /// Checks a file and passes each entry to a callback; returns `None` if the file cannot be read
    /// completely.
    fn each_entry(
        &mut self,
        at: u32,
        take: &mut dyn FnMut(&rutter_arc::ArcEntry<'_>, u64),
    ) -> Option<rutter_arc::SitemapHeader> {
        let open = || self.files.open(at);
        let subject = crate::CheckTarget { name: self.files.path(at).to_owned(), open: &open };
        match crate::check_arc(&subject, &self.options.check_options, take) {
            Ok((file_report, head)) => {
                self.findings.add_report(file_report);
                head
            }
            Err(error) => {
                self.unreadable(at, &error);
                None
            }
        }
    }
}

/// Returns a hash of all members of an entry.
fn entry_hash(entry: &rutter_arc::ArcEntry<'_>) -> u64 {
    let mut text = entry.to_json();
    // The members of a snapshot have no defined order.
    if entry.ai_snapshot.is_some()
        && let Ok(value) = serde_json::from_str::<serde_json::Value>(&text)
    {
        text = value.to_string();
    }
    let LineDigest(digest) = LineDigest::of(text.as_bytes());
    digest.first_chunk::<8>().map_or(0, |eight| u64::from_le_bytes(*eight))
}

fn closed_of(entry: &rutter_arc::ArcEntry<'_>) -> Option<RestrictionReason> {
    if entry.auth_required == Some(true) {
        return Some(RestrictionReason::Login);
    }
    if entry.directives().has(rutter_arc::RobotsDirective::NoIndex) {
        return Some(RestrictionReason::NoIndex);
    }
    (entry.consent() != Consent::Given).then_some(RestrictionReason::NoAi)
}
