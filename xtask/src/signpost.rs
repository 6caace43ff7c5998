//! Validates written sitemaps with xmllint, and reads files and verdicts of other projects.
//!
//! Input: a folder with open data; what it lacks is skipped. Fails if a verdict differs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};

use crate::{cargo, outside, root, run};

/// Validates written sitemaps with xmllint, by the schemas of the project and those in another
/// folder if one is given.
pub(crate) fn schemas(others: Option<&Path>) -> anyhow::Result<()> {
    outside::need("xmllint", "libxml2-utils")?;
    let folder = root().join("target/xtask/sitemap");
    fs::create_dir_all(&folder)?;
    let own = root().join("conformance/xsd");
    for (what, schema) in [("urlset", "sitemap.xsd"), ("index", "siteindex.xsd")] {
        let args = ["run", "--quiet", "--package", "rutter-sitemap", "--example", "sample", "--"];
        let output = cargo(&args).arg(what).output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout)?;
        let file = folder.join(format!("{what}.xml"));
        fs::write(&file, &text)?;
        run(lint(&own.join(schema), &file))?;
        // The schemas must reject an invalid file.
        for (from, to) in [("<loc>", "<lok>"), ("<loc>https", "<loc>ftp"), ("T12:", "T32:")] {
            let bad = text.replace(from, to).replace("</loc>", &from_end(to));
            let file = folder.join("bad.xml");
            fs::write(&file, bad)?;
            let status = lint(&own.join(schema), &file).stderr(Stdio::null()).status()?;
            ensure!(!status.success(), "{schema} accepts {to}");
        }
        if let Some(others) = others.map(|others| others.join(schema)).filter(|it| it.is_file()) {
            let file = folder.join("plain.xml");
            fs::write(&file, plain(&text))?;
            run(lint(&others, &file))?;
        }
    }
    Ok(())
}

/// Builds the example site and validates its sitemap with xmllint, by the same schemas.
pub(crate) fn built_site(others: Option<&Path>) -> anyhow::Result<()> {
    outside::need("xmllint", "libxml2-utils")?;
    let folder = root().join("target/xtask/built");
    drop(fs::remove_dir_all(&folder));
    let (out, state) = (folder.join("out"), folder.join("state"));
    let args = ["run", "--quiet", "--package", "rutter", "--", "build", "examples/harbour"];
    let mut build = cargo(&args);
    build.args(["--base-url", "https://harbour.example"]);
    run(build.arg("--out").arg(&out).arg("--state").arg(&state))?;
    let sitemap = out.join("sitemap.xml");
    run(lint(&root().join("conformance/xsd/sitemap.xsd"), &sitemap))?;
    if let Some(schema) = others.map(|others| others.join("sitemap.xsd")) {
        let file = folder.join("plain.xml");
        fs::write(&file, plain(&fs::read_to_string(&sitemap)?))?;
        run(lint(&schema, &file))?;
    }
    Ok(())
}

fn from_end(to: &str) -> String {
    if to == "<lok>" { "</lok>".to_owned() } else { "</loc>".to_owned() }
}

/// Returns a sitemap without collections, links and extensions, whose schemas the folder lacks.
fn plain(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("<scp:"));
    let lines = lines.map(|line| match line.split_once("<xhtml:link") {
        Some((start, _)) => format!("{start}</url>"),
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn lint(schema: &Path, file: &Path) -> Command {
    let mut command = Command::new("xmllint");
    command.args(["--noout", "--nonet", "--schema"]).arg(schema).arg(file);
    command
}

/// Runs the checks for which a folder has data: verdicts about robots.txt, sitemaps, schemas, SPXI.
/// Returns whether it had any.
pub(crate) fn outside(folder: &Path) -> anyhow::Result<bool> {
    let (robots, sitemaps, xsd) =
        (folder.join("robots"), folder.join("sitemaps"), folder.join("xsd"));
    let spxi = folder.join("spxi");
    if ![&robots, &sitemaps, &xsd, &spxi].iter().any(|part| part.is_dir()) {
        return Ok(false);
    }
    run(cargo(&["build", "--quiet", "--package", "rutter"]))?;
    let rutter = root().join("target/debug/rutter");
    if robots.is_dir() {
        verdicts(&rutter, &robots)?;
    }
    if sitemaps.is_dir() {
        read_all(&rutter, &sitemaps)?;
    }
    if spxi.is_dir() {
        indexes(&rutter, &spxi)?;
    }
    if xsd.is_dir() {
        schemas(Some(&xsd))?;
        built_site(Some(&xsd))?;
    }
    Ok(true)
}

/// Checks that every sitemap gets a verdict.
fn read_all(rutter: &Path, folder: &Path) -> anyhow::Result<()> {
    for path in files(folder)? {
        let output = Command::new(rutter).args(["check", "--lenient"]).arg(&path).output()?;
        let code = output.status.code();
        ensure!(matches!(code, Some(0 | 1)), "{}: ended with {code:?}", path.display());
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        println!("{}", said.lines().last().unwrap_or_default());
    }
    Ok(())
}

/// Checks that every published SPXI index can be read and gets a verdict.
fn indexes(rutter: &Path, folder: &Path) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path().join("spxi-index.jsonld");
        for (mode, codes) in [(Some("--lenient"), &[0][..]), (None, &[0, 1])] {
            let output = Command::new(rutter).arg("check").args(mode).arg(&path).output()?;
            let code = output.status.code().unwrap_or(-1);
            ensure!(codes.contains(&code), "{}: ended with {code}", path.display());
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            println!("{}", said.lines().last().unwrap_or_default());
        }
    }
    Ok(())
}

