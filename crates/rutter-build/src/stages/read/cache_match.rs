//! Decides whether the cached record of a page can be used.
//!
//! Input: the settings of a build and the index of the page cache. Output: keys for records, and a
//! [`CacheMatch`]: the record can be used as it is, with a new visibility decision, or not at all.
//! Keys do not contain the version of the extractor, so that an upgrade changes no date.

use std::fs::Metadata;

use rutter_extract::TemplateVersionId;
use rutter_page::{LineDigest, SensitiveData};
use rutter_site::{CacheEntry, CacheKey, ExclusionReason, VisibilityKey};
use sha2::{Digest as _, Sha256};

use crate::plan::BuildPlan;
use crate::stages::read::markers::EntityMarkers;
use crate::stages::read::unmatched_selectors::path_of;
use crate::{arc_entry, exclusion};

/// Visibility inputs in the keys of page caches of format 4: the date of the table of secrets and
/// the version of the exclusion rules, or `None` if a key has neither. Later versions need no
/// entry, because format 5 stores the visibility key separately.
const FORMER: [Option<(&str, u8)>; 2] = [None, Some(("2026-11", 3))];

/// Exclusions by URL that existed in page caches of format 4.
const FORMER_EXCLUSIONS: [Option<ExclusionReason>; 3] =
    [None, Some(ExclusionReason::Robots), Some(ExclusionReason::Restricted)];

/// Whether the cached record of a page can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CacheMatch {
    /// The cached record can be used as it is.
    Same,
    /// The cached content can be used, but the visibility of the page must be decided again.
    OtherVisibility,
    /// The cached record cannot be used, because the source or a setting that decides how it is
    /// read has changed.
    Changed,
}

/// Values that decide how a page is read, in addition to the settings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadInputs {
    /// Digest of the page's source.
    pub(crate) source: [u8; 32],
    pub(crate) template: Option<TemplateVersionId>,
    /// Digest of the page's line in the ledger; the cached record must contain the same line.
    pub(crate) line: LineDigest,
}

/// Computes the cache keys of pages and compares them with the keys in the page cache.
#[derive(Debug)]
pub(crate) struct CacheMatcher<'p> {
    plan: &'p BuildPlan,
    /// Digest of the settings that decide how pages are read.
    reading: [u8; 32],
    /// Digests of the same settings as earlier versions of Rutter computed them.
    former: Vec<[u8; 32]>,
}

impl<'p> CacheMatcher<'p> {
    pub(crate) fn new(plan: &'p BuildPlan) -> Self {
        let mut hash = Sha256::new();
        hash.update(plan.base.as_str());
        hash.update([0, u8::from(plan.privacy.no_authors), plan.source as u8]);
        hash.update(plan.language.as_ref().map_or("", |language| language.as_str()));
        hash.update([u8::from(plan.arc.private)]);
        let reading = hash.clone().finalize().into();
        for prefix in &plan.arc.approved {
            hash.update([0]);
            hash.update(prefix);
        }
        let former = FORMER.iter().flat_map(|former| {
            let Some((table, version)) = former else { return vec![hash.clone()] };
            let with = |is_strict: u8| {
                hash.clone().chain_update(table).chain_update([*version, is_strict])
            };
            vec![with(0), with(1)]
        });
        let former = former.map(|hash| hash.finalize().into()).collect();
        Self { plan, reading, former }
    }

    /// Returns the key of the rules and settings that decide the visibility of a page. `exclusion`
    /// is the exclusion that follows from the page's URL.
    pub(crate) fn visibility_key(
        &self,
        url: &str,
        exclusion: Option<ExclusionReason>,
        marked: Option<&EntityMarkers>,
    ) -> VisibilityKey {
        let mut hash = Sha256::new();
        hash.update(SensitiveData::PATTERNS_DATE);
        hash.update([0, exclusion::VERSION, u8::from(self.plan.privacy.strict)]);
        let is_approved = arc_entry::is_below(self.plan, self.plan.arc.approved.iter(), url);
        hash.update([u8::from(is_approved)]);
        hash.update(exclusion.map_or("", ExclusionReason::as_str));
        hash.update([0]);
        if let Some(marked) = marked {
            marked.hash(url, &mut hash);
        }
        VisibilityKey(first_bytes(hash))
    }

    /// Returns the cache key of a page's record.
    pub(crate) fn key(&self, url: &str, inputs: &ReadInputs) -> CacheKey {
        first_bytes(self.reading_hash(url, inputs, &self.reading))
    }

    /// Returns how far a cached record can be used in this build.
    pub(crate) fn match_record(
        &self,
        (url, marked): (&str, Option<&EntityMarkers>),
        cached: CacheEntry,
        inputs: &ReadInputs,
        visibility_key: VisibilityKey,
    ) -> CacheMatch {
        let is_read = if cached.visibility_key == VisibilityKey::IN_KEY {
            self.is_format_4_key(url, marked, cached.key, inputs)
        } else {
            cached.key == self.key(url, inputs)
        };
        match is_read {
            false => CacheMatch::Changed,
            true if cached.visibility_key == visibility_key => CacheMatch::Same,
            true => CacheMatch::OtherVisibility,
        }
    }

    /// Returns whether a key of format 4 belongs to these inputs, with any combination of
    /// visibility inputs.
    fn is_format_4_key(
        &self,
        url: &str,
        marked: Option<&EntityMarkers>,
        key: CacheKey,
        inputs: &ReadInputs,
    ) -> bool {
        let all = self
            .former
            .iter()
            .flat_map(|settings| FORMER_EXCLUSIONS.map(|exclusion| (settings, exclusion)));
        let mut keys = all.map(|(settings, exclusion)| {
            let mut hash = self.reading_hash(url, inputs, settings);
            hash.update(exclusion.map_or("", ExclusionReason::as_str));
            if let Some(marked) = marked {
                marked.hash(url, &mut hash);
            }
            first_bytes::<16>(hash)
        });
        keys.any(|former| former == key)
    }

