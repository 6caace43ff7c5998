//! Runs libFuzzer on the stable compiler; coverage is enabled by compiler flags.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::ensure;

use crate::{cargo, outside, root, run};

const FLAGS: &str = "--cfg fuzzing -C passes=sancov-module \
    -C llvm-args=-sanitizer-coverage-level=4 \
    -C llvm-args=-sanitizer-coverage-inline-8bit-counters \
    -C llvm-args=-sanitizer-coverage-pc-table \
    -C llvm-args=-sanitizer-coverage-trace-compares \
    -C codegen-units=1";

/// Minimum duration of a long run, in seconds.
const LONG: u64 = 300;

/// Builds every target.
pub(crate) fn build() -> anyhow::Result<()> {
    outside::need("c++", "g++")?;
    let mut command = cargo(&["build", "--quiet", "--release", "--locked"]);
    // The target is named so that build scripts are not instrumented.
    command.args(["--target", &host()?]).current_dir(root().join("fuzz"));
    run(command.env("RUSTFLAGS", FLAGS))
}

/// Runs one target for some seconds.
pub(crate) fn run_for(target: &str, seconds: u64) -> anyhow::Result<()> {
    build()?;
    let program = root().join("fuzz/target").join(host()?).join("release").join(target);
    ensure!(program.is_file(), "no fuzz target `{target}`");
    let corpus = root().join("fuzz/corpus").join(target);
    fs::create_dir_all(&corpus)?;
    seed(target, &corpus)?;
    let artifacts = root().join("fuzz/artifacts/");
    fs::create_dir_all(&artifacts)?;
    let mut command = Command::new(program);
    command.arg(&corpus).arg(format!("-max_total_time={seconds}"));
    // A long run also tries pages of realistic length.
    let is_page = matches!(target, "html" | "page_line");
    let most = if is_page && LONG <= seconds { 4 << 20 } else { 16 << 10 };
    command.arg(format!("-max_len={most}"));
    command.args(["-timeout=20", "-rss_limit_mb=2048", "-print_final_stats=1"]);
    command.arg(format!("-artifact_prefix={}/", artifacts.display()));
    run(&mut command)
}

pub(crate) fn seed(target: &str, corpus: &Path) -> anyhow::Result<()> {
    if target == "html" {
        return seed_pages(corpus);
    }
    if let Some(ending) = target.strip_prefix("arc_") {
        return seed_arc(ending, corpus);
    }
    if target == "spxi" {
        return seed_spxi(corpus);
    }
    if matches!(target, "robots" | "sitemap") {
        return seed_fixtures(target, corpus);
    }
    for entry in fs::read_dir(root().join("conformance/vectors/scp/files"))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.extension().is_some_and(|it| it == "json") {
            continue;
        }
        let bytes = fs::read(&path)?;
        if target == "page_line" {
            for (n, line) in bytes.split(|byte| *byte == b'\n').skip(1).enumerate() {
                fs::write(corpus.join(format!("{name}-{n}")), line)?;
            }
        } else {
            fs::write(corpus.join(name), bytes)?;
        }
    }
    Ok(())
}

/// Returns the host triple of the compiler.
fn host() -> anyhow::Result<String> {
    let output = Command::new("rustc").arg("-vV").output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.unwrap_or_default().to_owned())
}

pub(crate) fn run_args(target: &str, rest: &[&str]) -> anyhow::Result<()> {
    let seconds = match rest {
        [] => 300,
        ["--seconds", n] => n.parse()?,
        _ => anyhow::bail!("usage: cargo xtask fuzz TARGET [--seconds N]"),
    };
    run_for(target, seconds)
}

/// Seeds pages of the example, the fixtures and the own set; Markdown begins with `#`.
fn seed_pages(corpus: &Path) -> anyhow::Result<()> {
    for ending in ["html", "md"] {
        for path in crate::tidy::files(ending)? {
            let name = path.to_string_lossy().replace(['/', '\\'], "-");
            let mut bytes = vec![if ending == "md" { b'#' } else { b'<' }];
            bytes.extend(fs::read(root().join(&path))?);
            // Long pages make slow mutants.
            bytes.truncate(16_384);
            fs::write(corpus.join(name), bytes)?;
        }
    }
    Ok(())
}

/// Seeds the fixtures of the crate.
fn seed_fixtures(target: &str, corpus: &Path) -> anyhow::Result<()> {
    for entry in fs::read_dir(root().join(format!("crates/rutter-{target}/fixtures")))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default();
        fs::copy(&path, corpus.join(name))?;
    }
    Ok(())
}

/// Seeds the ARC vectors of one form.
fn seed_arc(ending: &str, corpus: &Path) -> anyhow::Result<()> {
    for entry in fs::read_dir(root().join("conformance/vectors/arc/files"))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.contains(&format!(".{ending}")) && !name.ends_with(".expect.json") {
            fs::copy(&path, corpus.join(name))?;
        }
    }
    Ok(())
}

/// Seeds the SPXI vectors, except the large ones.
fn seed_spxi(corpus: &Path) -> anyhow::Result<()> {
    for entry in fs::read_dir(root().join("conformance/vectors/spxi/files"))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with(".jsonld") && fs::metadata(&path)?.len() <= 16_384 {
            fs::copy(&path, corpus.join(name))?;
        }
    }
    Ok(())
}
