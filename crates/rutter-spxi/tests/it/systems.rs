//! Tests with programs that behave well, slowly or badly, and with transcripts.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rutter_spxi::survival::drown::{
    AiSystem, AnswerFailure, AnswerProgram, AnswerSource, EntityQuestion, StandardQuestion,
    SystemAnswer,
};

use crate::fixtures;

/// A script of the fixtures.
pub(crate) fn script(name: &str, args: &[&Path]) -> AnswerProgram {
    let mut program = AnswerProgram::new("sh");
    program.args.push(fixtures("programs").join(name).into_os_string());
    program.args.extend(args.iter().map(|arg| arg.as_os_str().to_owned()));
    program.timeout = Duration::from_mins(1);
    program
}

fn ask(program: AnswerProgram) -> Result<SystemAnswer, AnswerFailure> {
    ask_at_length(program, "What is The Tide House?")
}

fn ask_at_length(program: AnswerProgram, text: &str) -> Result<SystemAnswer, AnswerFailure> {
    let system = AiSystem { name: "s".to_owned(), source: AnswerSource::Program(program) };
    system.ask(
        "the-tide-house",
        &EntityQuestion { question: StandardQuestion::What, text: text.to_owned() },
    )
}

/// Waits until the process with the id in a file has ended, without sleeping.
fn is_gone(file: &Path) -> bool {
    let pid = fs::read_to_string(file).unwrap();
    let stat = Path::new("/proc").join(pid.trim()).join("stat");
    let started = Instant::now();
    loop {
        // A zombie process has ended too.
        let state = fs::read_to_string(&stat).unwrap_or_default();
        if state.is_empty() || state.contains(") Z ") {
            return true;
        }
        if Duration::from_secs(20) < started.elapsed() {
            return false;
        }
        std::thread::yield_now();
    }
}

#[test] // D73
fn program_gets_the_question_and_prints_the_answer() {
    let answer = ask(script("good.sh", &[])).unwrap();
    assert_eq!(answer.text, "You ask: What is The Tide House?\nThe Tide House was built in 1890.");
    assert!(!answer.is_lossy);
    for name in ["deaf.sh", "noisy.sh"] {
        // More than a pipe holds.
        let answer = ask_at_length(script(name, &[]), &"What? ".repeat(100_000)).unwrap();
        assert_eq!(answer.text, "The Tide House was built in 1890.", "{name}");
    }
}

#[test] // D73
fn program_over_the_time_limit_is_killed_with_its_children() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    // Long enough to write its process id, even on a slow machine.
    let program = AnswerProgram {
        timeout: Duration::from_millis(1500),
        tries: 1,
        ..script("slow.sh", &[&pid])
    };
    let started = Instant::now();
    let failure = ask(program).unwrap_err();
    assert!(matches!(failure, AnswerFailure::TimedOut(_)), "{failure}");
    assert_eq!(failure.to_string(), "no answer within 1.5 s");
    assert!(started.elapsed() < Duration::from_mins(1));
    assert!(is_gone(&pid));
}

#[test] // D73
fn remaining_child_process_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let started = Instant::now();
    let answer = ask(script("parent.sh", &[&pid])).unwrap();
    assert_eq!(answer.text, "The Tide House was built in 1890.");
    assert!(is_gone(&pid));
    // A program that cannot be killed is not waited for.
    let answer = ask(script("escaped.sh", &[])).unwrap();
    assert_eq!(answer.text, "The Tide House was built in 1890.");
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[test] // D73
fn failing_program_gives_no_answer() {
    let failure = ask(script("fails.sh", &[])).unwrap_err();
    let AnswerFailure::Failed(how, complaint) = &failure else { panic!("{failure}") };
    assert_eq!(how, "exit code 3");
    // One line without control characters and without values of the environment.
    assert_eq!(complaint, ": no key: [hidden][31m");
    let failure = ask(script("dies.sh", &[])).unwrap_err();
    assert!(failure.to_string().starts_with("the program failed (signal 15)"), "{failure}");
    assert!(matches!(ask(script("silent.sh", &[])), Err(AnswerFailure::Empty)));
    assert!(matches!(ask(script("endless.sh", &[])), Err(AnswerFailure::TooLong(1_048_576))));
    let missing = ask(AnswerProgram::new("/no/such/program")).unwrap_err();
    assert!(matches!(missing, AnswerFailure::NotStarted(_)));
}

#[test] // D73
fn invalid_bytes_are_replaced() {
    let answer = ask(script("garbage.sh", &[])).unwrap();
    assert!(answer.is_lossy && answer.text.contains("The Tide House \u{fffd} was built in 1890"));
}

#[test] // D73
fn program_is_tried_up_to_the_configured_number() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two, three] = ["one", "two", "three"].map(|name| folder.path().join(name));
    let n_lines = |path: &Path| fs::read_to_string(path).unwrap().lines().count();
    assert!(ask(AnswerProgram { tries: 2, ..script("second.sh", &[&one]) }).is_ok());
    assert_eq!(n_lines(&one), 2);
    assert!(ask(AnswerProgram { tries: 1, ..script("second.sh", &[&two]) }).is_err());
    assert_eq!(n_lines(&two), 1);
    assert!(ask(AnswerProgram { tries: 0, ..script("good.sh", &[&three]) }).is_ok());
    assert_eq!(n_lines(&three), 1);
}

#[test] // D73
fn transcripts_are_files_by_entity_and_question() {
    let system = AiSystem {
        name: "paper".to_owned(),
        source: AnswerSource::Transcripts(fixtures("transcripts")),
    };
    let ask = |slug: &str, question: StandardQuestion| {
        system.ask(slug, &EntityQuestion { question, text: String::new() })
    };
    let what = ask("the-tide-house", StandardQuestion::What).unwrap().text;
    assert_eq!(what, "The Tide House is a museum of tides in Cork, built in 1890.");
    assert!(
        ask("the-tide-house", StandardQuestion::Who).unwrap().text.starts_with("The keeper's log")
    );
    assert!(matches!(
        ask("the-tide-house", StandardQuestion::Open),
        Err(AnswerFailure::NoTranscript)
    ));
    assert!(matches!(ask("another", StandardQuestion::What), Err(AnswerFailure::NoTranscript)));
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("e/what.txt")).unwrap();
    fs::write(folder.path().join("e/who.txt"), "x".repeat((1 << 20) + 1)).unwrap();
    let system =
        AiSystem { name: "x".to_owned(), source: AnswerSource::Transcripts(folder.path().into()) };
    let ask = |question| system.ask("e", &EntityQuestion { question, text: String::new() });
    assert!(matches!(ask(StandardQuestion::What), Err(AnswerFailure::NoTranscript)));
    assert!(matches!(ask(StandardQuestion::Who), Err(AnswerFailure::TooLong(_))));
}
