//! Parser, checks and merge of robots.txt never panic or hang; merging twice gives the same bytes
//! and changes no answer of the owner's file.
#![no_main]

use rutter_finding::Finding;
use rutter_robots::{AgentGroup, RobotsTxt, RobotsAdditions, check, merge};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut findings: Vec<Finding> = Vec::new();
    check(bytes, &mut findings);
    let wishes = RobotsAdditions {
        sitemaps: vec!["https://h.example/sitemap.xml".into()],
        group: Some(AgentGroup {
            agents: vec!["GPTBot".into(), "CCBot".into()],
            allow: vec!["/spxi-index.jsonld".into()],
        }),
        crawl_delay: (bytes.len() % 2 == 0).then_some(2.0),
        notes: Vec::new(),
    };
    let once = merge(Some(bytes), &wishes);
    assert_eq!(merge(Some(&once), &wishes), once);
    let outside = merge(Some(bytes), &RobotsAdditions::default());
    let (old, new) = (RobotsTxt::parse(&outside), RobotsTxt::parse(&once));
    let text = String::from_utf8_lossy(bytes);
    let targets = ["/", "/a", "/private/x?y", text.lines().last().unwrap_or_default()];
    for agent in old.agents().chain(["*", "stranger"]).take(20) {
        for target in targets {
            assert_eq!(old.is_allowed(agent, target), new.is_allowed(agent, target), "{agent}");
        }
    }
});
