//! `rutter spxi drown`: asks AI systems about the entities and scores the answers.
//!
//! An AI system is a shell command or a folder of transcripts; no AI system is built in. Without an
//! AI system, the command summarizes earlier answers.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::ValueEnum;
use rutter_finding::{Report, Strictness};
use rutter_page::Timestamp;
use rutter_spxi::survival::drown::{
    AiSystem, AnswerHistory, AnswerProgram, AnswerSource, AnswerStore, BasinEstimate, DrownPlan,
    EntitySummary, HistoryWriter, HumanRating, QuestionOutcome, RunCounts, RunSummary,
    StandardQuestion, TestedEntity, drown, slugs,
};

use super::BuiltSiteArgs;
use super::status::nothing_declared;
use crate::commands::{counted, now, print_findings};
use crate::config::SettingsError;
use crate::config::accept::accept;
use crate::exit::ExitStatus;
use crate::output::Output;
use crate::plan::{DROWN, PlannedBuild};

/// Arguments of `rutter spxi drown`.
#[derive(Debug, clap::Args)]
// More than 12 fields: one field per option.
pub(crate) struct DrownArgs {
    #[command(flatten)]
    site: BuiltSiteArgs,
    /// AI system to ask, as a shell command; may be repeated
    ///
    /// The command reads a question on standard input and prints the answer. Example:
    /// local='ollama run llama3'.
    #[arg(long, value_name = "NAME=COMMAND", value_parser = parse_pair)]
    ask: Vec<(String, String)>,
    /// Folder of answers of an AI system; may be repeated
    ///
    /// The folder contains one file ENTITY/QUESTION.txt per answer; --questions lists the names of
    /// the files.
    #[arg(long, value_name = "NAME=DIR", value_parser = parse_pair)]
    transcripts: Vec<(String, String)>,
    /// Name of the run
    ///
    /// An existing run is continued. Default: the current day, such as 2026-11-17.
    #[arg(long, value_name = "NAME")]
    run: Option<String>,
    /// File of all scores, to which new scores are appended
    ///
    /// Default: drown/history.jsonl beside the folder of entity files.
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    /// Folder for the texts of answers
    ///
    /// Default: answers beside the file of scores.
    #[arg(long, value_name = "DIR", conflicts_with = "forget_answers")]
    answers: Option<PathBuf>,
    /// Do not store the texts of answers
    #[arg(long)]
    forget_answers: bool,
    /// Maximum time for one answer, in seconds
    #[arg(long, value_name = "N", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
    /// Maximum number of attempts for one answer
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=20))]
    tries: u32,
    /// Print the questions of the test instead of asking an AI system
    ///
    /// Each line has the file name of the answer, as for --transcripts, a tab, and the question.
    #[arg(long, conflicts_with_all = ["ask", "transcripts", "rate"])]
    questions: bool,
    /// Your own score of an answer, from 0 (entity absent) to 4 (exact)
    #[arg(long, value_name = "SYSTEM/ENTITY/QUESTION=N", value_parser = parse_pair)]
    rate: Vec<(String, String)>,
    /// Write the suggested `basin-state` and `bdr` to the entity files
    #[arg(long)]
    accept: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = DrownFormat::Text)]
    format: DrownFormat,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum DrownFormat {
    /// Tables
    Text,
    /// One JSON document
    Json,
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
    match pair {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            Ok((name.to_owned(), value.to_owned()))
        }
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

pub(crate) fn run(args: &DrownArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    let settled = args.site.settle(out)?;
    let mut report = Report::new(Strictness::Lenient);
    let subjects = subjects(&settled, &mut report)?;
    if args.questions {
        print_findings("entities", &report, out);
        return questions(&subjects, out);
    }
    let now = now()?;
    let path = args.history.clone().unwrap_or_else(|| history_of(&settled));
    let systems = systems(args)?;
    let mut run_name = args.run.clone();
    let mut tally = RunCounts::default();
    let history = if systems.is_empty() && args.rate.is_empty() {
        let history = AnswerHistory::open(&path, &mut report);
        history.with_context(|| path.display().to_string())?
    } else {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        let mut journal =
            HistoryWriter::open(&path, &mut report).with_context(|| path.display().to_string())?;
        // Without `--run`, ratings apply to the last run, and asking an AI system starts a new run.
        let last = last_run(journal.history()).filter(|_| systems.is_empty());
        let run_name = run_name.get_or_insert_with(|| last.unwrap_or_else(|| day(now)));
        if !systems.is_empty() {
            let beside = || path.with_file_name("answers");
            let store = (!args.forget_answers)
                .then(|| AnswerStore::new(args.answers.clone().unwrap_or_else(beside)));
            end_with_us()?;
            let plan =
                DrownPlan { run: run_name, date: now, subjects: &subjects, systems: &systems };
            let mut say = |system: &AiSystem, subject: &TestedEntity, question, step| {
                print_step(system, subject, question, step, out);
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
        let all = if runs.is_empty() { "none".to_owned() } else { runs.join(", ") };
        let what = format!("{} does not have this run", shown(&path.display().to_string()));
        let hint = format!("existing runs: {all}; start a run with --ask");
        return Err(SettingsError::missing(what, hint).into());
    };
    let summary = RunSummary::of(&history, &subjects, Some(&run_name), &mut report);
    out.say(format_args!("run {}", shown(&run_name)));
    print_findings(&shown(&path.display().to_string()), &report, out);
    match args.format {
        DrownFormat::Text => write!(out.data(), "{}", summary.to_table())?,
        DrownFormat::Json => {
            let mut text = String::new();
            summary.to_json().to_pretty(0, &mut text);
            writeln!(out.data(), "{text}")?;
        }
    }
    if !systems.is_empty() {
        out.say(format_args!(
            "{}, {} scored again, {} known before, {} failed",
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
    Ok(if is_clean { ExitStatus::Clean } else { ExitStatus::Findings })
}

/// Prints the outcome of one question.
fn print_step(
    system: &AiSystem,
    subject: &TestedEntity,
    question: StandardQuestion,
    step: QuestionOutcome,
    out: &mut Output,
) {
    let word = match step {
        QuestionOutcome::Answered => "answered",
        QuestionOutcome::Failed => "no answer",
        _ => return,
    };
    let [system, name] = [&system.name, &subject.name].map(|it| shown(it));
    out.say(format_args!("{system}, {name}, {}: {word}", question.key()));
}

/// Stops the running command of an AI system when `rutter` gets a signal: the command has its own
/// process group, which signals of the terminal do not reach.
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
        rutter_spxi::survival::drown::stop_programs();
        #[expect(clippy::exit, reason = "the signal requests it, and answers are already stored")]
        std::process::exit(128 + number);
    });
    Ok(())
}

#[cfg(not(unix))]
fn end_with_us() -> anyhow::Result<()> {
    Ok(())
}

/// Returns the names of runs, in the order of their start.
fn runs(history: &AnswerHistory) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for record in &history.records {
        if !names.contains(&record.run) {
            names.push(record.run.clone());
        }
    }
    names
}

fn is_known(history: &AnswerHistory, run: &str) -> bool {
    history.records.iter().any(|record| record.run == run)
}

fn last_run(history: &AnswerHistory) -> Option<String> {
    history.records.iter().max_by_key(|record| record.date).map(|record| record.run.clone())
}

fn shown(text: &str) -> String {
    rutter_finding::visible(text)
}

/// Returns the declared entities that can be tested. An entity without its own kernel is tested
/// with the kernel of the site.
fn subjects(settled: &PlannedBuild, report: &mut Report) -> anyhow::Result<Vec<TestedEntity>> {
    let layer = settled.plan.spxi.as_ref();
    let layer = layer.ok_or_else(nothing_declared)?;
    let mut all = Vec::new();
    for declared in &layer.entities {
        let kernel = declared.kernel.as_ref().or(layer.index.kernel.as_ref());
        match TestedEntity::new(&declared.entity, kernel) {
            Some(subject) => all.push(subject),
            None => TestedEntity::tell(&declared.entity, report),
        }
    }
    ensure!(!all.is_empty(), "no entity has statements to test");
    Ok(all)
}

fn questions(subjects: &[TestedEntity], out: &mut Output) -> anyhow::Result<ExitStatus> {
    for (subject, slug) in subjects.iter().zip(slugs(subjects)) {
        for query in &subject.queries {
            writeln!(out.data(), "{slug}/{}.txt\t{}", query.question.key(), query.text)?;
        }
    }
    Ok(ExitStatus::Clean)
}

/// Writes the suggested values of `basin-state` and `bdr` to the entity files.
fn take(settled: &PlannedBuild, summary: &RunSummary, out: &mut Output) -> anyhow::Result<()> {
    for EntitySummary { id, name, estimate, .. } in &summary.entities {
        let BasinEstimate::Fresh { share, state } = estimate else {
            out.say(format_args!("{}: too few answers; not changed", shown(name)));
            continue;
        };
        // Two entities may share a name, but not a page.
        let stated = settled
            .entities
            .iter()
            .find(|stated| stated.name() == name && is_page(settled, &stated.page, id));
        let file = stated.and_then(|stated| stated.file.clone()).or_else(|| settled.file.clone());
        let file =
            file.with_context(|| format!("cannot find the file that declares entity {id}"))?;
        // The number of answers is too small for more than two digits.
        let bdr = (share.value() * 100.0).round() / 100.0;
        let page = stated.map_or("", |stated| stated.page.as_str());
        accept(&file, (name, page), *state, bdr)?;
        let (file, state) = (file.display(), state.word());
        out.say(format_args!("{file}: basin-state {state}, bdr {bdr:?}"));
    }
    Ok(())
}

/// Returns whether the page of an entity has this URL.
fn is_page(settled: &PlannedBuild, page: &str, id: &str) -> bool {
    let origin = settled.plan.base.origin();
    page == id || id.strip_prefix(origin) == Some(page)
}

/// Returns the default path of the history of answers.
pub(super) fn history_of(settled: &PlannedBuild) -> PathBuf {
    let beside = settled.folder.parent().unwrap_or(Path::new(""));
    beside.join(DROWN).join("history.jsonl")
}

fn systems(args: &DrownArgs) -> anyhow::Result<Vec<AiSystem>> {
    let mut systems = Vec::new();
    for (name, command) in &args.ask {
        let program = AnswerProgram {
            args: vec!["-c".into(), command.into()],
            timeout: Duration::from_secs(args.timeout),
            tries: args.tries,
            ..AnswerProgram::new("sh")
        };
        systems.push(AiSystem { name: name.clone(), source: AnswerSource::Program(program) });
    }
    for (name, folder) in &args.transcripts {
        let folder = PathBuf::from(folder);
        ensure!(folder.is_dir(), "--transcripts: folder {} does not exist", folder.display());
        systems.push(AiSystem { name: name.clone(), source: AnswerSource::Transcripts(folder) });
    }
    Ok(systems)
}

/// Returns the day of a time, such as `2026-05-01`.
fn day(now: Timestamp) -> String {
    now.to_string().chars().take(10).collect()
}

fn rating(
    key: &str,
    score: &str,
    run: &str,
    subjects: &[TestedEntity],
    history: &AnswerHistory,
    now: Timestamp,
) -> anyhow::Result<HumanRating> {
    let shown = rutter_finding::quoted(key);
    let rubric: Option<u8> = score.parse().ok().filter(|score| *score <= 4);
    let rubric =
        rubric.with_context(|| format!("--rate {shown}: expected a number from 0 to 4"))?;
    let parts: Vec<&str> = key.rsplitn(3, '/').collect();
    let [question, slug, system] = parts.as_slice() else {
        anyhow::bail!("--rate {shown}: expected SYSTEM/ENTITY/QUESTION=N");
    };
    let question = StandardQuestion::of_key(question).with_context(|| {
        format!("--rate {shown}: unknown question; expected what, who, different, used or open")
    })?;
    let all = slugs(subjects);
    let subject = subjects.iter().zip(&all).find(|(_, known)| known == slug).map(|(it, _)| it);
    let subject = subject.with_context(|| {
        format!("--rate {shown}: unknown entity; expected one of {}", all.join(", "))
    })?;
    let is_there = history.find(run, &subject.id, system, question).is_some();
    ensure!(is_there, "--rate {shown}: run {run} does not have this answer");
    Ok(HumanRating {
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
    fn system_requires_a_name_and_a_command() {
        assert_eq!(parse_pair("a=b = c").unwrap(), ("a".to_owned(), "b = c".to_owned()));
        for text in ["a", "=b", "a=", " = "] {
            assert!(parse_pair(text).is_err(), "{text}");
        }
    }
}
