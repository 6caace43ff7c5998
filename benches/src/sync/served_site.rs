//! A site that is built and served in its own folder, and the programs that read it.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

use super::SyncBench;
use crate::build;
use crate::serve::Running;

/// Exit code of `wget` if a link is broken.
const WGET_MISSED: f64 = 8.0;

/// One run of a program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    pub(super) seconds: f64,
    pub(super) cpu: f64,
    pub(super) peak: f64,
}

/// Result of a crawler.
#[derive(Debug, Clone, Copy)]
pub(super) struct Crawl {
    pub(super) pages: f64,
    pub(super) bytes: f64,
    pub(super) seconds: f64,
}

impl Crawl {
    pub(super) fn rate(&self) -> f64 {
        self.pages / self.seconds
    }

    pub(super) fn say(&self, name: &str) {
        println!(
            "  {name}: {:.1} pages/s ({:.0} pages of {:.1} kB in {:.1} s)",
            self.rate(),
            self.pages,
            self.bytes / self.pages / 1e3,
            self.seconds
        );
    }
}

/// A folder with a site, its build, and a server.
pub(super) struct ServedSite<'p> {
    pub(super) plan: &'p SyncBench,
    pub(super) folder: PathBuf,
    /// Folder of HTML or file of lines.
    pub(super) source: PathBuf,
    port: u16,
}

impl<'p> ServedSite<'p> {
    pub(super) fn new(plan: &'p SyncBench, folder: &Path, source: &str) -> anyhow::Result<Self> {
        fs::create_dir_all(folder)?;
        // Pages contain their URL, so the port is chosen first.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        Ok(Self { plan, folder: folder.to_owned(), source: folder.join(source), port })
    }

    pub(super) fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(super) fn build(&self, args: &[&str]) -> anyhow::Result<()> {
        let base = self.origin();
        let mut command = Command::new(&self.plan.rutter);
        command.arg("build").arg(&self.source).args(["--base-url", &base]);
        command.args(["--out", "public", "--state", "state"]).args(args);
        let output = command.current_dir(&self.folder).output()?;
        ensure!(output.status.success(), "build: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    pub(super) fn serve(&self) -> anyhow::Result<Running> {
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

    /// Returns the number of requests so far.
    pub(super) fn requests(&self) -> anyhow::Result<usize> {
        // The server writes its log twice a second.
        std::thread::sleep(std::time::Duration::from_millis(700));
        Ok(BufReader::new(File::open(self.folder.join("access.log"))?).lines().count())
    }

    /// Runs `rutter sync` and returns its cost and its requests.
    pub(super) fn sync(&self, database: &str) -> anyhow::Result<(Cost, usize)> {
        let before = self.requests()?;
        let mut command = Command::new(&self.plan.rutter);
        command.arg("sync").arg(self.origin()).args(["--store", database]);
        command.args(["--allow-loopback", "--pace", "0", "--most-pages", "1000000"]);
        let cost = self.measure(&command, &[0.0])?;
        Ok((cost, self.requests()? - before))
    }

    /// Runs a command in the folder; it ends with one of `codes`.
    pub(super) fn measure(&self, command: &Command, codes: &[f64]) -> anyhow::Result<Cost> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/measure.py");
        let mut outer = Command::new(&self.plan.python);
        outer.arg(script).arg(command.get_program()).args(command.get_args());
        let output = outer.current_dir(&self.folder).output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        let numbers: Vec<f64> = said.split_whitespace().filter_map(|it| it.parse().ok()).collect();
        let talk = String::from_utf8_lossy(&output.stderr);
        let [code, seconds, cpu, peak] = numbers.as_slice() else { anyhow::bail!("{talk}") };
        ensure!(codes.contains(code), "exit code {code}: {talk}");
        Ok(Cost { seconds: *seconds, cpu: *cpu, peak: *peak })
    }

    /// Runs scrapy, which follows the links of the site.
    pub(super) fn scrapy(&self, home: &str) -> anyhow::Result<Crawl> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/crawl.py");
        let mut command = Command::new(&self.plan.python);
        command.arg(script).arg(format!("{}/{home}", self.origin()));
        let output = command.arg(self.plan.n_scrapy.to_string()).output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        let last = said.lines().last().unwrap_or_default();
        let numbers: Vec<f64> = last.split_whitespace().filter_map(|it| it.parse().ok()).collect();
        let [pages, bytes, seconds] = numbers.as_slice() else {
            anyhow::bail!("{}", String::from_utf8_lossy(&output.stderr));
        };
        ensure!(0.0 < *pages, "scrapy found no page");
        let crawl = Crawl { pages: *pages, bytes: *bytes, seconds: *seconds };
        crawl.say("scrapy");
        Ok(crawl)
    }

    /// Runs `wget --mirror`, which follows the links of the site.
    pub(super) fn wget(&self, home: &str) -> anyhow::Result<Crawl> {
        let mirror = self.folder.join("mirror");
        drop(fs::remove_dir_all(&mirror));
        let mut command = Command::new("wget");
        command.args(["--mirror", "--quiet", "-e", "robots=off", "-P", "mirror"]);
        command.arg(format!("{}/{home}", self.origin()));
        let cost = self.measure(&command, &[0.0, WGET_MISSED])?;
        let pages = build::pages(&mirror)?;
        let bytes: u64 = pages.iter().map(|(_, n_bytes)| n_bytes).sum();
        let pages = pages.len() as f64;
        let crawl = Crawl { pages, bytes: bytes as f64, seconds: cost.seconds };
        crawl.say("wget --mirror");
        Ok(crawl)
    }

    /// Returns the number of pages of a replica.
    pub(super) fn pages(&self, database: &str) -> anyhow::Result<u64> {
        let mut command = Command::new(&self.plan.rutter);
        command.args(["status", "--json", "--store", database]).current_dir(&self.folder);
        let status: serde_json::Value = serde_json::from_slice(&command.output()?.stdout)?;
        let sites = status["sites"].as_array().context("no sites")?;
        Ok(sites.iter().filter_map(|site| site["pages"].as_u64()).sum())
    }

    /// Returns the name of the newest snapshot of all pages.
    pub(super) fn snapshot(&self) -> anyhow::Result<String> {
        let names = fs::read_dir(self.folder.join("public/scp"))?
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| name.starts_with("all-snapshot-") && name.contains(".scp.zst"));
        names.max().context("no snapshot")
    }

    /// Deletes a replica.
    pub(super) fn remove(&self, database: &str) {
        for ending in ["", "-wal", "-shm"] {
            drop(fs::remove_file(self.folder.join(format!("{database}{ending}"))));
        }
        drop(fs::remove_dir_all(self.folder.join(format!("{database}.spool"))));
    }

    /// Copies a replica and flushes everything to the disk, because the first flush of a sync would
    /// otherwise wait for what a build or copy left to be written.
    pub(super) fn copy(&self, from: &str, to: &str) -> anyhow::Result<()> {
        self.remove(to);
        fs::copy(self.folder.join(from), self.folder.join(to))?;
        // Files beside the replica belong to it.
        let [from, to] = [from, to].map(|name| self.folder.join(format!("{name}.spool")));
        ensure!(Command::new("cp").arg("-r").args([from, to]).status()?.success(), "cp");
        ensure!(Command::new("sync").status()?.success(), "sync");
        Ok(())
    }
}
