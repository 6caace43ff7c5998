//! Tests of the files for other repositories: the GitHub action, the pre-commit hook and the container.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::{root, stage};

fn yaml(name: &str) -> Value {
    serde_saphyr::from_str(&fs::read_to_string(root().join(name)).unwrap()).unwrap()
}

fn help() -> String {
    let program = env!("CARGO_BIN_EXE_rutter");
    let output = Command::new(program).args(["check", "--help"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the flags that a script passes to `rutter`.
fn flags(script: &str) -> BTreeSet<&str> {
    let lines = script.lines().filter(|line| !line.contains("cargo "));
    let words = lines.flat_map(|line| line.split([' ', '(', ')', '"']));
    words.filter(|word| word.starts_with("--") && 2 < word.len()).collect()
}

fn assert_known(script: &str) {
    let help = help();
    for flag in flags(script) {
        assert!(help.contains(&format!("{flag} ")), "`rutter check` has no {flag}");
    }
}

/// Runs a step of the action like a workflow.
fn judge(script: &str, folder: &Path, settings: &[(&str, &str)]) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_rutter")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("bash");
    shell.args(["-c", script]).current_dir(folder).env("PATH", path);
    shell.env("GITHUB_STEP_SUMMARY", folder.join("summary.md"));
    shell.env("SOURCE_DATE_EPOCH", "1793491200");
    shell.envs(settings.iter().copied()).output().unwrap()
}

#[test]
fn action_checks_files() {
    let action = yaml("action.yml");
    let steps = action["runs"]["steps"].as_array().unwrap();
    assert_eq!((action["runs"]["using"].as_str(), steps.len()), (Some("composite"), 2));
    for step in steps {
        let script = step["run"].as_str().unwrap();
        // Values are passed in the environment, because text in a script would be executed.
        assert!(!script.contains("${{") && step["shell"] == "bash", "{script}");
    }
    let named: BTreeSet<String> = steps
        .iter()
        .flat_map(|step| step["env"].as_object().unwrap().values())
        .filter_map(|value| value.as_str()?.split("inputs.").nth(1)?.strip_suffix(" }}"))
        .map(str::to_owned)
        .collect();
    let inputs: BTreeSet<String> = action["inputs"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(named, inputs);

    let script = steps[1]["run"].as_str().unwrap();
    assert_known(script);
    let folder = stage();
    let none = [("FAIL_ON", "error"), ("BASELINE", ""), ("CONFIG", ""), ("REPORT", "")];
    let files = "vectors/block-unknown.scp\n\narc/policy.json\n";
    let settings = |more: &[(&'static str, &'static str)]| {
        let mut all = none.to_vec();
        all.push(("FILES", files));
        all.extend(more);
        all
    };
    let output = judge(script, folder.path(), &settings(&[("REPORT", "report.sarif")]));
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("::error file=vectors/block-unknown.scp,line=2,col="), "{said}");
    let report = fs::read(folder.path().join("report.sarif")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    assert_eq!(report["version"], "2.1.0");
    let summary = fs::read_to_string(folder.path().join("summary.md")).unwrap();
    assert!(summary.contains("SC021"), "{summary}");

    let known = "rutter check vectors/block-unknown.scp --write-baseline --baseline known.json";
    assert!(judge(known, folder.path(), &[]).status.success());
    let output = judge(script, folder.path(), &settings(&[("BASELINE", "known.json")]));
    assert_eq!(output.status.code(), Some(0));
    let output = judge(script, folder.path(), &settings(&[("BASELINE", "absent.json")]));
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn hook_checks_matching_files() {
    let hooks = yaml(".pre-commit-hooks.yaml");
    let hook = &hooks.as_array().unwrap()[0];
    let args: Vec<&str> =
        hook["args"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    let entry = format!("{} {}", hook["entry"].as_str().unwrap(), args.join(" "));
    assert_known(&entry);
    let pattern = hook["files"].as_str().unwrap();
    let fits = |name: &str| {
        let script = format!("printf '%s\\n' '{name}' | grep -qE '{pattern}'");
        Command::new("sh").args(["-c", &script]).status().unwrap().success()
    };
    for name in ["robots.txt", "public/sitemap-1.xml.gz", "a/b.scp.zst", "x/spxi-packet.jsonld"] {
        assert!(fits(name), "{name}");
    }
    for name in ["myrobots.txt.bak", "sitemap.html", "a.scpx", "index.html"] {
        assert!(!fits(name), "{name}");
    }
    let folder = stage();
    let output = judge(&format!("{entry} vectors/block-unknown.scp"), folder.path(), &[]);
    assert_eq!(output.status.code(), Some(1));
    // Users of the hook may set other arguments.
    let entry = hook["entry"].as_str().unwrap();
    let script = format!("{entry} --lenient --fail-on error vectors/block-unknown.scp");
    assert_eq!(judge(&script, folder.path(), &[]).status.code(), Some(0));
}

#[test]
fn container_uses_existing_files() {
    let text = fs::read_to_string(root().join("Containerfile")).unwrap();
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let version = manifest.split("rust-version = \"").nth(1).unwrap().split('"').next().unwrap();
    assert!(text.contains(&format!("/rust:{version}-")), "it does not build with Rust {version}");
    let path = text.split("--path ").nth(1).unwrap().split(' ').next().unwrap();
    assert!(root().join(path).join("Cargo.toml").is_file());
    assert!(text.contains("ENTRYPOINT [\"rutter\"]") && text.contains("USER 65534"));
    // Build output must not be copied into the container.
    let ignored = fs::read_to_string(root().join(".containerignore")).unwrap();
    assert!(ignored.lines().any(|line| line == "target"));
}
