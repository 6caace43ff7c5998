//! Runs of the Drowning Test, their history, and what is made of it.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use rutter_finding::Finding;
use rutter_page::Timestamp;
use rutter_spxi::{BasinState, Collision, Entity, Index, Kernel};
use rutter_survival::drown::{
    DrownError, Estimate, History, Journal, Plan, Program, Question, Rated, Source, Step, Store,
    Subject, Summary, System, Tally, drown, silent_changes,
};
use rutter_survival::rules;

use crate::fixtures;
use crate::systems::script;

fn entity(name: &str, markers: &[&str]) -> Entity {
    Entity {
        id: Some(format!("https://tide.example/#{}", name.len())),
        name: Some(name.to_owned()),
        markers: markers.iter().map(|marker| (*marker).to_owned()).collect(),
        collisions: vec![Collision {
            with: Some(format!("{name} (band)")),
            ..Collision::default()
        }],
        basin_state: Some(BasinState::Contested),
        bdr: Some(0.25),
        ..Entity::default()
    }
}

fn subjects(markers: &[&str]) -> Vec<Subject> {
    let kernel = Kernel {
        summary: Some("The Tide House is a museum of tides in Cork.".to_owned()),
        specification: None,
    };
    vec![Subject::new(&entity("The Tide House", markers), Some(&kernel)).unwrap()]
}

const MARKERS: [&str; 2] = ["built in 1890", "the keeper's log"];

fn program(name: &str, program: Program) -> System {
    System { name: name.to_owned(), source: Source::Program(program) }
}

fn day(day: u32) -> Timestamp {
    Timestamp::parse(&format!("2026-03-{day:02}T00:00:00Z")).unwrap()
}

/// One run; what it did, and what it told.
fn run(
    place: &Path,
    plan: &Plan<'_>,
    is_keeping: bool,
) -> (Result<Tally, DrownError>, Vec<Finding>) {
    let mut findings = Vec::new();
    let store = is_keeping.then(|| Store::new(place.join("answers")));
    let mut journal = Journal::open(&place.join("history.jsonl"), &mut findings).unwrap();
    let done = drown(plan, &mut journal, store.as_ref(), &mut |_, _, _, _| {}, &mut findings);
    (done, findings)
}

fn read(place: &Path) -> History {
    let mut findings = Vec::new();
    let history = History::open(&place.join("history.jsonl"), &mut findings).unwrap();
    assert_eq!(findings, []);
    history
}

fn codes(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|finding| finding.rule.name).collect()
}

#[test] // D73 SPX-078
fn spec_every_system_is_asked_every_question_once() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let subjects = subjects(&MARKERS);
    let paper = Source::Transcripts(fixtures("transcripts"));
    let systems = [
        program("good", script("good.sh", &[&log])),
        System { name: "paper".to_owned(), source: paper },
    ];
    let plan = Plan { run: "2026-q1", date: day(1), subjects: &subjects, systems: &systems };
    let (tally, findings) = run(folder.path(), &plan, true);
    let tally = tally.unwrap();
    assert_eq!((tally.answered, tally.counted, tally.known, tally.failed.len()), (9, 0, 0, 1));
    assert_eq!(codes(&findings), ["few-systems", "no-answer"]);
    assert_eq!(findings[1].detail, "`paper`, `The Tide House`, open: no transcript");
    let asked = fs::read_to_string(&log).unwrap();
    assert_eq!(
        asked.lines().collect::<Vec<_>>(),
        [
            "What is The Tide House?",
            "Who created The Tide House?",
            "How is The Tide House different from The Tide House (band)?",
            "What is The Tide House used for?",
            "Is The Tide House open or commercial?"
        ]
    );
    let history = read(folder.path());
    assert_eq!(history.records.len(), 9);
    let record = history.find("2026-q1", &subjects[0].id, "paper", Question::What).unwrap();
    assert_eq!((record.scores.markers.kept, record.scores.sentences.kept), (1, 1));
    assert!(record.scores.is_correct());
    let used = history.find("2026-q1", &subjects[0].id, "paper", Question::Used).unwrap();
    assert_eq!(used.scores.asserts, ["The Tide House (band)"]);
    // The text of an answer is in the store and not in the history.
    let lines = fs::read_to_string(folder.path().join("history.jsonl")).unwrap();
    assert!(!lines.contains("museum of tides in Cork"));
    let store = Store::new(folder.path().join("answers"));
    let kept = store.get("2026-q1", "paper", "the-tide-house", Question::Used).unwrap().unwrap();
    assert_eq!(kept, "The Tide House is a band.");
    assert!(lines.contains(&rutter_page::Digest::of(kept.as_bytes()).to_string()));
    // What was kept is itself a folder of transcripts.
    let again = System {
        name: "again".to_owned(),
        source: Source::Transcripts(store.folder("2026-q1", "paper")),
    };
    assert!(again.ask("the-tide-house", &subjects[0].queries[0]).is_ok());

    let (tally, _) = run(folder.path(), &plan, true);
    assert_eq!((tally.as_ref().unwrap().known, tally.unwrap().answered), (9, 0));
    assert_eq!(fs::read_to_string(&log).unwrap().lines().count(), 5);
}

