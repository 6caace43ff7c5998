//! Tests of runs of the Drowning Test, their history and their summary.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use rutter_finding::Finding;
use rutter_page::Timestamp;
use rutter_spxi::survival::drown::{
    AiSystem, AnswerHistory, AnswerProgram, AnswerSource, AnswerStore, BasinEstimate, DrownError,
    DrownPlan, HistoryWriter, HumanRating, QuestionOutcome, RunCounts, RunSummary,
    StandardQuestion, TestedEntity, drown, silent_changes,
};
use rutter_spxi::survival::rules;
use rutter_spxi::{BasinState, Collision, Entity, Kernel, SemanticIndex};

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

fn subjects(markers: &[&str]) -> Vec<TestedEntity> {
    let kernel = Kernel {
        summary: Some("The Tide House is a museum of tides in Cork.".to_owned()),
        specification: None,
    };
    vec![TestedEntity::new(&entity("The Tide House", markers), Some(&kernel)).unwrap()]
}

const MARKERS: [&str; 2] = ["built in 1890", "the keeper's log"];

fn program(name: &str, program: AnswerProgram) -> AiSystem {
    AiSystem { name: name.to_owned(), source: AnswerSource::Program(program) }
}

fn day(day: u32) -> Timestamp {
    Timestamp::parse(&format!("2026-03-{day:02}T00:00:00Z")).unwrap()
}

/// Executes a run; returns its counts and findings.
fn run(
    place: &Path,
    plan: &DrownPlan<'_>,
    is_keeping: bool,
) -> (Result<RunCounts, DrownError>, Vec<Finding>) {
    let mut findings = Vec::new();
    let store = is_keeping.then(|| AnswerStore::new(place.join("answers")));
    let mut journal = HistoryWriter::open(&place.join("history.jsonl"), &mut findings).unwrap();
    let done = drown(plan, &mut journal, store.as_ref(), &mut |_, _, _, _| {}, &mut findings);
    (done, findings)
}

fn read(place: &Path) -> AnswerHistory {
    let mut findings = Vec::new();
    let history = AnswerHistory::open(&place.join("history.jsonl"), &mut findings).unwrap();
    assert_eq!(findings, []);
    history
}

fn codes(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|finding| finding.rule.name).collect()
}

#[test] // D73 SPX-078
fn every_system_is_asked_every_question_once() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let subjects = subjects(&MARKERS);
    let paper = AnswerSource::Transcripts(fixtures("transcripts"));
    let systems = [
        program("good", script("good.sh", &[&log])),
        AiSystem { name: "paper".to_owned(), source: paper },
    ];
    let plan = DrownPlan { run: "2026-q1", date: day(1), subjects: &subjects, systems: &systems };
    let (tally, findings) = run(folder.path(), &plan, true);
    let tally = tally.unwrap();
    assert_eq!((tally.answered, tally.counted, tally.known, tally.failed.len()), (9, 0, 0, 1));
    assert_eq!(codes(&findings), ["few-systems", "no-answer"]);
    assert_eq!(
        findings[1].detail,
        "`paper`, `The Tide House`, open: the transcript file is missing"
    );
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
    let record = history.find("2026-q1", &subjects[0].id, "paper", StandardQuestion::What).unwrap();
    assert_eq!((record.scores.markers.kept, record.scores.sentences.kept), (1, 1));
    assert!(record.scores.is_correct());
    let used = history.find("2026-q1", &subjects[0].id, "paper", StandardQuestion::Used).unwrap();
    assert_eq!(used.scores.asserts, ["The Tide House (band)"]);
    // The text of an answer is in the store and not in the history.
    let lines = fs::read_to_string(folder.path().join("history.jsonl")).unwrap();
    assert!(!lines.contains("museum of tides in Cork"));
    let store = AnswerStore::new(folder.path().join("answers"));
    let kept =
        store.get("2026-q1", "paper", "the-tide-house", StandardQuestion::Used).unwrap().unwrap();
    assert_eq!(kept, "The Tide House is a band.");
    assert!(lines.contains(&rutter_page::Digest::of(kept.as_bytes()).to_string()));
    // The store itself is a folder of transcripts.
    let again = AiSystem {
        name: "again".to_owned(),
        source: AnswerSource::Transcripts(store.folder("2026-q1", "paper")),
    };
    assert!(again.ask("the-tide-house", &subjects[0].queries[0]).is_ok());

    let (tally, _) = run(folder.path(), &plan, true);
    assert_eq!((tally.as_ref().unwrap().known, tally.unwrap().answered), (9, 0));
    assert_eq!(fs::read_to_string(&log).unwrap().lines().count(), 5);
}

