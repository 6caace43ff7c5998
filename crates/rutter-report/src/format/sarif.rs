//! SARIF 2.1.0 for code scanners.

use std::collections::BTreeMap;
use std::io::{self, Write};

use rutter_finding::{Rule, Severity, Strictness, shown};
use serde_json::{Map, Value, json};

use crate::format::put;
use crate::layer;
use crate::outcome::{FindingView, Outcome};

/// Writes an outcome as one SARIF run.
pub fn write(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    // Rules without findings are omitted, because their help texts are long.
    let rules: BTreeMap<&str, &Rule> =
        outcome.findings().map(|view| (view.finding.rule.code, view.finding.rule)).collect();
    let places: BTreeMap<&str, usize> = rules.keys().copied().zip(0..).collect();
    let results: Vec<Value> =
        outcome.findings().map(|view| result(&view, places.get(view.finding.rule.code))).collect();
    let artifacts: Vec<Value> = outcome
        .files
        .iter()
        .map(|file| json!({ "location": { "uri": uri(&file.file_report.path()) } }))
        .collect();
    let document = json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "rutter",
                "semanticVersion": outcome.version,
                "rules": rules.values().copied().map(described).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "artifacts": artifacts,
            "results": results,
        }],
    });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn described(rule: &Rule) -> Value {
    json!({
        "id": rule.code,
        "name": rule.name,
        "shortDescription": { "text": rule.title },
        "fullDescription": { "text": rule.why },
        "help": { "text": rule.fix, "markdown": crate::explain(rule) },
        "properties": { "tags": [layer::name(rule.layer())], "clause": rule.clause },
        "defaultConfiguration": { "level": level(rule.severity(Strictness::Strict)) },
    })
}

fn result(view: &FindingView<'_>, place: Option<&usize>) -> Value {
    let pointer = &view.finding.place.pointer;
    let mut physical = Map::new();
    let file = json!({ "uri": uri(&view.file_report.path()) });
    physical.insert("artifactLocation".to_owned(), file);
    if let Some(line) = view.line() {
        let mut region = json!({ "startLine": line });
        if let Some(column) = view.column() {
            put(&mut region, "startColumn", column);
        }
        if let Some(excerpt) = view.excerpt {
            put(&mut region, "snippet", json!({ "text": excerpt.text }));
        }
        physical.insert("region".to_owned(), region);
    }
    let mut location = json!({ "physicalLocation": physical });
    if !pointer.is_empty() {
        put(&mut location, "logicalLocations", json!([{ "fullyQualifiedName": pointer }]));
    }
    json!({
        "ruleId": view.finding.rule.code,
        "ruleIndex": place,
        "level": level(Some(view.severity)),
        "message": { "text": shown(&view.message()) },
        "locations": [location],
        "partialFingerprints": { "rutter/v1": view.fingerprint() },
    })
}

fn level(severity: Option<Severity>) -> &'static str {
    severity.map_or("none", Severity::name)
}

/// Returns a path as a percent-encoded URI reference. A URL stays unchanged. An absolute path
/// becomes a `file:` URI, because without a scheme it would be relative to the host that shows the
/// report.
fn uri(path: &str) -> String {
    use std::fmt::Write as _;
    let is_address = path.starts_with("https://") || path.starts_with("http://");
    let plain: &[u8] = if is_address { b"/-._~:?=&%+@,;" } else { b"/-._~" };
    let start = if path.starts_with('/') { "file://" } else { "" };
    path.bytes().fold(start.to_owned(), |mut uri, byte| {
        if byte.is_ascii_alphanumeric() || plain.contains(&byte) {
            uri.push(char::from(byte));
        } else {
            write!(uri, "%{byte:02X}").expect("a string takes everything");
        }
        uri
    })
}
