//! Renders Markdown of hostile pages in Chromium: no script may run.
//!
//! Input: pages whose every text is an attack, which a test of `rutter-page` writes. Four renderers
//! make HTML of them, with and without raw HTML and extensions: commonmark.js and markdown-it (npm),
//! Python-Markdown and mistune (`PyPI`). Chromium loads each result in a frame and reports scripts,
//! handlers, and links that are neither http nor https. A control page proves that an attack would
//! be noticed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::{cargo, outside, root, run};

const PYTHON: [&str; 2] = ["Markdown==3.9", "mistune==3.1.4"];
const NODE: [&str; 2] = ["commonmark@0.31.2", "markdown-it@14.1.0"];

/// The page whose attack must be noticed.
const CONTROL: &str = "control";

/// Pages per Chromium process. With all pages in one, a loaded machine gets no result.
const FRAMES: usize = 120;

/// How often Chromium is started for the same pages if it gives no result.
const TRIES: usize = 3;

/// Renders each file of a folder with Python-Markdown and mistune.
const RENDER_PY: &str = r#"
import glob, markdown, mistune, os, sys
source, target = sys.argv[1:]
extra = ["extra", "attr_list", "sane_lists", "admonition", "toc", "nl2br"]
plugins = ["strikethrough", "table", "footnotes", "url", "def_list", "abbr", "math", "task_lists"]
renderers = {
    "python-markdown": lambda text: markdown.markdown(text),
    "python-markdown-extra": lambda text: markdown.markdown(text, extensions=extra),
    "mistune": lambda text: mistune.html(text),
    "mistune-escape": mistune.create_markdown(),
    "mistune-plugins": mistune.create_markdown(escape=False, plugins=plugins),
}
for path in sorted(glob.glob(os.path.join(source, "*.md"))):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for name, render in renderers.items():
        stem = os.path.basename(path)[:-3]
        with open(os.path.join(target, f"{name}--{stem}.body"), "w", encoding="utf-8") as file:
            file.write(render(text))
"#;

/// The same with commonmark.js and markdown-it.
const RENDER_JS: &str = r#"
const fs = require("fs"), path = require("path");
const commonmark = require("commonmark"), markdownIt = require("markdown-it");
const [source, target] = process.argv.slice(2);
const writer = new commonmark.HtmlRenderer(), reader = new commonmark.Parser();
const plain = markdownIt(), html = markdownIt({ html: true, linkify: true, typographer: true });
const renderers = {
  "commonmark": text => writer.render(reader.parse(text)),
  "markdown-it": text => plain.render(text),
  "markdown-it-html": text => html.render(text),
};
for (const name of fs.readdirSync(source).filter(name => name.endsWith(".md"))) {
  const text = fs.readFileSync(path.join(source, name), "utf8");
  for (const [renderer, render] of Object.entries(renderers)) {
    fs.writeFileSync(path.join(target, `${renderer}--${name.slice(0, -3)}.body`), render(text));
  }
}
"#;

/// Written before the text of each page.
const HEAD: &str = "<!doctype html><meta charset=\"utf-8\"><script>var hits=[];\
    function hit(what){hits.push(what)}</script><body>";

