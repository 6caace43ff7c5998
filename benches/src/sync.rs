//! Measures `rutter sync` on loopback, with `rutter serve` as the server.
//!
//! Compared with scrapy, `wget --mirror`, and `curl` with `rutter check` and a plain insert of the
//! same lines; also the cost when nothing or little changed, and memory. The site is the
//! documentation of the JDK with its links; pages are generated only where a size has to be chosen.
//! Requests are counted at the server, and the release build is measured.

mod served_site;

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use self::served_site::{Cost, ServedSite};
use crate::build;
use crate::docsite::Docs;
use crate::store;
use crate::table::{middle, role};

/// What to measure, and the programs for comparison.
pub(crate) struct SyncBench {
    pub(crate) rutter: PathBuf,
    /// A Python with scrapy.
    pub(crate) python: PathBuf,
    /// A site of ten thousand pages.
    pub(crate) site: PathBuf,
    /// The page of it from which all others can be reached.
    pub(crate) home: String,
    pub(crate) n_rounds: usize,
    /// Pages of the two sites whose size is chosen.
    pub(crate) n_few: u64,
    pub(crate) n_many: u64,
    /// Pages after which scrapy is stopped.
    pub(crate) n_scrapy: u64,
    pub(crate) n_large: u64,
    /// One part of it: `scp`, `layers`, `html`, `many` or `large`.
    pub(crate) only: Option<String>,
}

/// Memory limit of a sync, in megabytes.
const MEMORY: f64 = 128.0;

/// A part of the measurement.
type BenchPart = fn(&SyncBench, &Path, &mut Goals) -> anyhow::Result<()>;

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

/// Prints every figure with its goal; fails if a goal is missed.
pub(crate) fn run(plan: &SyncBench) -> anyhow::Result<()> {
    let folder = std::env::current_dir()?.join("target/bench/sync");
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(&folder)?;
    let mut goals = Goals::default();
    let parts: [(&str, BenchPart); 5] = [
        ("scp", by_collection),
        ("layers", all_layers),
        ("html", by_html),
        ("many", many),
        ("large", large),
    ];
    let is_known = |only: &String| parts.iter().any(|(name, _)| name == only);
    ensure!(plan.only.as_ref().is_none_or(is_known), "no such part");
    for (name, part) in parts {
        if plan.only.as_deref().is_none_or(|only| only == name) {
            part(plan, &folder.join(name), &mut goals)?;
        }
    }
    let mut missed = 0;
    println!();
    for (name, value, goal, bound) in goals.0 {
        let (is_met, word) = match bound {
            Bound::AtLeast => (goal <= value, "at least"),
            Bound::AtMost => (value <= goal, "at most"),
        };
        missed += usize::from(!is_met);
        let verdict = if is_met { "met   " } else { "MISSED" };
        println!("{verdict} {name}: {value:.3}, {word} {goal}");
    }
    ensure!(missed == 0, "{missed} figures miss their goal");
    Ok(())
}

fn of(costs: &[Cost], what: fn(&Cost) -> f64) -> f64 {
    middle(costs.iter().map(what).collect())
}

fn say(name: &str, cost: Cost, n_requests: usize) {
    println!(
        "  {name}: {:.2} s, {:.3} s of processor, {:.1} MB, {n_requests} requests",
        cost.seconds,
        cost.cpu,
        cost.peak / 1e6
    );
}

/// Collections alone.
const COLLECTIONS: [&str; 5] =
    ["--arc=false", "--spxi=false", "--llms=false", "--twins=off", "--gzip=false"];

/// Pages alone.
const PAGES: [&str; 6] = [
    "--collections=false",
    "--arc=false",
    "--spxi=false",
    "--llms=false",
    "--twins=off",
    "--robots=false",
];

