//! Tests of common arguments, hints about misspelt ones, and `rutter check` without arguments.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn rutter(folder: &Path, args: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_rutter"));
    // Variables of the environment must not affect the site.
    let names = std::env::vars_os().map(|(name, _)| name);
    for name in names.filter(|name| name.to_string_lossy().starts_with("RUTTER_")) {
        program.env_remove(name);
    }
    program.args(args).current_dir(folder).env("SOURCE_DATE_EPOCH", "1793491200").output().unwrap()
}

/// Exit code, standard output and standard error.
fn parts(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A folder with a small site in `public` and its settings.
fn site() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let page = "<!doctype html><html lang=en><head><title>Tides</title>\
        <meta name=description content='When the water rises.'></head>\
        <body><main><h1>Tides</h1><p>The water rises twice a day here.</p></main></body></html>";
    write(folder.path(), "public/index.html", page);
    let settings = "site = \"public\"\nbase-url = \"https://h.example\"\n";
    write(folder.path(), "rutter.toml", settings);
    folder
}

#[test]
fn quiet_prints_findings_errors_and_data_only() {
    let folder = site();
    let root = folder.path();
    let silent = (Some(0), String::new(), String::new());
    assert_eq!(parts(&rutter(root, &["build", "--quiet"])), silent);
    // The argument may also come before the command.
    assert_eq!(parts(&rutter(root, &["-q", "build"])), silent);
    assert_eq!(parts(&rutter(root, &["check", "public", "--quiet"])), silent);
    // Data stays.
    let (code, data, said) = parts(&rutter(root, &["build", "--quiet", "--json"]));
    assert_eq!((code, said.as_str()), (Some(0), ""), "{data}");
    assert_eq!(serde_json::from_str::<Value>(&data).unwrap()["pages"], 1);
    // Findings and warnings stay.
    let other = site();
    write(
        other.path(),
        "public/bad.html",
        "<html lang=en><title>Bad</title><p>Text \u{202e}here.</p>",
    );
    let args = ["build", "-q", "--base-url", "http://h.example"];
    let (code, data, said) = parts(&rutter(other.path(), &args));
    assert_eq!((code, data.as_str()), (Some(0), ""), "{said}");
    assert!(said.starts_with("warning: base URL http://h.example/ is not https"), "{said}");
    assert!(said.contains("\npublic/bad.html: ") || said.contains("\nbad.html: "), "{said}");
    let (code, data, said) = parts(&rutter(other.path(), &["check", "-q", "--format", "concise"]));
    assert_eq!(said, "");
    let lines: Vec<&str> = data.lines().collect();
    let is_finding = |line: &&str| {
        line.contains(": warning ") || line.contains(": error ") || line.contains(": note ")
    };
    assert!(!lines.is_empty() && lines.iter().all(is_finding), "{code:?} {data}");
    // Errors stay.
    let (code, data, said) = parts(&rutter(root, &["build", "-q", "nowhere"]));
    assert_eq!((code, data.as_str()), (Some(2), ""));
    assert!(said.starts_with("error: nowhere does not exist\nhint: "), "{said}");
}

#[test]
fn suggests_similar_arguments_only() {
    let folder = tempfile::tempdir().unwrap();
    for (args, offered) in [
        (["build", "--silent"], None),
        (["build", "--subject"], None),
        (["sync", "--quit"], Some("--quiet")),
        (["build", "--injcet"], Some("--inject")),
        (["build", "--base"], Some("--base-url")),
        (["check", "--bse-url"], Some("--base-url")),
        (["check", "--format=jsonn"], Some("json")),
        (["biuld", "public"], Some("build")),
    ] {
        let (code, _, said) = parts(&rutter(folder.path(), &args));
        assert_eq!(code, Some(2), "{args:?}: {said}");
        let is_offered = said.contains("similar");
        assert_eq!(is_offered, offered.is_some(), "{args:?}: {said}");
        if let Some(offered) = offered {
            assert!(said.contains(&format!("'{offered}'")), "{args:?}: {said}");
        }
    }
}