/// One expected verdict.
#[derive(Debug, Default)]
struct Case {
    agent: String,
    url: String,
    is_allowed: bool,
    /// Whether it is behaviour of one vendor only.
    is_habit: bool,
}

/// Compares `rutter robots` with every verdict in text form below a folder; fails if one differs
/// that is not behaviour of one vendor.
fn verdicts(rutter: &Path, folder: &Path) -> anyhow::Result<()> {
    let scratch = root().join("target/xtask/robots.txt");
    fs::create_dir_all(root().join("target/xtask"))?;
    let (mut n_verdicts, mut n_habits, mut wrong) = (0, 0, Vec::new());
    for path in
        files(folder)?.iter().filter(|path| path.extension().is_some_and(|it| it == "textproto"))
    {
        let text = fs::read(path)?;
        let tests = tests(&text).with_context(|| path.display().to_string())?;
        for (robots, cases) in tests {
            fs::write(&scratch, robots)?;
            for case in cases {
                n_verdicts += 1;
                let mut ask = Command::new(rutter);
                ask.arg("robots").arg(&scratch).arg("--agent").arg(&case.agent).arg(&case.url);
                let is_allowed = match ask.output()?.status.code() {
                    Some(0) => true,
                    Some(1) => false,
                    code => bail!("{}: ended with {code:?}", path.display()),
                };
                if is_allowed == case.is_allowed {
                    continue;
                }
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let kind = if case.is_habit { "habit not followed" } else { "WRONG" };
                println!("{name}: {kind}: {} {}", case.agent, case.url);
                if case.is_habit {
                    n_habits += 1;
                } else {
                    wrong.push(case);
                }
            }
        }
    }
    println!(
        "robots: {n_verdicts} verdicts, {} wrong, {n_habits} habits of one vendor not followed",
        wrong.len()
    );
    ensure!(wrong.is_empty() && 0 < n_verdicts, "verdicts differ: {wrong:?}");
    Ok(())
}

fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(here) = folders.pop() {
        for entry in fs::read_dir(&here).with_context(|| here.display().to_string())? {
            let path = entry?.path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    Ok(found)
}

/// Reads the text form of the tests: fields by name and joined strings; other grammar is skipped.
fn tests(text: &[u8]) -> anyhow::Result<BTreeMap<Vec<u8>, Vec<Case>>> {
    let mut tests: BTreeMap<Vec<u8>, Vec<Case>> = BTreeMap::new();
    let mut robots = Vec::new();
    let mut rest = text;
    while let Some((name, value, after)) = field(rest)? {
        rest = after;
        let string = || String::from_utf8(value.clone());
        let cases = tests.entry(robots.clone()).or_default();
        match name.as_slice() {
            b"robotstxt" => robots = value,
            b"testurl" => cases.push(Case { url: string()?, ..Case::default() }),
            b"useragent" => cases.last_mut().context("no case")?.agent = string()?,
            b"expected_outcome" => {
                cases.last_mut().context("no case")?.is_allowed = value == b"ALLOWED";
            }
            b"test_type" => {
                cases.last_mut().context("no case")?.is_habit = value == b"GOOGLE_SPECIFIC";
            }
            _ => {}
        }
    }
    Ok(tests)
}

type FieldParts<'t> = (Vec<u8>, Vec<u8>, &'t [u8]);

/// Returns the next `name: value` and the rest.
fn field(text: &[u8]) -> anyhow::Result<Option<FieldParts<'_>>> {
    let mut rest = text;
    loop {
        rest = skip_space(rest);
        let Some(&first) = rest.first() else { return Ok(None) };
        let length = rest.iter().take_while(|byte| is_word(**byte)).count();
        if length == 0 {
            ensure!(b"{}[],".contains(&first), "unexpected {:?}", char::from(first));
            rest = &rest[1..];
            continue;
        }
        let name = rest[..length].to_vec();
        rest = skip_space(&rest[length..]);
        rest = skip_space(rest.strip_prefix(b":").context("a name without colon")?);
        let mut value = Vec::new();
        if rest.first() != Some(&b'"') {
            let length = rest.iter().take_while(|byte| is_word(**byte)).count();
            value.extend(&rest[..length]);
            return Ok(Some((name, value, &rest[length..])));
        }
        while let Some(after) = rest.strip_prefix(b"\"") {
            rest = skip_space(string(after, &mut value)?);
        }
        return Ok(Some((name, value, rest)));
    }
}

/// Reads a string after its opening quote.
fn string<'t>(mut rest: &'t [u8], value: &mut Vec<u8>) -> anyhow::Result<&'t [u8]> {
    loop {
        match rest {
            [b'"', after @ ..] => return Ok(after),
            [b'\\', b'x', high, low, after @ ..] => {
                let digits = [*high, *low];
                value.push(u8::from_str_radix(std::str::from_utf8(&digits)?, 16)?);
                rest = after;
            }
            [b'\\', byte, after @ ..] => {
                value.push(match byte {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'0' => 0,
                    other => *other,
                });
                rest = after;
            }
            [byte, after @ ..] => {
                value.push(*byte);
                rest = after;
            }
            [] => bail!("a string without end"),
        }
    }
}

/// Skips white space and comments.
fn skip_space(mut text: &[u8]) -> &[u8] {
    loop {
        text = text.trim_ascii_start();
        if text.first() != Some(&b'#') {
            return text;
        }
        let end = text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len());
        text = &text[end..];
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
