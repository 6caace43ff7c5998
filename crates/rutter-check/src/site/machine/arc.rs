//! The ARC sitemap in all its forms, and the changes of each day.

use rutter_arc::{Consent, Entry, day_of_name};
use rutter_finding::{Finding, Place};
use rutter_page::{LineDigest, order_to_models};

use super::{ArcFile, Day};
use crate::rules;
use crate::site::View;
use crate::site::rows::{ArcEntry, Closed};

/// Most days that are read.
const MOST_DAYS: usize = 1000;
/// Most entries of days that are held against the sitemap.
const MOST_SAID: usize = 1_000_000;

impl View<'_> {
    pub(super) fn read_arc(&mut self) {
        let well_known = ".well-known/arc-sitemap.json";
        let root = self.files.at_root(self.home, "arc-sitemap.json");
        let copy = self.files.at_root(self.home, well_known);
        let Some(main) = root.or(copy) else { return };
        self.read_sitemap_of_arc(main);
        if let (Some(copy), Some(root)) = (copy, root) {
            // The same bytes need not be judged twice.
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
            let Some(Some(_)) = day_of_name(&path) else {
                self.judge(at);
                continue;
            };
            let name = path.rsplit('/').next().unwrap_or_default();
            let name = name.trim_end_matches(".json").to_owned();
            let mut said = Vec::new();
            let head = self.each_entry(at, &mut |entry, idx| {
                if n_said < MOST_SAID {
                    n_said += 1;
                    said.push((entry.url.key().into(), number(entry), entry.removed, idx));
                }
            });
            if head.is_some() {
                self.machine.days.push(Day { file: at, name, said });
            }
        }
    }

    fn read_sitemap_of_arc(&mut self, at: u32) {
        let (mut found, mut latest, mut sum) = (Vec::new(), None, 0_u64);
        let mut said = Vec::new();
        let head = self.each_entry(at, &mut |entry, idx| {
            latest = latest.max(entry.lastmod);
            sum = sum.wrapping_add(number(entry));
            if let Some(order) = entry.ai_summary.as_deref().and_then(order_to_models) {
                let place = Place { line: None, pointer: format!("/pages/{idx}/ai_summary") };
                said.push(Finding::new(&rules::ORDER, place, rutter_finding::quoted(order)));
            }
            found.push((
                Box::<str>::from(entry.url.key()),
                ArcEntry {
                    idx,
                    lastmod: entry.lastmod,
                    closed: closed_of(entry),
                    checksum: entry.ai_checksum.as_deref().map(Box::from),
                    said: number(entry),
                },
            ));
        });
        for finding in said {
            self.book.say(at, finding);
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
        self.machine.arc = Some(ArcFile { file: at, head, latest, sum });
    }

    fn compare_copy(&mut self, at: u32) {
        let Some(arc) = &self.machine.arc else { return };
        let (wanted, generated) = (arc.sum, arc.head.generated_at);
        let mut sum = 0_u64;
        // What cannot be read was told by its own judgement.
        let head = self.each_entry(at, &mut |entry, _| sum = sum.wrapping_add(number(entry)));
        let Some(head) = head else { return };
        let detail = if head.generated_at != generated {
            "it was generated at another time"
        } else if sum != wanted {
            "its entries differ"
        } else {
            return;
        };
        self.book.say(at, Finding::new(&rules::ARC_COPIES, Place::WHOLE, detail));
    }

    /// Judges a file and hands each entry on; `None` where it cannot be read
    /// to its end.
    fn each_entry(
        &mut self,
        at: u32,
        take: &mut dyn FnMut(&Entry<'_>, u64),
    ) -> Option<rutter_arc::Head> {
        let open = || self.files.open(at);
        let subject = crate::Subject { name: self.files.path(at).to_owned(), open: &open };
        match crate::judge_arc(&subject, &self.judging.judging, take) {
            Ok((judgement, head)) => {
                self.book.enter(judgement);
                head
            }
            Err(error) => {
                self.unreadable(at, &error);
                None
            }
        }
    }
}

/// A number of all that an entry says.
fn number(entry: &Entry<'_>) -> u64 {
    let mut text = entry.to_json();
    // Members of a snapshot may come in any order.
    if entry.ai_snapshot.is_some()
        && let Ok(value) = serde_json::from_str::<serde_json::Value>(&text)
    {
        text = value.to_string();
    }
    let LineDigest(digest) = LineDigest::of(text.as_bytes());
    digest.first_chunk::<8>().map_or(0, |eight| u64::from_le_bytes(*eight))
}

fn closed_of(entry: &Entry<'_>) -> Option<Closed> {
    if entry.auth_required == Some(true) {
        return Some(Closed::Login);
    }
    if entry.directives().has(rutter_arc::Directive::NoIndex) {
        return Some(Closed::NoIndex);
    }
    (entry.consent() != Consent::Given).then_some(Closed::NoAi)
}
