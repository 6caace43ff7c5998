//! `rutter spxi drown`: what AI systems answer about the entities, and what of
//! them survives.
//!
//! Systems are commands or folders of transcripts; none is built in. Without a
//! system it sums up what was answered before.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::ValueEnum;
use rutter_finding::{Mode, Report};
use rutter_page::Timestamp;
use rutter_survival::drown::{
    EntitySummary, Estimate, History, Journal, Plan, Program, Question, Rated, Source, Step, Store,
    Subject, Summary, System, Tally, drown, slugs,
};

use super::SiteArgs;
use super::status::nothing_declared;
use crate::commands::{counted, now, say_findings};
use crate::config::accept::accept;
use crate::exit::Exit;
use crate::output::Output;
use crate::settle::Settled;

/// Folder of the history, beside that of the entities.
const FOLDER: &str = "drown";

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    site: SiteArgs,
    /// Ask a command: it reads the question on standard input and prints the
    /// answer; sh runs it
    #[arg(long, value_name = "NAME=COMMAND", value_parser = parse_pair)]
    ask: Vec<(String, String)>,
    /// Take answers from a folder with ENTITY/QUESTION.txt
    #[arg(long, value_name = "NAME=DIR", value_parser = parse_pair)]
    transcripts: Vec<(String, String)>,
    /// Name of the run; the same name goes on with it [default: the quarter, such as 2026-q4]
    #[arg(long, value_name = "NAME")]
    run: Option<String>,
    /// File of all scores, which only grows [default: drown/history.jsonl beside the folder of entities]
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    /// Folder for the texts of answers [default: answers beside the history]
    #[arg(long, value_name = "DIR", conflicts_with = "forget_answers")]
    answers: Option<PathBuf>,
    /// Keep no texts of answers
    #[arg(long)]
    forget_answers: bool,
    /// Seconds an answer may take
    #[arg(long, value_name = "N", default_value_t = 120)]
    timeout: u64,
    /// How often a command is tried for one answer
    #[arg(long, value_name = "N", default_value_t = 2)]
    tries: u32,
    /// Print the questions and the files of a folder of transcripts, and ask nothing
    #[arg(long, conflicts_with_all = ["ask", "transcripts", "rate"])]
    questions: bool,
    /// What a person thinks of an answer, from 0 (absent) to 4 (exact)
    #[arg(long, value_name = "SYSTEM/ENTITY/QUESTION=N", value_parser = parse_pair)]
    rate: Vec<(String, String)>,
    /// Write the suggested states and shares into the files of the entities
    #[arg(long)]
    accept: bool,
    /// How to write the summary
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// Tables
    Text,
    /// Everything, for programs
    Json,
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
    match pair {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            Ok((name.to_owned(), value.to_owned()))
        }
        _ => Err("wanted a name, an equals sign and a value".to_owned()),
    }
}

pub(crate) fn run(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    let settled = args.site.settle(out)?;
    let mut report = Report::new(Mode::Lenient);
    let subjects = subjects(&settled, &mut report)?;
    if args.questions {
        say_findings("entities", &report, out);
        return questions(&subjects, out);
    }
    let now = now()?;
    let path = args.history.clone().unwrap_or_else(|| history_of(&settled));
    let systems = systems(args)?;
    let run_name = args.run.clone();
    let mut tally = Tally::default();
    let history = if systems.is_empty() && args.rate.is_empty() {
        let history = History::open(&path, &mut report);
        history.with_context(|| path.display().to_string())?
    } else {
        let run_name = run_name.clone().unwrap_or_else(|| quarter(now));
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        let mut journal =
            Journal::open(&path, &mut report).with_context(|| path.display().to_string())?;
        if !systems.is_empty() {
            let beside = || path.with_file_name("answers");
            let store = (!args.forget_answers)
                .then(|| Store::new(args.answers.clone().unwrap_or_else(beside)));
            let plan = Plan { run: &run_name, date: now, subjects: &subjects, systems: &systems };
            let mut say = |system: &System, subject: &Subject, question: Question, step: Step| {
                if matches!(step, Step::Answered | Step::Failed) {
                    let word = if step == Step::Answered { "answered" } else { "no answer" };
                    let [system, name] = [&system.name, &subject.name].map(|it| shown(it));
                    out.say(format_args!("{system}, {name}, {}: {word}", question.key()));
                }
            };
            tally = drown(&plan, &mut journal, store.as_ref(), &mut say, &mut report)?;
        }
        for (key, score) in &args.rate {
            journal
                .rate(rating(key, score, &run_name, &subjects, journal.history(), now)?)
                .with_context(|| path.display().to_string())?;
        }
        journal.history().clone()
    };
    let summary = Summary::of(&history, &subjects, run_name.as_deref(), &mut report);
    say_findings(&shown(&path.display().to_string()), &report, out);
    match args.format {
        Format::Text => write!(out.data(), "{}", summary.to_table())?,
        Format::Json => {
            let mut text = String::new();
            summary.to_json().to_pretty(0, &mut text);
            writeln!(out.data(), "{text}")?;
        }
    }
    if !systems.is_empty() {
        out.say(format_args!(
            "{}, {} counted anew, {} known before, {} without an answer",
            counted(tally.answered as u64, "answer"),
            tally.counted,
            tally.known,
            tally.failed.len()
        ));
    }
    if args.accept {
        take(&settled, &summary, out)?;
    }
    let has_changes = summary.entities.iter().any(|entity| !entity.changes.is_empty());
    let is_clean = tally.failed.is_empty() && !has_changes;
    Ok(if is_clean { Exit::Clean } else { Exit::Findings })
}

