//! Checks the examples of rules: the wrong one breaks its rule, the right one does not.
//!
//! An example shows a file, lines of it, or some members of an object in it. In
//! the last case all other members are taken from a valid file.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use rutter_check::{CheckOptions, CheckTarget, check, has_checkable_example, rule_tables};
use rutter_extract::{ExtractOptions, html, markdown};
use rutter_finding::{Rule, RuleExample, Strictness};
use rutter_page::{PageUrl, Timestamp};
use serde_json::{Map, Value, json};

fn now() -> Timestamp {
    Timestamp::parse("2026-05-03T00:00:00Z").unwrap()
}

/// Returns the codes of the rules that a text breaks.
fn broken(name: &str, text: &str) -> BTreeSet<&'static str> {
    if name == "page.html" || name == "page.md" {
        let url = PageUrl::parse("https://harbour.example/tides.html".to_owned()).unwrap();
        let options = ExtractOptions::new(url, now());
        let read = if name == "page.md" { markdown } else { html };
        return read(text.as_bytes(), &options).findings.iter().map(|it| it.rule.code).collect();
    }
    let bytes = text.as_bytes().to_vec();
    let open = || {
        let input: Box<dyn std::io::Read + Send> = Box::new(std::io::Cursor::new(bytes.clone()));
        Ok((input, Some(bytes.len() as u64)))
    };
    let check_options =
        CheckOptions { mode: Strictness::Strict, now: Some(now()), ..CheckOptions::default() };
    let file_report =
        check(&CheckTarget { name: name.to_owned(), open: &open }, &check_options).unwrap();
    file_report.report.counts().keys().copied().collect()
}

/// Returns a valid object with the members of an example; members that either
/// example has come only from the example.
fn with(good: &Value, example: &RuleExample, text: &str) -> Value {
    let members = |text: &str| -> Map<String, Value> { serde_json::from_str(text).unwrap() };
    let named = [example.wrong, example.right].map(members);
    let mut object = good.as_object().unwrap().clone();
    object.retain(|name, _| named.iter().all(|members| !members.contains_key(name)));
    object.extend(members(text));
    Value::Object(object)
}

fn collection() -> Value {
    json!({ "id": "harbour-all", "section": "all", "type": "snapshot", "generated": "2026-05-01T12:00:00Z", "version": "0.1" })
}

fn page() -> Value {
    json!({ "url": "https://harbour.example/", "title": "Port Selk", "description": "A port.",
        "modified": "2026-05-01T12:00:00Z", "language": "en", "content": [{ "type": "text", "text": "A port." }] })
}

fn entry() -> Value {
    json!({ "url": "https://harbour.example/tides", "ai_indexable": true, "lastmod": "2026-05-01T06:00:00Z" })
}

fn arc() -> Value {
    json!({ "arc_sitemap_version": "2.1", "site": "https://harbour.example",
        "generated_at": "2026-05-01T12:00:00Z", "pages": [entry()] })
}

fn context() -> Value {
    json!({ "@vocab": "https://schema.org/", "spxi": "https://spxi.dev/vocabulary#", "mp": "https://metadatapacket.org/vocabulary#" })
}

fn matrix() -> Value {
    json!({ "@type": "spxi:DisambiguationEntry", "spxi:collidesWith": "North Light, a brewery",
        "spxi:distinguishingAttribute": "One is lit, the other is drunk.", "spxi:collisionRisk": "medium" })
}

fn entity() -> Value {
    json!({ "@type": "spxi:IndexedEntity", "@id": "https://lights.example/north",
        "spxi:entityType": "LandmarksOrHistoricalBuildings", "spxi:canonicalName": "North Light",
        "spxi:negativeTag": ["NOT the brewery", "NOT the South Light", "NOT a light ship"],
        "spxi:semanticIntegrityMarker": ["a red light over the sound", "kept by the Holm family"],
        "spxi:verificationLevel": "self_attested",
        "spxi:packetRef": "https://lights.example/north/spxi-packet.jsonld",
        "spxi:disambiguationMatrix": [matrix()] })
}

fn kernel() -> Value {
    json!({ "@type": "spxi:HolographicKernel", "spxi:compressionSurvivalSummary": "Four towers.",
        "spxi:kernelSpecification": "10.5555/lights.1" })
}

fn surface() -> Value {
    json!({ "@type": "WebPage", "@id": "https://lights.example/north", "name": "North Light" })
}