/// Measures sync by collections, compared with scrapy and with its parts.
fn by_collection(plan: &SyncBench, folder: &Path, goals: &mut Goals) -> anyhow::Result<()> {
    let site = ServedSite::new(plan, folder, "site")?;
    build::fresh_copy(&plan.site, &site.source)?;
    site.build(&COLLECTIONS)?;
    let n_pages = n_collected(&site)?;
    let server = site.serve()?;
    println!("{n_pages} pages by collection, {} rounds", plan.n_rounds);
    let (mut first, mut again, mut parts, mut scrapy) = (vec![], vec![], vec![], vec![]);
    let mut quiet = 0;
    for _ in 0..plan.n_rounds {
        site.remove("replica.db");
        let (cost, n_requests) = site.sync("replica.db")?;
        ensure!(site.pages("replica.db")? == n_pages, "pages are missing");
        say("first sync", cost, n_requests);
        first.push(cost);
        let (cost, n_requests) = site.sync("replica.db")?;
        say("nothing changed", cost, n_requests);
        again.push(cost);
        quiet = quiet.max(n_requests);
        parts.push(in_parts(&site)?);
        scrapy.push(site.scrapy(&plan.home)?.rate());
    }
    let sources = build::pages(&site.source)?;
    for (path, _) in sources.iter().step_by(100) {
        add_sentence(path)?;
    }
    site.build(&COLLECTIONS)?;
    site.copy("replica.db", "kept.db")?;
    let mut delta = Vec::new();
    for _ in 0..plan.n_rounds {
        site.copy("kept.db", "replica.db")?;
        let (cost, n_requests) = site.sync("replica.db")?;
        say("delta of 1 %", cost, n_requests);
        delta.push(cost);
    }
    drop(server);
    let seconds = of(&first, |cost| cost.seconds);
    let rate = n_pages as f64 / seconds;
    goals.at_least("first sync by SCP, speed of scrapy's", rate / middle(scrapy), 50.0);
    goals.at_most("first sync, time of curl + check + bare insert", seconds / middle(parts), 2.0);
    goals.at_most("nothing changed, requests with SCP alone", quiet as f64, 2.0);
    let cpu = of(&again, |cost| cost.cpu) / of(&first, |cost| cost.cpu);
    goals.at_most("nothing changed, processor time of the first sync's", cpu, 0.05);
    let share = of(&delta, |cost| cost.seconds) / seconds;
    goals.at_most("delta of 1 %, time of the first sync's", share, 0.25);
    let peak = first.iter().map(|cost| cost.peak).fold(0.0, f64::max);
    goals.at_most("first sync by SCP, memory in MB", peak / 1e6, MEMORY);
    Ok(())
}

/// Changes the text of a page.
fn add_sentence(path: &Path) -> anyhow::Result<()> {
    let text = fs::read_to_string(path)?;
    let at = text.rfind("</main>").or_else(|| text.rfind("</body>")).context("no end")?;
    let (head, tail) = text.split_at(at);
    Ok(fs::write(path, format!("{head}<p>This sentence is new on the page.</p>\n{tail}"))?)
}

/// Pages of the newest snapshot.
fn n_collected(site: &ServedSite<'_>) -> anyhow::Result<u64> {
    let path = site.folder.join("public/scp").join(site.snapshot()?);
    let text = zstd::stream::read::Decoder::new(File::open(path)?)?;
    // Line 1 describes the rest.
    Ok((BufReader::with_capacity(256 << 10, text).split(b'\n').count() as u64).saturating_sub(1))
}