#[test] // D73
fn ours_a_run_stopped_anywhere_asks_nothing_twice() {
    let subjects = subjects(&MARKERS);
    for n_steps in 1..=5 {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let systems = [program("good", script("good.sh", &[&log]))];
        let plan = Plan { run: "r", date: day(1), subjects: &subjects, systems: &systems };
        let store = Store::new(folder.path().join("answers"));
        let history = folder.path().join("history.jsonl");
        let stopped = catch_unwind(AssertUnwindSafe(|| {
            let mut journal = Journal::open(&history, &mut ()).unwrap();
            let mut n = 0;
            let mut stop = |_: &System, _: &Subject, _: Question, step: Step| {
                assert_eq!(step, Step::Answered);
                n += 1;
                assert!(n < n_steps, "stopped here");
            };
            drown(&plan, &mut journal, Some(&store), &mut stop, &mut ()).unwrap();
        }));
        assert!(stopped.is_err());
        // The last line did not get to the disk.
        let bytes = fs::read(&history).unwrap();
        fs::write(&history, &bytes[..bytes.len() - 30]).unwrap();
        let (tally, findings) = run(folder.path(), &plan, true);
        let tally = tally.unwrap();
        assert_eq!((tally.known, tally.counted, tally.answered), (n_steps - 1, 1, 5 - n_steps));
        assert_eq!(codes(&findings), ["history-torn", "few-systems"]);
        assert_eq!(fs::read_to_string(&log).unwrap().lines().count(), 5, "{n_steps}");
        assert_eq!(read(folder.path()).records.len(), 5);
        assert!(fs::metadata(folder.path().join("history.jsonl.torn")).unwrap().len() > 30);
    }
}

#[test] // D73
fn ours_a_history_cut_anywhere_is_whole_up_to_the_cut() {
    let folder = tempfile::tempdir().unwrap();
    let subjects = subjects(&MARKERS);
    let systems = [program("good", script("good.sh", &[]))];
    let plan = Plan { run: "r", date: day(1), subjects: &subjects, systems: &systems };
    run(folder.path(), &plan, false).0.unwrap();
    let path = folder.path().join("history.jsonl");
    let bytes = fs::read(&path).unwrap();
    let all = read(folder.path()).records;
    for cut in (0..bytes.len()).step_by(13).chain([bytes.len() - 1]) {
        let n_whole = bytes[..cut].split(|byte| *byte == b'\n').count() - 1;
        let mut findings = Vec::new();
        let history = History::read(&bytes[..cut], &mut findings);
        // A line that lacks only its end is whole.
        let n_read = n_whole
            + usize::from(bytes.get(cut) == Some(&b'\n') && cut != 0 && bytes[cut - 1] != b'\n');
        assert_eq!(history.records, all[..n_read], "{cut}");
        let is_torn = cut != 0 && bytes[cut - 1] != b'\n' && bytes[cut] != b'\n';
        assert_eq!(codes(&findings), if is_torn { vec!["history-torn"] } else { vec![] }, "{cut}");
        // Opened to be gone on with, it can be read and grows.
        fs::write(&path, &bytes[..cut]).unwrap();
        let mut journal = Journal::open(&path, &mut ()).unwrap();
        journal.append(all[0].clone()).unwrap();
        drop(journal);
        let grown = fs::read(&path).unwrap();
        assert!(grown.starts_with(
            &bytes[..bytes[..cut].iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1)]
        ));
        assert_eq!(read(folder.path()).records.len(), n_read + 1, "{cut}");
    }
}

