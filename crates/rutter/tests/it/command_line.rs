//! Arguments that every command has, hints about misspelt ones, and what
//! `rutter check` does without any.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn rutter(folder: &Path, args: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_rutter"));
    // Settings of the user who runs the tests are not those of the site.
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
fn quiet_leaves_findings_errors_and_data_only() {
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
    assert!(said.starts_with("error: nowhere: no such folder or file\nhint: "), "{said}");
}

#[test]
fn offers_similar_arguments_only() {
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
fn check_without_arguments_takes_the_site_of_the_settings() {
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
    let hint = "hint: name it, as in `rutter check public`, or write `site` in rutter.toml\n";
    let wanted = (Some(2), String::new(), format!("error: which folder is the site?\n{hint}"));
    assert_eq!(parts(&rutter(empty.path(), &["check"])), wanted);
    write(empty.path(), "rutter.toml", "base-url = \"https://h.example\"\n");
    assert_eq!(parts(&rutter(empty.path(), &["check"])), wanted);
    write(empty.path(), "rutter.toml", "site = \"public\"\n");
    let (code, _, said) = parts(&rutter(empty.path(), &["check"]));
    assert_eq!(code, Some(2));
    assert!(said.starts_with("error: public: no such folder or file\nhint: "), "{said}");
}

#[test]
fn findings_of_a_project_folder_name_files_of_the_site_in_it() {
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
