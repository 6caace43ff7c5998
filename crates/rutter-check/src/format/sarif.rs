//! For code scanners: SARIF 2.1.0.

use std::collections::BTreeMap;
use std::io::{self, Write};

use rutter_finding::{Mode, Rule, Severity, shown};
use serde_json::{Map, Value, json};

use crate::format::put;
use crate::outcome::{Outcome, Told};
use crate::{layer, registry};

/// Writes an outcome as one run.
pub fn write(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    // Rules that nothing was found of are not told: their help is long.
    let rules: BTreeMap<&str, &Rule> =
        outcome.findings().map(|told| (told.finding.rule.code, told.finding.rule)).collect();
    let places: BTreeMap<&str, usize> = rules.keys().copied().zip(0..).collect();
    let results: Vec<Value> =
        outcome.findings().map(|told| result(&told, places.get(told.finding.rule.code))).collect();
    let artifacts: Vec<Value> = outcome
        .files
        .iter()
        .map(|file| json!({ "location": { "uri": uri(&file.judgement.path()) } }))
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
        "help": { "text": rule.fix, "markdown": registry::explain(rule) },
        "properties": { "tags": [layer::name(rule.layer())], "clause": rule.clause },
        "defaultConfiguration": { "level": level(rule.severity(Mode::Strict)) },
    })
}

fn result(told: &Told<'_>, place: Option<&usize>) -> Value {
    let pointer = &told.finding.place.pointer;
    let mut physical = Map::new();
    let file = json!({ "uri": uri(&told.judgement.path()) });
    physical.insert("artifactLocation".to_owned(), file);
    if let Some(line) = told.line() {
        let mut region = json!({ "startLine": line });
        if let Some(column) = told.column() {
            put(&mut region, "startColumn", column);
        }
        if let Some(excerpt) = told.excerpt {
            put(&mut region, "snippet", json!({ "text": excerpt.text }));
        }
        physical.insert("region".to_owned(), region);
    }
    let mut location = json!({ "physicalLocation": physical });
    if !pointer.is_empty() {
        put(&mut location, "logicalLocations", json!([{ "fullyQualifiedName": pointer }]));
    }
    json!({
        "ruleId": told.finding.rule.code,
        "ruleIndex": place,
        "level": level(Some(told.severity)),
        "message": { "text": shown(&told.message()) },
        "locations": [location],
        "partialFingerprints": { "rutter/v1": told.fingerprint() },
    })
}

fn level(severity: Option<Severity>) -> &'static str {
    severity.map_or("none", Severity::name)
}

/// A path as a URI reference: what is not plain is percent-encoded. An address
/// stays one; a path from the root of the disk is a `file:` address, because
/// without a scheme it would be one of whatever host shows the report.
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