#[test] // D73
fn ours_lines_of_others_are_kept_and_broken_ones_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.jsonl");
    let foreign =
        "{\"kind\":\"weather\",\"x\":1}\n\n{\"kind\":\"answer\"}\nnonsense\n[1]\n\u{fffd}\n";
    fs::write(&path, foreign).unwrap();
    let subjects = subjects(&MARKERS);
    let systems = [program("good", script("good.sh", &[]))];
    let plan = Plan { run: "r", date: day(1), subjects: &subjects, systems: &systems };
    let (tally, findings) = run(folder.path(), &plan, false);
    assert_eq!(tally.unwrap().answered, 5);
    assert_eq!(codes(&findings)[..4], ["history-broken-line"; 4]);
    assert_eq!(findings[0].place.line, Some(3));
    assert!(fs::read_to_string(&path).unwrap().starts_with(foreign));
    let mut findings = Vec::new();
    let history = History::open(&path, &mut findings).unwrap();
    assert_eq!((history.n_others, history.records.len(), findings.len()), (1, 5, 4));
    // Half of a letter at the end.
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend(b"{\"kind\":\"\xc3");
    let mut findings = Vec::new();
    assert_eq!(History::read(&bytes, &mut findings).records.len(), 5);
    assert!(findings[4].rule == &rules::TORN);
}

#[test]
fn ours_two_runs_do_not_write_one_history() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.jsonl");
    let first = Journal::open(&path, &mut ()).unwrap();
    let second = Journal::open(&path, &mut ()).unwrap_err();
    assert_eq!(second.kind(), std::io::ErrorKind::WouldBlock);
    drop(first);
    assert!(Journal::open(&path, &mut ()).is_ok());
}

#[test] // D73
fn ours_a_system_that_only_fails_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let subjects = subjects(&MARKERS);
    let broken = Program { tries: 1, ..script("fails.sh", &[]) };
    let systems = [program("broken", broken), program("good", script("good.sh", &[&log]))];
    let plan = Plan { run: "r", date: day(1), subjects: &subjects, systems: &systems };
    let (tally, findings) = run(folder.path(), &plan, true);
    let tally = tally.unwrap();
    assert_eq!((tally.answered, tally.failed.len()), (5, 5));
    let names = codes(&findings);
    assert_eq!(names, ["few-systems", "no-answer", "no-answer", "no-answer", "system-given-up"]);
    assert_eq!(tally.failed.iter().filter(|it| it.failure.is_none()).count(), 2);
    // What failed counts for nothing.
    assert!(read(folder.path()).records.iter().all(|record| record.system == "good"));
    let twice = [program("x", Program::new("true")), program("x", Program::new("true"))];
    let plan = Plan { systems: &twice, ..plan };
    assert!(matches!(run(folder.path(), &plan, false).0, Err(DrownError::SameName(_))));
}

#[test] // D73
fn ours_an_answer_that_is_no_text_is_counted_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let subjects = subjects(&MARKERS);
    let systems = [program("garbage", script("garbage.sh", &[]))];
    let plan = Plan { run: "r", date: day(1), subjects: &subjects, systems: &systems };
    let (tally, findings) = run(folder.path(), &plan, false);
    assert_eq!(tally.unwrap().answered, 5);
    assert_eq!(codes(&findings)[1..], ["answer-not-utf-8"; 5]);
}

#[test] // D73
fn ours_an_entity_of_which_nothing_is_claimed_is_told() {
    let entities = vec![entity("The Tide House", &MARKERS), entity("The Tide Pool", &[])];
    let mut findings: Vec<Finding> = Vec::new();
    let subjects = Subject::all(&Index { entities, ..Index::default() }, &mut findings);
    assert_eq!(subjects.len(), 1);
    assert_eq!(codes(&findings), ["nothing-claimed"]);
    assert_eq!(findings[0].detail, "`The Tide Pool`");
}

