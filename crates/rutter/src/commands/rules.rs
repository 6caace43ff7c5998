//! `rutter rules`: lists all rules.

use rutter_finding::{Rule, Strictness};
use rutter_report::layer;
use serde_json::{Value, json};

use crate::commands::rule_registry;
use crate::exit::ExitStatus;
use crate::output::Output;

/// Arguments of `rutter rules`.
#[derive(Debug, clap::Args)]
pub(crate) struct RulesArgs {
    /// List only the rules of this layer, such as SC or RB
    #[arg(long, value_name = "LAYER", value_parser = parse_layer)]
    layer: Option<String>,
    /// Print JSON with explanations and examples
    #[arg(long)]
    json: bool,
}

fn parse_layer(text: &str) -> Result<String, String> {
    let text = text.to_uppercase();
    if layer::LAYERS.iter().any(|(layer, _)| *layer == text) {
        return Ok(text);
    }
    let names: Vec<&str> = layer::LAYERS.iter().map(|(layer, _)| *layer).collect();
    Err(format!("expected one of {}", names.join(", ")))
}

pub(crate) fn run(args: &RulesArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    let registry = rule_registry();
    let is_listed = |rule: &Rule| args.layer.as_ref().is_none_or(|layer| rule.layer() == layer);
    let rules = registry.rules().iter().copied().filter(|rule| is_listed(rule));
    if args.json {
        let rules: Vec<Value> = rules.map(described).collect();
        writeln!(out.data(), "{:#}", json!({ "format": 1, "rules": rules }))?;
        return Ok(ExitStatus::Clean);
    }
    let mut before = "";
    for rule in rules {
        if rule.layer() != before {
            let gap = if before.is_empty() { "" } else { "\n" };
            before = rule.layer();
            writeln!(out.data(), "{gap}{before} {}", layer::name(before))?;
        }
        let severity = rule.strict.name();
        writeln!(out.data(), "  {} {severity:<7} {}: {}", rule.code, rule.name, rule.title)?;
    }
    Ok(ExitStatus::Clean)
}

fn described(rule: &'static Rule) -> Value {
    let severity = |mode| rule.severity(mode).map(rutter_finding::Severity::name);
    json!({
        "code": rule.code,
        "name": rule.name,
        "layer": rule.layer(),
        "clause": rule.clause,
        "lenient": severity(Strictness::Lenient),
        "strict": severity(Strictness::Strict),
        "fatal": rule.is_fatal(),
        "title": rule.title,
        "why": rule.why,
        "fix": rule.fix,
        "example": {
            "place": rule.example.place,
            "wrong": rule.example.wrong,
            "right": rule.example.right,
        },
    })
}
