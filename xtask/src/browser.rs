//! Opens the HTML report in headless Chromium.
//!
//! Input: a report with hostile names, which a test of `rutter-report` writes. A probe page shows it
//! in frames of phone and desktop width, opens every `details`, and reports facts, which decide.
//! `cargo xtask browser` also takes pictures.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::{cargo, outside, root, run};

/// Widths and colour schemes; 1 is light to Chromium, 0 dark.
const VIEWS: [(&str, u32, u32); 2] = [("phone-light", 360, 1), ("desk-dark", 1200, 0)];
const PICTURES: [(&str, u32, u32); 4] = [
    ("phone-light", 360, 1),
    ("phone-dark", 360, 0),
    ("desk-light", 1200, 1),
    ("desk-dark", 1200, 0),
];

/// Checks that the report runs no script and sends no request.
pub(crate) fn check() -> anyhow::Result<()> {
    let folder = prepare()?;
    let mut grounds = Vec::new();
    for (name, width, scheme) in VIEWS {
        let probe = write_probe(&folder, name, width)?;
        let mut browser = chromium(&folder, scheme);
        browser.args(["--virtual-time-budget=5000", "--dump-dom"]).arg(url(&probe));
        let output = browser.output().context("chromium")?;
        let said = String::from_utf8_lossy(&output.stderr);
        let console: Vec<&str> = said.lines().filter(|line| line.contains("CONSOLE")).collect();
        ensure!(console.is_empty(), "{name}: the console says {console:?}");
        let seen = String::from_utf8_lossy(&output.stdout).into_owned();
        let facts = seen.split("id=\"facts\">").nth(1).and_then(|it| it.split('<').next());
        let facts = facts.filter(|facts| !facts.is_empty());
        let facts = facts.with_context(|| format!("{name}: chromium saw nothing: {said}"))?;
        let fact = |key: &str| {
            let found = facts.split(';').find_map(|it| it.trim().strip_prefix(key));
            found.and_then(|it| it.strip_prefix('=')).with_context(|| format!("{name}: {facts}"))
        };
        for (key, wanted) in [
            ("hacked", "undefined"),
            ("requests", "0"),
            ("scripts", "0"),
            ("handlers", "0"),
            ("overflow", "false"),
        ] {
            ensure!(fact(key)? == wanted, "{name}: {key} should be {wanted}: {facts}");
        }
        ensure!(fact("details")?.parse::<u32>()? > 3, "{name}: {facts}");
        grounds.push(fact("ground")?.to_owned());
        println!("xtask browser: {name}: {facts}");
    }
    let has_both = grounds.first() != grounds.last();
    ensure!(has_both, "light and dark look the same: {grounds:?}");
    Ok(())
}

/// Takes pictures of the report, closed and opened.
pub(crate) fn pictures() -> anyhow::Result<()> {
    check()?;
    let folder = prepare()?;
    for (name, width, scheme) in PICTURES {
        let probe = write_probe(&folder, name, width)?;
        let picture = folder.join(format!("{name}.png"));
        let mut browser = chromium(&folder, scheme);
        browser.arg(format!("--screenshot={}", picture.display()));
        browser.arg(format!("--window-size={},4200", width.max(520)));
        browser.arg("--virtual-time-budget=5000").arg(url(&probe));
        let output = browser.output().context("chromium")?;
        ensure!(output.status.success() && picture.is_file(), "{name}: no picture");
        println!("xtask browser: {}", picture.display());
    }
    Ok(())
}

/// Writes the report; returns the folder from which it is opened.
fn prepare() -> anyhow::Result<PathBuf> {
    outside::need("chromium", "chromium")?;
    run(cargo(&[
        "test",
        "--quiet",
        "--locked",
        "--package",
        "rutter-report",
        "--test",
        "it",
        "report",
    ]))?;
    let folder = root().join("target/xtask/browser");
    fs::create_dir_all(&folder)?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let report = target.unwrap_or_else(|| root().join("target")).join("tmp/report.html");
    fs::copy(&report, folder.join("report.html")).with_context(|| report.display().to_string())?;
    Ok(folder)
}

fn chromium(folder: &Path, scheme: u32) -> Command {
    let mut browser = Command::new("chromium");
    browser.args(["--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run"]);
    // Containers run as root and without user namespaces.
    browser.args(["--no-sandbox", "--disable-dev-shm-usage", "--enable-logging=stderr"]);
    browser.args(["--allow-file-access-from-files", "--disable-background-networking"]);
    browser.arg(format!("--blink-settings=preferredColorScheme={scheme}"));
    browser.arg(format!("--user-data-dir={}", folder.join("profile").display()));
    browser
}

fn url(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// Writes a page with the report in a frame; it opens every `details` and reports facts.
fn write_probe(folder: &Path, name: &str, width: u32) -> anyhow::Result<PathBuf> {
    let path = folder.join(format!("{name}.html"));
    let page = PROBE.replace("WIDTH", &width.to_string());
    fs::write(&path, page)?;
    Ok(path)
}

const PROBE: &str = r#"<!doctype html>
<meta charset="utf-8">
<style>body { margin: 0 } iframe { border: 0; display: block; height: 4200px } pre { display: none }</style>
<iframe id="report" src="report.html" width="WIDTH"></iframe>
<pre id="facts"></pre>
<script>
addEventListener("load", () => {
  const view = document.getElementById("report").contentWindow, page = view.document;
  const all = [...page.querySelectorAll("*")];
  const closed = [...page.querySelectorAll("details")];
  closed.forEach((it) => { it.open = true; });
  const facts = {
    hacked: typeof window.hacked,
    requests: view.performance.getEntriesByType("resource").length,
    scripts: page.querySelectorAll("script,img,iframe,object,embed,link,base").length,
    handlers: all.filter((it) => [...it.attributes].some((a) => a.name.startsWith("on"))).length,
    overflow: page.documentElement.scrollWidth > view.innerWidth,
    details: closed.length,
    ground: view.getComputedStyle(page.body).backgroundColor,
  };
  closed.forEach((it, at) => { it.open = at === 1 || at === 6; });
  document.getElementById("facts").textContent =
    Object.entries(facts).map(([key, value]) => key + "=" + value).join("; ");
});
</script>
"#;