/// Returns the seconds of `curl`, `rutter check` and a plain insert in sequence.
fn in_parts(site: &ServedSite<'_>) -> anyhow::Result<f64> {
    let name = site.snapshot()?;
    let mut curl = Command::new("curl");
    curl.args(["-sf", "-o", "taken.scp.zst"]).arg(format!("{}/scp/{name}", site.origin()));
    let mut check = Command::new(&site.plan.rutter);
    check.args(["check", "taken.scp.zst"]);
    let curl = site.measure(&curl, &[0.0])?.seconds;
    let check = site.measure(&check, &[0.0])?.seconds;
    site.remove("bare.db");
    let [taken, bare] = ["taken.scp.zst", "bare.db"].map(|name| site.folder.join(name));
    let insert = role("sync-bare", &[&taken, &bare])?.seconds;
    let seconds = curl + check + insert;
    println!("  curl {curl:.2} + check {check:.2} + bare insert {insert:.2} = {seconds:.2} s");
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

/// Counts the requests of an unchanged example site with all layers.
fn all_layers(plan: &SyncBench, folder: &Path, goals: &mut Goals) -> anyhow::Result<()> {
    let site = ServedSite::new(plan, folder, "site")?;
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    for (from, to) in
        [("harbour", "site"), ("entities", "entities"), ("rutter.toml", "rutter.toml")]
    {
        let status =
            Command::new("cp").arg("-r").arg(examples.join(from)).arg(folder.join(to)).status()?;
        ensure!(status.success(), "cp");
    }
    // Its pages contain their URL.
    let script = format!(
        "grep -rlZ https://harbour.example . | xargs -0 sed -i 's|https://harbour.example|{}|g'",
        site.origin()
    );
    ensure!(Command::new("sh").args(["-c", &script]).current_dir(folder).status()?.success());
    site.build(&["--config", "rutter.toml"])?;
    let server = site.serve()?;
    let (cost, n_requests) = site.sync("replica.db")?;
    println!("example site, all layers");
    say("first sync", cost, n_requests);
    // The second sync learns which files are missing; the third requests only existing ones.
    site.sync("replica.db")?;
    let (cost, n_requests) = site.sync("replica.db")?;
    say("nothing changed", cost, n_requests);
    drop(server);
    goals.at_most("nothing changed, requests with all layers", n_requests as f64, 4.0);
    Ok(())
}

/// A site with a sitemap and nothing else.
fn by_html(plan: &SyncBench, folder: &Path, goals: &mut Goals) -> anyhow::Result<()> {
    let site = ServedSite::new(plan, folder, "site")?;
    build::fresh_copy(&plan.site, &site.source)?;
    site.build(&PAGES)?;
    let n_listed = fs::read_to_string(folder.join("public/sitemap.xml"))?.matches("<loc>").count();
    let server = site.serve()?;
    println!("{n_listed} pages of HTML, {} rounds", plan.n_rounds);
    let (mut ours, mut wget, mut scrapy) = (vec![], vec![], vec![]);
    let mut peak = 0.0;
    for _ in 0..plan.n_rounds {
        site.remove("replica.db");
        let (cost, n_requests) = site.sync("replica.db")?;
        say("sync", cost, n_requests);
        let n_pages = site.pages("replica.db")?;
        ensure!(n_pages == n_listed as u64, "{n_pages} of {n_listed} pages");
        ours.push(n_pages as f64 / cost.seconds);
        peak = f64::max(peak, cost.peak);
        wget.push(site.wget(&plan.home)?.rate());
        scrapy.push(site.scrapy(&plan.home)?.rate());
    }
    drop(server);
    let rate = middle(ours);
    goals.at_least("HTML, pages a second of scrapy's", rate / middle(scrapy), 8.0);
    goals.at_least("HTML, pages a second of wget's", rate / middle(wget), 0.5);
    goals.at_most("HTML, memory in MB", peak / 1e6, MEMORY);
    Ok(())
}

/// Measures a large site: memory, and whether the cost of a delta depends on its size only.
fn many(plan: &SyncBench, folder: &Path, goals: &mut Goals) -> anyhow::Result<()> {
    let docs = Docs::new();
    // The same delta for a small and a large replica.
    let mut costs = Vec::new();
    let small = (plan.n_few, plan.n_few / 100);
    let sizes = [small, (plan.n_many, small.1), (plan.n_many, plan.n_many / 100)];
    let mut peak = 0.0;
    for (n_pages, n_changed) in sizes {
        let site =
            ServedSite::new(plan, &folder.join(format!("{n_pages}-{n_changed}")), "lines.jsonl")?;
        let origin = site.origin();
        docs.write_lines(&site.source, &origin, n_pages, |_| Some(0))?;
        site.build(&COLLECTIONS)?;
        let server = site.serve()?;
        let (first, n_requests) = site.sync("replica.db")?;
        println!("{n_pages} pages by collection");
        say("first sync", first, n_requests);
        peak = f64::max(peak, first.peak);
        let (quiet, n_requests) = site.sync("replica.db")?;
        say("nothing changed", quiet, n_requests);
        let step = n_pages / n_changed.max(1);
        // One in ten changed pages is removed.
        let version = |n: u64| match (n % step, n / step % 10) {
            (0, 9) => None,
            (0, _) => Some(1),
            _ => Some(0),
        };
        docs.write_lines(&site.source, &origin, n_pages, version)?;
        site.build(&COLLECTIONS)?;
        site.copy("replica.db", "kept.db")?;
        let mut runs = Vec::new();
        for _ in 0..plan.n_rounds {
            site.copy("kept.db", "replica.db")?;
            let (cost, n_requests) = site.sync("replica.db")?;
            say(&format!("delta of {n_changed}"), cost, n_requests);
            peak = f64::max(peak, cost.peak);
            runs.push(cost);
        }
        drop(server);
        costs.push(of(&runs, |cost| cost.seconds));
        fs::remove_dir_all(&site.folder)?;
    }
    let [small, same, more] = costs.as_slice() else { anyhow::bail!("a size is missing") };
    goals.at_most("the same delta into ten times the pages, time", same / small, 2.0);
    goals.at_most("1 % of ten times the pages, time", more / small, 12.0);
    goals.at_most(&format!("memory in MB at {} pages", plan.n_many), peak / 1e6, MEMORY);
    Ok(())
}

/// A replica of a million pages.
fn large(plan: &SyncBench, _: &Path, goals: &mut Goals) -> anyhow::Result<()> {
    let folder = PathBuf::from("target/bench/store");
    fs::create_dir_all(&folder)?;
    let looks = store::look(&folder, plan.n_large)?;
    let name = |what: &str| format!("{} pages, milliseconds to {what}", plan.n_large);
    goals.at_most(&name("open"), looks.open * 1e3, store::OPEN * 1e3);
    goals.at_most(&name("look a page up"), looks.mean * 1e3, store::LOOKUP * 1e3);
    println!("{} pages: look a page up, worst: {:.2} ms", plan.n_large, looks.worst * 1e3);
    Ok(())
}
