//! Documentation that the program itself knows best.

use std::fs;

use anyhow::ensure;

use crate::{cargo, root};

const PARTS: [&str; 2] = ["cli", "rules"];

pub(crate) fn write() -> anyhow::Result<()> {
    for part in PARTS {
        fs::write(root().join(format!("docs/{part}.md")), generate(part)?)?;
    }
    Ok(())
}

pub(crate) fn check() -> anyhow::Result<()> {
    for part in PARTS {
        let stored = fs::read_to_string(root().join(format!("docs/{part}.md")))?;
        ensure!(stored == generate(part)?, "docs/{part}.md is stale; run `cargo xtask docs`");
    }
    println!("xtask docs: up to date");
    Ok(())
}

fn generate(part: &str) -> anyhow::Result<String> {
    let run = ["run", "--quiet", "--package", "rutter", "--", "docs", part];
    let output = cargo(&run).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}
