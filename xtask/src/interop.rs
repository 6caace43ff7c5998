//! Files we write, read by others; files others write, read by us.

use std::fs;
use std::process::Command;

use anyhow::ensure;

use crate::{cargo, outside, root, run};

/// Packs the example, has Python read it in every way it knows, and reads a
/// collection that Python put together from the decision's words alone.
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
    ensure!(status.code() == Some(1), "a damaged file was not found out");
    let make = root().join("conformance/vectors/scp/make.py");
    run(Command::new(&python).arg(make).arg("--check"))?;
    // The semantic index of the example, for a JSON-LD processor of others.
    let (public, state) = (folder.join("public"), folder.join("state"));
    let mut build = rutter();
    build.arg("build").arg(root().join("examples/harbour"));
    run(build.arg("--out").arg(&public).arg("--state").arg(&state))?;
    let expected = root().join("crates/rutter/tests/spxi/harbour.nq");
    let script = root().join("xtask/spxi.py");
    run(Command::new(&python).arg(script).arg(public.join("spxi-index.jsonld")).arg(expected))
}

fn rutter() -> Command {
    cargo(&["run", "--quiet", "--package", "rutter", "--"])
}
