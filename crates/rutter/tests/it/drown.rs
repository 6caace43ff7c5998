//! Tests of `rutter spxi survive` and `drown`: planted losses and killed runs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use rutter_check::survive_folder;
use rutter_page::Timestamp;
use rutter_spxi::MarkerStatus;
use rutter_spxi::survival::PathStage;
use rutter_spxi::survival::drown::{AnswerHistory, StandardQuestion};

use crate::{run, stage};

fn now() -> Timestamp {
    Timestamp::parse("2026-11-01T00:00:00Z").unwrap()
}

/// Creates a copy of the example with its settings.
fn example() -> tempfile::TempDir {
    let folder = stage();
    run("cp -r examples/harbour examples/rutter.toml examples/entities target/", folder.path());
    folder
}

fn change(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{from} in {}", path.display());
    fs::write(path, text.replacen(from, to, 1)).unwrap();
}

/// Returns the status of a marker of the museum after a change of its page.
fn planted(from: &str, to: &str) -> (MarkerStatus, Vec<PathStage>) {
    let folder = example();
    let root = folder.path().join("target");
    change(&root.join("harbour/museum/index.html"), from, to);
    run("rutter build target/harbour --out target/public", folder.path());
    let survived = survive_folder(&root.join("public"), now()).unwrap();
    let museum = &survived.survivals.entities[0];
    assert_eq!(museum.name, "Harbour Museum");
    let marker = &museum.markers[1];
    assert_eq!(marker.text, "That floor is 58 metres long");
    let lost = PathStage::ALL.iter().filter(|stage| marker.kept_by(**stage) == Some(false));
    // The change is not an error of the page.
    let lost = lost.filter(|stage| !matches!(stage, PathStage::Summary | PathStage::Kernel));
    (marker.status.clone(), lost.copied().collect())
}

/// All steps from the visible text on.
const SEEN: [PathStage; 7] = [
    PathStage::Visible,
    PathStage::Cut(100_000),
    PathStage::Cut(50_000),
    PathStage::Cut(20_000),
    PathStage::Cut(5_000),
    PathStage::Blocks,
    PathStage::Twin,
];

#[test] // D70 SPX-066 SPX-076 C07
fn finds_planted_losses_in_published_files() {
    let floor = "That floor is 58 metres long";
    let absent = MarkerStatus::Absent;
    // Other spellings of the same text are not losses.
    for to in [
        "That <b>floor</b> is <i>58</i>&nbsp;metres\n  long",
        "That floor is <a href=\"/x\">58 met</a>res<br>long",
    ] {
        assert_eq!(planted(floor, to), (MarkerStatus::Visible, vec![]), "{to}");
    }
    let split = planted(floor, "That floor is</p><p>58 metres long");
    assert_eq!(split, (absent.clone(), SEEN.to_vec()));
    let script = planted(floor, "<script>x = 'That floor is 58 metres long'</script>That");
    assert_eq!(script, (absent.clone(), SEEN.to_vec()));
    let hidden = planted(floor, "<span style=\"display:none\">That floor is 58 metres long</span>");
    assert_eq!(hidden, (absent.clone(), SEEN.to_vec()));
    let comment = planted(floor, "<!-- That floor is 58 metres long -->");
    assert_eq!(comment, (absent, SEEN.to_vec()));
    let (status, lost) = planted(floor, "that floor is 58 metres long");
    assert_eq!(status, MarkerStatus::Near("that floor is 58 metres long".to_owned()));
    assert_eq!(lost.first(), Some(&PathStage::Html));
    let far = format!("</p><p>{}</p><p>That floor is 58 metres long", "word ".repeat(4000));
    let (status, lost) = planted(floor, &far);
    assert_eq!(status, MarkerStatus::Visible);
    assert_eq!(lost, [PathStage::Cut(20_000), PathStage::Cut(5_000)]);
}

