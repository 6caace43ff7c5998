//! Decides the visibility of a page and searches it for secrets and personal data.
//!
//! Input: the newly extracted page. Output: a [`VisibilityDecision`]. [`renew`] applies the
//! decision to the cached record of a page with an unchanged source. If the page stays public, the
//! bytes of its line, Markdown and ARC members are unchanged, and so is its date.

use rutter_page::{Page, SensitiveData};
use rutter_site::{
    ArcFields, CacheEntry, CacheKey, ExclusionReason, PageRecord, VisibilityKey, WithheldPage,
};

use crate::plan::BuildPlan;
use crate::{exclusion, rules};

/// Findings of a page, each with rule code and detail.
pub(crate) type Findings = Vec<(String, String)>;

/// Decision whether a page is excluded, with the reasons and findings.
#[derive(Debug, Default)]
pub(crate) struct VisibilityDecision {
    /// Reason to exclude the page that follows from its URL.
    pub(crate) by_url: Option<ExclusionReason>,
    /// Reason to exclude the page that follows from its content and statements, with the evidence.
    pub(crate) own: Option<(ExclusionReason, String)>,
    /// Members of the page's ARC entry that are used if the page is excluded.
    pub(crate) excluded_fields: ArcFields,
    /// Findings of the page other than secrets and personal data.
    pub(crate) findings: Findings,
    /// Number of links on the page to an e-mail address or a telephone number.
    pub(crate) n_links: usize,
    /// Whether the decision may change with time.
    pub(crate) is_time_dependent: bool,
}

impl VisibilityDecision {
    /// Returns the most restrictive reason to exclude the page. If two reasons are equally
    /// restrictive, the later variant of [`ExclusionReason`] is returned: robots.txt takes
    /// precedence over statements of the page, and declarations of the site owner over a detected
    /// password form.
    pub(crate) fn exclusion(&self) -> Option<ExclusionReason> {
        let own = self.own.as_ref().map(|(exclusion, _)| *exclusion);
        let both = [self.by_url, own].into_iter().flatten();
        both.max_by_key(|exclusion| (exclusion.visibility() as u8, *exclusion))
    }

    /// Returns the evidence for the reason to exclude the page.
    pub(crate) fn source(&self) -> Option<String> {
        let exclusion = self.exclusion()?;
        match (&self.by_url, &self.own) {
            (Some(by_url), _) if *by_url == exclusion => {
                Some(exclusion::evidence_of_url(exclusion).to_owned())
            }
            (_, Some((_, by))) => Some(by.clone()),
            _ => None,
        }
    }

    /// Returns the visibility key to store. If the decision depends on the time, the key makes
    /// every build decide again.
    pub(crate) fn visibility_key(&self, visibility_key: VisibilityKey) -> VisibilityKey {
        match self.exclusion() {
            Some(ExclusionReason::Scheduled) => VisibilityKey::EVERY_BUILD,
            _ if self.is_time_dependent => VisibilityKey::EVERY_BUILD,
            _ => visibility_key,
        }
    }
}

