//! `rutter completions`, `rutter man`, and the generated documentation.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use clap::{Command, CommandFactory, ValueEnum};
use clap_complete::Shell;
use rutter_check::layer::LAYERS;
use rutter_check::registry;

use crate::Cli;
use crate::commands::all_rules;
use crate::config::{document, entity};
use crate::exit::Exit;
use crate::output::Output;

/// What the arguments of `completions` say.
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// What the arguments of `man` say.
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Folder to write one page per command into, instead of printing one
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

/// What the arguments of `docs` say.
#[derive(Debug, clap::Args)]
pub(crate) struct DocsArgs {
    /// Which part
    #[arg(value_enum)]
    part: DocsPart,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum DocsPart {
    Rules,
    Cli,
    Config,
    Schema,
    EntitySchema,
    JsonOutputs,
}

pub(crate) fn completions(args: &CompletionArgs, out: &mut Output) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "rutter", &mut script);
    out.data().write_all(&script)?;
    Ok(Exit::Clean)
}

pub(crate) fn man(args: &ManArgs, out: &mut Output) -> anyhow::Result<Exit> {
    match &args.folder {
        None => clap_mangen::Man::new(Cli::command()).render(out.data())?,
        Some(folder) => {
            fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
            clap_mangen::generate_to(Cli::command(), folder)
                .with_context(|| folder.display().to_string())?;
        }
    }
    Ok(Exit::Clean)
}

pub(crate) fn docs(args: &DocsArgs, out: &mut Output) -> anyhow::Result<Exit> {
    let text = match args.part {
        DocsPart::Rules => rules(),
        DocsPart::Cli => cli(),
        DocsPart::Config => document::page(),
        DocsPart::Schema => document::schema(),
        DocsPart::EntitySchema => entity::schema(),
        DocsPart::JsonOutputs => json_outputs(),
    };
    out.data().write_all(text.as_bytes())?;
    Ok(Exit::Clean)
}

fn rules() -> String {
    let rules = all_rules();
    let mut text = format!(
        "# Rules\n\nWritten by `cargo xtask docs` from the rules themselves.\n\n\
         There are {} rules. *For readers* is how `rutter check --lenient` and every reading command \
         take one, *for judges* how `rutter check` does.\n\
         Examples show a file, or the part of one that matters; \
         [reports.md](reports.md) says how findings are told, ignored and known.\n\n\
         | layer | what it is about | rules |\n|---|---|---|\n",
        rules.len(),
    );
    for (layer, name) in LAYERS {
        let n = rules.iter().filter(|rule| rule.layer() == layer).count();
        if 0 < n {
            let _ = writeln!(text, "| {layer} | {name} | {n} |");
        }
    }
    for (layer, name) in LAYERS {
        let mut of_layer = rules.iter().filter(|rule| rule.layer() == layer).peekable();
        if of_layer.peek().is_some() {
            let _ = write!(text, "\n## {layer}: {name}\n");
        }
        for rule in of_layer {
            text.push_str("\n#");
            text.push_str(&registry::explain(rule));
        }
    }
    text
}

fn cli() -> String {
    let mut text = String::from("# Commands\n\nWritten by `cargo xtask docs`.\n");
    let mut command = Cli::command();
    command.build();
    describe(&mut command, &mut text);
    text
}

fn describe(command: &mut Command, text: &mut String) {
    let name = command.get_bin_name().unwrap_or("rutter").to_owned();
    let help = command.clone().term_width(88).render_long_help().to_string();
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    text.extend(["\n## ", &name, "\n\n```text\n", help.join("\n").trim_end(), "\n```\n"]);
    for sub in command.get_subcommands_mut() {
        if !sub.is_hide_set() && sub.get_name() != "help" {
            describe(sub, text);
        }
    }
}

/// Every command line that asks for JSON, one per line, as the arguments have them: `--json`, and
/// each `json` and `jsonl` of an option called `--format` or `--...-format`. `--json` is not
/// listed where `--format json` means the same.
fn json_outputs() -> String {
    let mut text = String::new();
    let mut command = Cli::command();
    command.build();
    push_json_outputs(&command, "", &mut text);
    text
}

fn push_json_outputs(command: &Command, name: &str, text: &mut String) {
    let mut by_format = Vec::new();
    let mut has_json_flag = false;
    for arg in command.get_arguments() {
        let Some(long) = arg.get_long() else { continue };
        has_json_flag |= long == "json";
        if long.ends_with("format") {
            let values = arg.get_possible_values();
            let values = values.iter().map(clap::builder::PossibleValue::get_name);
            let json = values.filter(|value| value.starts_with("json"));
            by_format.extend(json.map(|value| format!("--{long} {value}")));
        }
    }
    if has_json_flag && !by_format.iter().any(|option| option == "--format json") {
        by_format.push("--json".to_owned());
    }
    for option in by_format {
        let _ = writeln!(text, "{name} {option}");
    }
    for sub in command.get_subcommands() {
        let gap = if name.is_empty() { "" } else { " " };
        push_json_outputs(sub, &format!("{name}{gap}{}", sub.get_name()), text);
    }
}
