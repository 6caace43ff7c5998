//! `rutter spxi drown`: what AI systems make of the entities (the Drowning
//! Test).

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use rutter_finding::{Mode, Report, quoted};
use rutter_page::Timestamp;
use rutter_spxi::Kernel;
use rutter_survival::drown::{
    EntitySummary, Estimate, Journal, Plan, Program, Question, Rated, Source, Step, Store, Subject,
    Summary, System, Tally, drown,
};

use super::status::nothing_declared;
use super::{HISTORY, SiteArgs};
use crate::commands::say_findings;
use crate::config::accept::accept;
use crate::exit::Exit;
use crate::output::Output;
use crate::settle::Settled;

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    site: SiteArgs,
    /// A command that reads a question on standard input and prints the answer; run by sh
    #[arg(long = "system", value_name = "NAME=COMMAND", value_parser = pair)]
    systems: Vec<(String, String)>,
    /// A folder of answers that were noted: ENTITY/QUESTION.txt; --questions names them
    #[arg(long, value_name = "NAME=DIR", value_parser = pair)]
    transcripts: Vec<(String, String)>,
    /// Name of the run; the same name resumes it [default: the day]
    #[arg(long, value_name = "NAME")]
    run: Option<String>,
    /// File that answers are counted in, which only grows [default: spxi-history.jsonl beside
    /// rutter.toml]
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    /// Folder that keeps the texts of answers [default: answers in the state's folder]
    #[arg(long, value_name = "DIR")]
    answers: Option<PathBuf>,
    /// How many seconds a command may take for an answer
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    timeout: u64,
    /// How often a command that fails is tried
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=10))]
    tries: u32,
    /// Your own score of an answer, from 0 (absent) to 4 (exact)
    #[arg(long, value_name = "SYSTEM;ENTITY;QUESTION=SCORE")]
    rate: Vec<String>,
    /// Write the suggested states and shares into the files of the entities
    #[arg(long)]
    accept: bool,
    /// Print the questions and where answers to them are looked for, and ask nobody
    #[arg(long)]
    questions: bool,
    /// Print what came of it as JSON
    #[arg(long)]
    json: bool,
}

/// Reads `NAME=REST`.
fn pair(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').map(|(name, rest)| (name.trim(), rest.trim()));
    match parts {
        Some((name, rest)) if !name.is_empty() && !rest.is_empty() => {
            Ok((name.to_owned(), rest.to_owned()))
        }
        _ => Err("wanted a name, an equals sign and what it stands for".to_owned()),
    }
}

pub(crate) fn run(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    let settled = args.site.settle(out)?;
    let subjects = subjects(&settled, out)?;
    if args.questions {
        return questions(&subjects, out);
    }
    let now = settled.plan.now;
    let path = args.history.clone().unwrap_or_else(|| settled.beside(HISTORY));
    let shown = || path.display().to_string();
    let mut report = Report::new(Mode::Lenient);
    let mut journal = Journal::open(&path, &mut report).with_context(shown)?;
    let answers = args.answers.clone().unwrap_or_else(|| settled.plan.state.join("answers"));
    let run = args.run.clone().unwrap_or_else(|| now.to_string().chars().take(10).collect());
    let systems = systems(args);
    for rate in &args.rate {
        journal.rate(rated(rate, &run, now, &subjects)?).with_context(shown)?;
    }
    let mut tally = Tally::default();
    if !systems.is_empty() {
        let plan = Plan { run: &run, date: now, subjects: &subjects, systems: &systems };
        let store = Store::new(answers);
        let mut said = |system: &System, subject: &Subject, question: Question, step: Step| {
            if step == Step::Answered {
                let (system, entity) = (quoted(&system.name), quoted(&subject.name));
                out.say(format_args!("{system}: {entity}, {}", question.key()));
            }
        };
        tally = drown(&plan, &mut journal, Some(&store), &mut said, &mut report)?;
    }
    let asked = Some(run.as_str()).filter(|_| !systems.is_empty() || args.run.is_some());
    let summary = Summary::of(journal.history(), &subjects, asked, &mut report);
    say_findings(&shown(), &report, out);
    if args.json {
        let mut text = String::new();
        summary.to_json().to_pretty(0, &mut text);
        writeln!(out.data(), "{text}")?;
    } else {
        out.data().write_all(summary.to_table().as_bytes())?;
    }
    if !systems.is_empty() {
        let Tally { known, counted, answered, failed } = &tally;
        let failed = failed.len();
        out.say(format_args!(
            "run {run}: {answered} answered, {counted} counted from kept answers, {known} known before, {failed} without an answer"
        ));
        if failed != 0 {
            out.say(format_args!("--run {run} resumes it; what is answered is not asked again"));
        }
    }
    if args.accept {
        take(&settled, &summary, out)?;
    }
    Ok(if tally.failed.is_empty() { Exit::Clean } else { Exit::Findings })
}