#[test] // D73
fn ours_other_claims_are_counted_anew_where_the_answer_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let (old, new) = (subjects(&MARKERS), subjects(&["built in 1890"]));
    let systems = [program("good", script("good.sh", &[&log]))];
    let plan = Plan { run: "r", date: day(1), subjects: &old, systems: &systems };
    run(folder.path(), &plan, true).0.unwrap();
    let later = Plan { subjects: &new, ..plan };
    let (tally, _) = run(folder.path(), &later, true);
    assert_eq!((tally.as_ref().unwrap().counted, tally.unwrap().answered), (5, 0));
    let history = read(folder.path());
    assert_eq!(history.records.len(), 10);
    let summary = Summary::of(&history, &new, None, &mut ());
    assert!((summary.entities[0].simsr().unwrap() - 1.0).abs() < 1e-9);
    // Without the text the question is not asked again, and that is told.
    let back = Plan { subjects: &old, ..plan };
    let (tally, findings) = run(folder.path(), &back, false);
    assert_eq!((tally.as_ref().unwrap().known, tally.unwrap().answered), (5, 0));
    assert_eq!(codes(&findings)[1..], ["answer-of-other-claims"; 5]);
    assert_eq!(fs::read_to_string(&log).unwrap().lines().count(), 5);
}

proptest::proptest! {
    #[test] // D73
    fn ours_no_bytes_break_a_history(
        bytes in proptest::collection::vec(proptest::sample::select(b"{}[]\":,\n\\kindaswer0\xff".to_vec()), 0..200),
    ) {
        let history = History::read(&bytes, &mut ());
        proptest::prop_assert!(history.records.is_empty() && history.rated.is_empty());
    }
}

/// Answers as they might be, run by run and system by system.
fn told(place: &Path, run_name: &str, on: u32, subjects: &[Subject], answers: &[(&str, &str)]) {
    let folder = tempfile::tempdir().unwrap();
    let mut systems = Vec::new();
    for (name, answer) in answers {
        let own = folder.path().join(name);
        for question in Question::ALL {
            fs::create_dir_all(own.join("the-tide-house")).unwrap();
            fs::write(own.join("the-tide-house").join(format!("{}.txt", question.key())), answer)
                .unwrap();
        }
        systems.push(System { name: (*name).to_owned(), source: Source::Transcripts(own) });
    }
    let plan = Plan { run: run_name, date: day(on), subjects, systems: &systems };
    run(place, &plan, false).0.unwrap();
}

const ALL: &str =
    "The Tide House is a museum of tides in Cork, built in 1890. See the keeper's log.";
const SOME: &str = "The Tide House was built in 1890. See the keeper's log.";
const ONE: &str = "The Tide House was built in 1890.";
const BAND: &str = "The Tide House is a band.";

#[test] // D73 SPX-075
fn spec_a_step_of_three_tenths_is_a_silent_change() {
    let folder = tempfile::tempdir().unwrap();
    let subjects = subjects(&MARKERS);
    // 1, 2/3, 1/3 on one; 1 throughout on the other.
    for (on, (name, answer)) in [(1, ("q1", ALL)), (2, ("q2", SOME)), (3, ("q3", ONE))] {
        told(folder.path(), name, on, &subjects, &[("a", answer), ("b", ALL)]);
    }
    let changes = silent_changes(&read(folder.path()));
    let found: Vec<(&str, &str, &str)> = changes
        .iter()
        .map(|it| (it.system.as_str(), it.runs[0].as_str(), it.runs[1].as_str()))
        .collect();
    assert_eq!(found, [("a", "q1", "q2"), ("a", "q2", "q3")]);
    assert!((changes[1].gammas[1] - 1.0 / 3.0).abs() < 1e-9);
    let mut findings = Vec::new();
    let summary = Summary::of(&read(folder.path()), &subjects, None, &mut findings);
    assert_eq!(summary.run.as_deref(), Some("q3"));
    assert_eq!(codes(&findings), ["silent-state-change"]);
    assert!(summary.to_table().contains("silent change of a: gamma 0.67 in q2 to 0.33 in q3\n"));
    // Of an earlier run, the changes into that.
    let earlier = Summary::of(&read(folder.path()), &subjects, Some("q1"), &mut ());
    assert!(earlier.entities[0].changes.is_empty());
}