#[test] // D70
fn survive_reports_missing_layers() {
    let folder = example();
    let root = folder.path().join("target/public");
    run("rutter build target/harbour --out target/public", folder.path());
    fs::remove_file(root.join("museum/index.md")).unwrap();
    fs::write(root.join("arc-sitemap.json"), "{").unwrap();
    for entry in fs::read_dir(root.join("scp")).unwrap() {
        fs::write(entry.unwrap().path(), "not a collection").unwrap();
    }
    fs::remove_file(root.join("docs/tides-api.html")).unwrap();
    let survived = survive_folder(&root, now()).unwrap();
    let [museum, town] = survived.survivals.entities.as_slice() else { panic!() };
    assert_eq!(museum.share(PathStage::Twin), None);
    assert!(town.share(PathStage::Twin).is_some());
    for stage in [PathStage::Blocks, PathStage::Summary] {
        assert_eq!(museum.share(stage), None, "{stage:?}");
    }
    assert_eq!(survived.missing, ["https://harbour.example/docs/tides-api.html"]);
    let said =
        run("rutter spxi survive target/public --format json > target/x.json", folder.path());
    assert!(said.contains("has no page") && said.ends_with("? 1\n"), "{said}");
    fs::write(root.join("spxi-index.jsonld"), "[").unwrap();
    assert!(survive_folder(&root, now()).is_err());
}

/// Returns a system that records each question.
fn noting(root: &Path, more: &str) -> String {
    let log = root.join("log");
    format!("a=read -r q; echo \"$q\" >> {}; {more} echo \"About: $q\"", log.display())
}

/// Returns how often each question was asked.
fn asked(root: &Path) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in fs::read_to_string(root.join("log")).unwrap_or_default().lines() {
        *counts.entry(line.to_owned()).or_default() += 1;
    }
    counts
}

fn drowned(root: &Path, system: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rutter"));
    command.args(["spxi", "drown", "target/harbour", "--ask", system, "--tries", "1"]);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("RUTTER_") {
            command.env_remove(name);
        }
    }
    command.env("SOURCE_DATE_EPOCH", "1793491200").current_dir(root);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Checks that the history has each question once and is valid.
fn check(root: &Path) {
    let mut findings = Vec::new();
    let path = root.join("target/drown/history.jsonl");
    let history = AnswerHistory::open(&path, &mut findings).unwrap();
    assert_eq!(findings, []);
    assert_eq!(history.records.len(), 15);
    let keys: BTreeSet<(&str, StandardQuestion)> =
        history.records.iter().map(|it| (it.entity.as_str(), it.question)).collect();
    assert_eq!(keys.len(), 15);
}

#[test] // D73
fn killed_run_asks_only_unanswered_questions() {
    for at in [1, 7, 15] {
        let folder = example();
        let root = folder.path();
        let (log, killed) = (root.join("log"), root.join("killed"));
        // The system kills the run during a question.
        let more = format!(
            "if [ $(wc -l < {}) = {at} ] && [ ! -e {k} ]; then touch {k}; kill -9 $PPID; fi;",
            log.display(),
            k = killed.display()
        );
        let system = noting(root, &more);
        assert!(!drowned(root, &system).status().unwrap().success());
        assert_eq!(asked(root).len(), at);
        assert!(drowned(root, &system).status().unwrap().success());
        let counts = asked(root);
        assert_eq!(counts.len(), 15);
        assert_eq!(counts.values().filter(|n| **n == 2).count(), 1, "the one it was killed in");
        check(root);
        // All questions are answered.
        assert!(drowned(root, &system).status().unwrap().success());
        assert_eq!(asked(root), counts);
    }
}

#[test] // D73
fn killed_runs_keep_all_answers() {
    let folder = example();
    let root = folder.path();
    let system = noting(root, "");
    let history = root.join("target/drown/history.jsonl");
    let mut n_kills = 0;
    // Each kill is later: after a given size of the history.
    for n_bytes in (0..6000).step_by(450) {
        let mut child = drowned(root, &system).spawn().unwrap();
        let is_there = || fs::metadata(&history).is_ok_and(|it| n_bytes <= it.len());
        while !is_there() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        n_kills += usize::from(!child.wait().unwrap().success());
    }
    assert!(0 < n_kills);
    assert!(drowned(root, &system).status().unwrap().success());
    check(root);
    // Only an interrupted question is asked again.
    let n_asked: usize = asked(root).values().sum();
    assert!(n_asked <= 15 + n_kills, "{n_asked} asked, {n_kills} kills");
}