fn index() -> Value {
    json!({ "@context": context(), "@type": "spxi:SemanticIndex",
        "@id": "https://lights.example/spxi-index.jsonld", "name": "Lights of the sound",
        "dateModified": "2026-05-02", "spxi:protocolVersion": "EA-SPXI-SITEMAP-01 v1.0",
        "spxi:protocolDoi": "10.5555/lights.1", "spxi:siteKernel": kernel(),
        "spxi:hasEntity": [entity()], "spxi:hasSurface": [surface()] })
}

fn packet() -> Value {
    json!({ "@context": context(), "@type": ["spxi:PagePacket", "WebPage"],
        "@id": "https://lights.example/north/spxi-packet.jsonld", "url": "https://lights.example/north",
        "isPartOf": { "@id": "https://lights.example/spxi-index.jsonld" }, "dateModified": "2026-05-02",
        "spxi:about": [entity()] })
}

fn urlset(inside: &str) -> String {
    format!(
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
         xmlns:scp=\"https://scp-protocol.org/schemas/sitemap/1.0\">\n{inside}\n</urlset>\n"
    )
}

/// Returns the name and text of the file for an example.
fn file(example: &RuleExample, text: &str) -> (String, String) {
    let (part, name) = example.place.rsplit_once(' ').unwrap_or(("", example.place));
    let with = |good: Value| with(&good, example, text);
    let line_1 = json!({ "collection": collection() });
    let text = match (part, name) {
        ("", _) => text.to_owned(),
        ("entry of", "sitemap.xml") => urlset(text),
        ("advert in", "sitemap.xml") => {
            urlset(&format!("{text}<url><loc>https://harbour.example/</loc></url>"))
        }
        ("line 1 of", "all.scp") => {
            format!("{}\n{}\n", json!({ "collection": with(collection()) }), page())
        }
        ("page in", "all.scp") => format!("{line_1}\n{}\n", with(page())),
        ("lines of", "all.scp") => format!("{line_1}\n{text}\n"),
        ("top of", "arc-sitemap.json") => with(arc()).to_string(),
        ("top of", delta) if delta.starts_with("arc-sitemap-deltas/") => {
            let mut delta = arc();
            delta["since"] = json!("2026-05-01T00:00:00Z");
            delta["until"] = json!("2026-05-01T18:00:00Z");
            with(delta).to_string()
        }
        ("entry of", "arc-sitemap.json") => {
            let mut arc = arc();
            arc["pages"] = json!([with(entry())]);
            arc.to_string()
        }
        ("top of", "arc-policy.json") => with(json!({ "retention": { "max_days": 90 },
            "access": { "default": "deny" }, "approved_consumers": [] }))
        .to_string(),
        ("top of", "spxi-packet.jsonld") => with(packet()).to_string(),
        ("top of", "spxi-index.jsonld") => with(index()).to_string(),
        (part, "spxi-index.jsonld") => {
            let mut index = index();
            match part {
                "entity in" => index["spxi:hasEntity"] = json!([with(entity())]),
                "kernel in" => index["spxi:siteKernel"] = with(kernel()),
                "surface in" => index["spxi:hasSurface"] = json!([with(surface())]),
                "matrix of" => {
                    index["spxi:hasEntity"][0]["spxi:disambiguationMatrix"] =
                        json!([with(matrix())]);
                }
                other => panic!("unknown part of an index: `{other}`"),
            }
            index.to_string()
        }
        (part, name) => panic!("unknown part of {name}: `{part}`"),
    };
    (name.to_owned(), text)
}

fn rules() -> impl Iterator<Item = &'static Rule> {
    rule_tables().into_iter().flatten().copied()
}

#[test]
fn wrong_example_breaks_its_rule_and_right_example_does_not() {
    let mut faults = String::new();
    let mut n_checked = 0;
    for Rule { code, example, .. } in rules().filter(|rule| has_checkable_example(rule)) {
        n_checked += 1;
        let (name, wrong) = file(example, example.wrong);
        let codes = broken(&name, &wrong);
        if !codes.contains(code) {
            writeln!(faults, "{code}: wrong breaks {codes:?}\n    {wrong}").unwrap();
        }
        let (name, right) = file(example, example.right);
        let codes = broken(&name, &right);
        if codes.contains(code) {
            writeln!(faults, "{code}: right breaks {codes:?}\n    {right}").unwrap();
        }
    }
    assert!(200 <= n_checked, "only {n_checked} examples are checked");
    assert!(faults.is_empty(), "{faults}");
}
