//! Merging into the owner's robots.txt.

use proptest::prelude::*;
use rutter_signpost::robots::{AgentGroup, Robots, Wishes, merge};

fn wishes() -> Wishes {
    Wishes {
        sitemaps: vec!["https://h.example/sitemap.xml".into()],
        group: Some(AgentGroup {
            agents: vec!["GPTBot".into(), "CCBot".into(), "Brightbot 1.0".into(), "gptbot".into()],
            allow: vec!["/spxi-index.jsonld".into(), "/*/spxi-packet.jsonld".into()],
        }),
        crawl_delay: None,
        notes: vec!["Written by Rutter.\nrutter:end".into()],
    }
}

fn merged(existing: &str, wishes: &Wishes) -> String {
    String::from_utf8(merge(Some(existing.as_bytes()), wishes)).unwrap()
}

#[test] // SPX-056 D79 D80 D81
fn ours_rules_for_all_are_copied_before_the_allow_lines() {
    let existing = "User-agent: *\nDisallow: /private\nAllow: /private/a\n";
    let text = merged(existing, &wishes());
    assert_eq!(
        text,
        "User-agent: *\nDisallow: /private\nAllow: /private/a\n\
         \n# rutter:begin\n# Written by Rutter.\n# - rutter:end\n\
         User-agent: GPTBot\nUser-agent: CCBot\nUser-agent: Brightbot\n\
         Disallow: /private\nAllow: /private/a\n\
         Allow: /spxi-index.jsonld\nAllow: /*/spxi-packet.jsonld\n\
         Sitemap: https://h.example/sitemap.xml\n# rutter:end\n"
    );
    let robots = Robots::parse(text.as_bytes());
    assert!(!robots.is_allowed("GPTBot", "/private"));
    assert!(robots.is_allowed("GPTBot", "/private/a"));
}

#[test] // D81
fn ours_without_a_file_there_is_only_the_block() {
    let only = Wishes { sitemaps: vec!["https://h.example/s.xml".into()], ..Wishes::default() };
    let text = String::from_utf8(merge(None, &only)).unwrap();
    assert_eq!(text, "# rutter:begin\nSitemap: https://h.example/s.xml\n# rutter:end\n");
    assert_eq!(merge(Some(text.as_bytes()), &Wishes::default()), b"");
    assert_eq!(merge(None, &Wishes::default()), b"");
}

#[test] // D81
fn ours_the_block_is_replaced_in_its_place() {
    let before = "Sitemap: https://h.example/a.xml\n";
    let after = "User-agent: *\nDisallow: /x\n";
    let old = format!(
        "{before}# rutter:begin\nSitemap: https://h.example/old.xml\n# rutter:end\n{after}"
    );
    let wishes = Wishes {
        // The owner's own line is not repeated.
        sitemaps: vec!["https://h.example/a.xml".into(), "https://h.example/new.xml".into()],
        ..Wishes::default()
    };
    let block = "# rutter:begin\nSitemap: https://h.example/new.xml\n# rutter:end\n";
    assert_eq!(merged(&old, &wishes), format!("{before}{block}{after}"));
}

#[test] // D81
fn ours_a_block_that_would_tear_a_group_apart_moves() {
    let old = "User-agent: a\n# rutter:begin\n# rutter:end\nDisallow: /x\n";
    let text = merged(old, &wishes());
    assert!(text.starts_with("User-agent: a\nDisallow: /x\n\n# rutter:begin\n"), "{text}");
    assert_eq!(merged(&text, &wishes()), text);
    // Names without a rule get an empty one, or ours would join them.
    let text = merged("User-agent: a", &wishes());
    assert!(Robots::parse(text.as_bytes()).is_allowed("a", "/private"), "{text}");
    assert!(text.contains("rutter:begin\n# Written by Rutter.\n# - rutter:end\nDisallow:\nUser"));
}

#[test] // D81
fn ours_agents_the_owner_names_are_left_alone() {
    let existing = "User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nDisallow: /p\n";
    let text = merged(existing, &wishes());
    assert_eq!(text.matches("GPTBot").count(), 1, "{text}");
    assert!(text.contains("User-agent: CCBot\n"));
    assert!(!Robots::parse(text.as_bytes()).is_allowed("GPTBot", "/spxi-index.jsonld"));
}