#[test]
fn check_without_arguments_uses_the_settings() {
    let folder = site();
    let root = folder.path();
    assert_eq!(rutter(root, &["build"]).status.code(), Some(0));
    let (code, data, said) = parts(&rutter(root, &["check"]));
    assert_eq!(code, Some(0), "{data}{said}");
    assert!(said.starts_with("checking public, the site of rutter.toml\n"), "{said}");
    let named = parts(&rutter(root, &["check", "public"]));
    assert_eq!(data, named.1);
    // A folder below finds the same settings, as a build does.
    let (code, _, said) = parts(&rutter(&root.join("public"), &["check"]));
    assert_eq!(code, Some(0), "{said}");
    // What a build publishes is in `out`.
    let settings = "site = \"public\"\nout = \"made\"\nbase-url = \"https://h.example\"\n";
    write(root, "rutter.toml", settings);
    fs::remove_dir_all(root.join(".rutter")).unwrap();
    assert_eq!(rutter(root, &["build"]).status.code(), Some(0));
    let (code, _, said) = parts(&rutter(root, &["check"]));
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with("checking made, the output of rutter.toml\n"), "{said}");

    let empty = tempfile::tempdir().unwrap();
    let hint = "hint: name it, as in `rutter check public`, or set `site` in rutter.toml\n";
    let wanted = (Some(2), String::new(), format!("error: no site folder is given\n{hint}"));
    assert_eq!(parts(&rutter(empty.path(), &["check"])), wanted);
    write(empty.path(), "rutter.toml", "base-url = \"https://h.example\"\n");
    assert_eq!(parts(&rutter(empty.path(), &["check"])), wanted);
    write(empty.path(), "rutter.toml", "site = \"public\"\n");
    let (code, _, said) = parts(&rutter(empty.path(), &["check"]));
    assert_eq!(code, Some(2));
    assert!(said.starts_with("error: public does not exist\nhint: "), "{said}");
}

#[test]
fn findings_name_files_of_the_site_in_a_project() {
    let folder = site();
    let root = folder.path();
    fs::remove_file(root.join("rutter.toml")).unwrap();
    write(root, "public/sitemap.xml", "<urlset xmlns='http://www.sitemaps.org/wrong'></urlset>");
    let (code, data, said) = parts(&rutter(root, &["check", ".", "--format", "jsonl"]));
    assert_eq!(code, Some(1), "{data}{said}");
    let files: Vec<String> = data
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|value| value["type"] == "finding")
        .filter_map(|value| value["file"].as_str().map(str::to_owned))
        .collect();
    assert!(files.contains(&"public/sitemap.xml".to_owned()), "{files:?}");
}

/// A folder with the site of the coverage fixtures in `public`.
fn coverage_site() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rutter-check/fixtures/coverage");
    for entry in fs::read_dir(fixtures).unwrap() {
        let entry = entry.unwrap();
        let name = format!("public/{}", entry.file_name().to_string_lossy());
        write(folder.path(), &name, &fs::read_to_string(entry.path()).unwrap());
    }
    let settings = "site = \"public\"\nbase-url = \"https://h.example\"\n";
    write(folder.path(), "rutter.toml", settings);
    folder
}

#[test]
fn check_fails_below_the_asked_coverage_with_and_without_a_state() {
    let folder = coverage_site();
    let root = folder.path();
    let lowest = "  0.269 gate.html: dropped h3: \"Comments\"\n";
    for is_built in [false, true] {
        if is_built {
            let (code, said, _) = parts(&rutter(root, &["build"]));
            assert_eq!(code, Some(0), "{said}");
            assert!(
                said.contains("\ncoverage  63.4 % of the main text extracted (mean of 2 pages)\n"),
                "{said}"
            );
            assert!(said.contains("26.9 % of gate.html, without h3: \"Comments\"\n"), "{said}");
        }
        let (code, data, said) = parts(&rutter(root, &["check", "public"]));
        assert_eq!(code, Some(0), "{data}");
        let known = if is_built { "4 unchanged" } else { "0 unchanged" };
        assert!(said.contains(known), "{said}");
        let summary = format!("coverage of main text: 0.634, mean of 2 pages\n{lowest}");
        assert!(data.contains(&summary) && !data.contains("XL089"), "{data}");
        let asked = ["check", "public", "--min-coverage", "0.95", "--format", "concise"];
        let (code, data, _) = parts(&rutter(root, &asked));
        assert_eq!(code, Some(1), "{data}");
        let low: Vec<&str> = data.lines().filter(|line| line.contains("XL089")).collect();
        assert!(matches!(low.as_slice(), [one] if one.starts_with("public/gate.html: error")));
        assert!(low[0].contains("0.269, minimum 0.95; the largest dropped part is h3"), "{low:?}");
        let (code, ..) = parts(&rutter(root, &["check", "public", "--min-coverage", "0.2"]));
        assert_eq!(code, Some(0));
    }
    let (code, data, _) = parts(&rutter(root, &["build", "--json"]));
    let document: Value = serde_json::from_str(&data).unwrap();
    assert_eq!(code, Some(0));
    assert_eq!(document["coverage"]["worst"][0]["page"], "gate.html");
    let (code, _, said) = parts(&rutter(root, &["check", "public", "--min-coverage", "95"]));
    assert_eq!(code, Some(2));
    assert!(said.contains("not a number from 0 to 1"), "{said}");
}