/// Returns the cached record of a page with an unchanged source after a new decision. Returns
/// `None` if the record lacks content that must now be published, so that the page has to be read.
pub(crate) fn renew(
    plan: &BuildPlan,
    stored: &PageRecord,
    mut decision: VisibilityDecision,
    (key, visibility_key): (CacheKey, VisibilityKey),
) -> Option<(PageRecord, Option<ExclusionReason>)> {
    let has_line = !stored.line.is_empty();
    // The stored content is published and not the newly extracted one, so reasons that depend on
    // new content do not apply.
    let depends_on_content = |(exclusion, _): &(ExclusionReason, String)| {
        matches!(
            exclusion,
            ExclusionReason::Empty | ExclusionReason::Shell | ExclusionReason::Oversize
        )
    };
    if has_line {
        decision.own = decision.own.filter(|own| !depends_on_content(own));
    }
    let exclusion = decision.exclusion();
    let mut record = stored.clone();
    record.cached =
        CacheEntry { key, visibility_key: decision.visibility_key(visibility_key), stat: 0 };
    record.meta.exclusion = exclusion.map(|exclusion| exclusion.as_str().to_owned());
    record.meta.exclusion_source = decision.source();
    record.meta.withheld = None;
    record.meta.findings.retain(|(code, _)| !is_from_decision(code));
    record.meta.findings.append(&mut decision.findings);
    let findings = &mut record.meta.findings;
    match exclusion {
        None if !has_line => return None,
        // The content must be searched for secrets, and the record has no content.
        Some(ExclusionReason::Oversize) => return None,
        None => check_line(&stored.line, &stored.meta.arc, decision.n_links, findings),
        Some(_) => {
            if plan.arc.private && decision.excluded_fields.needs_login {
                let withheld = stored.meta.withheld.clone().or_else(|| {
                    let line = String::from_utf8(stored.line.clone()).ok()?;
                    let fields = stored.meta.arc.clone();
                    has_line.then(|| Box::new(WithheldPage { fields, line }))
                })?;
                let line = withheld.line.as_bytes();
                check_line(line, &withheld.fields, decision.n_links, findings);
                record.meta.withheld = Some(withheld);
            }
            record.meta.arc = decision.excluded_fields;
            record.line.clear();
            record.markdown.clear();
        }
    }
    Some((record, exclusion))
}

/// Returns whether a finding with this code comes from the visibility decision and not from the
/// extraction.
fn is_from_decision(code: &str) -> bool {
    let own_rules = [&rules::SECRET, &rules::PERSONAL, &rules::MARKER];
    own_rules
        .into_iter()
        .chain(rutter_extract::safety::ALL.iter().copied())
        .any(|rule| rule.code == code)
}

/// Searches a stored page line for secrets and personal data. If this version of Rutter cannot
/// parse the line, all bytes of the line are searched, because the line is published nevertheless.
fn check_line(line: &[u8], fields: &ArcFields, n_links: usize, findings: &mut Findings) {
    let text = String::from_utf8_lossy(line);
    let private = match serde_json::from_str::<Page<'_>>(&text) {
        Ok(page) => SensitiveData::find_in(&page.to_text()),
        Err(_) => SensitiveData::find_in_json(&text),
    };
    find_private_data(private, (line, fields), n_links, findings);
}

/// Searches everything that is published of a page for secrets and personal data. `private` holds
/// what was found in the visible text; `n_links` is the number of links to an e-mail address or a
/// telephone number.
pub(crate) fn find_private_data(
    mut private: SensitiveData,
    (line, fields): (&[u8], &ArcFields),
    n_links: usize,
    findings: &mut Findings,
) {
    let text = fields.text();
    let more = SensitiveData::find_in_json(&text);
    private.addresses += more.addresses;
    private.numbers += more.numbers;
    private.cards += more.cards;
    private.accounts += more.accounts;
    private.links = n_links;
    private.secrets.extend(more.secrets);
    private.secrets.extend(SensitiveData::find_in_json(&String::from_utf8_lossy(line)).secrets);
    private.secrets.sort();
    private.secrets.dedup();
    for (kind, mark) in &private.secrets {
        findings.push((rules::SECRET.code.to_owned(), format!("{kind}, mark {mark}")));
    }
    if let Some(personal) = private.personal() {
        findings.push((rules::PERSONAL.code.to_owned(), personal));
    }
}

#[cfg(test)]
mod tests {
    use rutter_page::Timestamp;

    use super::*;
    use crate::plan::BaseUrl;
    use rutter_site::PageMetadata;

    const KEY: (CacheKey, VisibilityKey) = ([1; 16], VisibilityKey([2; 8]));

    fn plan() -> BuildPlan {
        let now = Timestamp::parse("2026-05-01T00:00:00Z").unwrap();
        let base = BaseUrl::parse("https://harbour.example/").unwrap();
        BuildPlan::new("site".into(), "state".into(), base, now)
    }

