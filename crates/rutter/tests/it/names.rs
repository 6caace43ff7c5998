//! Tests of file names in reports and baselines, and of findings that displace others.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// The program, without `RUTTER_*` variables of the environment.
pub(crate) fn rutter(folder: &Path, args: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_rutter"));
    let settings = std::env::vars_os().map(|(name, _)| name);
    for name in settings.filter(|name| name.to_string_lossy().starts_with("RUTTER_")) {
        program.env_remove(name);
    }
    program.args(args).current_dir(folder).env("SOURCE_DATE_EPOCH", "1793491200").output().unwrap()
}

pub(crate) fn said(output: &Output) -> String {
    let (data, talk) = (&output.stdout, &output.stderr);
    format!("{}{}", String::from_utf8_lossy(data), String::from_utf8_lossy(talk))
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Creates two folders with the same fault, on different lines.
fn two_sites() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "public/robots.txt", "User-agent: *\nDisalow: /a\n");
    write(folder.path(), "staging/robots.txt", "# staging\n\nUser-agent: *\nDisalow: /a\n");
    folder
}

#[test]
fn report_paths_are_relative_to_current_folder() {
    let folder = two_sites();
    let (here, public) = (folder.path(), folder.path().join("public"));
    let check = |from: &Path, args: &[&str]| said(&rutter(from, &[&["check"], args].concat()));
    let text = check(here, &["public", "./staging/", "--format", "github"]);
    assert!(text.contains(" file=public/robots.txt,line=2,"), "{text}");
    assert!(text.contains(" file=staging/robots.txt,line=4,"), "{text}");
    // An indirect path names the same file; the current folder needs no name.
    let text = check(here, &[public.to_str().unwrap(), "--format", "github"]);
    assert!(text.contains(" file=public/robots.txt,line=2,"), "{text}");
    let text = check(&public, &[".", "--format", "github"]);
    assert!(text.contains(" file=robots.txt,line=2,"), "{text}");
    let text = check(here, &["public", "--format", "sarif"]);
    assert!(text.contains("\"uri\": \"public/robots.txt\""), "{text}");
    let elsewhere = tempfile::tempdir().unwrap();
    let text = check(elsewhere.path(), &[public.to_str().unwrap(), "--format", "sarif"]);
    assert!(
        text.contains(&format!("\"uri\": \"file://{}/robots.txt\"", public.display())),
        "{text}"
    );
    // Each line is shown from its own folder.
    let text = check(here, &["public", "staging"]);
    assert!(text.contains(" --> public/robots.txt:2:1"), "{text}");
    assert!(text.contains(" --> staging/robots.txt:4:1"), "{text}");
    assert_eq!(text.matches("| Disalow: /a").count(), 2, "{text}");
}

#[test]
fn baseline_paths_are_relative_to_the_baseline() {
    let folder = two_sites();
    let here = folder.path();
    let code = |from: &Path, args: &[&str]| {
        let output = rutter(from, &[&["check", "--fail-on", "note"], args].concat());
        (output.status.code(), said(&output))
    };
    let (exit, text) = code(here, &["public", "--write-baseline"]);
    assert_eq!(exit, Some(0), "{text}");
    let baseline = fs::read(here.join("rutter-baseline.json")).unwrap();
    let baseline: Value = serde_json::from_slice(&baseline).unwrap();
    let files: Vec<&Value> =
        baseline["findings"].as_array().unwrap().iter().map(|it| &it["file"]).collect();
    assert_eq!(files, ["public", "public/robots.txt"], "{baseline}");
    let name = "rutter-baseline.json";
    let (exit, text) = code(here, &["public", "--baseline", name]);
    assert_eq!(exit, Some(0), "{text}");
    let (exit, text) = code(&here.join("public"), &[".", "--baseline", "../rutter-baseline.json"]);
    assert_eq!(exit, Some(0), "{text}");
    let (exit, text) = code(here, &["staging", "--baseline", name]);
    assert_eq!(exit, Some(1), "{text}");
    assert!(!text.contains("in the baseline"), "{text}");
    // A fixed finding is reported as fixed only if its folder was checked.
    write(here, "public/robots.txt", "User-agent: *\nDisallow: /a\n");
    let (exit, text) = code(here, &["public", "--baseline", name]);
    assert_eq!(exit, Some(0), "{text}");
    assert!(text.contains("1 finding in the baseline but fixed"), "{text}");
    assert!(!code(here, &["staging", "--baseline", name]).1.contains("fixed"));
}

