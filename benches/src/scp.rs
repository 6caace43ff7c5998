//! The figures of the SCP container.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, ensure};

use crate::corpus::{self, MIX};

/// One measurement.
#[derive(Clone, Copy)]
struct Run {
    seconds: f64,
    peak: u64,
}

/// A name and what is measured under it.
type Job<'j> = (&'static str, Box<dyn FnMut() -> anyhow::Result<Run> + 'j>);

/// Where the corpus lies, made once and kept.
struct Place {
    folder: PathBuf,
}

impl Place {
    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// Prints every figure with its goal; fails where one is missed.
pub(crate) fn run(n_pages: u64, n_rounds: usize) -> anyhow::Result<()> {
    let folder = PathBuf::from("target/bench").join(format!("scp-{n_pages}"));
    fs::create_dir_all(&folder)?;
    let place = Place { folder };
    prepare(&place, n_pages)?;
    let (decoded, largest) = describe(&place)?;

    let duckdb = duckdb(&place).context("duckdb could not be installed")?;
    let mut table = Table { n_rounds, rows: Vec::new(), peaks: Vec::new(), missed: 0 };
    read_figures(&place, &mut table, &duckdb)?;
    write_figures(&place, &mut table)?;
    merge_figures(&place, &mut table)?;
    table.print(decoded, largest);
    ensure!(table.missed == 0, "{} figures miss their goal", table.missed);
    Ok(())
}

/// Makes two snapshots and the delta between them.
fn prepare(place: &Place, n_pages: u64) -> anyhow::Result<()> {
    for (name, is_second) in [("old", false), ("new", true)] {
        let lines = place.file(&format!("{name}.jsonl"));
        let collection = place.file(&format!("{name}.scp.zst"));
        if !collection.exists() {
            println!("making {} ...", collection.display());
            let mut out = BufWriter::new(File::create(&lines)?);
            corpus::lines(n_pages, is_second, &mut out)?;
            out.flush()?;
            drop(out);
            role("pack", &[&lines, &collection])?;
            fs::remove_file(&lines)?;
        }
    }
    let (old, new) = (place.file("old.scp.zst"), place.file("new.scp.zst"));
    let (plain, delta) = (place.file("old.scp"), place.file("delta.scp.zst"));
    if !plain.exists() {
        let mut from = zstd::stream::read::Decoder::new(File::open(&old)?)?;
        std::io::copy(&mut from, &mut File::create(&plain)?)?;
    }
    if !delta.exists() {
        role("diff", &[&old, &new, &delta])?;
    }
    Ok(())
}

/// Prints what the corpus is like; gives its size and its largest page.
fn describe(place: &Place) -> anyhow::Result<(u64, u64)> {
    let plain = place.file("old.scp");
    let decoded = fs::metadata(&plain)?.len();
    let coded = fs::metadata(place.file("old.scp.zst"))?.len();
    let (mut n_pages, mut largest, mut n_blocks) = (0_u64, 0, 0_u64);
    let mut counts = [0_u64; MIX.len()];
    for line in BufReader::new(File::open(&plain)?).lines().skip(1) {
        let line = line?;
        n_pages += 1;
        largest = largest.max(line.len() as u64);
        for (count, (kind, ..)) in counts.iter_mut().zip(MIX) {
            let n = line.matches(&format!("{{\"type\":\"{kind}\"")).count() as u64;
            *count += n;
            n_blocks += n;
        }
    }
    let ratio = decoded as f64 / coded as f64;
    println!(
        "corpus: {n_pages} pages, {} MB decoded, {} MB zstd-9, ratio {ratio:.1} (wanted 5 to 9)",
        decoded / 1_000_000,
        coded / 1_000_000,
    );
    print!("blocks, per mille (wanted):");
    let mut is_close = true;
    for (count, (kind, share, _)) in counts.into_iter().zip(MIX) {
        let found = count as f64 * 1000.0 / n_blocks as f64;
        print!(" {kind} {found:.0} ({share})");
        // Within 10 %, or half a block in a thousand for the rare kinds.
        is_close &= (found - share as f64).abs() <= (share as f64 * 0.1).max(0.5);
    }
    println!();
    ensure!((5.0..=9.0).contains(&ratio) && is_close, "the corpus is not like a real one");
    Ok((decoded, largest))
}

struct Row {
    name: String,
    seconds: f64,
    against: String,
    median: f64,
    best: f64,
    goal: f64,
    aim: Option<f64>,
}

struct Table {
    n_rounds: usize,
    rows: Vec<Row>,
    peaks: Vec<(String, u64)>,
    missed: usize,
}

impl Table {
    /// Runs all jobs in rotation and gives the runs of each.
    fn rotate(&self, jobs: &mut [Job<'_>]) -> anyhow::Result<Vec<Vec<Run>>> {
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
    /// alone decides. The best round of each is shown beside it, because jobs
    /// of ten seconds differ by a fifth from round to round on shared cores.
    fn compare(
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

    fn remember_peak(&mut self, name: &str, runs: &[Run]) {
        let peak = runs.iter().map(|run| run.peak).max().unwrap_or(0);
        self.peaks.push((name.to_owned(), peak));
    }

    fn print(&mut self, decoded: u64, largest: u64) {
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
        let limit = largest + 64_000_000;
        println!("\npeak memory, at most 64 MB above the largest page ({largest} bytes):");
        for (name, peak) in &self.peaks {
            let is_over = limit < *peak;
            self.missed += usize::from(is_over);
            let verdict = if is_over { "MISSED" } else { "ok" };
            println!("{name:<28} {:>5.1} MB {verdict}", *peak as f64 / 1e6);
        }
    }
}

fn seconds(runs: &[Run]) -> Vec<f64> {
    runs.iter().map(|run| run.seconds).collect()
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn read_figures(place: &Place, table: &mut Table, python: &Path) -> anyhow::Result<()> {
    let file = place.file("old.scp.zst");
    let query = scan(&file);
    let script = format!("zstd -dc {} | openssl dgst -sha256", file.display());
    let mut jobs: Vec<Job<'_>> = vec![
        ("read, 2 threads", Box::new(|| role("read-2", &[&file]))),
        ("zstd | openssl", Box::new(|| shell(Command::new("sh").args(["-c", &script])))),
        ("read, 1 thread", Box::new(|| role("read-1", &[&file]))),
        ("bare decode + hash", Box::new(|| role("bare-read", &[&file]))),
        ("duckdb", Box::new(|| timed(Command::new(python).args(["-c", &query])))),
    ];
    let runs = table.rotate(&mut jobs)?;
    drop(jobs);
    let [two, pipe, one, bare, duckdb] = runs.as_slice() else { unreachable!() };
    let pipe = seconds(pipe);
    table.compare("read .scp.zst, 2 threads", two, "zstd -dc | openssl", &pipe, (0.80, Some(0.95)));
    let bare = seconds(bare);
    table.compare(
        "read .scp.zst, 1 thread",
        one,
        "bare decode + sha256",
        &bare,
        (0.50, Some(0.60)),
    );
    let duckdb = seconds(duckdb);
    table.compare("read .scp.zst, 2 threads", two, "duckdb typed scan", &duckdb, (1.0, None));
    table.remember_peak("read, 1 thread", one);
    table.remember_peak("read, 2 threads", two);
    Ok(())
}

fn write_figures(place: &Place, table: &mut Table) -> anyhow::Result<()> {
    let text = place.file("old.scp");
    for (name, ending) in [("zstd 9", "scp.zst"), ("gzip 6", "scp.gz")] {
        let (ours, bare) =
            (place.file(&format!("ours.{ending}")), place.file(&format!("bare.{ending}")));
        let mut jobs: Vec<Job<'_>> = vec![
            ("write", Box::new(|| role("write", &[&text, &ours]))),
            ("bare codec", Box::new(|| role("bare-write", &[&text, &bare]))),
        ];
        let runs = table.rotate(&mut jobs)?;
        drop(jobs);
        let [write, codec] = runs.as_slice() else { unreachable!() };
        let codec = seconds(codec);
        table.compare(&format!("write {name}"), write, "the bare codec", &codec, (0.80, None));
        table.remember_peak(&format!("write {name}"), write);
        fs::remove_file(&ours)?;
        fs::remove_file(&bare)?;
    }
    Ok(())
}

fn merge_figures(place: &Place, table: &mut Table) -> anyhow::Result<()> {
    let [old, new, delta] =
        ["old.scp.zst", "new.scp.zst", "delta.scp.zst"].map(|name| place.file(name));
    let (plain, plain_delta) = (place.file("old.scp"), place.file("delta.scp"));
    let mut from = zstd::stream::read::Decoder::new(File::open(&delta)?)?;
    std::io::copy(&mut from, &mut File::create(&plain_delta)?)?;
    let [out_delta, out_snapshot, out] =
        ["d.scp.zst", "a.scp.zst", "w.scp.zst"].map(|name| place.file(name));
    let mut jobs: Vec<Job<'_>> = vec![
        ("read old", Box::new(|| role("read-2", &[&old]))),
        ("read new", Box::new(|| role("read-2", &[&new]))),
        ("diff", Box::new(|| role("diff", &[&old, &new, &out_delta]))),
        ("write delta", Box::new(|| role("write", &[&plain_delta, &out]))),
        ("read delta", Box::new(|| role("read-2", &[&delta]))),
        ("apply", Box::new(|| role("apply", &[&old, &delta, &out_snapshot]))),
        ("write snapshot", Box::new(|| role("write", &[&plain, &out]))),
    ];
    let runs = table.rotate(&mut jobs)?;
    drop(jobs);
    let [read_old, read_new, diff, write_delta, read_delta, apply, write] = runs.as_slice() else {
        unreachable!()
    };
    let sum = |parts: [&[Run]; 3]| -> Vec<f64> {
        (0..table.n_rounds).map(|at| parts.iter().map(|part| part[at].seconds).sum()).collect()
    };
    let diff_limit = sum([read_old, read_new, write_delta]);
    let apply_limit = sum([read_old, read_delta, write]);
    table.compare("diff, delta written", diff, "read both + write delta", &diff_limit, (1.0, None));
    table.compare("apply", apply, "read both + write snapshot", &apply_limit, (1.0, None));
    table.remember_peak("diff", diff);
    table.remember_peak("apply", apply);
    for file in [plain_delta, out_delta, out_snapshot, out] {
        fs::remove_file(file)?;
    }
    Ok(())
}

/// Runs a role in a process of its own.
fn role(role: &str, paths: &[&PathBuf]) -> anyhow::Result<Run> {
    let program = std::env::current_exe()?;
    let output = Command::new(program).arg("role").arg(role).args(paths).output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut words = said.split_whitespace();
    let mut number = || words.next().context("the role said too little");
    Ok(Run { seconds: number()?.parse()?, peak: number()?.parse()? })
}

/// Runs a command and times it from outside.
fn shell(command: &mut Command) -> anyhow::Result<Run> {
    let started = Instant::now();
    let output = command.output()?;
    let seconds = started.elapsed().as_secs_f64();
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(Run { seconds, peak: 0 })
}

/// Runs a script that times itself, so that its start does not count.
fn timed(command: &mut Command) -> anyhow::Result<Run> {
    let output = command.output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(&output.stdout);
    let last = said.lines().last().unwrap_or_default().trim();
    Ok(Run { seconds: last.parse().with_context(|| last.to_owned())?, peak: 0 })
}

/// A Python with duckdb, installed on first use.
fn duckdb(place: &Place) -> anyhow::Result<PathBuf> {
    let venv = place.folder.parent().unwrap().join("venv");
    let python = venv.join("bin/python");
    if !venv.join("ready").exists() {
        shell(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
        shell(Command::new(&python).args(["-m", "pip", "install", "--quiet", "duckdb"]))?;
        File::create(venv.join("ready"))?;
    }
    Ok(python)
}

/// The typed scan a data engineer would write; it verifies nothing.
fn scan(file: &Path) -> String {
    format!(
        "import duckdb, time\n\
         c = duckdb.connect()\n\
         c.execute('set enable_progress_bar = false')\n\
         t = time.perf_counter()\n\
         c.sql(\"\"\"select count(url), sum(length(title)), sum(len(content)) from read_json('{}',\n\
           format='newline_delimited', compression='zstd', maximum_object_size=200000000,\n\
           columns={{url:'VARCHAR', title:'VARCHAR', description:'VARCHAR', modified:'VARCHAR',\n\
           language:'VARCHAR', content:'STRUCT(type VARCHAR, text VARCHAR, level INTEGER,\n\
           code VARCHAR, items VARCHAR[], \"rows\" VARCHAR[][], url VARCHAR, alt VARCHAR)[]'}})\"\"\").fetchall()\n\
         print(time.perf_counter() - t)\n",
        file.display()
    )
}
