//! Tests of robots.txt decisions and findings.
//!
//! Every `crates/rutter-robots/fixtures/*.txt` is a case; its `.expect` lists `allow` or
//! `deny`, an agent, a URL, and optionally the deciding line.

use std::fs;

use rutter_finding::Finding;
use rutter_robots::{RobotsTxt, check};

use crate::{codes, fixtures};

#[test] // RFC 9309, 2.1 2.2 2.2.1 2.2.2 2.2.3 2.2.4
fn decides_all_fixtures_as_expected() {
    let mut n_verdicts = 0;
    for entry in fs::read_dir(fixtures()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "txt") {
            continue;
        }
        let robots = RobotsTxt::parse(&fs::read(&path).unwrap());
        let expected = fs::read_to_string(path.with_extension("expect")).unwrap();
        for line in expected.lines().filter(|line| !line.starts_with(';')) {
            let (wanted, rest) = line.split_once(' ').unwrap();
            let (agent, rest) = rest.split_once(' ').unwrap();
            let number = rest.rsplit_once(' ').and_then(|(_, last)| last.parse::<u64>().ok());
            let url = if number.is_some() { rest.rsplit_once(' ').unwrap().0 } else { rest };
            let verdict = robots.verdict(agent, url);
            assert_eq!(verdict.is_allowed, wanted == "allow", "{}: {line}", path.display());
            if number.is_some() {
                assert_eq!(verdict.rule.map(|rule| rule.line), number, "{line}");
            }
            n_verdicts += 1;
        }
    }
    assert!(60 < n_verdicts);
}

#[test] // RFC 9309, 2.2.4
fn reads_sitemaps_and_crawl_delays() {
    let robots = RobotsTxt::parse(&fs::read(fixtures().join("outside.txt")).unwrap());
    let sitemaps: Vec<_> = robots.sitemaps().collect();
    assert_eq!(sitemaps, [(2, "https://h.example/s.xml"), (4, "https://h.example/t.xml")]);
    assert_eq!(robots.crawl_delay("X"), Some(2.5));
    assert_eq!(robots.crawl_delay("z"), None);
    let general = RobotsTxt::parse(b"User-agent: *\nCrawl-delay: 7\nDisallow: /a\nAllow: /b");
    assert_eq!(general.crawl_delay("other"), Some(7.0));
    let lines: Vec<_> = general.rules_for_all().map(|rule| (rule.line, rule.is_allow)).collect();
    assert_eq!(lines, [(3, false), (4, true)]);
}

#[test] // RFC 9309, 2.5
fn reads_only_500_kib_and_no_truncated_line() {
    let mut text = b"User-agent: *\n".to_vec();
    while text.len() < 511_990 {
        text.extend(b"# filler\n");
    }
    text.extend(b"Allow: /\nDisallow: /private\n");
    text.extend(b"Disallow: /late\n");
    let robots = RobotsTxt::parse(&text);
    assert!(robots.is_allowed("x", "/late"));
    // `Disallow: /private` is truncated, and half of it would have another meaning.
    assert!(robots.rules_for_all().all(|rule| rule.pattern == "/"), "{robots:?}");
}

#[test] // D89
fn truncates_long_lines() {
    let text = format!("User-agent: *\nDisallow: /{}\nDisallow: /b", "a".repeat(20_000));
    let robots = RobotsTxt::parse(text.as_bytes());
    assert!(!robots.is_allowed("x", &format!("/{}", "a".repeat(16_700))));
    assert!(!robots.is_allowed("x", "/b"));
}

#[test]
fn accepts_invalid_bytes() {
    let robots = RobotsTxt::parse(
        b"\xef\xbbUser-agent: *\nDisallow: /\xff\xfe\n\x00\x01: x\nDisallow: /b\r",
    );
    assert!(!robots.is_allowed("x", "/%FF%FE"));
    assert!(!robots.is_allowed("x", "/b"));
    assert!(robots.is_allowed("", ""));
}

