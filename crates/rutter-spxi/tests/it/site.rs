//! What a judge makes of the rest of a site, however it was learned.

use std::fs;

use rutter_finding::Finding;
use rutter_spxi::{
    AGENTS, AgentSignals, Given, Judged, Link, Listed, Look, MarkerStatus, Modified, PageFacts,
    Pages, Signals, Site, judge_index,
};

/// A site that answers as a network would.
struct Answers(Answer);

type Answer = fn(&str) -> Look<PageFacts>;

impl Pages for Answers {
    fn look(&self, url: &str) -> Look<PageFacts> {
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

fn judge(text: &str, given: &Given<'_>) -> (Vec<(&'static str, String, String)>, Judged) {
    let mut findings: Vec<Finding> = Vec::new();
    let judged = judge_index(text.as_bytes(), given, &mut findings).unwrap();
    let all = findings.into_iter().map(|it| (it.rule.name, it.place.pointer, it.detail));
    (all.collect(), judged)
}

fn whole() -> String {
    String::from_utf8(fs::read(super::vectors().join("files/whole.jsonld")).unwrap()).unwrap()
}

#[test] // SPX-064, SPX-066, C08, D65, D70
fn spec_unreachable_moved_and_not_checked_are_three_things() {
    let text = whole();
    let id = "/spxi:hasEntity/0/@id".to_owned();
    let marker = |n: usize| format!("/spxi:hasEntity/0/spxi:semanticIntegrityMarker/{n}");
    let cases: [(Answer, _, _); 3] = [
        (
            |_| Look::Unreachable("404".to_owned()),
            vec![("spxi-entity-unreachable", id.clone())],
            vec!["links of pages"],
        ),
        (|_| Look::NotChecked, vec![], vec!["some pages (rule 2)", "links of pages"]),
        (
            |_| {
                Look::Found(PageFacts {
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
        let given = Given {
            site: Site {
                pages: Some(&pages),
                sitemap: Look::Found(vec![listed("/north", "2026-05-01"), listed("/", "")]),
                robots: Look::Found(signals()),
                llms: Look::Found("- https://lights.example/spxi-index.jsonld".to_owned()),
                ..Site::default()
            },
            ..Given::default()
        };
        let (findings, judged) = judge(&text, &given);
        let said: Vec<_> = findings.iter().map(|(name, place, _)| (*name, place.clone())).collect();
        let mut wanted: Vec<_> = wanted;
        wanted.push(("spxi-not-checked", String::new()));
        assert_eq!(said, wanted);
        assert_eq!(judged.unchecked, unchecked);
    }
}

fn listed(path: &str, modified: &str) -> Listed {
    let link = Link {
        hreflang: "x-spxi".to_owned(),
        media_type: Some("application/ld+json".to_owned()),
        href: "https://lights.example/spxi-index.jsonld".to_owned(),
    };
    Listed {
        url: format!("https://lights.example{path}"),
        modified: Modified::parse(modified),
        links: vec![link],
        line: 3,
    }
}

fn signals() -> Signals {
    let agent = |name: &str| AgentSignals {
        name: name.to_owned(),
        may_fetch: true,
        names_index: true,
        names_packets: true,
        names_home_packet: true,
    };
    Signals {
        sitemaps: vec!["https://lights.example/sitemap.xml".to_owned()],
        agents: AGENTS.map(agent).to_vec(),
    }
}

#[test] // SPX-061, SPX-062, D82
fn spec_llms_txt_names_the_index_by_an_address() {
    for (text, is_named) in [
        ("see https://lights.example/spxi-index.jsonld.", true),
        ("- [index](/spxi-index.jsonld): entities", true),
        ("spxi-index.jsonld", false),
        ("https://lights.example/spxi-index.jsonld.bak/x", false),
        ("/my-spxi-index.jsonld", false),
        ("/spxi-index.jsonld-old", false),
        ("", false),
    ] {
        let site = Site { llms: Look::Found(text.to_owned()), ..Site::default() };
        let (findings, _) = judge(&whole(), &Given { site, ..Given::default() });
        let is_silent = findings.iter().any(|(name, ..)| *name == "spxi-llms-silent");
        assert_eq!(is_silent, !is_named, "{text}");
    }
}

#[test] // SPX-068, D66
fn ours_a_type_that_the_caller_lists_is_documented() {
    let text = whole().replace("LandmarksOrHistoricalBuildings", "LightHouse");
    let types = ["LightHouse".to_owned()];
    let is_unknown = |given: &Given<'_>| {
        judge(&text, given).0.iter().any(|(name, ..)| *name == "spxi-entity-type-unknown")
    };
    assert!(is_unknown(&Given::default()));
    assert!(!is_unknown(&Given { types: &types, ..Given::default() }));
}

#[test] // D88
fn ours_where_an_index_was_found_counts_before_what_it_says() {
    let given = Given { address: Some("https://b.example/spxi-index.jsonld"), ..Given::default() };
    let (findings, _) = judge(&whole(), &given);
    let hosts: Vec<&str> = findings.iter().map(|(_, place, _)| place.as_str()).collect();
    assert_eq!(hosts, ["/spxi:hasEntity/0/@id", "/spxi:hasSurface/0", "/spxi:hasSurface/1", ""]);
}
