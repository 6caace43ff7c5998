//! Throughput and memory beside peers: `cargo xtask bench`.
//!
//! Every figure is a ratio against a peer or a limit measured in the same run,
//! in rotation; medians are shown. The process starts itself once per
//! measurement, so that peak memory belongs to one job.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "a measuring program prints, may stop, and rounds"
)]

mod corpus;
mod roles;
mod scp;

use std::path::PathBuf;

fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some("role") => {
            let role = args.next().unwrap_or_default();
            let paths: Vec<PathBuf> = args.map(PathBuf::from).collect();
            let started = std::time::Instant::now();
            let counted = roles::run(&role, &paths)?;
            let seconds = started.elapsed().as_secs_f64();
            println!("{seconds} {} {counted}", roles::peak_memory()?);
            Ok(())
        }
        Some("scp") => {
            let rest: Vec<String> = args.collect();
            let number = |name: &str, default| {
                let at = rest.iter().position(|arg| arg == name);
                at.and_then(|at| rest.get(at + 1)?.parse().ok()).unwrap_or(default)
            };
            scp::run(number("--pages", 102_000), number("--rounds", 5) as usize)
        }
        _ => anyhow::bail!("usage: rutter-bench scp [--pages N] [--rounds N]"),
    }
}
