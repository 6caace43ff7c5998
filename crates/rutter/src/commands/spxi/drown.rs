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
use crate::config::Fault;
use crate::config::accept::accept;
use crate::exit::Exit;
use crate::output::Output;
use crate::settle::{DROWN, Settled};

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
    /// Name of the run; the same name goes on with it [default: the day, such as 2026-11-17]
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
    #[arg(long, value_name = "N", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
    /// How often a command is tried for one answer
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=20))]
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
    let mut run_name = args.run.clone();
    let mut tally = Tally::default();
    let history = if systems.is_empty() && args.rate.is_empty() {
        let history = History::open(&path, &mut report);
        history.with_context(|| path.display().to_string())?
    } else {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        let mut journal =
            Journal::open(&path, &mut report).with_context(|| path.display().to_string())?;
        // What is rated without a name is the last run, what is asked a new one.
        let last = last_run(journal.history()).filter(|_| systems.is_empty());
        let run_name = run_name.get_or_insert_with(|| last.unwrap_or_else(|| day(now)));
        if !systems.is_empty() {
            let beside = || path.with_file_name("answers");
            let store = (!args.forget_answers)
                .then(|| Store::new(args.answers.clone().unwrap_or_else(beside)));
            end_with_us()?;
            let plan = Plan { run: run_name, date: now, subjects: &subjects, systems: &systems };
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
                .rate(rating(key, score, run_name, &subjects, journal.history(), now)?)
                .with_context(|| path.display().to_string())?;
        }
        journal.history().clone()
    };
    let run_name = run_name.or_else(|| last_run(&history));
    let Some(run_name) = run_name.filter(|run| is_known(&history, run) || !systems.is_empty())
    else {
        let runs = runs(&history);
        let all = if runs.is_empty() { "there is none yet".to_owned() } else { runs.join(", ") };
        let what = format!("{}: no such run", shown(&path.display().to_string()));
        return Err(Fault::missing(what, format!("runs are: {all}; --ask begins one")).into());
    };
    let summary = Summary::of(&history, &subjects, Some(&run_name), &mut report);
    out.say(format_args!("run {}", shown(&run_name)));
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

/// Lets a signal that ends us end the command that is being asked, too: it
/// has a group of its own, which a terminal does not reach.
#[cfg(unix)]
fn end_with_us() -> anyhow::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let signals = {
        let _inside = runtime.enter();
        kinds.map(|kind| signal(kind))
    };
    let [interrupt, terminate, hangup] = signals;
    let (mut interrupt, mut terminate, mut hangup) = (interrupt?, terminate?, hangup?);
    std::thread::spawn(move || {
        let number = runtime.block_on(async {
            tokio::select! {
                _ = interrupt.recv() => 2,
                _ = terminate.recv() => 15,
                _ = hangup.recv() => 1,
            }
        });
        rutter_survival::drown::stop_asking();
        #[expect(clippy::exit, reason = "the signal asked for it, and answers are on the disk")]
        std::process::exit(128 + number);
    });
    Ok(())
}

#[cfg(not(unix))]
fn end_with_us() -> anyhow::Result<()> {
    Ok(())
}

/// The names of runs, in the order in which they began.
fn runs(history: &History) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for record in &history.records {
        if !names.contains(&record.run) {
            names.push(record.run.clone());
        }
    }
    names
}

fn is_known(history: &History, run: &str) -> bool {
    history.records.iter().any(|record| record.run == run)
}

fn last_run(history: &History) -> Option<String> {
    history.records.iter().max_by_key(|record| record.date).map(|record| record.run.clone())
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
        // Two entities may have one name, but not one page.
        let stated = settled
            .entities
            .iter()
            .find(|stated| stated.name() == name && is_page(settled, &stated.page, id));
        let file = stated.and_then(|stated| stated.file.clone()).or_else(|| settled.file.clone());
        let file = file.with_context(|| format!("{id}: it is not known where it is declared"))?;
        // Two digits are more than so few answers can tell.
        let bdr = (share.value() * 100.0).round() / 100.0;
        let page = stated.map_or("", |stated| stated.page.as_str());
        accept(&file, (name, page), *state, bdr)?;
        let (file, state) = (file.display(), state.word());
        out.say(format_args!("{file}: basin-state {state}, bdr {bdr:?}"));
    }
    Ok(())
}

/// Whether a page as it is written has this address.
fn is_page(settled: &Settled, page: &str, id: &str) -> bool {
    let origin = settled.plan.base.origin();
    page == id || id.strip_prefix(origin) == Some(page)
}

/// Where the history lies when nobody says where.
pub(super) fn history_of(settled: &Settled) -> PathBuf {
    let beside = settled.folder.parent().unwrap_or(Path::new(""));
    beside.join(DROWN).join("history.jsonl")
}

fn systems(args: &Args) -> anyhow::Result<Vec<System>> {
    let mut systems = Vec::new();
    for (name, command) in &args.ask {
        let program = Program {
            args: vec!["-c".into(), command.into()],
            timeout: Duration::from_secs(args.timeout),
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

/// The day of a time.
fn day(now: Timestamp) -> String {
    now.to_string().chars().take(10).collect()
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
    fn ours_a_system_has_a_name_and_a_command() {
        assert_eq!(parse_pair("a=b = c").unwrap(), ("a".to_owned(), "b = c".to_owned()));
        for text in ["a", "=b", "a=", " = "] {
            assert!(parse_pair(text).is_err(), "{text}");
        }
    }
}