fn shown(text: &str) -> String {
    rutter_finding::visible(text)
}

/// The entities of the settings; one with a kernel of its own is tested by it.
fn subjects(settled: &Settled, report: &mut Report) -> anyhow::Result<Vec<Subject>> {
    let layer = settled.plan.spxi.as_ref();
    let layer = layer.ok_or_else(nothing_declared)?;
    let mut all = Vec::new();
    for declared in &layer.entities {
        let kernel = declared.kernel.as_ref().or(layer.index.kernel.as_ref());
        match Subject::new(&declared.entity, kernel) {
            Some(subject) => all.push(subject),
            None => Subject::tell(&declared.entity, report),
        }
    }
    ensure!(!all.is_empty(), "nothing is claimed of any entity");
    Ok(all)
}

fn questions(subjects: &[Subject], out: &mut Output) -> anyhow::Result<Exit> {
    for (subject, slug) in subjects.iter().zip(slugs(subjects)) {
        for query in &subject.queries {
            writeln!(out.data(), "{slug}/{}.txt\t{}", query.question.key(), query.text)?;
        }
    }
    Ok(Exit::Clean)
}

/// Writes what is suggested into the owner's files.
fn take(settled: &Settled, summary: &Summary, out: &mut Output) -> anyhow::Result<()> {
    for EntitySummary { id, name, estimate, .. } in &summary.entities {
        let Estimate::Fresh { share, state } = estimate else {
            out.say(format_args!("{}: too few answers; nothing is accepted", shown(name)));
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

/// Where the history lies when nobody says where.
pub(super) fn history_of(settled: &Settled) -> PathBuf {
    let beside = settled.folder.parent().unwrap_or(Path::new(""));
    beside.join(FOLDER).join("history.jsonl")
}

fn systems(args: &Args) -> anyhow::Result<Vec<System>> {
    let mut systems = Vec::new();
    for (name, command) in &args.ask {
        let program = Program {
            args: vec!["-c".into(), command.into()],
            timeout: Duration::from_secs(args.timeout.max(1)),
            tries: args.tries,
            ..Program::new("sh")
        };
        systems.push(System { name: name.clone(), source: Source::Program(program) });
    }
    for (name, folder) in &args.transcripts {
        let folder = PathBuf::from(folder);
        ensure!(folder.is_dir(), "--transcripts {}: no such folder", folder.display());
        systems.push(System { name: name.clone(), source: Source::Transcripts(folder) });
    }
    Ok(systems)
}

/// The quarter of a time: quarterly is what the specification asks for.
fn quarter(now: Timestamp) -> String {
    let text = now.to_string();
    let year = text.get(..4).unwrap_or("0000");
    let month: u32 = text.get(5..7).and_then(|month| month.parse().ok()).unwrap_or(1);
    format!("{year}-q{}", month.div_ceil(3))
}

fn rating(
    key: &str,
    score: &str,
    run: &str,
    subjects: &[Subject],
    history: &History,
    now: Timestamp,
) -> anyhow::Result<Rated> {
    let shown = rutter_finding::quoted(key);
    let rubric: Option<u8> = score.parse().ok().filter(|score| *score <= 4);
    let rubric = rubric.with_context(|| format!("--rate {shown}: wanted a number from 0 to 4"))?;
    let parts: Vec<&str> = key.rsplitn(3, '/').collect();
    let [question, slug, system] = parts.as_slice() else {
        anyhow::bail!("--rate {shown}: wanted SYSTEM/ENTITY/QUESTION=N");
    };
    let question = Question::of_key(question).with_context(|| {
        format!("--rate {shown}: questions are what, who, different, used, open")
    })?;
    let all = slugs(subjects);
    let subject = subjects.iter().zip(&all).find(|(_, known)| known == slug).map(|(it, _)| it);
    let subject =
        subject.with_context(|| format!("--rate {shown}: entities are {}", all.join(", ")))?;
    let is_there = history.find(run, &subject.id, system, question).is_some();
    ensure!(is_there, "--rate {shown}: the run {run} has no such answer");
    Ok(Rated {
        date: now,
        run: run.to_owned(),
        entity: subject.id.clone(),
        system: (*system).to_owned(),
        question,
        rubric,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_a_run_is_named_by_its_quarter() {
        for (time, name) in [
            ("2026-01-01T00:00:00Z", "2026-q1"),
            ("2026-03-31T23:59:59Z", "2026-q1"),
            ("2026-04-01T00:00:00Z", "2026-q2"),
            ("2026-12-31T00:00:00Z", "2026-q4"),
        ] {
            assert_eq!(quarter(Timestamp::parse(time).unwrap()), name);
        }
    }

    #[test]
    fn ours_a_system_has_a_name_and_a_command() {
        assert_eq!(parse_pair("a=b = c").unwrap(), ("a".to_owned(), "b = c".to_owned()));
        for text in ["a", "=b", "a=", " = "] {
            assert!(parse_pair(text).is_err(), "{text}");
        }
    }
}
