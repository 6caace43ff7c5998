//! Runs parsers on their worst cases, for `cargo xtask growth`.
//!
//! Arguments: `list`, or `run READER SIZE [CASE]`. `run` reads each case of one
//! reader with no repetition, then at SIZE, twice and four times SIZE bytes, and
//! prints one line per reading. The program itself counts nothing: it runs under
//! callgrind, which writes the instructions of every call of [`measured`].

#![expect(clippy::print_stdout, reason = "the lines are read by `cargo xtask growth`")]
#![expect(
    clippy::unwrap_used,
    reason = "the fixed parts of a case are ours, and a broken case must stop the run"
)]

mod cases;
mod readers;
mod serving;
mod shape;

use std::io::Write;

use shape::Case;

/// Input sizes as multiples of SIZE; the first is the cost of an empty input.
const MULTIPLES: [usize; 4] = [0, 1, 2, 4];

/// A parser and its worst cases.
struct Reader {
    name: &'static str,
    read: fn(&[u8]),
    cases: &'static [Case],
}

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["list"] => {
            for reader in cases::ALL {
                println!("{}\t{}", reader.name, reader.cases.len());
            }
            Ok(())
        }
        ["run", name, size, rest @ ..] => {
            let reader = cases::ALL.iter().find(|reader| reader.name == *name);
            let reader = reader.ok_or_else(|| anyhow::anyhow!("no reader `{name}`"))?;
            run(reader, size.parse()?, rest.first().copied())
        }
        _ => anyhow::bail!("usage: rutter-growth list | run READER SIZE [CASE]"),
    }
}

fn run(reader: &Reader, size: usize, only: Option<&str>) -> anyhow::Result<()> {
    for case in reader.cases.iter().filter(|case| only.is_none_or(|only| case.name == only)) {
        // Tables that are built at first use must not count.
        (reader.read)(&case.bytes(size / 8));
        for multiple in MULTIPLES {
            let bytes = case.bytes(size * multiple);
            measured(reader.read, &bytes);
            println!("{}\t{multiple}\t{}", case.name, bytes.len());
            std::io::stdout().flush()?;
        }
    }
    Ok(())
}

/// The call whose instructions callgrind writes; found by its name.
#[inline(never)]
fn measured(read: fn(&[u8]), bytes: &[u8]) {
    read(std::hint::black_box(bytes));
    // Not a tail call, so that this function has its own frame.
    std::hint::black_box(());
}
