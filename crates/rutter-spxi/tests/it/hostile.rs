//! Tests with documents that are designed to be slow or large.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use rutter_finding::{Report, Strictness};
use rutter_spxi::{CheckInput, check_index, read_index};

const CONTEXT: &str =
    r#""@context":{"@vocab":"https://schema.org/","spxi":"https://spxi.dev/vocabulary#"}"#;
/// Hundreds of times the normal duration of the slowest document.
const LONGEST: Duration = Duration::from_mins(1);

fn repeated(n: usize, one: impl Fn(usize) -> String) -> String {
    (0..n).map(one).collect::<Vec<_>>().join(",")
}

fn index(context: &str, members: &str) -> String {
    format!(r#"{{{context},"@type":"spxi:SemanticIndex",{members}}}"#)
}

#[test] // C01, C06, D89
fn hostile_documents_cost_bounded_time_and_memory() {
    let long = "x".repeat(200_000);
    let mut terms = String::new();
    for n in 0..5000 {
        write!(terms, r#","t{n}":"https://a.example/{n}#""#).unwrap();
    }
    let many_terms = CONTEXT.replace('}', &format!("{terms}}}"));
    let deep = |n: usize, open: &str, close: &str| open.repeat(n) + "1" + &close.repeat(n);
    for (name, text) in [
        ("empty entities", index(CONTEXT, &format!(r#""spxi:hasEntity":[{}]"#, repeated(50_000, |_| "{}".to_owned())))),
        ("many members", index(CONTEXT, &repeated(50_000, |n| format!(r#""m{n}":1"#)))),
        ("members twice", index(CONTEXT, &repeated(100_000, |n| format!(r#""m{}":1"#, n / 2)))),
        (
            "inner contexts",
            index(&many_terms, &format!(r#""spxi:hasEntity":[{}]"#, repeated(20_000, |_| r#"{"@context":{},"name":"a"}"#.to_owned()))),
        ),
        (
            "contexts of terms",
            index(
                &CONTEXT.replace('}', &format!(r#","p":{{"@id":"https://a.example/p","@context":{{"a":"https://a.example/"{terms}}}}}}}"#)),
                &repeated(5000, |n| format!(r#""p{n}":{{"p":{{}}}}"#)),
            ),
        ),
        (
            "empty contexts of terms",
            index(
                &many_terms.replace('}', r#","p":{"@id":"https://a.example/p","@context":{}}}"#),
                &format!(r#""spxi:hasEntity":[{}]"#, repeated(20_000, |_| r#"{"p":{"x":1}}"#.to_owned())),
            ),
        ),
        (
            "a list of contexts",
            index(
                &format!(r#""@context":[{},{{"@vocab":"https://schema.org/","spxi":"https://spxi.dev/vocabulary#"}}]"#, repeated(100_000, |_| "{}".to_owned())),
                r#""spxi:hasEntity":[]"#,
            ),
        ),
        (
            "one entity named from everywhere",
            index(
                CONTEXT,
                &format!(
                    r#""about":{{"@type":"spxi:IndexedEntity","@id":"https://a.example/","spxi:canonicalName":"{long}"}},"spxi:hasEntity":[{}]"#,
                    repeated(20_000, |_| r#"{"@id":"https://a.example/"}"#.to_owned())
                ),
            ),
        ),
        ("deep objects", index(CONTEXT, &format!(r#""a":{}"#, deep(120, r#"{"@context":{},"a":"#, "}")))),
        ("deep lists", index(CONTEXT, &format!(r#""a":{}"#, deep(120, "[", "]")))),
        ("a long name twice", index(CONTEXT, &format!(r#""{long}":{{"{long}":{{"a":1,"a":2}}}}"#))),
        ("long texts", index(CONTEXT, &format!(r#""spxi:hasEntity":[{{"@id":"{long}","spxi:entityType":"{long}","spxi:basinState":"{long}"}}]"#))),
        ("relative addresses", index(&CONTEXT.replace('}', r#","@base":"https://a.example/"}"#), &format!(r#""spxi:hasEntity":[{}]"#, repeated(20_000, |n| format!(r#"{{"@id":"{n}"}}"#))))),
    ] {
        let started = Instant::now();
        let mut report = Report::new(Strictness::Strict);
        let read = read_index(text.as_bytes(), &mut ()).unwrap();
        let judged = check_index(text.as_bytes(), &CheckInput::default(), &mut report).unwrap();
        assert_eq!(read, judged.index, "{name}");
        let elapsed = started.elapsed();
        assert!(elapsed < LONGEST, "{name}: {elapsed:?}");
        let shown: usize = report.findings().map(|(_, it)| it.place.pointer.len() + it.detail.len()).sum();
        assert!(shown < 1 << 20, "{name}: {shown} bytes of findings");
        let copied: usize = judged.index.entities.iter().filter_map(|it| it.name.as_ref()).map(String::len).sum();
        assert!(copied <= 16 * 200_000, "{name}: {copied} bytes of names");
    }
}
