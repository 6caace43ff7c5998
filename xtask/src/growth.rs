//! Checks that every parser needs linear time on worst cases.
//!
//! Counts instructions under callgrind, not time, so the result does not depend
//! on the machine or its load. The steps of an empty case are subtracted; a case
//! fails when four times the bytes need more than [`MOST_RATIO`] times the steps.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::{Context, bail, ensure};

use crate::{cargo, outside, root, run};

/// Bytes of the smallest input of a case.
const SIZE: usize = 16 << 10;
/// Maximum steps for four times the bytes: 4 for linear growth, 4.6 for sorting.
const MOST_RATIO: f64 = 4.0 * 1.2;
/// Below this many steps per byte a case is linear: buffers that double weigh
/// more than the bytes, and a scan that starts again for each part takes more.
const FEWEST_STEPS: u64 = 16;
/// A case that is not linear is counted again at this many times the size: a
/// buffer that is used from 64 KiB on is one step, and not growth.
const AGAIN: usize = 8;
/// How long one input may take before it counts as too slow; a linear reader
/// takes seconds under callgrind.
const LONGEST: Duration = Duration::from_mins(3);
/// The function of the harness whose calls are counted.
const MEASURED: &str = "rutter_growth::measured";

/// What to run.
struct Plan<'a> {
    size: usize,
    reader: Option<&'a str>,
    case: Option<&'a str>,
}

/// Steps of one case at 1, 2 and 4 times the size, less those of an empty input.
struct Growth {
    reader: String,
    case: String,
    steps: [u64; 3],
    /// Bytes of the largest input.
    bytes: u64,
}

impl Growth {
    #[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
    fn ratio(&self) -> f64 {
        let [once, _, four] = self.steps;
        four as f64 / once.max(1) as f64
    }

    fn is_linear(&self) -> bool {
        self.steps[2] < FEWEST_STEPS * self.bytes || self.ratio() <= MOST_RATIO
    }

    fn print(&self) {
        let (Self { reader, case, .. }, [once, twice, four]) = (self, self.steps);
        let mark = if self.is_linear() { "" } else { "  not linear" };
        let ratio = self.ratio();
        println!("{reader:<12} {case:<32} {once:>13} {twice:>13} {four:>13} {ratio:>6.2}{mark}");
    }
}

/// `cargo xtask growth [--size BYTES] [READER [CASE]]`.
pub(crate) fn run_args(rest: &[&str]) -> anyhow::Result<()> {
    let (size, rest) = match rest {
        ["--size", size, rest @ ..] => (size.parse()?, rest),
        _ => (SIZE, rest),
    };
    let (reader, case) = match rest {
        [] => (None, None),
        [reader] => (Some(*reader), None),
        [reader, case] => (Some(*reader), Some(*case)),
        _ => bail!("usage: cargo xtask growth [--size BYTES] [READER [CASE]]"),
    };
    check(&Plan { size, reader, case })
}

fn check(plan: &Plan<'_>) -> anyhow::Result<()> {
    outside::need("valgrind", "valgrind")?;
    let build = ["build", "--quiet", "--locked", "--profile", "growth", "--package"];
    run(cargo(&build).args(["rutter-bench", "--bin", "rutter-growth"]))?;
    let folder = match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root().join(folder),
        None => root().join("target"),
    };
    let program = folder.join("growth/rutter-growth");
    let list = Command::new(&program).arg("list").output().context("cannot list the readers")?;
    let list = String::from_utf8(list.stdout)?;
    let names = list.lines().filter_map(|line| line.split('\t').next());
    let names: Vec<&str> = names.filter(|name| plan.reader.is_none_or(|it| it == *name)).collect();
    ensure!(!names.is_empty(), "no reader `{}`", plan.reader.unwrap_or_default());
    println!("{:<12} {:<32} {:>13} {:>13} {:>13} {:>6}", "reader", "case", "1", "2", "4", "ratio");
    let (mut n_cases, mut failed) = (0, Vec::new());
    for name in names {
        let mut counting = Counting::start(&program, &folder, plan, name)?;
        let mut suspects = Vec::new();
        while let Some(growth) = counting.next_case()? {
            n_cases += 1;
            growth.print();
            if !growth.is_linear() {
                suspects.push(growth.case);
            }
        }
        failed.extend(counting.end()?);
        for case in &suspects {
            let again = Plan { size: AGAIN * plan.size, reader: Some(name), case: Some(case) };
            let mut counting = Counting::start(&program, &folder, &again, name)?;
            while let Some(growth) = counting.next_case()? {
                growth.print();
                if !growth.is_linear() {
                    failed.push(format!("{name}: {case} ({:.2})", growth.ratio()));
                }
            }
            failed.extend(counting.end()?);
        }
    }
    ensure!(0 < n_cases, "no case `{}`", plan.case.unwrap_or_default());
    ensure!(failed.is_empty(), "growth is not linear: {}", failed.join(", "));
    println!("xtask growth: {n_cases} cases, each at most {MOST_RATIO} times the steps");
    Ok(())
}

