//! Tests of the checks against the rest of a site.

use std::fs;

use rutter_finding::Finding;
use rutter_spxi::{
    AGENTS, AgentSignals, CheckInput, CheckedIndex, MarkerStatus, ModifiedDate, PageFacts,
    PageLookup, ResourceLookup, RobotsSignals, SiteEvidence, SitemapEntry, SitemapLink,
    check_index,
};

/// A site that answers like a network.
struct Answers(Answer);

type Answer = fn(&str) -> ResourceLookup<PageFacts>;

impl PageLookup for Answers {
    fn look(&self, url: &str) -> ResourceLookup<PageFacts> {
        assert!(!url.contains('#'), "{url} has a fragment");
        (self.0)(url)
    }

    fn markers(&self, url: &str, markers: &[String]) -> Option<Vec<MarkerStatus>> {
        let all = [MarkerStatus::JsonLdOnly, MarkerStatus::Absent];
        (!url.ends_with("/east")).then(|| all.into_iter().take(markers.len()).collect())
    }

    fn head_links(&self) -> Option<Vec<(String, bool)>> {
        None
    }
}

fn judge(
    text: &str,
    given: &CheckInput<'_>,
) -> (Vec<(&'static str, String, String)>, CheckedIndex) {
    let mut findings: Vec<Finding> = Vec::new();
    let judged = check_index(text.as_bytes(), given, &mut findings).unwrap();
    let all = findings.into_iter().map(|it| (it.rule.name, it.place.pointer, it.detail));
    (all.collect(), judged)
}

fn whole() -> String {
    String::from_utf8(fs::read(super::vectors().join("files/whole.jsonld")).unwrap()).unwrap()
}

#[test] // SPX-064, SPX-066, C08, D65, D70
fn unreachable_moved_and_unchecked_are_distinguished() {
    let text = whole();
    let id = "/spxi:hasEntity/0/@id".to_owned();
    let marker = |n: usize| format!("/spxi:hasEntity/0/spxi:semanticIntegrityMarker/{n}");
    let cases: [(Answer, _, _); 3] = [
        (
            |_| ResourceLookup::Unreachable("404".to_owned()),
            vec![("spxi-entity-unreachable", id.clone())],
            vec!["links of pages"],
        ),
        (|_| ResourceLookup::NotChecked, vec![], vec!["some pages (rule 2)", "links of pages"]),
        (
            |_| {
                ResourceLookup::Found(PageFacts {
                    moved_to: Some("https://b.example/".to_owned()),
                    fragments: None,
                })
            },
            vec![
                ("spxi-entity-redirected", id),
                ("spxi-marker-hidden", marker(0)),
                ("spxi-marker-absent", marker(1)),
            ],
            vec!["links of pages"],
        ),
    ];
    for (answer, wanted, unchecked) in cases {
        let pages = Answers(answer);
        let given = CheckInput {
            site: SiteEvidence {
                pages: Some(&pages),
                sitemap: ResourceLookup::Found(vec![
                    listed("/north", "2026-05-01"),
                    listed("/", ""),
                ]),
                robots: ResourceLookup::Found(signals()),
                llms: ResourceLookup::Found(
                    "- https://lights.example/spxi-index.jsonld".to_owned(),
                ),
                ..SiteEvidence::default()
            },
            ..CheckInput::default()
        };
        let (findings, judged) = judge(&text, &given);
        let said: Vec<_> = findings.iter().map(|(name, place, _)| (*name, place.clone())).collect();
        let mut wanted: Vec<_> = wanted;
        wanted.push(("spxi-not-checked", String::new()));
        assert_eq!(said, wanted);
        assert_eq!(judged.unchecked, unchecked);
    }
}

fn listed(path: &str, modified: &str) -> SitemapEntry {
    let link = SitemapLink {
        hreflang: "x-spxi".to_owned(),
        media_type: Some("application/ld+json".to_owned()),
        href: "https://lights.example/spxi-index.jsonld".to_owned(),
    };
    SitemapEntry {
        url: format!("https://lights.example{path}"),
        modified: ModifiedDate::parse(modified),
        links: vec![link],
        line: 3,
    }
}

fn signals() -> RobotsSignals {
    let agent = |name: &str| AgentSignals {
        name: name.to_owned(),
        may_fetch: true,
        names_index: true,
        names_packets: true,
        names_home_packet: true,
    };
    RobotsSignals {
        sitemaps: vec!["https://lights.example/sitemap.xml".to_owned()],
        agents: AGENTS.map(agent).to_vec(),
    }
}

#[test] // SPX-061, SPX-062, D82
fn llms_txt_names_the_index_by_an_address() {
    for (text, is_named) in [
        ("see https://lights.example/spxi-index.jsonld.", true),
        ("- [index](/spxi-index.jsonld): entities", true),
        ("spxi-index.jsonld", false),
        ("https://lights.example/spxi-index.jsonld.bak/x", false),
        ("/my-spxi-index.jsonld", false),
        ("/spxi-index.jsonld-old", false),
        ("", false),
    ] {
        let site = SiteEvidence {
            llms: ResourceLookup::Found(text.to_owned()),
            ..SiteEvidence::default()
        };
        let (findings, _) = judge(&whole(), &CheckInput { site, ..CheckInput::default() });
        let is_silent = findings.iter().any(|(name, ..)| *name == "spxi-llms-silent");
        assert_eq!(is_silent, !is_named, "{text}");
    }
}

#[test] // SPX-068, D66
fn type_listed_by_the_caller_is_documented() {
    let text = whole().replace("LandmarksOrHistoricalBuildings", "LightHouse");
    let types = ["LightHouse".to_owned()];
    let is_unknown = |given: &CheckInput<'_>| {
        judge(&text, given).0.iter().any(|(name, ..)| *name == "spxi-entity-type-unknown")
    };
    assert!(is_unknown(&CheckInput::default()));
    assert!(!is_unknown(&CheckInput { types: &types, ..CheckInput::default() }));
}

#[test] // D88
fn fetch_address_takes_precedence_over_declared_id() {
    let given = CheckInput {
        address: Some("https://b.example/spxi-index.jsonld"),
        ..CheckInput::default()
    };
    let (findings, _) = judge(&whole(), &given);
    let hosts: Vec<&str> = findings.iter().map(|(_, place, _)| place.as_str()).collect();
    assert_eq!(hosts, ["/spxi:hasEntity/0/@id", "/spxi:hasSurface/0", "/spxi:hasSurface/1", ""]);
}
