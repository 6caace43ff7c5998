//! Tests of the whole program.
//!
//! Each `tests/sessions/*.console` is a case: a line that starts with `$ ` is run by `sh` in a
//! folder with the example pages and the conformance vectors, and must print the lines that follow.
//! `documentation.rs` does the same for README.md and `docs/`. A session that mentions `replica.db` has a
//! replica of that name. `? 4` is an exit code other than 0, and `; ` starts a comment.
//! `UPDATE_EXPECTED=1 cargo test` writes the actual output to the files instead.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may stop, and say how far it got"
)]
#![cfg(unix)]

mod arc;
mod command_line;
mod damage;
mod diagnostics;
mod discover;
mod documentation;
mod drown;
mod extract_project;
mod faults;
mod fix;
mod kill;
mod kill_sync;
mod live;
mod names;
mod proofs;
mod replica;
mod repository;
mod schemas;
mod serve;
mod spxi;
mod sync;
mod sync_line;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Creates a folder with all files that a session may use.
fn stage() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = root().canonicalize().unwrap();
    for (from, to) in [
        ("examples", "examples"),
        ("conformance/vectors/scp/files", "vectors"),
        ("conformance/vectors/arc/files", "arc"),
        ("crates/rutter-logs/tests/fixtures/report", "logs"),
    ] {
        std::os::unix::fs::symlink(root.join(from), folder.path().join(to)).unwrap();
    }
    fs::create_dir(folder.path().join("target")).unwrap();
    folder
}

/// Runs a command line and returns its output with the exit code.
fn run(line: &str, folder: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_rutter"));
    let path = std::env::var("PATH").unwrap();
    // Variables of the environment must not affect the session.
    let settings = std::env::vars_os().map(|(name, _)| name);
    let settings = settings.filter(|name| name.to_string_lossy().starts_with("RUTTER_"));
    let mut shell = Command::new("sh");
    for name in settings {
        shell.env_remove(name);
    }
    let output = shell
        .args(["-c", &format!("{{ {line}\n}} 2>&1")])
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", program.parent().unwrap().display()))
        .env("SOURCE_DATE_EPOCH", "1793491200")
        .env("NO_COLOR", "1")
        .env_remove("RUST_BACKTRACE")
        .output()
        .unwrap();
    let mut said = String::from_utf8(output.stdout).unwrap();
    if !said.is_empty() && !said.ends_with('\n') {
        said.push('\n');
    }
    match output.status.code() {
        Some(0) => {}
        code => writeln!(said, "? {}", code.unwrap_or(-1)).unwrap(),
    }
    said
}

/// Runs a session and returns it with the actual output.
fn replay(session: &str) -> String {
    let folder = stage();
    if session.contains("replica.db") {
        drop(replica::make(&folder.path().join("replica.db")));
    }
    let mut replayed = String::new();
    for line in session.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            writeln!(replayed, "{line}").unwrap();
            replayed.push_str(&run(command, folder.path()));
        } else if line.starts_with("; ") {
            let gap = if replayed.is_empty() { "" } else { "\n" };
            writeln!(replayed, "{gap}{line}").unwrap();
        }
    }
    replayed
}

/// Masks sizes and times, which depend on the version of the compressors.
fn masked(text: &str) -> String {
    let mut masked = String::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        for (at, word) in words.iter().enumerate() {
            let next = words.get(at + 1).map_or("", |next| next.trim_end_matches([',', ')']));
            let is_size = matches!(next, "B" | "KiB" | "MiB" | "s" | "to");
            let is_number = word.parse::<f64>().is_ok();
            masked.push_str(if is_size && is_number { "#" } else { word });
            masked.push(' ');
        }
        masked.push('\n');
    }
    masked
}

#[test]
fn sessions_print_expected_output() {
    let sessions = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sessions");
    let mut wrong = Vec::new();
    let mut n_sessions = 0;
    for entry in fs::read_dir(sessions).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|it| it != "console") {
            continue;
        }
        n_sessions += 1;
        let written = fs::read_to_string(&path).unwrap();
        let replayed = replay(&written);
        if masked(&written) == masked(&replayed) {
            continue;
        }
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            fs::write(&path, replayed).unwrap();
        } else {
            wrong.push(format!("--- {}\n{replayed}", path.display()));
        }
    }
    assert!(5 <= n_sessions);
    assert!(wrong.is_empty(), "sessions with different output:\n{}", wrong.join("\n"));
}

#[test]
fn each_vector_gives_success_or_one_error() {
    let folder = stage();
    let good = "target/good.scp";
    run(&format!("rutter scp pack examples/harbour.jsonl -o {good}"), folder.path());
    let mut names: Vec<_> = fs::read_dir(folder.path().join("vectors"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it != "json"))
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    // No command panics, hangs, or leaves files after a failure, for any file.
    let out = folder.path().join("target/out.scp.gz");
    for name in names.iter().step_by(5) {
        for command in [
            format!("rutter scp inspect vectors/{name}"),
            format!("rutter scp diff vectors/{name} {good} -o target/out.scp.gz"),
            format!("rutter scp apply {good} vectors/{name} -o target/out.scp.gz"),
            format!("rutter scp pack vectors/{name} -o target/out.scp.gz"),
        ] {
            let said = run(&command, folder.path());
            assert!(!said.contains("? ") || !out.exists(), "{command}\n{said}");
            drop(fs::remove_file(&out));
            assert!(!said.contains("panicked"), "{command}\n{said}");
            if let Some((_, code)) = said.rsplit_once("? ") {
                assert!(matches!(code.trim(), "2" | "4" | "5"), "{command}\n{said}");
                let errors = said.lines().filter(|line| line.starts_with("error: ")).count();
                assert_eq!(errors, 1, "{command}\n{said}");
            }
        }
    }
    assert_eq!(fs::read_dir(folder.path().join("target")).unwrap().count(), 1);
}
