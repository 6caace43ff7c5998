//! The figures of `rutter sync` on loopback, with `rutter serve` as the
//! server: beside scrapy, `wget --mirror`, and `curl` with `rutter check` and
//! a bare insert of the same lines; what it costs when nothing or little
//! changed; the memory of it.
//!
//! Requests are counted at the server. Everything is asked of the program as
//! it is released.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

use crate::docsite::Docs;
use crate::serve::Running;
use crate::store;
use crate::table::{middle, role};

/// What is measured, and with what.
pub(crate) struct Plan {
    pub(crate) rutter: PathBuf,
    /// A Python with scrapy.
    pub(crate) python: PathBuf,
    pub(crate) n_rounds: usize,
    pub(crate) n_pages: u64,
    /// Pages of the larger site.
    pub(crate) n_many: u64,
    /// Pages that scrapy fetches; its speed does not depend on how many.
    pub(crate) n_scrapy: u64,
    pub(crate) n_large: Option<u64>,
    /// One part of it: `scp`, `layers`, `html` or `many`.
    pub(crate) only: Option<String>,
}

/// A part of the measurement.
type Part = fn(&Plan, &Path, &mut Goals) -> anyhow::Result<()>;

/// One run of a program.
#[derive(Debug, Clone, Copy)]
struct Cost {
    seconds: f64,
    cpu: f64,
    peak: f64,
}

/// Figures and their goals.
#[derive(Default)]
struct Goals(Vec<(String, f64, f64, Bound)>);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bound {
    AtLeast,
    AtMost,
}

impl Goals {
    fn at_least(&mut self, name: &str, value: f64, goal: f64) {
        self.0.push((name.to_owned(), value, goal, Bound::AtLeast));
    }

    fn at_most(&mut self, name: &str, value: f64, goal: f64) {
        self.0.push((name.to_owned(), value, goal, Bound::AtMost));
    }
}

pub(crate) fn run(plan: &Plan) -> anyhow::Result<()> {
    let folder = std::env::current_dir()?.join("target/bench/sync");
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(&folder)?;
    let mut goals = Goals::default();
    let parts: [(&str, Part); 4] =
        [("scp", by_collection), ("layers", all_layers), ("html", by_html), ("many", many)];
    for (name, part) in parts {
        if plan.only.as_deref().is_none_or(|only| only == name) {
            part(plan, &folder.join(name), &mut goals)?;
        }
    }
    let mut missed = 0;
    if let Some(n_large) = plan.n_large {
        let folder = PathBuf::from("target/bench/store");
        fs::create_dir_all(&folder)?;
        missed += store::large(&folder, n_large)?;
    }
    println!();
    for (name, value, goal, bound) in goals.0 {
        let (is_met, word) = match bound {
            Bound::AtLeast => (goal <= value, "at least"),
            Bound::AtMost => (value <= goal, "at most"),
        };
        missed += usize::from(!is_met);
        let verdict = if is_met { "met   " } else { "MISSED" };
        println!("{verdict} {name}: {value:.2}, {word} {goal}");
    }
    ensure!(missed == 0, "{missed} figures miss their goal");
    Ok(())
}

/// A folder with a site, what is made of it, and a server.
struct Place<'p> {
    plan: &'p Plan,
    folder: PathBuf,
    /// Folder of HTML or file of lines.
    source: PathBuf,
    port: u16,
}

impl<'p> Place<'p> {
    fn new(plan: &'p Plan, folder: &Path, source: &str) -> anyhow::Result<Self> {
        fs::create_dir_all(folder)?;
        // Pages name their own address, so the port is chosen before they do.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        Ok(Self { plan, folder: folder.to_owned(), source: folder.join(source), port })
    }

    fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn build(&self, args: &[&str]) -> anyhow::Result<()> {
        let base = self.origin();
        let mut command = Command::new(&self.plan.rutter);
        command.arg("build").arg(&self.source).args(["--base-url", &base]);
        command.args(["--out", "public", "--state", "state", "--oversize", "omit"]).args(args);
        let output = command.current_dir(&self.folder).output()?;
        ensure!(output.status.success(), "build: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    fn serve(&self) -> anyhow::Result<Running> {
        let address = format!("127.0.0.1:{}", self.port);
        let mut child = Command::new(&self.plan.rutter)
            .args(["serve", "public", "--state", "state", "--listen", &address])
            .args(["--access-log", "access.log", "--rate", "off"])
            .args(["--connections-per-address", "4096"])
            .current_dir(&self.folder)
            .stderr(Stdio::piped())
            .spawn()?;
        let mut said = BufReader::new(child.stderr.take().context("no stderr")?);
        let mut line = String::new();
        said.read_line(&mut line)?;
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        ensure!(line.contains(&address), "rutter did not start: {line}");
        Ok(Running { child, address })
    }

    /// Requests the server has seen so far.
    fn requests(&self) -> anyhow::Result<usize> {
        // The server writes its log twice a second.
        std::thread::sleep(std::time::Duration::from_millis(700));
        Ok(BufReader::new(File::open(self.folder.join("access.log"))?).lines().count())
    }

    /// Runs `rutter sync` and gives what it cost, and its requests.
    fn sync(&self, database: &str) -> anyhow::Result<(Cost, usize)> {
        let before = self.requests()?;
        let mut command = Command::new(&self.plan.rutter);
        command.arg("sync").arg(self.origin()).args(["--store", database]);
        command.args(["--allow-loopback", "--pace", "0", "--most-pages", "1000000"]);
        command.current_dir(&self.folder);
        let cost = self.measure(&command)?;
        Ok((cost, self.requests()? - before))
    }

    fn measure(&self, command: &Command) -> anyhow::Result<Cost> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/measure.py");
        let mut outer = Command::new(&self.plan.python);
        outer.arg(script).arg(command.get_program()).args(command.get_args());
        let output = outer.current_dir(&self.folder).output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        let numbers: Vec<f64> = said.split_whitespace().filter_map(|it| it.parse().ok()).collect();
        let talk = String::from_utf8_lossy(&output.stderr);
        let [code, seconds, cpu, peak] = numbers.as_slice() else { anyhow::bail!("{talk}") };
        ensure!(*code == 0.0, "exit code {code}: {talk}");
        Ok(Cost { seconds: *seconds, cpu: *cpu, peak: *peak })
    }

    /// Pages per second of scrapy.
    fn scrapy(&self) -> anyhow::Result<f64> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/crawl.py");
        let mut command = Command::new(&self.plan.python);
        command.arg(script).arg(format!("{}/index.html", self.origin()));
        let output = command.arg(self.plan.n_scrapy.to_string()).output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        let last = said.lines().last().and_then(|line| line.trim().parse().ok());
        last.with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// Pages of a replica.
    fn pages(&self, database: &str) -> anyhow::Result<u64> {
        let mut command = Command::new(&self.plan.rutter);
        command.args(["status", "--json", "--store", database]).current_dir(&self.folder);
        let status: serde_json::Value = serde_json::from_slice(&command.output()?.stdout)?;
        let sites = status["sites"].as_array().context("no sites")?;
        Ok(sites.iter().filter_map(|site| site["pages"].as_u64()).sum())
    }

    fn remove(&self, database: &str) {
        for ending in ["", "-wal", "-shm"] {
            drop(fs::remove_file(self.folder.join(format!("{database}{ending}"))));
        }
        drop(fs::remove_dir_all(self.folder.join(format!("{database}.spool"))));
    }
}

fn of(costs: &[Cost], what: fn(&Cost) -> f64) -> f64 {
    middle(costs.iter().map(what).collect())
}

fn say(name: &str, cost: Cost, n_requests: usize) {
    println!(
        "  {name}: {:.2} s, {:.2} s of processor, {:.1} MB, {n_requests} requests",
        cost.seconds,
        cost.cpu,
        cost.peak / 1e6
    );
}

/// Collections alone.
const COLLECTIONS: [&str; 5] =
    ["--arc=false", "--spxi=false", "--llms=false", "--twins=off", "--gzip=false"];