#[test] // D73
fn interrupted_run_asks_nothing_twice() {
    let subjects = subjects(&MARKERS);
    for n_steps in 1..=5 {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let systems = [program("good", script("good.sh", &[&log]))];
        let plan = DrownPlan { run: "r", date: day(1), subjects: &subjects, systems: &systems };
        let store = AnswerStore::new(folder.path().join("answers"));
        let history = folder.path().join("history.jsonl");
        let stopped = catch_unwind(AssertUnwindSafe(|| {
            let mut journal = HistoryWriter::open(&history, &mut ()).unwrap();
            let mut n = 0;
            let mut stop =
                |_: &AiSystem, _: &TestedEntity, _: StandardQuestion, step: QuestionOutcome| {
                    assert_eq!(step, QuestionOutcome::Answered);
                    n += 1;
                    assert!(n < n_steps, "stopped here");
                };
            drown(&plan, &mut journal, Some(&store), &mut stop, &mut ()).unwrap();
        }));
        assert!(stopped.is_err());
        // The last line was not written completely.
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
fn truncated_history_is_complete_up_to_the_cut() {
    let folder = tempfile::tempdir().unwrap();
    let subjects = subjects(&MARKERS);
    let systems = [program("good", script("good.sh", &[]))];
    let plan = DrownPlan { run: "r", date: day(1), subjects: &subjects, systems: &systems };
    run(folder.path(), &plan, false).0.unwrap();
    let path = folder.path().join("history.jsonl");
    let bytes = fs::read(&path).unwrap();
    let all = read(folder.path()).records;
    for cut in (0..bytes.len()).step_by(13).chain([bytes.len() - 1]) {
        let n_whole = bytes[..cut].split(|byte| *byte == b'\n').count() - 1;
        let mut findings = Vec::new();
        let history = AnswerHistory::read(&bytes[..cut], &mut findings);
        // A line that lacks only its line end is complete.
        let n_read = n_whole
            + usize::from(bytes.get(cut) == Some(&b'\n') && cut != 0 && bytes[cut - 1] != b'\n');
        assert_eq!(history.records, all[..n_read], "{cut}");
        let is_torn = cut != 0 && bytes[cut - 1] != b'\n' && bytes[cut] != b'\n';
        assert_eq!(codes(&findings), if is_torn { vec!["history-torn"] } else { vec![] }, "{cut}");
        // After reopening, it can be read and appended to.
        fs::write(&path, &bytes[..cut]).unwrap();
        let mut journal = HistoryWriter::open(&path, &mut ()).unwrap();
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
fn unknown_lines_are_kept_and_malformed_ones_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.jsonl");
    let foreign =
        "{\"kind\":\"weather\",\"x\":1}\n\n{\"kind\":\"answer\"}\nnonsense\n[1]\n\u{fffd}\n";
    fs::write(&path, foreign).unwrap();
    let subjects = subjects(&MARKERS);
    let systems = [program("good", script("good.sh", &[]))];
    let plan = DrownPlan { run: "r", date: day(1), subjects: &subjects, systems: &systems };
    let (tally, findings) = run(folder.path(), &plan, false);
    assert_eq!(tally.unwrap().answered, 5);
    assert_eq!(codes(&findings)[..4], ["history-broken-line"; 4]);
    assert_eq!(findings[0].place.line, Some(3));
    assert!(fs::read_to_string(&path).unwrap().starts_with(foreign));
    let mut findings = Vec::new();
    let history = AnswerHistory::open(&path, &mut findings).unwrap();
    assert_eq!((history.n_unknown, history.records.len(), findings.len()), (1, 5, 4));
    // An incomplete character at the end.
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend(b"{\"kind\":\"\xc3");
    let mut findings = Vec::new();
    assert_eq!(AnswerHistory::read(&bytes, &mut findings).records.len(), 5);
    assert!(findings[4].rule == &rules::TORN);
}

#[test]
fn two_runs_cannot_write_one_history() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.jsonl");
    let first = HistoryWriter::open(&path, &mut ()).unwrap();
    let second = HistoryWriter::open(&path, &mut ()).unwrap_err();
    assert_eq!(second.kind(), std::io::ErrorKind::WouldBlock);
    drop(first);
    assert!(HistoryWriter::open(&path, &mut ()).is_ok());
}

#[test] // D73
fn failing_system_is_not_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let subjects = subjects(&MARKERS);
    let broken = AnswerProgram { tries: 1, ..script("fails.sh", &[]) };
    let systems = [program("broken", broken), program("good", script("good.sh", &[&log]))];
    let plan = DrownPlan { run: "r", date: day(1), subjects: &subjects, systems: &systems };
    let (tally, findings) = run(folder.path(), &plan, true);
    let tally = tally.unwrap();
    assert_eq!((tally.answered, tally.failed.len()), (5, 5));
    let names = codes(&findings);
    assert_eq!(names, ["few-systems", "no-answer", "no-answer", "no-answer", "system-given-up"]);
    assert_eq!(tally.failed.iter().filter(|it| it.failure.is_none()).count(), 2);
    // Failed questions do not count.
    assert!(read(folder.path()).records.iter().all(|record| record.system == "good"));
    let twice =
        [program("x", AnswerProgram::new("true")), program("x", AnswerProgram::new("true"))];
    let plan = DrownPlan { systems: &twice, ..plan };
    assert!(matches!(run(folder.path(), &plan, false).0, Err(DrownError::SameName(_))));
}

#[test] // D73
fn answer_with_invalid_bytes_is_scored_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let subjects = subjects(&MARKERS);
    let systems = [program("garbage", script("garbage.sh", &[]))];
    let plan = DrownPlan { run: "r", date: day(1), subjects: &subjects, systems: &systems };
    let (tally, findings) = run(folder.path(), &plan, false);
    assert_eq!(tally.unwrap().answered, 5);
    assert_eq!(codes(&findings)[1..], ["answer-not-utf-8"; 5]);
}