const PAGE: &str = "<!DOCTYPE html><html lang=en><head><title>Tides</title></head><body><main>\
    <h1>Tides</h1><p>High water is at noon, and low water is six hours later.</p></main>";

/// A site whose pages all lack a description.
fn bare_site() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for n in 0..8 {
        write(folder.path(), &format!("site/a/{n}.html"), PAGE);
        write(folder.path(), &format!("site/b/{n}.html"), PAGE);
    }
    folder
}

/// Pages that are named for the missing description.
fn named(output: &Output) -> Vec<String> {
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let files = document["files"].as_array().unwrap().iter();
    let is_named = |file: &&Value| file["kind"] == "page" && file["counts"]["HT013"] == 1;
    files.filter(is_named).map(|file| file["file"].as_str().unwrap().to_owned()).collect()
}

const CHECK: [&str; 6] = ["check", "site", "--as", "https://h.example", "--format", "json"];

#[test]
fn ignored_findings_do_not_displace_others() {
    let folder = bare_site();
    let first = named(&rutter(folder.path(), &CHECK));
    assert_eq!(
        first,
        ["site/a/0.html", "site/a/1.html", "site/a/2.html", "site/a/3.html", "site/a/4.html"]
    );
    write(
        folder.path(),
        "rutter.toml",
        "[check]\nignore = [{ rules = [\"HT013\"], paths = [\"a/**\"] }]\n",
    );
    let output = rutter(folder.path(), &CHECK);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["ignored"], 8);
    let left = named(&output);
    assert_eq!(
        left,
        ["site/b/0.html", "site/b/1.html", "site/b/2.html", "site/b/3.html", "site/b/4.html"]
    );
}

#[test]
fn known_findings_do_not_displace_new_ones() {
    let folder = bare_site();
    let written = [&CHECK[..], &["--write-baseline"]].concat();
    rutter(folder.path(), &written);
    write(folder.path(), "site/c/new.html", PAGE);
    let known = [&CHECK[..], &["--baseline", "rutter-baseline.json"]].concat();
    let output = rutter(folder.path(), &known);
    assert_eq!(named(&output), ["site/c/new.html"], "{}", said(&output));
}

#[test]
fn rejects_folder_without_files() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("public")).unwrap();
    let output = rutter(folder.path(), &["check", "public"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("folder public has no file to check"));
}

#[test]
fn finds_state_by_any_path() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let page = "<html lang=en><title>Tides</title><main><p>High water is at noon.</p></main>";
    write(here, "site/index.html", page);
    fs::create_dir(here.join("elsewhere")).unwrap();
    let base = ["--base-url", "https://harbour.example"];
    let build = ["build", "site", "--out", "public", "--state", "st"];
    let output = rutter(here, &[&build[..], &base].concat());
    assert!(output.status.success(), "{}", said(&output));
    let check = |from: &Path, public: &str, state: &str| {
        said(&rutter(from, &["check", public, "--state", state]))
    };
    for (from, public, state) in
        [(here, "public", "st"), (&here.join("elsewhere"), "../public", "../st")]
    {
        let text = check(from, public, state);
        assert!(text.contains("1 unchanged since the build"), "{text}");
    }
    // The state of another folder is ignored with a message.
    let text = check(here, "site", "st");
    assert!(
        text.contains("ignoring state st: it does not belong to a build into this folder"),
        "{text}"
    );
}