/// The entities with what is claimed of them.
fn subjects(settled: &Settled, out: &mut Output) -> anyhow::Result<Vec<Subject>> {
    let Some(spxi) = &settled.plan.spxi else { return Err(nothing_declared().into()) };
    let site = spxi.index.kernel.as_ref();
    let mut subjects = Vec::new();
    for declared in &spxi.entities {
        // Its own kernel says more of it than that of the site.
        let kernel: Option<&Kernel> = declared.kernel.as_ref().or(site);
        match Subject::new(&declared.entity, kernel) {
            Some(subject) => subjects.push(subject),
            None => {
                let name = declared.entity.name.as_deref().unwrap_or_default();
                out.say(format_args!("{}: nothing can be asked about it", quoted(name)));
            }
        }
    }
    Ok(subjects)
}

fn questions(subjects: &[Subject], out: &mut Output) -> anyhow::Result<Exit> {
    let slugs = rutter_survival::drown::slugs(subjects);
    for (subject, slug) in subjects.iter().zip(slugs) {
        for query in &subject.queries {
            writeln!(out.data(), "{slug}/{}.txt\t{}", query.question.key(), query.text)?;
        }
    }
    Ok(Exit::Clean)
}

fn systems(args: &Args) -> Vec<System> {
    let commands = args.systems.iter().map(|(name, command)| {
        let program = Program {
            args: vec!["-c".into(), command.into()],
            timeout: Duration::from_secs(args.timeout.max(1)),
            tries: args.tries,
            ..Program::new("sh")
        };
        System { name: name.clone(), source: Source::Program(program) }
    });
    let folders = args.transcripts.iter().map(|(name, folder)| System {
        name: name.clone(),
        source: Source::Transcripts(folder.into()),
    });
    commands.chain(folders).collect()
}

/// Reads `SYSTEM;ENTITY;QUESTION=SCORE`.
fn rated(text: &str, run: &str, date: Timestamp, subjects: &[Subject]) -> anyhow::Result<Rated> {
    let wanted = || {
        let keys: Vec<&str> = Question::ALL.iter().map(|question| question.key()).collect();
        format!(
            "--rate {text}: wanted SYSTEM;ENTITY;QUESTION=SCORE, a question of {}, a score from 0 to 4",
            keys.join(", ")
        )
    };
    let (place, score) = text.rsplit_once('=').with_context(wanted)?;
    let mut parts = place.split(';').map(str::trim);
    let (system, entity) = (parts.next(), parts.next());
    let question = parts.next().and_then(Question::of_key).with_context(wanted)?;
    let rubric =
        score.trim().parse::<u8>().ok().filter(|score| *score <= 4).with_context(wanted)?;
    let subject = subjects.iter().find(|subject| Some(subject.name.as_str()) == entity);
    Ok(Rated {
        date,
        run: run.to_owned(),
        entity: subject.with_context(wanted)?.id.clone(),
        system: system.filter(|it| !it.is_empty()).with_context(wanted)?.to_owned(),
        question,
        rubric,
    })
}

/// Writes what is suggested into the owner's files.
fn take(settled: &Settled, summary: &Summary, out: &mut Output) -> anyhow::Result<()> {
    for EntitySummary { id, name, estimate, .. } in &summary.entities {
        let Estimate::Fresh { share, state } = estimate else {
            out.say(format_args!("{}: too few answers; nothing is accepted", quoted(name)));
            continue;
        };
        let stated = settled.entities.iter().find(|stated| stated.name() == name);
        let file = stated.and_then(|stated| stated.file.clone()).or_else(|| settled.file.clone());
        let file = file.with_context(|| format!("{id}: it is not known where it is declared"))?;
        // Two digits are more than so few answers can tell.
        let bdr = (share.value() * 100.0).round() / 100.0;
        accept(&file, name, *state, bdr)?;
        let (file, state) = (file.display(), state.word());
        out.say(format_args!("{file}: basin-state {state}, bdr {bdr:?}"));
    }
    Ok(())
}
