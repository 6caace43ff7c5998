//! Tests of merging into an existing robots.txt.

use proptest::prelude::*;
use rutter_robots::{AgentGroup, RobotsAdditions, RobotsTxt, merge};

fn additions() -> RobotsAdditions {
    RobotsAdditions {
        sitemaps: vec!["https://h.example/sitemap.xml".into()],
        group: Some(AgentGroup {
            agents: vec!["GPTBot".into(), "CCBot".into(), "Brightbot 1.0".into(), "gptbot".into()],
            allow: vec!["/spxi-index.jsonld".into(), "/*/spxi-packet.jsonld".into()],
        }),
        crawl_delay: None,
        notes: vec!["Written by Rutter.\nrutter:end".into()],
    }
}

fn merged(existing: &str, additions: &RobotsAdditions) -> String {
    String::from_utf8(merge(Some(existing.as_bytes()), additions)).unwrap()
}

#[test] // SPX-056 D79 D80 D81
fn copies_rules_of_all_agents_before_allow_lines() {
    let existing = "User-agent: *\nDisallow: /private\nAllow: /private/a\n";
    let text = merged(existing, &additions());
    assert_eq!(
        text,
        "User-agent: *\nDisallow: /private\nAllow: /private/a\n\
         \n# rutter:begin\n# Written by Rutter.\n# - rutter:end\n\
         User-agent: GPTBot\nUser-agent: CCBot\nUser-agent: Brightbot\n\
         Disallow: /private\nAllow: /private/a\n\
         Allow: /spxi-index.jsonld\nAllow: /*/spxi-packet.jsonld\n\
         Sitemap: https://h.example/sitemap.xml\n# rutter:end\n"
    );
    let robots = RobotsTxt::parse(text.as_bytes());
    assert!(!robots.is_allowed("GPTBot", "/private"));
    assert!(robots.is_allowed("GPTBot", "/private/a"));
}

#[test] // D81
fn writes_only_the_block_without_existing_file() {
    let only = RobotsAdditions {
        sitemaps: vec!["https://h.example/s.xml".into()],
        ..RobotsAdditions::default()
    };
    let text = String::from_utf8(merge(None, &only)).unwrap();
    assert_eq!(text, "# rutter:begin\nSitemap: https://h.example/s.xml\n# rutter:end\n");
    assert_eq!(merge(Some(text.as_bytes()), &RobotsAdditions::default()), b"");
    assert_eq!(merge(None, &RobotsAdditions::default()), b"");
}

#[test] // D81
fn replaces_block_in_place() {
    let before = "Sitemap: https://h.example/a.xml\n";
    let after = "User-agent: *\nDisallow: /x\n";
    let old = format!(
        "{before}# rutter:begin\nSitemap: https://h.example/old.xml\n# rutter:end\n{after}"
    );
    let additions = RobotsAdditions {
        // The owner's own line is not repeated.
        sitemaps: vec!["https://h.example/a.xml".into(), "https://h.example/new.xml".into()],
        ..RobotsAdditions::default()
    };
    let block = "# rutter:begin\nSitemap: https://h.example/new.xml\n# rutter:end\n";
    assert_eq!(merged(&old, &additions), format!("{before}{block}{after}"));
}

#[test] // D81
fn moves_block_that_would_split_a_group() {
    let old = "User-agent: a\n# rutter:begin\n# rutter:end\nDisallow: /x\n";
    let text = merged(old, &additions());
    assert!(text.starts_with("User-agent: a\nDisallow: /x\n\n# rutter:begin\n"), "{text}");
    assert_eq!(merged(&text, &additions()), text);
    // Names without a rule get an empty one, otherwise new names would join them.
    let text = merged("User-agent: a", &additions());
    assert!(RobotsTxt::parse(text.as_bytes()).is_allowed("a", "/private"), "{text}");
    assert!(text.contains("rutter:begin\n# Written by Rutter.\n# - rutter:end\nDisallow:\nUser"));
}

#[test] // D81
fn omits_agents_that_the_owner_names() {
    let existing = "User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nDisallow: /p\n";
    let text = merged(existing, &additions());
    assert_eq!(text.matches("GPTBot").count(), 1, "{text}");
    assert!(text.contains("User-agent: CCBot\n"));
    assert!(!RobotsTxt::parse(text.as_bytes()).is_allowed("GPTBot", "/spxi-index.jsonld"));
}

#[test] // D81
fn writes_crawl_delay_only_on_request() {
    let additions = RobotsAdditions { crawl_delay: Some(1.5), ..additions() };
    let text = merged("User-agent: *\nDisallow: /p\n", &additions);
    let robots = RobotsTxt::parse(text.as_bytes());
    assert_eq!(robots.crawl_delay("other"), Some(1.5));
    assert_eq!(robots.crawl_delay("ccbot"), Some(1.5));
    assert!(!robots.is_allowed("other", "/p"));
    // The owner's delay also applies to the added agents.
    let text = merged("User-agent: *\nCrawl-delay: 9\nDisallow: /p\n", &additions);
    let robots = RobotsTxt::parse(text.as_bytes());
    assert_eq!((robots.crawl_delay("x"), robots.crawl_delay("CCBot")), (Some(9.0), Some(9.0)));
    assert_eq!(text.matches("Crawl-delay").count(), 2, "{text}");
}