fn finding_codes(text: &[u8]) -> Vec<String> {
    let mut findings: Vec<Finding> = Vec::new();
    check(text, &mut findings);
    codes(&findings)
}

#[test]
fn reports_problems_with_their_lines() {
    for (text, wanted) in [
        ("User-agent: *\nDisallow: /x\nSitemap: https://h.example/s.xml\n", &[][..]),
        ("Disallow: /\nUser-agent: *\nDisallow:\n", &["1 RB001"]),
        ("User-agent: *\nNoindex: /\nDisallow: /\n", &["2 RB002"]),
        ("User-agent: My Bot/2\nDisallow: /\n", &["1 RB004"]),
        ("User-agent: *\nDisallow:\nSitemap: /s.xml\n", &["3 RB005"]),
        ("User-agent: *\nCrawl-delay: soon\nDisallow:\n", &["2 RB007"]),
        ("\u{feff}User-agent: *\nDisallow:\n", &["1 RB008"]),
        ("User-agent: *\nDisallow: /a\nUser-agent: *\nAllow: /%61\n", &["4 RB009"]),
        ("User-agent *\nDisalow: /\n", &["1 RB010", "2 RB010"]),
        ("User-agent: *\nDisallow: private\n", &["2 RB011"]),
        ("User-agent: *\nDisallow: /\0\n", &["2 RB012"]),
        ("<!DOCTYPE html><p>", &["1 RB014"]),
        ("User-agent: x\nUser-agent: y\n", &["2 RB015"]),
    ] {
        assert_eq!(finding_codes(text.as_bytes()), wanted, "{text}");
    }
    let long = format!("User-agent: *\nDisallow: /{}\n", "a".repeat(17_000));
    assert_eq!(finding_codes(long.as_bytes()), ["2 RB013"]);
    let large = [b"User-agent: *\nDisallow:\n".as_slice(), &b"# x\n".repeat(130_000)].concat();
    assert_eq!(finding_codes(&large), ["0 RB006"]);
}

#[test] // D79
fn reports_ai_group_without_disallow_rules_of_all_agents() {
    let general = "User-agent: *\nDisallow: /private\nDisallow: /*.log$\nAllow: /private/open\n";
    for (group, wanted) in [
        ("User-agent: GPTBot\nAllow: /index\n", &["5 RB003", "5 RB003"][..]),
        ("User-agent: GPTBot\nDisallow: /private\nAllow: /index\n", &["5 RB003"]),
        ("User-agent: GPTBot\nDisallow: /p\nDisallow: /*.log\n", &[]),
        ("User-agent: GPTBot\nDisallow: /\n", &[]),
        // An explicit Allow line is intended.
        ("User-agent: GPTBot\nAllow: /\n", &[]),
        ("User-agent: Googlebot\nAllow: /index\n", &[]),
        ("User-agent: ccbot\nAllow: /a\n\nUser-agent: CCBot\nDisallow: /\n", &[]),
    ] {
        assert_eq!(finding_codes(format!("{general}{group}").as_bytes()), wanted, "{group}");
    }
}

#[test]
fn checks_hostile_files_quickly() {
    let names = "User-agent: a\n".repeat(15_000) + &"Disallow: /a\nAllow: /b\n".repeat(10_000);
    assert_eq!(finding_codes(names.as_bytes()), [""; 0]);
    let stars = format!("User-agent: *\nDisallow: /{}b\n", "*a".repeat(8000)).repeat(30);
    let robots = RobotsTxt::parse(stars.as_bytes());
    assert!(robots.is_allowed("x", &format!("/{}", "a".repeat(7000))));
    let groups = "User-agent: gptbot\nUser-agent: ccbot\nAllow: /a\n".repeat(9000);
    assert!(!finding_codes(format!("User-agent: *\nDisallow: /b\n{groups}").as_bytes()).is_empty());
}