#[test] // D73
fn entity_without_claims_is_reported() {
    let entities = vec![entity("The Tide House", &MARKERS), entity("The Tide Pool", &[])];
    let mut findings: Vec<Finding> = Vec::new();
    let subjects =
        TestedEntity::all(&SemanticIndex { entities, ..SemanticIndex::default() }, &mut findings);
    assert_eq!(subjects.len(), 1);
    assert_eq!(codes(&findings), ["nothing-claimed"]);
    assert_eq!(findings[0].detail, "`The Tide Pool`");
}

#[test] // D73
fn changed_claims_rescore_stored_answers() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let (old, new) = (subjects(&MARKERS), subjects(&["built in 1890"]));
    let systems = [program("good", script("good.sh", &[&log]))];
    let plan = DrownPlan { run: "r", date: day(1), subjects: &old, systems: &systems };
    run(folder.path(), &plan, true).0.unwrap();
    let later = DrownPlan { subjects: &new, ..plan };
    let (tally, _) = run(folder.path(), &later, true);
    assert_eq!((tally.as_ref().unwrap().counted, tally.unwrap().answered), (5, 0));
    let history = read(folder.path());
    assert_eq!(history.records.len(), 10);
    let summary = RunSummary::of(&history, &new, None, &mut ());
    assert!((summary.entities[0].simsr().unwrap() - 1.0).abs() < 1e-9);
    // Without the stored text the question is not asked again, and this is reported.
    let back = DrownPlan { subjects: &old, ..plan };
    let (tally, findings) = run(folder.path(), &back, false);
    assert_eq!((tally.as_ref().unwrap().known, tally.unwrap().answered), (5, 0));
    assert_eq!(codes(&findings)[1..], ["answer-of-other-claims"; 5]);
    assert_eq!(fs::read_to_string(&log).unwrap().lines().count(), 5);
}

proptest::proptest! {
    #[test] // D73
    fn arbitrary_bytes_do_not_break_a_history(
        bytes in proptest::collection::vec(proptest::sample::select(b"{}[]\":,\n\\kindaswer0\xff".to_vec()), 0..200),
    ) {
        let history = AnswerHistory::read(&bytes, &mut ());
        proptest::prop_assert!(history.records.is_empty() && history.ratings.is_empty());
    }
}

/// Generates answers by run and system.
fn record_answers(
    place: &Path,
    run_name: &str,
    on: u32,
    subjects: &[TestedEntity],
    answers: &[(&str, &str)],
) {
    let folder = tempfile::tempdir().unwrap();
    let mut systems = Vec::new();
    for (name, answer) in answers {
        let own = folder.path().join(name);
        for question in StandardQuestion::ALL {
            fs::create_dir_all(own.join("the-tide-house")).unwrap();
            fs::write(own.join("the-tide-house").join(format!("{}.txt", question.key())), answer)
                .unwrap();
        }
        systems.push(AiSystem { name: (*name).to_owned(), source: AnswerSource::Transcripts(own) });
    }
    let plan = DrownPlan { run: run_name, date: day(on), subjects, systems: &systems };
    run(place, &plan, false).0.unwrap();
}

const ALL: &str =
    "The Tide House is a museum of tides in Cork, built in 1890. See the keeper's log.";
const SOME: &str = "The Tide House was built in 1890. See the keeper's log.";
const ONE: &str = "The Tide House was built in 1890.";
const BAND: &str = "The Tide House is a band.";