/// Sync by collections, beside scrapy and beside the parts it is made of.
fn by_collection(plan: &Plan, folder: &Path, goals: &mut Goals) -> anyhow::Result<()> {
    let place = Place::new(plan, folder, "site")?;
    let docs = Docs::new();
    let n_files = docs.write_html(&place.source, plan.n_pages)?;
    place.build(&COLLECTIONS)?;
    let server = place.serve()?;
    println!("{n_files} pages by collection, {} rounds", plan.n_rounds);
    let (mut first, mut again, mut delta, mut parts) = (vec![], vec![], vec![], vec![]);
    let (mut scrapy, mut quiet) = (vec![], 0);
    for round in 0..plan.n_rounds {
        place.remove("replica.db");
        let (cost, n_requests) = place.sync("replica.db")?;
        ensure!(place.pages("replica.db")? == n_files, "pages are missing");
        say("first sync", cost, n_requests);
        first.push(cost);
        let (cost, n_requests) = place.sync("replica.db")?;
        say("nothing changed", cost, n_requests);
        again.push(cost);
        quiet = quiet.max(n_requests);
        parts.push(in_parts(&place)?);
        println!("  curl, check, bare insert: {:.2} s", parts.last().copied().unwrap_or(f64::NAN));
        scrapy.push(place.scrapy()?);
        println!("  scrapy: {:.1} pages/s", scrapy.last().copied().unwrap_or(f64::NAN));
        for n in (0..plan.n_pages).step_by(100) {
            docs.write_page(&place.source, n, 1 + round as u64)?;
        }
        place.build(&COLLECTIONS)?;
        let (cost, n_requests) = place.sync("replica.db")?;
        say("delta of 1 %", cost, n_requests);
        delta.push(cost);
    }
    drop(server);
    let seconds = of(&first, |cost| cost.seconds);
    let rate = n_files as f64 / seconds;
    goals.at_least("first sync by SCP, speed of scrapy's", rate / middle(scrapy), 50.0);
    goals.at_most("first sync, time of curl + check + bare insert", seconds / middle(parts), 2.0);
    goals.at_most("nothing changed, requests with SCP alone", quiet as f64, 2.0);
    let cpu = of(&again, |cost| cost.cpu) / of(&first, |cost| cost.cpu);
    goals.at_most("nothing changed, processor time of the first sync's", cpu, 0.05);
    let share = of(&delta, |cost| cost.seconds) / seconds;
    goals.at_most("delta of 1 %, time of the first sync's", share, 0.25);
    Ok(())
}

/// Seconds of `curl`, `rutter check` and a bare insert, one after the other.
fn in_parts(place: &Place<'_>) -> anyhow::Result<f64> {
    let scp = place.folder.join("public/scp");
    let is_snapshot = |name: &str| name.starts_with("all-snapshot-") && name.contains(".scp.zst");
    let mut names: Vec<String> = fs::read_dir(scp)?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| is_snapshot(name))
        .collect();
    names.sort();
    let name = names.pop().context("no snapshot")?;
    let mut curl = Command::new("curl");
    curl.args(["-sf", "-o", "taken.scp.zst"]).arg(format!("{}/scp/{name}", place.origin()));
    let mut check = Command::new(&place.plan.rutter);
    check.args(["check", "taken.scp.zst"]);
    let mut seconds = place.measure(&curl)?.seconds + place.measure(&check)?.seconds;
    place.remove("bare.db");
    let [taken, bare] = ["taken.scp.zst", "bare.db"].map(|name| place.folder.join(name));
    seconds += role("sync-bare", &[&taken, &bare])?.seconds;
    Ok(seconds)
}

/// Inserts the pages of a collection into one table.
pub(crate) fn bare(collection: &Path, file: &Path) -> anyhow::Result<u64> {
    let text = zstd::stream::read::Decoder::new(File::open(collection)?)?;
    let mut text = BufReader::with_capacity(256 << 10, text);
    let mut line_1 = String::new();
    text.read_line(&mut line_1)?;
    store::insert(text, file)
}

/// The example site with every layer there is: requests when nothing changed.
fn all_layers(plan: &Plan, folder: &Path, goals: &mut Goals) -> anyhow::Result<()> {
    let place = Place::new(plan, folder, "site")?;
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    for (from, to) in
        [("harbour", "site"), ("entities", "entities"), ("rutter.toml", "rutter.toml")]
    {
        let status =
            Command::new("cp").arg("-r").arg(examples.join(from)).arg(folder.join(to)).status()?;
        ensure!(status.success(), "cp");
    }
    // Its pages name their address.
    let script = format!(
        "grep -rlZ https://harbour.example . | xargs -0 sed -i 's|https://harbour.example|{}|g'",
        place.origin()
    );
    ensure!(Command::new("sh").args(["-c", &script]).current_dir(folder).status()?.success());
    place.build(&["--config", "rutter.toml"])?;
    let server = place.serve()?;
    let (cost, n_requests) = place.sync("replica.db")?;
    println!("example site, all layers");
    say("first sync", cost, n_requests);
    // The second visit learns what is not there; the third asks what is.
    place.sync("replica.db")?;
    let (cost, n_requests) = place.sync("replica.db")?;
    say("nothing changed", cost, n_requests);
    drop(server);
    goals.at_most("nothing changed, requests with all layers", n_requests as f64, 4.0);
    Ok(())
}

