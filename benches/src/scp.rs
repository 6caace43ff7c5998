//! Measures SCP collections: reading, writing, diff and apply.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::corpus::{self, MIX};
use crate::table::{Job, Run, Table, role, seconds, shell, timed};

/// Paths of the corpus, which is generated once and kept.
struct CorpusPaths {
    folder: PathBuf,
}

impl CorpusPaths {
    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// Prints every figure with its goal; fails if a goal is missed.
pub(crate) fn run(n_pages: u64, n_rounds: usize) -> anyhow::Result<()> {
    let folder = PathBuf::from("target/bench").join(format!("scp-{n_pages}"));
    fs::create_dir_all(&folder)?;
    let paths = CorpusPaths { folder };
    prepare(&paths, n_pages)?;
    let (decoded, largest) = describe(&paths)?;

    let duckdb = duckdb(&paths).context("duckdb could not be installed")?;
    let mut table = Table::new(n_rounds);
    read_figures(&paths, &mut table, &duckdb)?;
    write_figures(&paths, &mut table)?;
    merge_figures(&paths, &mut table)?;
    table.print(decoded);
    table.print_peaks("at most 64 MB above the largest page", largest + 64_000_000);
    ensure!(table.missed == 0, "{} figures miss their goal", table.missed);
    Ok(())
}

/// Makes two snapshots and the delta between them.
fn prepare(paths: &CorpusPaths, n_pages: u64) -> anyhow::Result<()> {
    for (name, is_second) in [("old", false), ("new", true)] {
        let lines = paths.file(&format!("{name}.jsonl"));
        let collection = paths.file(&format!("{name}.scp.zst"));
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
    let (old, new) = (paths.file("old.scp.zst"), paths.file("new.scp.zst"));
    let (plain, delta) = (paths.file("old.scp"), paths.file("delta.scp.zst"));
    if !plain.exists() {
        let mut from = zstd::stream::read::Decoder::new(File::open(&old)?)?;
        std::io::copy(&mut from, &mut File::create(&plain)?)?;
    }
    if !delta.exists() {
        role("diff", &[&old, &new, &delta])?;
    }
    Ok(())
}

/// Prints statistics of the corpus; returns its size and its largest page.
fn describe(paths: &CorpusPaths) -> anyhow::Result<(u64, u64)> {
    let plain = paths.file("old.scp");
    let decoded = fs::metadata(&plain)?.len();
    let coded = fs::metadata(paths.file("old.scp.zst"))?.len();
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
        // Within 10 %, or 0.05 % for rare kinds.
        is_close &= (found - share as f64).abs() <= (share as f64 * 0.1).max(0.5);
    }
    println!();
    ensure!((5.0..=9.0).contains(&ratio) && is_close, "the corpus is not like a real one");
    Ok((decoded, largest))
}

fn read_figures(paths: &CorpusPaths, table: &mut Table, python: &Path) -> anyhow::Result<()> {
    let file = paths.file("old.scp.zst");
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

fn write_figures(paths: &CorpusPaths, table: &mut Table) -> anyhow::Result<()> {
    let text = paths.file("old.scp");
    for (name, ending) in [("zstd 9", "scp.zst"), ("gzip 6", "scp.gz")] {
        let (ours, bare) =
            (paths.file(&format!("ours.{ending}")), paths.file(&format!("bare.{ending}")));
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

fn merge_figures(paths: &CorpusPaths, table: &mut Table) -> anyhow::Result<()> {
    let [old, new, delta] =
        ["old.scp.zst", "new.scp.zst", "delta.scp.zst"].map(|name| paths.file(name));
    let (plain, plain_delta) = (paths.file("old.scp"), paths.file("delta.scp"));
    let mut from = zstd::stream::read::Decoder::new(File::open(&delta)?)?;
    std::io::copy(&mut from, &mut File::create(&plain_delta)?)?;
    let [out_delta, out_snapshot, out] =
        ["d.scp.zst", "a.scp.zst", "w.scp.zst"].map(|name| paths.file(name));
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

/// Returns a Python with duckdb, installed at first use.
fn duckdb(paths: &CorpusPaths) -> anyhow::Result<PathBuf> {
    let venv = paths.folder.parent().unwrap().join("venv");
    let python = venv.join("bin/python");
    if !venv.join("ready").exists() {
        shell(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
        shell(Command::new(&python).args(["-m", "pip", "install", "--quiet", "duckdb"]))?;
        File::create(venv.join("ready"))?;
    }
    Ok(python)
}

/// A typed scan with `DuckDB`, which verifies nothing.
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
