//! Compares `rutter serve` with nginx: the same files, the same run, wrk for both.
//!
//! Servers take turns, medians count. Fails if a goal is missed.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use crate::table::middle;

/// Duration and number of turns.
pub(crate) struct ServeBench {
    pub(crate) rutter: PathBuf,
    pub(crate) seconds: u64,
    pub(crate) n_rounds: usize,
}

/// A server process that ends when it is dropped.
pub(crate) struct Running {
    pub(crate) child: Child,
    pub(crate) address: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        // The nginx master ends its workers when it is terminated, not when it is killed.
        drop(Command::new("kill").arg(self.child.id().to_string()).status());
        drop(self.child.wait());
    }
}

impl Running {
    /// Returns the peak memory in bytes, with children.
    pub(crate) fn peak(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
        let digits: String = line.chars().filter(char::is_ascii_digit).collect();
        digits.parse::<u64>().unwrap_or(0) * 1024
    }
}

/// Starts `rutter serve` with limits that the benchmark does not reach.
pub(crate) fn rutter(program: &Path, public: &Path, args: &[&str]) -> anyhow::Result<Running> {
    let mut child = Command::new(program)
        .arg("serve")
        .arg(public)
        .args(["--listen", "127.0.0.1:0", "--access-log", "off", "--rate", "off"])
        .args(["--connections-per-address", "4096"])
        .args(args)
        .current_dir(public)
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| program.display().to_string())?;
    let mut line = String::new();
    let mut said = BufReader::new(child.stderr.take().context("no stderr")?);
    said.read_line(&mut line)?;
    // Later output must not fill the pipe.
    std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
    let address = line.trim_end().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    ensure!(address.contains(':'), "rutter did not start: {line}");
    Ok(Running { address: address.to_owned(), child })
}

/// Starts nginx as Debian configures it, without logs.
fn nginx(folder: &Path, public: &Path) -> anyhow::Result<Running> {
    let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let address = format!("127.0.0.1:{port}");
    let mut text = String::new();
    writeln!(text, "worker_processes auto;\ndaemon off;\nerror_log stderr crit;")?;
    writeln!(text, "pid {}/nginx.pid;\nevents {{ worker_connections 4096; }}", folder.display())?;
    writeln!(
        text,
        "http {{ access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000;"
    )?;
    writeln!(text, "types {{ application/json json; application/scp scp; }}")?;
    for name in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
        writeln!(text, "{name}_temp_path {}/{name};", folder.display())?;
    }
    writeln!(text, "server {{ listen {address}; root {}; }} }}", public.display())?;
    let config = folder.join("nginx.conf");
    fs::write(&config, text)?;
    let child = Command::new("nginx").arg("-c").arg(&config).arg("-p").arg(folder).spawn()?;
    let running = Running { child, address };
    let end = Instant::now() + Duration::from_secs(10);
    while std::net::TcpStream::connect(&running.address).is_err() {
        ensure!(Instant::now() < end, "nginx did not start");
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(running)
}

/// Results of wrk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    pub(crate) requests: f64,
    pub(crate) bytes: f64,
    /// The 99th percentile, in milliseconds.
    pub(crate) p99: f64,
    pub(crate) errors: u64,
}

/// Runs wrk.
pub(crate) fn wrk(
    address: &str,
    path: &str,
    connections: usize,
    seconds: u64,
    header: Option<&str>,
) -> anyhow::Result<Measured> {
    let mut command = Command::new("wrk");
    command.args(["-t2", "--latency", "-c", &connections.to_string(), "-d"]);
    command.arg(format!("{seconds}s"));
    if let Some(header) = header {
        command.args(["-H", header]);
    }
    let output = command.arg(format!("http://{address}{path}")).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let word = |name: &str| {
        let line = text.lines().find(|line| line.trim().starts_with(name))?;
        line.split_whitespace().nth(1).map(str::to_owned)
    };
    let number = |name: &str| word(name).and_then(|word| scaled(&word));
    let errors = failures(&text);
    Ok(Measured {
        requests: number("Requests/sec:").with_context(|| text.clone())?,
        bytes: number("Transfer/sec:").with_context(|| text.clone())?,
        p99: number("99%").with_context(|| text.clone())? * 1000.0,
        errors,
    })
}

/// Returns the number of failed requests as wrk counts them: no response, or a status other than
/// 2xx and 3xx.
fn failures(text: &str) -> u64 {
    let count = |rest: &str| {
        let digits = rest.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
        digits.filter_map(|digits| digits.parse::<u64>().ok()).sum::<u64>()
    };
    let starts = ["Socket errors:", "Non-2xx or 3xx responses:"];
    let rests = text
        .lines()
        .filter_map(|line| starts.iter().find_map(|start| line.trim().strip_prefix(start)));
    rests.map(count).sum()
}

/// `12.5ms`, `1.2GB`, `800us`, `25016.12`.
fn scaled(text: &str) -> Option<f64> {
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let factor = match unit {
        "us" => 1e-6,
        "ms" => 1e-3,
        "m" => 60.0,
        "KB" => 1024.0,
        "MB" => 1_048_576.0,
        "GB" => 1_073_741_824.0,
        _ => 1.0,
    };
    number.parse::<f64>().ok().map(|number| number * factor)
}

struct Case {
    name: &'static str,
    path: &'static str,
    connections: usize,
    header: Option<String>,
}