    /// Returns a fingerprint of a file's size and modification time and of the settings that decide
    /// how the file is read.
    pub(crate) fn stat(&self, url: &str, metadata: &Metadata) -> u64 {
        let mut hash = Sha256::new();
        hash.update(metadata.len().to_le_bytes());
        hash.update(rutter_site::time_of(metadata).to_le_bytes());
        hash.update(self.reading);
        self.plan.extract.name(path_of(self.plan, url), |bytes| hash.update(bytes));
        u64::from_le_bytes(first_bytes(hash))
    }

    fn reading_hash(&self, url: &str, inputs: &ReadInputs, settings: &[u8; 32]) -> Sha256 {
        let template = inputs.template.map_or(0, |id| id.0).to_le_bytes();
        let mut hash = Sha256::new()
            .chain_update(inputs.source)
            .chain_update(inputs.line.0)
            .chain_update(settings)
            .chain_update(template);
        // If the site owner configured no selectors, this adds nothing to the hash.
        self.plan.extract.name(path_of(self.plan, url), |bytes| hash.update(bytes));
        hash
    }
}

/// Returns the first `N` bytes of a digest.
fn first_bytes<const N: usize>(hash: Sha256) -> [u8; N] {
    let digest: [u8; 32] = hash.finalize().into();
    *digest.first_chunk().expect("a digest has 32 bytes")
}

#[cfg(test)]
mod tests {
    use rutter_page::Timestamp;

    use super::*;
    use crate::plan::BaseUrl;

    fn plan() -> BuildPlan {
        let now = Timestamp::parse("2026-05-01T00:00:00Z").unwrap();
        let base = BaseUrl::parse("https://harbour.example/").unwrap();
        BuildPlan::new("site".into(), "state".into(), base, now)
    }

    const INPUTS: ReadInputs = ReadInputs {
        source: [7; 32],
        template: Some(TemplateVersionId(3)),
        line: LineDigest([9; 16]),
    };

    fn visibility_key(plan: &BuildPlan, exclusion: Option<ExclusionReason>) -> VisibilityKey {
        CacheMatcher::new(plan).visibility_key("https://harbour.example/a", exclusion, None)
    }

    fn matched(plan: &BuildPlan, cached: CacheEntry, inputs: &ReadInputs) -> CacheMatch {
        let url = ("https://harbour.example/a", None);
        CacheMatcher::new(plan).match_record(url, cached, inputs, visibility_key(plan, None))
    }

    fn cached(plan: &BuildPlan) -> CacheEntry {
        let key = CacheMatcher::new(plan).key("https://harbour.example/a", &INPUTS);
        CacheEntry { key, visibility_key: visibility_key(plan, None), stat: 0 }
    }

    #[test]
    fn visibility_settings_do_not_change_the_key() {
        let (old, mut strict, mut approved) = (cached(&plan()), plan(), plan());
        assert_eq!(matched(&plan(), old, &INPUTS), CacheMatch::Same);
        strict.privacy.strict = true;
        assert_eq!(matched(&strict, old, &INPUTS), CacheMatch::OtherVisibility);
        approved.arc.approved = vec!["/a".into()];
        assert_eq!(matched(&approved, old, &INPUTS), CacheMatch::OtherVisibility);
        // Other pages are not affected.
        approved.arc.approved = vec!["/b".into()];
        assert_eq!(matched(&approved, old, &INPUTS), CacheMatch::Same);
        let robots = CacheEntry {
            visibility_key: visibility_key(&plan(), Some(ExclusionReason::Robots)),
            ..old
        };
        assert_eq!(matched(&plan(), robots, &INPUTS), CacheMatch::OtherVisibility);
        let every = CacheEntry { visibility_key: VisibilityKey::EVERY_BUILD, ..old };
        assert_eq!(matched(&plan(), every, &INPUTS), CacheMatch::OtherVisibility);
    }

    #[test]
    fn reading_settings_change_the_key() {
        let old = cached(&plan());
        let mut others = vec![plan(), plan(), plan()];
        others[0].privacy.no_authors = true;
        others[1].arc.private = true;
        others[2].language = rutter_page::LanguageTag::parse("de");
        for other in &others {
            assert_eq!(matched(other, old, &INPUTS), CacheMatch::Changed);
        }
        for inputs in [
            ReadInputs { source: [8; 32], ..INPUTS },
            ReadInputs { template: None, ..INPUTS },
            ReadInputs { line: LineDigest([8; 16]), ..INPUTS },
        ] {
            assert_eq!(matched(&plan(), old, &inputs), CacheMatch::Changed);
        }
    }

    #[test]
    fn matches_keys_of_format_4_with_any_visibility() {
        let mut plan = plan();
        plan.arc.approved = vec!["/x/".into()];
        let matcher = CacheMatcher::new(&plan);
        assert_eq!(matcher.former.len(), 3);
        for settings in &matcher.former {
            for exclusion in FORMER_EXCLUSIONS {
                let hash = matcher.reading_hash("https://harbour.example/a", &INPUTS, settings);
                let key =
                    first_bytes(hash.chain_update(exclusion.map_or("", ExclusionReason::as_str)));
                let cached = CacheEntry { key, visibility_key: VisibilityKey::IN_KEY, stat: 0 };
                assert_eq!(matched(&plan, cached, &INPUTS), CacheMatch::OtherVisibility);
                let other = ReadInputs { source: [8; 32], ..INPUTS };
                assert_eq!(matched(&plan, cached, &other), CacheMatch::Changed);
            }
        }
    }
}