/// A site with a sitemap and nothing else.
fn by_html(plan: &Plan, folder: &Path, goals: &mut Goals) -> anyhow::Result<()> {
    let place = Place::new(plan, folder, "site")?;
    let n_files = Docs::new().write_html(&place.source, plan.n_pages)?;
    place.build(&[
        "--collections=false",
        "--arc=false",
        "--spxi=false",
        "--llms=false",
        "--twins=off",
        "--robots=false",
    ])?;
    let server = place.serve()?;
    println!("{n_files} pages of HTML, {} rounds", plan.n_rounds);
    let (mut ours, mut wget, mut scrapy) = (vec![], vec![], vec![]);
    for _ in 0..plan.n_rounds {
        place.remove("replica.db");
        let (cost, n_requests) = place.sync("replica.db")?;
        ensure!(place.pages("replica.db")? == n_files, "pages are missing");
        say("sync", cost, n_requests);
        ours.push(n_files as f64 / cost.seconds);
        drop(fs::remove_dir_all(place.folder.join("mirror")));
        let mut mirror = Command::new("wget");
        mirror.args(["--mirror", "--quiet", "-e", "robots=off", "-P", "mirror"]);
        mirror.arg(format!("{}/index.html", place.origin()));
        let cost = place.measure(&mirror)?;
        say("wget --mirror", cost, 0);
        wget.push(n_files as f64 / cost.seconds);
        scrapy.push(place.scrapy()?);
        println!("  scrapy: {:.1} pages/s", scrapy.last().copied().unwrap_or(f64::NAN));
    }
    drop(server);
    let rate = middle(ours);
    goals.at_least("HTML, pages a second of scrapy's", rate / middle(scrapy), 8.0);
    goals.at_least("HTML, pages a second of wget's", rate / middle(wget), 0.5);
    Ok(())
}

/// A large site: its memory, and whether a delta costs what it holds.
fn many(plan: &Plan, folder: &Path, goals: &mut Goals) -> anyhow::Result<()> {
    let docs = Docs::new();
    // The same delta into a small replica and into a large one.
    let mut costs = Vec::new();
    let small = (plan.n_pages, plan.n_pages / 100);
    let sizes = [small, (plan.n_many, small.1), (plan.n_many, plan.n_many / 100)];
    let mut peak = 0.0;
    for (n_pages, n_changed) in sizes {
        let place =
            Place::new(plan, &folder.join(format!("{n_pages}-{n_changed}")), "lines.jsonl")?;
        let origin = place.origin();
        docs.write_lines(&place.source, &origin, n_pages, |_| false)?;
        place.build(&COLLECTIONS)?;
        let server = place.serve()?;
        let (first, n_requests) = place.sync("replica.db")?;
        println!("{n_pages} pages by collection");
        say("first sync", first, n_requests);
        peak = f64::max(peak, first.peak);
        let step = n_pages / n_changed.max(1);
        docs.write_lines(&place.source, &origin, n_pages, |n| n % step == 0)?;
        place.build(&COLLECTIONS)?;
        fs::copy(place.folder.join("replica.db"), place.folder.join("kept.db"))?;
        let mut runs = Vec::new();
        for _ in 0..plan.n_rounds {
            place.remove("replica.db");
            fs::copy(place.folder.join("kept.db"), place.folder.join("replica.db"))?;
            let (cost, n_requests) = place.sync("replica.db")?;
            say(&format!("delta of {n_changed}"), cost, n_requests);
            peak = f64::max(peak, cost.peak);
            runs.push(cost);
        }
        drop(server);
        costs.push(of(&runs, |cost| cost.seconds));
    }
    let [small, same, more] = costs.as_slice() else { anyhow::bail!("a size is missing") };
    goals.at_most("the same delta into ten times the pages, time", same / small, 2.0);
    goals.at_most("1 % of ten times the pages, time", more / small, 12.0);
    goals.at_most(&format!("memory in MB at {} pages", plan.n_many), peak / 1e6, 128.0);
    Ok(())
}
