//! For code scanners: SARIF 2.1.0.

use std::io::{self, Write};

use rutter_finding::{Mode, Rule, Severity};
use serde_json::{Map, Value, json};

use crate::{Judgement, registry};

/// Writes all judgements as one run.
pub fn write(out: &mut dyn Write, judgements: &[Judgement], version: &str) -> io::Result<()> {
    let rules = registry::all();
    let results: Vec<Value> =
        judgements.iter().flat_map(|judgement| results(judgement, &rules)).collect();
    let document = json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "rutter",
                "semanticVersion": version,
                "rules": rules.iter().copied().map(described).collect::<Vec<_>>(),
            }},
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
        "help": { "text": rule.fix },
        "defaultConfiguration": { "level": level(rule.severity(Mode::Strict)) },
    })
}

fn results(judgement: &Judgement, rules: &[&'static Rule]) -> Vec<Value> {
    let result = |(severity, finding): (Severity, &rutter_finding::Finding)| {
        let detail = &finding.detail;
        let gap = if detail.is_empty() { "" } else { ": " };
        let pointer = &finding.place.pointer;
        let named: Vec<Value> = [pointer]
            .into_iter()
            .filter(|pointer| !pointer.is_empty())
            .map(|pointer| json!({ "fullyQualifiedName": pointer }))
            .collect();
        let mut physical = Map::new();
        physical.insert("artifactLocation".to_owned(), json!({ "uri": uri(&judgement.name) }));
        if let Some(line) = finding.place.line {
            physical.insert("region".to_owned(), json!({ "startLine": line }));
        }
        let location = json!({ "physicalLocation": physical, "logicalLocations": named });
        json!({
            "ruleId": finding.rule.code,
            "ruleIndex": rules.iter().position(|rule| rule.code == finding.rule.code),
            "level": level(Some(severity)),
            "message": { "text": format!("{}{gap}{detail}", finding.rule.title) },
            "locations": [location],
        })
    };
    judgement.report.findings().map(result).collect()
}

fn level(severity: Option<Severity>) -> &'static str {
    severity.map_or("none", Severity::name)
}

/// A file name as a URI reference: what is not plain is percent-encoded.
fn uri(name: &str) -> String {
    use std::fmt::Write as _;
    name.bytes().fold(String::new(), |mut uri, byte| {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            write!(uri, "%{byte:02X}").expect("a string takes everything");
        }
        uri
    })
}
