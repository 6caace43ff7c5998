//! `rutter explain`: prints the explanation of a rule, with an example and the fix.

use crate::commands::rule_registry;
use crate::config::{SettingsError, similarity::nearest};
use crate::exit::ExitStatus;
use crate::output::Output;

/// Arguments of `rutter explain`.
#[derive(Debug, clap::Args)]
pub(crate) struct ExplainArgs {
    /// Code or name of a rule, such as SC021 or unknown-block
    ///
    /// By default, all rules are listed, one per line.
    #[arg(value_name = "CODE")]
    code: Option<String>,
}

pub(crate) fn run(args: &ExplainArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    let registry = rule_registry();
    match &args.code {
        None => {
            for rule in registry.rules() {
                writeln!(out.data(), "{} {}: {}", rule.code, rule.name, rule.title)?;
            }
        }
        Some(code) => {
            let rule = registry.find(code).ok_or_else(|| {
                let shown = rutter_finding::quoted(code);
                let names = registry.rules().iter().map(|rule| rule.name);
                let near = nearest(code, names).map(|near| format!("did you mean `{near}`?"));
                let hint = near.unwrap_or_else(|| "`rutter rules` lists all rules".to_owned());
                SettingsError::missing(format!("{shown} is not a rule"), hint)
            })?;
            write!(out.data(), "{}", rutter_report::explain(rule))?;
        }
    }
    Ok(ExitStatus::Clean)
}