#[test] // D73
fn spec_other_claims_begin_a_new_series() {
    let folder = tempfile::tempdir().unwrap();
    told(folder.path(), "q1", 1, &subjects(&MARKERS), &[("a", ALL)]);
    told(folder.path(), "q2", 2, &subjects(&["something else"]), &[("a", BAND)]);
    assert!(silent_changes(&read(folder.path())).is_empty());
    // And so do other rules.
    let path = folder.path().join("history.jsonl");
    told(folder.path(), "q3", 3, &subjects(&["something else"]), &[("a", "something else")]);
    assert_eq!(silent_changes(&read(folder.path())).len(), 1);
    let lines = fs::read_to_string(&path).unwrap();
    let lines: Vec<String> = lines
        .lines()
        .map(|line| {
            if line.contains("\"q3\"") {
                line.replace("\"rules\":\"1\"", "\"rules\":\"2\"")
            } else {
                line.to_owned()
            }
        })
        .collect();
    fs::write(&path, lines.join("\n")).unwrap();
    assert!(silent_changes(&read(folder.path())).is_empty());
}

#[test] // D71 D72 SPX-007 SPX-077
fn spec_a_run_is_summed_up() {
    let folder = tempfile::tempdir().unwrap();
    let subjects = subjects(&MARKERS);
    told(folder.path(), "q1", 1, &subjects, &[("a", SOME), ("b", ONE), ("c", BAND)]);
    let mut journal = Journal::open(&folder.path().join("history.jsonl"), &mut ()).unwrap();
    journal
        .rate(Rated {
            date: day(2),
            run: "q1".to_owned(),
            entity: subjects[0].id.clone(),
            system: "a".to_owned(),
            question: Question::Who,
            rubric: 3,
        })
        .unwrap();
    drop(journal);
    let summary = Summary::of(&read(folder.path()), &subjects, None, &mut ());
    let entity = &summary.entities[0];
    let near = |one: Option<f64>, other: f64| (one.unwrap() - other).abs() < 1e-9;
    assert!(near(entity.gamma_of("a"), 2.0 / 3.0) && near(entity.gamma_of("c"), 0.0));
    assert!(near(entity.gamma(), 1.0 / 3.0) && near(entity.simsr(), 0.5));
    assert_eq!(
        (entity.correct().to_string(), entity.lost().to_string()),
        ("10/15".to_owned(), "5/15".to_owned())
    );
    let Estimate::Fresh { share, state } = &entity.estimate else { panic!() };
    assert_eq!((share.to_string().as_str(), *state), ("10/15", BasinState::Contested));
    let expected = fs::read_to_string(fixtures("drown").join("summary.txt")).unwrap();
    assert_eq!(summary.to_table(), expected);
    let json = summary.to_json();
    let entity = &json.get("entities").unwrap().items()[0];
    let values: BTreeMap<&str, String> =
        entity.members().iter().map(|(name, value)| (name.as_str(), value.to_json())).collect();
    assert_eq!(values["gamma"], "0.3333");
    assert_eq!((values["bdr"].as_str(), values["stale"].as_str()), ("0.6667", "false"));
    assert_eq!(
        (values["health"].as_str(), values["basin_state"].as_str()),
        ("\"review\"", "\"contested\"")
    );
    let answers = entity.get("answers").unwrap().items();
    assert_eq!(answers.len(), 15);
    assert_eq!(answers.iter().filter(|it| it.get("rubric").unwrap().to_json() == "3").count(), 1);
}

#[test] // D71
fn spec_too_few_answers_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let subjects = subjects(&MARKERS);
    told(folder.path(), "q1", 1, &subjects, &[("a", ALL)]);
    let summary = Summary::of(&read(folder.path()), &subjects, None, &mut ());
    let stale = Estimate::Stale { share: Some(0.25), state: Some(BasinState::Contested) };
    assert_eq!(summary.entities[0].estimate, stale);
    assert!(
        summary.to_table().contains("BDR 0.25, state contested: kept from before, too few answers")
    );
    let nothing = Summary::of(&History::default(), &subjects, None, &mut ());
    assert_eq!((nothing.run, &nothing.entities[0].estimate), (None, &stale));
}

#[test]
fn ours_entities_without_claims_are_told() {
    let index = Index {
        entities: vec![entity("The Tide House", &MARKERS), entity("Empty", &[]), Entity::default()],
        ..Index::default()
    };
    let mut findings = Vec::new();
    let subjects = Subject::all(&index, &mut findings);
    assert_eq!(subjects.len(), 1);
    let details: Vec<&str> = findings.iter().map(|finding| finding.detail.as_str()).collect();
    assert_eq!(details, ["`Empty`", "``"]);
}