pub(crate) fn run(plan: &ServeBench) -> anyhow::Result<()> {
    let folder = std::env::temp_dir().join(format!("rutter-bench-serve-{}", std::process::id()));
    let public = folder.join("public");
    fs::create_dir_all(&public)?;
    let result = measure(plan, &folder, &public);
    drop(fs::remove_dir_all(&folder));
    result
}

fn measure(plan: &ServeBench, folder: &Path, public: &Path) -> anyhow::Result<()> {
    let line = "{\"@id\":\"https://harbour.example/tides\",\"name\":\"Tides\"}\n";
    fs::write(public.join("index.json"), &line.repeat(250)[..12_439])?;
    let noise: Vec<u8> = (0..50_000_000_u64).map(|n| (n.wrapping_mul(n) >> 7) as u8).collect();
    fs::write(public.join("all.scp"), noise)?;
    let (ours, theirs) = (rutter(&plan.rutter, public, &[])?, nginx(folder, public)?);
    std::thread::sleep(Duration::from_millis(500));
    let idle = ours.peak();
    let modified = |address: &str| -> anyhow::Result<String> {
        let url = format!("http://{address}/index.json");
        let output = Command::new("curl").args(["-sI", &url]).output()?;
        let text = String::from_utf8_lossy(&output.stdout).to_lowercase();
        let line = text.lines().find(|line| line.starts_with("etag:"));
        let tag = line.and_then(|line| line.split_once(": ")).context("no tag")?;
        Ok(format!("If-None-Match: {}", tag.1.trim()))
    };
    let case = |name, path, connections, header| Case { name, path, connections, header };
    let mut goals = Vec::new();
    let mut peak = 0;
    println!("server, case: requests/s, MB/s, p99 ms (medians of {} turns)", plan.n_rounds);
    for number in 0..4 {
        let make = |address: &str| -> anyhow::Result<Case> {
            Ok(match number {
                0 => case("12 KB, 64 connections", "/index.json", 64, None),
                1 => case("304, 64 connections", "/index.json", 64, Some(modified(address)?)),
                2 => case("50 MB, 16 connections", "/all.scp", 16, None),
                _ => case("12 KB, 512 connections", "/index.json", 512, None),
            })
        };
        let cases = [make(&ours.address)?, make(&theirs.address)?];
        let mut runs: [Vec<Measured>; 2] = Default::default();
        for _ in 0..plan.n_rounds {
            for ((server, case), runs) in [&ours, &theirs].into_iter().zip(&cases).zip(&mut runs) {
                let header = case.header.as_deref();
                let (path, connections) = (case.path, case.connections);
                runs.push(wrk(&server.address, path, connections, plan.seconds, header)?);
            }
        }
        let of =
            |runs: &[Measured], what: fn(&Measured) -> f64| middle(runs.iter().map(what).collect());
        let [mine, other] = &runs;
        for (name, runs) in [("rutter", mine), ("nginx", other)] {
            let (requests, bytes) = (of(runs, |run| run.requests), of(runs, |run| run.bytes) / 1e6);
            let p99 = of(runs, |run| run.p99);
            println!("{name:7} {:24} {requests:10.0} {bytes:8.0} {p99:8.2}", cases[0].name);
        }
        let errors: u64 = mine.iter().map(|run| run.errors).sum();
        ensure!(errors == 0, "{}: {errors} errors", cases[0].name);
        let ratio = |what: fn(&Measured) -> f64| of(mine, what) / of(other, what);
        match number {
            0 => {
                goals.push((
                    "12 KB: requests of nginx's, at least 0.7",
                    ratio(|run| run.requests),
                    0.7,
                    true,
                ));
                goals.push(("12 KB: p99 of nginx's, at most 2", ratio(|run| run.p99), 2.0, false));
            }
            1 => goals.push((
                "304: requests of nginx's, at least 0.7",
                ratio(|run| run.requests),
                0.7,
                true,
            )),
            2 => goals.push((
                "50 MB: bytes of nginx's, at least 0.75",
                ratio(|run| run.bytes),
                0.75,
                true,
            )),
            _ => {}
        }
        peak = ours.peak();
    }
    let mb = |bytes: u64| bytes as f64 / 1e6;
    goals.push(("memory idle in MB, at most 32", mb(idle), 32.0, false));
    // The maximum number of connections: 512.
    let most = mb((64 << 20) + 512 * (64 << 10));
    goals.push((
        "memory under load in MB, at most 64 MiB + 64 KiB a connection",
        mb(peak),
        most,
        false,
    ));
    let mut missed = Vec::new();
    for (name, value, goal, at_least) in goals {
        let is_met = if at_least { goal <= value } else { value <= goal };
        println!("{} {name}: {value:.2}", if is_met { "met   " } else { "MISSED" });
        if !is_met {
            missed.push(name);
        }
    }
    ensure!(missed.is_empty(), "missed: {}", missed.join("; "));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_an_answer_that_refuses_is_a_failure() {
        let fine = "  1000 requests in 1.00s, 12.00MB read\nRequests/sec: 1000.00\n";
        assert_eq!(failures(fine), 0);
        let sockets = "  Socket errors: connect 1, read 2, write 0, timeout 4\n";
        assert_eq!(failures(&format!("{fine}{sockets}")), 7);
        let refused = "  Non-2xx or 3xx responses: 900\n";
        assert_eq!(failures(&format!("{fine}{sockets}{refused}")), 907);
    }
}
