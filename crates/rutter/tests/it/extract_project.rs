//! Tests of `rutter extract` with the settings and the state of a project.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs the program in a folder and returns stdout and stderr.
fn run(folder: &Path, args: &[&str]) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rutter"));
    command.current_dir(folder).args(args).env("SOURCE_DATE_EPOCH", "1793491200");
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

/// Creates a project of pages that share a notice outside the main content.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("public/berths")).unwrap();
    for n in 0..14 {
        let text = format!("Berth {n} takes boats of up to {} metres, by the mole.", n + 8);
        let page = format!(
            "<!doctype html><html lang=en><head><title>Berth {n}</title></head><body>\
             <div class=col><h1>Berth {n}</h1><p>{text} It lies between berth {n} and the lamp \
             number {}, and has water and light.</p><p class=fee>The fee of berth {n} is paid in \
             advance at the office.</p><h2>Contact</h2><p class=contact>Call the office on channel \
             12, or knock at the green door on the quay. Bring your papers.</p></div></body></html>",
            n + 3
        );
        fs::write(folder.path().join(format!("public/berths/{n:02}.html")), page).unwrap();
    }
    let settings = "site = \"public\"\nbase-url = \"https://harbour.example/\"\n";
    fs::write(folder.path().join("rutter.toml"), settings).unwrap();
    folder
}

#[test]
fn extracts_page_like_the_last_build() {
    let project = project();
    let page = "public/berths/03.html";
    let (alone, said) = run(project.path(), &["extract", page, "--format", "text"]);
    assert!(alone.contains("Call the office"), "no build, no evidence: {alone}");
    assert!(!said.contains("reading settings"), "{said}");
    run(project.path(), &["build"]);
    let twin = fs::read_to_string(project.path().join("public/berths/03.md")).unwrap();
    assert!(!twin.contains("Call the office"), "{twin}");
    let (same, said) = run(project.path(), &["extract", page, "--format", "markdown"]);
    let body = |text: &str| {
        let text = text.split("---\n").nth(2).unwrap();
        text.replace("\n<!-- rutter:twin -->\n", "")
    };
    assert_eq!(body(&same), body(&twin));
    assert!(said.contains("reading settings from rutter.toml"), "{said}");
    let (why, _) = run(project.path(), &["extract", page, "--explain"]);
    let line = why.lines().find(|line| line.contains("Call the office")).unwrap();
    assert!(line.starts_with("drop") && line.contains("dropped by template"), "{line}");
    assert!(why.lines().any(|line| line.starts_with("template ")), "{why}");
    let (why, _) = run(project.path(), &["extract", page, "--explain", "--alone"]);
    assert!(!why.contains("template"), "{why}");
}

#[test]
fn explanation_names_selector_of_path() {
    let project = project();
    run(project.path(), &["build"]);
    let file = project.path().join("rutter.toml");
    let settings = fs::read_to_string(&file).unwrap();
    let more = "[[extract.path]]\nmatch = \"/berths/0*\"\nkeep = \".contact\"\ndrop = \".fee\"\n";
    fs::write(&file, format!("{settings}{more}")).unwrap();
    let explain = |page: &str| run(project.path(), &["extract", page, "--explain"]).0;
    let why = explain("public/berths/03.html");
    assert!(why.contains("kept by selector `.contact`"), "{why}");
    assert!(why.contains("dropped by selector `.fee`"), "{why}");
    assert!(!explain("public/berths/12.html").contains("by selector"));
    // Inside the site, and with the settings file as an argument.
    let inside = project.path().join("public/berths");
    let (why, _) = run(&inside, &["extract", "03.html", "--explain"]);
    assert!(why.contains("dropped by selector `.fee`"), "{why}");
    let (text, _) = run(
        Path::new("/"),
        &[
            "extract",
            inside.join("03.html").to_str().unwrap(),
            "--config",
            file.to_str().unwrap(),
            "--format",
            "text",
        ],
    );
    assert!(text.contains("Call the office") && !text.contains("The fee"), "{text}");
}

#[test]
fn check_extracts_pages_with_the_settings() {
    let project = project();
    let page = |n: usize| project.path().join(format!("public/berths/{n:02}.html"));
    for n in 0..14 {
        let text = fs::read_to_string(page(n)).unwrap();
        let line =
            format!("On day {n} of the log boat {n} came in late, with the wind behind it, ");
        let log = format!("<p>{}and went to sleep.</p>", line.repeat(4)).repeat(40);
        let text = text.replace("<div class=col>", "<main>").replace("</div>", "</main>");
        fs::write(page(n), text.replace("</main>", &format!("<div id=log>{log}</div></main>")))
            .unwrap();
    }
    let file = project.path().join("rutter.toml");
    let settings = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{settings}[extract]\ndrop = \"#log\"\n")).unwrap();
    run(project.path(), &["build"]);
    // Without the state, the pages are read again.
    let (report, _) = run(project.path(), &["check", "public", "--reread"]);
    assert!(!report.contains("XL") && !report.contains("HT019"), "{report}");
    // Without the settings, less than half of the text is in the collections.
    fs::write(&file, settings).unwrap();
    let (report, _) = run(project.path(), &["check", "public", "--reread"]);
    assert!(report.contains("XL"), "{report}");
}
