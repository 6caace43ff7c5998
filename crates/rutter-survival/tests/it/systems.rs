//! Programs that behave well, slowly and badly; folders of transcripts.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rutter_survival::drown::{Answer, Failure, Program, Query, Question, Source, System};

use crate::fixtures;

/// A script of the fixtures.
pub(crate) fn script(name: &str, args: &[&Path]) -> Program {
    let mut program = Program::new("sh");
    program.args.push(fixtures("programs").join(name).into_os_string());
    program.args.extend(args.iter().map(|arg| arg.as_os_str().to_owned()));
    program.timeout = Duration::from_mins(1);
    program
}

fn ask(program: Program) -> Result<Answer, Failure> {
    ask_at_length(program, "What is The Tide House?")
}

fn ask_at_length(program: Program, text: &str) -> Result<Answer, Failure> {
    let system = System { name: "s".to_owned(), source: Source::Program(program) };
    system.ask("the-tide-house", &Query { question: Question::What, text: text.to_owned() })
}

/// Waits until the process of a file is gone, without sleeping.
fn is_gone(file: &Path) -> bool {
    let pid = fs::read_to_string(file).unwrap();
    let stat = Path::new("/proc").join(pid.trim()).join("stat");
    let started = Instant::now();
    loop {
        // Dead, and only not reaped by whoever should, is gone too.
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
fn ours_a_program_gets_the_question_and_prints_the_answer() {
    let answer = ask(script("good.sh", &[])).unwrap();
    assert_eq!(answer.text, "You ask: What is The Tide House?\nThe Tide House was built in 1890.");
    assert!(!answer.is_mended);
    for name in ["deaf.sh", "noisy.sh"] {
        // More than a pipe holds.
        let answer = ask_at_length(script(name, &[]), &"What? ".repeat(100_000)).unwrap();
        assert_eq!(answer.text, "The Tide House was built in 1890.", "{name}");
    }
}

#[test] // D73
fn ours_a_program_that_takes_too_long_ends_with_its_children() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    // Long enough to write its number, on a slow machine too.
    let program =
        Program { timeout: Duration::from_millis(1500), tries: 1, ..script("slow.sh", &[&pid]) };
    let started = Instant::now();
    let failure = ask(program).unwrap_err();
    assert!(matches!(failure, Failure::TimedOut(_)), "{failure}");
    assert_eq!(failure.to_string(), "no answer in 1.5 s");
    assert!(started.elapsed() < Duration::from_mins(1));
    assert!(is_gone(&pid));
}

#[test] // D73
fn ours_a_child_that_outlives_its_parent_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let started = Instant::now();
    let answer = ask(script("parent.sh", &[&pid])).unwrap();
    assert_eq!(answer.text, "The Tide House was built in 1890.");
    assert!(is_gone(&pid));
    // One that cannot be reached is not waited for.
    let answer = ask(script("escaped.sh", &[])).unwrap();
    assert_eq!(answer.text, "The Tide House was built in 1890.");
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[test] // D73
fn ours_what_fails_is_no_answer() {
    let failure = ask(script("fails.sh", &[])).unwrap_err();
    let Failure::Failed(how, complaint) = &failure else { panic!("{failure}") };
    assert_eq!(how, "exit code 3");
    // One line, no control characters, no value of the environment.
    assert_eq!(complaint, ": no key: [hidden][31m");
    let failure = ask(script("dies.sh", &[])).unwrap_err();
    assert!(failure.to_string().starts_with("program failed (signal 15)"), "{failure}");
    assert!(matches!(ask(script("silent.sh", &[])), Err(Failure::Empty)));
    assert!(matches!(ask(script("endless.sh", &[])), Err(Failure::TooLong(1_048_576))));
    let missing = ask(Program::new("/no/such/program")).unwrap_err();
    assert!(matches!(missing, Failure::NotStarted(_)));
}

#[test] // D73
fn ours_bytes_that_are_no_text_are_replaced() {
    let answer = ask(script("garbage.sh", &[])).unwrap();
    assert!(answer.is_mended && answer.text.contains("The Tide House \u{fffd} was built in 1890"));
}

#[test] // D73
fn ours_a_program_is_tried_as_often_as_it_may() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two, three] = ["one", "two", "three"].map(|name| folder.path().join(name));
    let n_lines = |path: &Path| fs::read_to_string(path).unwrap().lines().count();
    assert!(ask(Program { tries: 2, ..script("second.sh", &[&one]) }).is_ok());
    assert_eq!(n_lines(&one), 2);
    assert!(ask(Program { tries: 1, ..script("second.sh", &[&two]) }).is_err());
    assert_eq!(n_lines(&two), 1);
    assert!(ask(Program { tries: 0, ..script("good.sh", &[&three]) }).is_ok());
    assert_eq!(n_lines(&three), 1);
}

#[test] // D73
fn ours_transcripts_are_files_by_entity_and_question() {
    let system =
        System { name: "paper".to_owned(), source: Source::Transcripts(fixtures("transcripts")) };
    let ask =
        |slug: &str, question: Question| system.ask(slug, &Query { question, text: String::new() });
    let what = ask("the-tide-house", Question::What).unwrap().text;
    assert_eq!(what, "The Tide House is a museum of tides in Cork, built in 1890.");
    assert!(ask("the-tide-house", Question::Who).unwrap().text.starts_with("The keeper's log"));
    assert!(matches!(ask("the-tide-house", Question::Open), Err(Failure::NoTranscript)));
    assert!(matches!(ask("another", Question::What), Err(Failure::NoTranscript)));
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("e/what.txt")).unwrap();
    fs::write(folder.path().join("e/who.txt"), "x".repeat((1 << 20) + 1)).unwrap();
    let system = System { name: "x".to_owned(), source: Source::Transcripts(folder.path().into()) };
    let ask = |question| system.ask("e", &Query { question, text: String::new() });
    assert!(matches!(ask(Question::What), Err(Failure::NoTranscript)));
    assert!(matches!(ask(Question::Who), Err(Failure::TooLong(_))));
}
