//! Documentation that the program itself knows best.

use std::fs;

use anyhow::ensure;

use crate::{cargo, root};

/// Parts by the name the program has for them, and where each is kept.
const PARTS: [(&str, &str); 5] = [
    ("cli", "docs/cli.md"),
    ("config", "docs/config.md"),
    ("rules", "docs/rules.md"),
    ("schema", "docs/rutter.schema.json"),
    ("entity-schema", "docs/entity.schema.json"),
];

pub(crate) fn write() -> anyhow::Result<()> {
    for (part, file) in PARTS {
        fs::write(root().join(file), generate(part)?)?;
    }
    Ok(())
}

pub(crate) fn check() -> anyhow::Result<()> {
    for (part, file) in PARTS {
        let stored = fs::read_to_string(root().join(file))?;
        ensure!(stored == generate(part)?, "{file} is stale; run `cargo xtask docs`");
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