/// The harness under callgrind, with all cases of one reader.
struct Counting {
    reader: String,
    child: Child,
    lines: Receiver<String>,
    folder: PathBuf,
    n_read: usize,
    /// The input that took too long.
    slow: Option<String>,
}

impl Counting {
    fn start(program: &Path, target: &Path, plan: &Plan<'_>, reader: &str) -> anyhow::Result<Self> {
        let folder = target.join("xtask/growth").join(reader);
        drop(fs::remove_dir_all(&folder));
        fs::create_dir_all(&folder)?;
        let mut command = Command::new("valgrind");
        command.args(["--quiet", "--tool=callgrind"]);
        command.arg(format!("--callgrind-out-file={}", folder.join("steps").display()));
        command.arg(format!("--zero-before={MEASURED}")).arg(format!("--dump-after={MEASURED}"));
        command.arg(program).args(["run", reader, &plan.size.to_string()]).args(plan.case);
        let mut child = command.stdout(Stdio::piped()).spawn().context("cannot run valgrind")?;
        let output = child.stdout.take().context("valgrind has no output")?;
        let lines = follow(output);
        Ok(Self { reader: reader.to_owned(), child, lines, folder, n_read: 0, slow: None })
    }

    /// Returns the next case; `None` at the end, and if an input takes too long.
    fn next_case(&mut self) -> anyhow::Result<Option<Growth>> {
        let mut steps = [0; 4];
        let (mut case, mut bytes) = (String::new(), 0);
        for (at, steps) in steps.iter_mut().enumerate() {
            let line = match self.lines.recv_timeout(LONGEST) {
                Ok(line) => line,
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                    self.slow = Some(case);
                    return Ok(None);
                }
                Err(_) if at == 0 => return Ok(None),
                Err(_) => bail!("{}: {case}: the reader ended early", self.reader),
            };
            line.split('\t').next().unwrap_or_default().clone_into(&mut case);
            bytes = line.rsplit('\t').next().unwrap_or_default().parse()?;
            self.n_read += 1;
            let file = self.folder.join(format!("steps.{}", self.n_read));
            *steps = total(&file)?;
            fs::remove_file(file)?;
        }
        let [empty, steps @ ..] = steps;
        let steps = steps.map(|n| n.saturating_sub(empty));
        Ok(Some(Growth { reader: self.reader.clone(), case, steps, bytes }))
    }

    /// Waits for the end; returns the input that took too long.
    fn end(mut self) -> anyhow::Result<Option<String>> {
        if let Some(case) = self.slow {
            self.child.kill()?;
            self.child.wait()?;
            println!("{:<12} an input after `{case}` took too long", self.reader);
            return Ok(Some(format!("{}: after `{case}` (too slow)", self.reader)));
        }
        let status = self.child.wait()?;
        ensure!(status.success(), "{}: the harness failed: {status}", self.reader);
        fs::remove_dir_all(&self.folder)?;
        Ok(None)
    }
}

/// Reads lines on a thread, so that waiting for one can end.
fn follow(output: ChildStdout) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// Returns the sum of all steps in a profile of callgrind.
fn total(file: &Path) -> anyhow::Result<u64> {
    let text = fs::read_to_string(file)
        .with_context(|| format!("callgrind wrote no counts of `{MEASURED}`"))?;
    let total = text.lines().find_map(|line| line.strip_prefix("summary: "));
    Ok(total.context("a profile without a summary")?.trim().parse()?)
}
