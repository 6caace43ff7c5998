//! `rutter completions`, `rutter man`, and the generated documentation.

use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use clap::{Command, CommandFactory, ValueEnum};
use clap_complete::Shell;
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
    };
    out.data().write_all(text.as_bytes())?;
    Ok(Exit::Clean)
}

fn rules() -> String {
    let mut text = String::from(
        "# Rules\n\nWritten by `cargo xtask docs`.\n\n\
         *For readers* is how `rutter check --lenient` and every reading command take it, \
         *for judges* how `rutter check` does.\n",
    );
    for rule in all_rules() {
        text.push('\n');
        text.push_str(&registry::explain(rule));
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
