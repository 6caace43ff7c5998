//! Runs measurements in rotation and prints the table of their ratios.

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, ensure};

/// One measurement.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    pub(crate) seconds: f64,
    pub(crate) peak: u64,
}

/// A name and its measurement.
pub(crate) type Job<'j> = (&'static str, Box<dyn FnMut() -> anyhow::Result<Run> + 'j>);

struct Row {
    name: String,
    seconds: f64,
    against: String,
    median: f64,
    best: f64,
    goal: f64,
    aim: Option<f64>,
}

/// Figures and whether they meet their goals.
pub(crate) struct Table {
    pub(crate) n_rounds: usize,
    rows: Vec<Row>,
    peaks: Vec<(String, u64)>,
    pub(crate) missed: usize,
}

impl Table {
    pub(crate) fn new(n_rounds: usize) -> Self {
        Self { n_rounds, rows: Vec::new(), peaks: Vec::new(), missed: 0 }
    }

    /// Runs all jobs in rotation and returns the runs of each.
    pub(crate) fn rotate(&self, jobs: &mut [Job<'_>]) -> anyhow::Result<Vec<Vec<Run>>> {
        let mut runs = vec![Vec::new(); jobs.len()];
        for round in 0..self.n_rounds {
            for ((name, job), runs) in jobs.iter_mut().zip(&mut runs) {
                let run = job().with_context(|| (*name).to_owned())?;
                println!("  round {} {name}: {:.2} s", round + 1, run.seconds);
                runs.push(run);
            }
        }
        Ok(runs)
    }

    /// How much faster `ours` is than `theirs`: the median of the rounds, which
    /// alone decides. The best round of each is printed, too, because jobs of ten seconds differ
    /// by 20 % from round to round on shared cores.
    pub(crate) fn compare(
        &mut self,
        name: &str,
        ours: &[Run],
        against: &str,
        theirs: &[f64],
        goals: (f64, Option<f64>),
    ) {
        let ratios = ours.iter().zip(theirs).map(|(ours, theirs)| theirs / ours.seconds);
        let median = middle(ratios.collect());
        let best = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
        let best = best(theirs) / best(&seconds(ours));
        let seconds = middle(seconds(ours));
        let (goal, aim) = goals;
        self.missed += usize::from(median < goal);
        let (name, against) = (name.to_owned(), against.to_owned());
        self.rows.push(Row { name, seconds, against, median, best, goal, aim });
    }

    pub(crate) fn remember_peak(&mut self, name: &str, runs: &[Run]) {
        let peak = runs.iter().map(|run| run.peak).max().unwrap_or(0);
        self.peaks.push((name.to_owned(), peak));
    }

    /// Prints all figures; speeds are relative to this number of bytes.
    pub(crate) fn print(&self, decoded: u64) {
        println!("\nmedian of {} rounds", self.n_rounds);
        println!("{:<28} {:>7} {:>7}  {:<28} ratio  (best)  goal", "", "s", "MB/s", "against");
        for row in &self.rows {
            let speed = decoded as f64 / 1e6 / row.seconds;
            let aim = row.aim.map_or(String::new(), |aim| format!(", aim {aim:.2}"));
            let verdict = if row.median < row.goal { "MISSED" } else { "ok" };
            println!(
                "{:<28} {:>7.2} {speed:>7.0}  {:<28} {:>5.2}  ({:.2})  {:.2}{aim} {verdict}",
                row.name, row.seconds, row.against, row.median, row.best, row.goal
            );
        }
    }

    /// Prints peak memory and its limit.
    pub(crate) fn print_peaks(&mut self, what: &str, limit: u64) {
        println!("\npeak memory, {what} ({:.1} MB):", limit as f64 / 1e6);
        for (name, peak) in &self.peaks {
            let is_over = limit < *peak;
            self.missed += usize::from(is_over);
            let verdict = if is_over { "MISSED" } else { "ok" };
            println!("{name:<28} {:>5.1} MB {verdict}", *peak as f64 / 1e6);
        }
    }
}

pub(crate) fn seconds(runs: &[Run]) -> Vec<f64> {
    runs.iter().map(|run| run.seconds).collect()
}

pub(crate) fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Runs a role in a process of its own.
pub(crate) fn role(role: &str, paths: &[&PathBuf]) -> anyhow::Result<Run> {
    let program = std::env::current_exe()?;
    let output = Command::new(program).arg("role").arg(role).args(paths).output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut words = said.split_whitespace();
    let mut number = || words.next().context("the role said too little");
    Ok(Run { seconds: number()?.parse()?, peak: number()?.parse()? })
}

/// Runs a command and measures its time.
pub(crate) fn shell(command: &mut Command) -> anyhow::Result<Run> {
    let started = Instant::now();
    let output = command.output()?;
    let seconds = started.elapsed().as_secs_f64();
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(Run { seconds, peak: 0 })
}

/// Runs a script that measures its own time, so that its start does not count.
pub(crate) fn timed(command: &mut Command) -> anyhow::Result<Run> {
    let output = command.output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(&output.stdout);
    let last = said.lines().last().unwrap_or_default().trim();
    Ok(Run { seconds: last.parse().with_context(|| last.to_owned())?, peak: 0 })
}