/// Loads every frame and reports what ran, and what would run on a click.
const PROBE: &str = r#"
<script>
function look(frame) {
  const page = frame.contentDocument, found = [...frame.contentWindow.hits];
  for (const link of page.querySelectorAll("a[href], area[href], form[action]")) {
    const target = (link.href || link.action || "").toString();
    if (!/^(https?:|file:|#)/i.test(target)) { found.push("address " + target.slice(0, 40)); }
  }
  for (const element of page.body.querySelectorAll("*")) {
    const handler = [...element.attributes].find(it => /^on/i.test(it.name));
    if (handler) { found.push("handler " + handler.name); }
    if (/^(script|iframe|object|embed|base|meta|link|form)$/i.test(element.localName)) {
      found.push("element " + element.localName);
    }
  }
  return found;
}
addEventListener("load", () => setTimeout(() => {
  const facts = [...document.querySelectorAll("iframe")].map(
    frame => frame.name + ": " + (look(frame).join(", ") || "nothing"));
  const out = document.createElement("pre");
  out.id = "facts";
  out.textContent = facts.join("\n");
  document.body.append(out);
}, 500));
</script>
"#;

/// Fails if a script runs.
pub(crate) fn check() -> anyhow::Result<()> {
    let source = write_pages()?;
    let folder = root().join("target/xtask/markdown");
    let pages = folder.join("pages");
    drop(fs::remove_dir_all(&pages));
    fs::create_dir_all(&pages)?;
    render(&source, &folder, &pages)?;
    let names = finish_pages(&pages)?;
    fs::write(
        pages.join(format!("{CONTROL}.html")),
        format!("{HEAD}<img src=x onerror=hit('img')><a href=\"javascript:hit()\">x</a>"),
    )?;
    let mut hits = Vec::new();
    for batch in names.chunks(FRAMES) {
        hits.extend(look_at(&folder, batch)?);
    }
    ensure!(hits.is_empty(), "Markdown runs scripts or has unsafe links:\n{}", hits.join("\n"));
    println!("xtask markdown: nothing ran in {} pages", names.len());
    Ok(())
}

/// Loads some pages and the control page in Chromium; returns the lines of pages with a script.
/// Fails if a page was not loaded, or the attack of the control page was not noticed.
fn look_at(folder: &Path, names: &[String]) -> anyhow::Result<Vec<String>> {
    let mut facts = look(folder, names);
    for _ in 1..TRIES {
        if facts.is_ok() {
            break;
        }
        facts = look(folder, names);
    }
    let facts = facts?;
    let mut hits = Vec::new();
    let mut has_control = false;
    for line in facts.lines() {
        let (name, found) = line.split_once(": ").context("a line of facts")?;
        if name == CONTROL {
            has_control = found.contains("img") && found.contains("address");
        } else if found != "nothing" {
            hits.push(line.to_owned());
        }
    }
    ensure!(facts.lines().count() == names.len() + 1, "chromium saw {facts}");
    ensure!(has_control, "an attack would not be seen: {facts}");
    Ok(hits)
}

/// Writes the hostile pages; returns their folder.
fn write_pages() -> anyhow::Result<PathBuf> {
    let test = ["test", "--quiet", "--locked", "--package", "rutter-page", "--test", "it"];
    run(cargo(&test).arg("markdown"))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    Ok(target.unwrap_or_else(|| root().join("target")).join("tmp/markdown"))
}

fn render(source: &Path, folder: &Path, pages: &Path) -> anyhow::Result<()> {
    let python = outside::pypi(&PYTHON)?;
    let script = folder.join("render.py");
    fs::write(&script, RENDER_PY)?;
    run(Command::new(python).arg(&script).arg(source).arg(pages))?;
    let modules = outside::npm(&NODE)?;
    let script = modules.join("render.js");
    fs::write(&script, RENDER_JS)?;
    run(Command::new("node").arg(&script).arg(source).arg(pages))
}

/// Makes a page of each text; returns their names.
fn finish_pages(pages: &Path) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    // The folder is listed before pages are added to it.
    let entries = fs::read_dir(pages)?.collect::<Result<Vec<_>, _>>()?;
    for entry in entries {
        let path = entry.path();
        if path.extension().is_none_or(|ending| ending != "body") {
            continue;
        }
        let stem = path.file_stem().and_then(|stem| stem.to_str()).context("a name")?.to_owned();
        let body = fs::read_to_string(&path)?;
        fs::write(pages.join(format!("{stem}.html")), format!("{HEAD}{body}"))?;
        names.push(stem);
    }
    names.sort();
    ensure!(8 <= names.len(), "only {} pages were rendered", names.len());
    Ok(names)
}

/// Loads pages in frames of one Chromium; returns a line for each.
fn look(folder: &Path, names: &[String]) -> anyhow::Result<String> {
    outside::need("chromium", "chromium")?;
    let frame =
        |name: &str| format!("<iframe name=\"{name}\" src=\"pages/{name}.html\"></iframe>\n");
    let mut frames = names.iter().map(|name| frame(name)).collect::<Vec<_>>().concat();
    frames.push_str(&frame(CONTROL));
    let probe = folder.join("probe.html");
    fs::write(&probe, format!("<!doctype html><meta charset=\"utf-8\">{PROBE}<body>{frames}"))?;
    let mut browser = Command::new("chromium");
    browser.args(["--headless", "--disable-gpu", "--no-first-run", "--no-sandbox"]);
    browser.args(["--disable-dev-shm-usage", "--allow-file-access-from-files"]);
    browser.args(["--disable-background-networking", "--virtual-time-budget=20000", "--dump-dom"]);
    browser.arg(format!("--user-data-dir={}", folder.join("profile").display()));
    // Chromium gets no network, so a page cannot load anything.
    browser.arg("--host-resolver-rules=MAP * ~NOTFOUND");
    browser.arg(format!("file://{}", probe.display()));
    let output = browser.output().context("chromium")?;
    let seen = String::from_utf8_lossy(&output.stdout).into_owned();
    let facts = seen.rsplit_once("id=\"facts\">").and_then(|(_, it)| it.split_once("</pre>"));
    let facts = facts.map(|(facts, _)| facts.to_owned());
    facts.with_context(|| {
        format!("chromium saw nothing: {}", String::from_utf8_lossy(&output.stderr))
    })
}
