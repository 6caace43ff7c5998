//! Writes the pages of `docs/` that are generated from the program, and checks that they are current.

use std::fs;

use anyhow::ensure;

use crate::{cargo, clauses, root};

/// Names of the parts in `rutter docs PART`, and the file of each.
const PARTS: [(&str, &str); 5] = [
    ("cli", "docs/cli.md"),
    ("config", "docs/config.md"),
    ("rules", "docs/rules.md"),
    ("schema", "docs/schemas/rutter.schema.json"),
    ("entity-schema", "docs/schemas/entity.schema.json"),
];

const CONFORMANCE: &str = "docs/conformance.md";

pub(crate) fn write() -> anyhow::Result<()> {
    for (part, file) in PARTS {
        fs::write(root().join(file), generate(part)?)?;
    }
    fs::write(root().join(CONFORMANCE), clauses::document()?)?;
    Ok(())
}

pub(crate) fn check() -> anyhow::Result<()> {
    let check_file = |file: &str, text: String| -> anyhow::Result<()> {
        let stored = fs::read_to_string(root().join(file))?;
        ensure!(stored == text, "{file} is stale; run `cargo xtask docs`");
        Ok(())
    };
    for (part, file) in PARTS {
        check_file(file, generate(part)?)?;
    }
    check_file(CONFORMANCE, clauses::document()?)?;
    println!("xtask docs: up to date");
    Ok(())
}

fn generate(part: &str) -> anyhow::Result<String> {
    let run = ["run", "--quiet", "--package", "rutter", "--", "docs", part];
    let output = cargo(&run).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}