    /// Record of a public page whose line the current reader rejects.
    fn stored() -> PageRecord {
        let findings = ["HT013", "BD005", "SE001"].map(|code| (code.to_owned(), String::new()));
        PageRecord {
            cached: CacheEntry { key: [7; 16], visibility_key: VisibilityKey::IN_KEY, stat: 9 },
            meta: PageMetadata {
                title: "Gate".into(),
                findings: findings.into(),
                ..PageMetadata::default()
            },
            line: b"{\"odd\":1,\"text\":\"Write to jan.harmsen@harbour-office.net.\"}".to_vec(),
            markdown: b"# Gate".to_vec(),
        }
    }

    fn own(exclusion: ExclusionReason) -> VisibilityDecision {
        let excluded_fields =
            ArcFields { needs_login: exclusion.needs_login(), ..ArcFields::default() };
        VisibilityDecision {
            own: Some((exclusion, "test".into())),
            excluded_fields,
            ..VisibilityDecision::default()
        }
    }

    #[test]
    fn stored_text_stays_and_is_looked_through() {
        let (record, exclusion) =
            renew(&plan(), &stored(), VisibilityDecision::default(), KEY).unwrap();
        assert_eq!(exclusion, None);
        assert_eq!((&record.line, &record.markdown), (&stored().line, &stored().markdown));
        assert_eq!(record.cached, CacheEntry { key: KEY.0, visibility_key: KEY.1, stat: 0 });
        // Findings of the extraction stay; findings of the decision are made again.
        let codes: Vec<&str> = record.meta.findings.iter().map(|(code, _)| &**code).collect();
        assert_eq!(codes, ["HT013", "BD006"]);
    }

    #[test]
    fn page_that_would_be_read_as_empty_keeps_its_stored_text() {
        for exclusion in [ExclusionReason::Empty, ExclusionReason::Shell, ExclusionReason::Oversize]
        {
            let (record, found) = renew(&plan(), &stored(), own(exclusion), KEY).unwrap();
            assert_eq!((found, record.line), (None, stored().line));
            // The exclusion by URL still applies.
            let decision =
                VisibilityDecision { by_url: Some(ExclusionReason::Robots), ..own(exclusion) };
            let (record, found) = renew(&plan(), &stored(), decision, KEY).unwrap();
            assert_eq!((found, record.line.len()), (Some(ExclusionReason::Robots), 0));
        }
    }

    #[test]
    fn excluded_page_has_no_text_and_has_to_be_read_when_it_is_public() {
        let (record, exclusion) =
            renew(&plan(), &stored(), own(ExclusionReason::NoIndex), KEY).unwrap();
        assert_eq!(
            (exclusion, record.line.len(), record.markdown.len()),
            (Some(ExclusionReason::NoIndex), 0, 0)
        );
        assert_eq!(record.meta.exclusion.as_deref(), Some("noindex"));
        assert!(renew(&plan(), &record, VisibilityDecision::default(), KEY).is_none());
        let (again, _) = renew(&plan(), &record, own(ExclusionReason::NoIndex), KEY).unwrap();
        assert_eq!(again, record);
    }

    #[test]
    fn partners_get_the_stored_text_of_a_page_that_needs_a_login_now() {
        let mut plan = plan();
        plan.arc.private = true;
        let (record, _) = renew(&plan, &stored(), own(ExclusionReason::Login), KEY).unwrap();
        let withheld = record.meta.withheld.as_ref().unwrap();
        assert_eq!(withheld.line.as_bytes(), stored().line);
        assert!(record.meta.findings.iter().any(|(code, _)| code == "BD006"));
        let (again, _) = renew(&plan, &record, own(ExclusionReason::Login), KEY).unwrap();
        assert_eq!(again, record);
        // A page that was excluded for another reason has no stored content.
        let (excluded, _) = renew(&plan, &stored(), own(ExclusionReason::NoIndex), KEY).unwrap();
        assert!(renew(&plan, &excluded, own(ExclusionReason::Login), KEY).is_none());
    }
}