#[test] // D73 SPX-075
fn step_of_three_tenths_is_a_silent_change() {
    let folder = tempfile::tempdir().unwrap();
    let subjects = subjects(&MARKERS);
    // 1, 2/3, 1/3 on one; 1 throughout on the other.
    for (on, (name, answer)) in [(1, ("q1", ALL)), (2, ("q2", SOME)), (3, ("q3", ONE))] {
        record_answers(folder.path(), name, on, &subjects, &[("a", answer), ("b", ALL)]);
    }
    let changes = silent_changes(&read(folder.path()));
    let found: Vec<(&str, &str, &str)> = changes
        .iter()
        .map(|it| (it.system.as_str(), it.runs[0].as_str(), it.runs[1].as_str()))
        .collect();
    assert_eq!(found, [("a", "q1", "q2"), ("a", "q2", "q3")]);
    assert!((changes[1].gammas[1] - 1.0 / 3.0).abs() < 1e-9);
    let mut findings = Vec::new();
    let summary = RunSummary::of(&read(folder.path()), &subjects, None, &mut findings);
    assert_eq!(summary.run.as_deref(), Some("q3"));
    assert_eq!(codes(&findings), ["silent-state-change"]);
    assert!(summary.to_table().contains("silent change of a: gamma 0.67 in q2 to 0.33 in q3\n"));
    // For an earlier run: the changes since the run before it.
    let earlier = RunSummary::of(&read(folder.path()), &subjects, Some("q1"), &mut ());
    assert!(earlier.entities[0].changes.is_empty());
}

#[test] // D73
fn changed_claims_start_a_new_series() {
    let folder = tempfile::tempdir().unwrap();
    record_answers(folder.path(), "q1", 1, &subjects(&MARKERS), &[("a", ALL)]);
    record_answers(folder.path(), "q2", 2, &subjects(&["something else"]), &[("a", BAND)]);
    assert!(silent_changes(&read(folder.path())).is_empty());
    // A change of the rules has the same effect.
    let path = folder.path().join("history.jsonl");
    record_answers(
        folder.path(),
        "q3",
        3,
        &subjects(&["something else"]),
        &[("a", "something else")],
    );
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
fn run_is_summarized() {
    let folder = tempfile::tempdir().unwrap();
    let subjects = subjects(&MARKERS);
    record_answers(folder.path(), "q1", 1, &subjects, &[("a", SOME), ("b", ONE), ("c", BAND)]);
    let mut journal = HistoryWriter::open(&folder.path().join("history.jsonl"), &mut ()).unwrap();
    journal
        .rate(HumanRating {
            date: day(2),
            run: "q1".to_owned(),
            entity: subjects[0].id.clone(),
            system: "a".to_owned(),
            question: StandardQuestion::Who,
            rubric: 3,
        })
        .unwrap();
    drop(journal);
    let summary = RunSummary::of(&read(folder.path()), &subjects, None, &mut ());
    let entity = &summary.entities[0];
    let near = |one: Option<f64>, other: f64| (one.unwrap() - other).abs() < 1e-9;
    assert!(near(entity.gamma_of("a"), 2.0 / 3.0) && near(entity.gamma_of("c"), 0.0));
    assert!(near(entity.gamma(), 1.0 / 3.0) && near(entity.simsr(), 0.5));
    assert_eq!(
        (entity.correct().to_string(), entity.lost().to_string()),
        ("10/15".to_owned(), "5/15".to_owned())
    );
    let BasinEstimate::Fresh { share, state } = &entity.estimate else { panic!() };
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
fn too_few_answers_keep_published_values() {
    let folder = tempfile::tempdir().unwrap();
    let subjects = subjects(&MARKERS);
    record_answers(folder.path(), "q1", 1, &subjects, &[("a", ALL)]);
    let summary = RunSummary::of(&read(folder.path()), &subjects, None, &mut ());
    let stale = BasinEstimate::Stale { share: Some(0.25), state: Some(BasinState::Contested) };
    assert_eq!(summary.entities[0].estimate, stale);
    assert!(
        summary.to_table().contains("BDR 0.25, state contested (previous values: too few answers)")
    );
    let nothing = RunSummary::of(&AnswerHistory::default(), &subjects, None, &mut ());
    assert_eq!((nothing.run, &nothing.entities[0].estimate), (None, &stale));
}

#[test]
fn entities_without_claims_are_reported() {
    let index = SemanticIndex {
        entities: vec![entity("The Tide House", &MARKERS), entity("Empty", &[]), Entity::default()],
        ..SemanticIndex::default()
    };
    let mut findings = Vec::new();
    let subjects = TestedEntity::all(&index, &mut findings);
    assert_eq!(subjects.len(), 1);
    let details: Vec<&str> = findings.iter().map(|finding| finding.detail.as_str()).collect();
    assert_eq!(details, ["`Empty`", "``"]);
}
