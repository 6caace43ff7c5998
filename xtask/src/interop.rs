//! Reads files of Rutter with other programs, and files of other programs with Rutter.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

use crate::{cargo, outside, root, run};

/// Packs the example, reads it with Python in every way, and reads a collection that Python made
/// from the text of decision D01.
pub(crate) fn run_all() -> anyhow::Result<()> {
    let python = outside::python(&["zstandard", "pyld"])?;
    let folder = root().join("target/xtask/interop");
    fs::create_dir_all(&folder)?;
    // Large enough for several jobs of the compressor.
    let pages = folder.join("pages.jsonl");
    run(Command::new(&python).arg(root().join("xtask/interop.py")).arg("make").arg(&pages))?;
    for ending in ["scp", "scp.gz", "scp.zst"] {
        let out = folder.join(format!("harbour.{ending}"));
        let mut pack = rutter();
        pack.args(["scp", "pack"]).arg(&pages).arg("--output").arg(out);
        run(pack.args(["--generated", "2026-10-01T00:00:00Z"]))?;
    }
    run(Command::new(&python).arg(root().join("xtask/interop.py")).arg("read").arg(&folder))?;
    let made = folder.join("by-python.scp.zst");
    run(rutter().arg("check").arg(&made))?;
    let damaged = folder.join("by-python-damaged.scp.zst");
    let status = rutter().arg("check").arg(&damaged).output()?.status;
    ensure!(status.code() == Some(1), "a damaged file was accepted");
    let make = root().join("conformance/vectors/scp/make.py");
    run(Command::new(&python).arg(make).arg("--check"))?;
    // The SPXI index of the example, for another JSON-LD processor.
    let (public, state) = (folder.join("public"), folder.join("state"));
    let mut build = rutter();
    build.arg("build").arg(root().join("examples/harbour"));
    run(build.arg("--out").arg(&public).arg("--state").arg(&state))?;
    let expected = root().join("crates/rutter/tests/spxi/harbour.nq");
    let script = root().join("xtask/spxi.py");
    run(Command::new(&python).arg(script).arg(public.join("spxi-index.jsonld")).arg(expected))?;
    served(&folder)
}

/// Downloads a collection with other clients: curl and requests undo the codings that they know,
/// and a plain socket gets the stored bytes.
fn served(folder: &Path) -> anyhow::Result<()> {
    outside::need("curl", "curl")?;
    let python = outside::python(&["requests", "zstandard"])?;
    let mut serve = rutter();
    serve.args(["serve"]).arg(folder).args(["--listen", "127.0.0.1:0", "--access-log", "off"]);
    let mut server = serve.stderr(Stdio::piped()).spawn()?;
    let mut check = || {
        let said = server.stderr.take().context("no stderr")?;
        let mut said = BufReader::new(said).lines();
        // The compiler may print something first.
        let line = loop {
            let line = said.next().context("it did not start")??;
            if line.starts_with("serving ") {
                break line;
            }
        };
        let address = line.trim_end().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let script = root().join("xtask/interop.py");
        run(Command::new(&python).arg(script).arg("served").arg(folder).arg(address))
    };
    let result = check();
    server.kill()?;
    server.wait()?;
    result
}

fn rutter() -> Command {
    cargo(&["run", "--quiet", "--package", "rutter", "--"])
}
