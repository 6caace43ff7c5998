//! Tests of different JSON-LD forms of the same data.

use rutter_finding::Finding;
use rutter_page::JsonTree;
use rutter_spxi::{PacketSelector, VerificationLevel, read_index, read_packet};

const USUAL: &str = r#"{"@vocab":"https://schema.org/","spxi":"https://spxi.dev/vocabulary#"}"#;

/// An index with one entity of these members.
fn index(context: &str, entity: &str) -> String {
    format!(
        r#"{{"@context":{context},"@type":"spxi:SemanticIndex","spxi:hasEntity":[{{{entity}}}]}}"#
    )
}

#[test] // SPX-063, D75
fn names_are_read_according_to_the_context() {
    for (context, entity) in [
        (USUAL, r#""spxi:canonicalName":"North Light""#),
        (USUAL, r#""https://spxi.dev/vocabulary#canonicalName":"North Light""#),
        (USUAL, r#""spxi:canonicalName":["North Light"]"#),
        (USUAL, r#""spxi:canonicalName":{"@value":"North Light","@language":"en"}"#),
        (USUAL, r#""spxi:canonicalName":[null,"North Light"]"#),
        (USUAL, r#""@context":{"n":"spxi:canonicalName"},"n":"North Light""#),
        (
            USUAL,
            r#""@context":[null,{"n":"https://spxi.dev/vocabulary#canonicalName"}],"n":"North Light""#,
        ),
        (
            USUAL,
            r#""@context":{"@vocab":"https://spxi.dev/vocabulary#"},"canonicalName":"North Light""#,
        ),
        (USUAL, r#""@context":{"v":"@value","n":"spxi:canonicalName"},"n":{"v":"North Light"}"#),
        (
            r#"{"spxi":"https://spxi.dev/vocabulary#","n":{"@id":"spxi:canonicalName","@container":"@language"}}"#,
            r#""n":{"en":"North Light"}"#,
        ),
        (
            r#"[{"a":"https://spxi.dev/"},{"b":"a:vocabulary#","spxi":"b:"},{"n":"b:canonicalName"}]"#,
            r#""n":"North Light""#,
        ),
        (
            r#"{"spxi":"https://spxi.dev/vocabulary#","spxi:canonicalName":{"@type":"@id"}}"#,
            r#""spxi:canonicalName":"North Light""#,
        ),
        (
            r#"{"@vocab":"spxi:","spxi":"https://spxi.dev/vocabulary#"}"#,
            r#""canonicalName":"North Light""#,
        ),
    ] {
        let mut findings: Vec<Finding> = Vec::new();
        let text = index(context, entity);
        let read = read_index(text.as_bytes(), &mut findings).unwrap();
        assert_eq!(read.entities[0].name.as_deref(), Some("North Light"), "{text}");
        assert!(findings.iter().all(|it| it.rule.name != "spxi-name-missing"), "{text}");
    }
}

#[test] // D75
fn name_mapped_to_null_is_ignored() {
    for (context, entity) in [
        (USUAL, r#""@context":{"spxi:canonicalName":null},"spxi:canonicalName":"North Light""#),
        (USUAL, r#""@context":{"n":null},"n":"North Light""#),
        (
            USUAL,
            r#""@context":{"spxi:canonicalName":"https://a.example/n"},"spxi:canonicalName":"x""#,
        ),
    ] {
        let text = index(context, entity);
        assert_eq!(read_index(text.as_bytes(), &mut ()).unwrap().entities[0].name, None, "{text}");
    }
}

#[test] // SPX-021, D75
fn relative_addresses_are_resolved() {
    for (context, id, expected) in [
        (USUAL, "https://a.example/x", "https://a.example/x"),
        (USUAL, "x", "x"),
        (r#"{"@vocab":"https://schema.org/"}"#, "spxi:x", "https://spxi.dev/vocabulary#x"),
        (
            r#"{"@base":"https://a.example/b/","spxi":"https://spxi.dev/vocabulary#"}"#,
            "../x#y",
            "https://a.example/x#y",
        ),
        (
            r#"{"a":"https://a.example/","spxi":"https://spxi.dev/vocabulary#"}"#,
            "a:x",
            "https://a.example/x",
        ),
    ] {
        let text = index(context, &format!(r#""@id":"{id}""#));
        let read = read_index(text.as_bytes(), &mut ()).unwrap();
        assert_eq!(read.entities[0].id.as_deref(), Some(expected), "{text}");
    }
}

#[test] // D75
fn unknown_members_are_kept_under_their_usual_names() {
    let context = r#"{"s":"http://schema.org/","x":"https://spxi.dev/vocabulary#","o":"https://own.example/"}"#;
    let text = format!(
        r#"{{"@context":{context},"@type":"x:SemanticIndex","x:hasEntity":[],"s:funder":{{"s:name":"A"}},"o:p":[1.50],"x:q":true}}"#
    );
    let read = read_index(text.as_bytes(), &mut ()).unwrap();
    let funder = JsonTree::Map(vec![("name".to_owned(), JsonTree::text("A"))]);
    assert_eq!(
        read.extra,
        [
            ("funder".to_owned(), funder),
            (
                "https://own.example/p".to_owned(),
                JsonTree::List(vec![JsonTree::Number("1.50".to_owned())])
            ),
            ("spxi:q".to_owned(), JsonTree::Bool(true)),
        ]
    );
}

#[test] // SPX-051
fn kernel_alone_is_read_as_an_index() {
    let text = format!(
        r#"{{"@context":{USUAL},"@type":"spxi:HolographicKernel","spxi:compressionSurvivalSummary":"Four lights."}}"#
    );
    let read = read_index(text.as_bytes(), &mut ()).unwrap();
    assert_eq!(read.kernel.unwrap().summary.as_deref(), Some("Four lights."));
    assert!(read.extra.is_empty());
}

#[test] // SPX-038, D77
fn keywords_of_the_packet_draft_are_mapped() {
    for (word, level) in [
        ("self_asserted", Some(VerificationLevel::SelfAttested)),
        ("doi_deposited", Some(VerificationLevel::DoiAnchored)),
        ("institution_confirmed", Some(VerificationLevel::InstitutionallyCertified)),
        ("doi_anchored", Some(VerificationLevel::DoiAnchored)),
        ("DOI", None),
    ] {
        let text = index(USUAL, &format!(r#""spxi:verificationLevel":"{word}""#));
        let read = read_index(text.as_bytes(), &mut ()).unwrap();
        assert_eq!(read.entities[0].verification, level, "{word}");
    }
}

#[test] // SPX-014, SPX-045, D68
fn packet_is_accepted_only_for_its_own_page() {
    let text = format!(
        r#"{{"@context":{USUAL},"@type":["spxi:PagePacket","WebPage"],"@id":"https://a.example/x/spxi-packet.jsonld","url":["https://a.example/x"],"spxi:about":[]}}"#
    );
    let read = |page: Option<&str>, packet: Option<&str>| {
        read_packet(text.as_bytes(), &PacketSelector { page, packet }, &mut ())
            .map_err(|it| it.rule.code)
    };
    assert!(read(None, None).is_ok());
    assert!(read(Some("https://A.example:443/x#top"), None).is_ok());
    assert!(read(None, Some("https://a.example/x/spxi-packet.jsonld")).is_ok());
    assert!(
        read(Some("https://a.example/y"), Some("https://a.example/x/spxi-packet.jsonld")).is_ok()
    );
    assert_eq!(read(Some("https://a.example/y"), None), Err("SX121"));
    assert_eq!(read(Some("http://a.example/x"), None), Err("SX121"));
    let page = b"<!doctype html><title>Home</title>";
    let html = read_packet(page, &PacketSelector::default(), &mut ());
    assert_eq!(html.unwrap_err().rule.code, "SX001");
    let index = index(USUAL, "");
    let other = read_packet(index.as_bytes(), &PacketSelector::default(), &mut ());
    assert_eq!(other.unwrap_err().rule.code, "SX120");
}

#[test] // D89
fn index_and_packet_have_separate_limits() {
    let padded = |n: usize| {
        let text =
            format!(r#"{{"@context":{USUAL},"@type":["spxi:SemanticIndex","spxi:PagePacket"]}}"#);
        format!("{text}{}", " ".repeat(n - text.len()))
    };
    assert!(read_index(padded(5_000_000).as_bytes(), &mut ()).is_ok());
    let refused = read_index(padded(5_000_001).as_bytes(), &mut ());
    assert_eq!(refused.unwrap_err().rule.code, "SX003");
    assert!(read_packet(padded(1_000_000).as_bytes(), &PacketSelector::default(), &mut ()).is_ok());
    let refused = read_packet(padded(1_000_001).as_bytes(), &PacketSelector::default(), &mut ());
    assert_eq!(refused.unwrap_err().rule.code, "SX003");
}