#[test] // D81
fn ours_a_delay_is_written_only_when_wished() {
    let wishes = Wishes { crawl_delay: Some(1.5), ..wishes() };
    let text = merged("User-agent: *\nDisallow: /p\n", &wishes);
    let robots = Robots::parse(text.as_bytes());
    assert_eq!(robots.crawl_delay("anybody"), Some(1.5));
    assert_eq!(robots.crawl_delay("ccbot"), Some(1.5));
    assert!(!robots.is_allowed("anybody", "/p"));
    // The owner's number stands, for our agents too.
    let text = merged("User-agent: *\nCrawl-delay: 9\nDisallow: /p\n", &wishes);
    let robots = Robots::parse(text.as_bytes());
    assert_eq!((robots.crawl_delay("x"), robots.crawl_delay("CCBot")), (Some(9.0), Some(9.0)));
    assert_eq!(text.matches("Crawl-delay").count(), 2, "{text}");
}

#[test] // D81
fn ours_dangling_marks_cost_nothing() {
    for existing in [
        "# rutter:begin\nUser-agent: *\nDisallow: /a\n",
        "# rutter:end\nUser-agent: *\nDisallow: /a\n",
        "# rutter:begin\nUser-agent: *\nDisallow: /a\n# rutter:begin\n# rutter:end\nAllow: /b\n",
    ] {
        let text = merged(existing, &wishes());
        assert!(text.contains("User-agent: *\nDisallow: /a\n"), "{text}");
        assert_eq!(merged(&text, &wishes()), text);
    }
}

#[test]
fn ours_a_wish_cannot_break_out_of_its_line() {
    let wishes = Wishes {
        sitemaps: vec!["https://h.example/\nDisallow: /".into()],
        group: Some(AgentGroup {
            agents: vec!["a\nDisallow: /".into(), "*".into()],
            allow: vec!["/a\n# rutter:end".into(), "b#c".into()],
        }),
        crawl_delay: Some(f64::NAN),
        notes: vec!["a\rDisallow: /".into()],
    };
    let text = String::from_utf8(merge(None, &wishes)).unwrap();
    assert!(text.lines().all(|line| !line.starts_with("Disallow: /")), "{text}");
    assert_eq!(text.matches("# rutter:end").count(), 1, "{text}");
    assert!(Robots::parse(text.as_bytes()).is_allowed("a", "/"));
}

/// Lines as owners write them, with ends of all kinds.
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

/// The file without blocks.
fn outside(bytes: &[u8]) -> Vec<u8> {
    merge(Some(bytes), &Wishes::default())
}

proptest! {
    #[test] // D79 D81
    fn ours_merging_is_idempotent_and_changes_no_answer(
        existing in existing(),
        delay in proptest::option::of(0_u8..9),
    ) {
        let wishes = Wishes { crawl_delay: delay.map(f64::from), ..wishes() };
        let once = merge(Some(&existing), &wishes);
        prop_assert_eq!(&merge(Some(&once), &wishes), &once);

        let (before, after) = (outside(&existing), outside(&once));
        let added = after.strip_prefix(before.as_slice());
        let is_same = added.is_some_and(|added| added.iter().all(|byte| *byte == b'\n'));
        prop_assert!(is_same, "{:?} {:?}", before.escape_ascii(), after.escape_ascii());

        let (old, new) = (Robots::parse(&before), Robots::parse(&once));
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
        // Whoever we name keeps every ban of the others.
        for agent in ["GPTBot", "CCBot"] {
            for target in ["/", "/a", "/a/b", "/xb", "/caf%E9"] {
                prop_assert_eq!(old.is_allowed(agent, target), new.is_allowed(agent, target));
            }
        }
    }

    #[test]
    fn ours_any_bytes_are_kept(existing in proptest::collection::vec(any::<u8>(), 0..200)) {
        let once = merge(Some(&existing), &wishes());
        prop_assert!(once.starts_with(&existing));
        prop_assert_eq!(merge(Some(&once), &wishes()), once);
    }
}