#[test] // D81
fn keeps_lines_around_unpaired_markers() {
    for existing in [
        "# rutter:begin\nUser-agent: *\nDisallow: /a\n",
        "# rutter:end\nUser-agent: *\nDisallow: /a\n",
        "# rutter:begin\nUser-agent: *\nDisallow: /a\n# rutter:begin\n# rutter:end\nAllow: /b\n",
    ] {
        let text = merged(existing, &additions());
        assert!(text.contains("User-agent: *\nDisallow: /a\n"), "{text}");
        assert_eq!(merged(&text, &additions()), text);
    }
}

#[test]
fn removes_line_breaks_from_additions() {
    let additions = RobotsAdditions {
        sitemaps: vec!["https://h.example/\nDisallow: /".into()],
        group: Some(AgentGroup {
            agents: vec!["a\nDisallow: /".into(), "*".into()],
            allow: vec!["/a\n# rutter:end".into(), "b#c".into()],
        }),
        crawl_delay: Some(f64::NAN),
        notes: vec!["a\rDisallow: /".into()],
    };
    let text = String::from_utf8(merge(None, &additions)).unwrap();
    assert!(text.lines().all(|line| !line.starts_with("Disallow: /")), "{text}");
    assert_eq!(text.matches("# rutter:end").count(), 1, "{text}");
    assert!(RobotsTxt::parse(text.as_bytes()).is_allowed("a", "/"));
}

/// Lines of an existing file with all kinds of line ends.
fn existing() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        Just(b"User-agent: *".to_vec()),
        Just(b"User-agent: gptbot".to_vec()),
        Just(b"User-agent: other".to_vec()),
        Just(b"User-agent: ccbot/2".to_vec()),
        Just(b"useragent third".to_vec()),
        Just(b"Disallow: /a".to_vec()),
        Just(b"Disallow: /*b$".to_vec()),
        Just(b"Disallow: /caf\xe9".to_vec()),
        Just(b"Allow: /a/b".to_vec()),
        Just(b"Disallow:".to_vec()),
        Just(b"Crawl-delay: 3".to_vec()),
        Just(b"Sitemap: https://h.example/sitemap.xml".to_vec()),
        Just(b"# rutter:begin".to_vec()),
        Just(b"# rutter:end".to_vec()),
        Just(b"# a remark".to_vec()),
        proptest::collection::vec(any::<u8>(), 0..20),
    ];
    let end = prop_oneof![4 => Just("\n"), 1 => Just("\r\n"), 1 => Just("\r"), 1 => Just("")];
    proptest::collection::vec((line, end), 0..16).prop_map(|lines| {
        lines.into_iter().flat_map(|(line, end)| [line, end.as_bytes().to_vec()].concat()).collect()
    })
}

/// Returns the file without blocks.
fn outside(bytes: &[u8]) -> Vec<u8> {
    merge(Some(bytes), &RobotsAdditions::default())
}

proptest! {
    #[test] // D79 D81
    fn merge_is_idempotent_and_changes_no_decision(
        existing in existing(),
        delay in proptest::option::of(0_u8..9),
    ) {
        let additions = RobotsAdditions { crawl_delay: delay.map(f64::from), ..additions() };
        let once = merge(Some(&existing), &additions);
        prop_assert_eq!(&merge(Some(&once), &additions), &once);

        let (before, after) = (outside(&existing), outside(&once));
        let added = after.strip_prefix(before.as_slice());
        let is_same = added.is_some_and(|added| added.iter().all(|byte| *byte == b'\n'));
        prop_assert!(is_same, "{:?} {:?}", before.escape_ascii(), after.escape_ascii());

        let (old, new) = (RobotsTxt::parse(&before), RobotsTxt::parse(&once));
        let mut agents: Vec<String> = old.agents().map(str::to_owned).collect();
        agents.extend(["*".to_owned(), "stranger".to_owned()]);
        for agent in &agents {
            for target in ["/", "/a", "/a/b", "/a/b/c", "/xb", "/caf%E9", "/spxi-index.jsonld"] {
                prop_assert_eq!(
                    old.is_allowed(agent, target),
                    new.is_allowed(agent, target),
                    "{} {} {:?}", agent, target, once.escape_ascii()
                );
            }
        }
        // The added agents keep every restriction.
        for agent in ["GPTBot", "CCBot"] {
            for target in ["/", "/a", "/a/b", "/xb", "/caf%E9"] {
                prop_assert_eq!(old.is_allowed(agent, target), new.is_allowed(agent, target));
            }
        }
    }

    #[test]
    fn keeps_any_existing_bytes(existing in proptest::collection::vec(any::<u8>(), 0..200)) {
        let once = merge(Some(&existing), &additions());
        prop_assert!(once.starts_with(&existing));
        prop_assert_eq!(merge(Some(&once), &additions()), once);
    }
}
