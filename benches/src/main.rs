//! Benchmarks: throughput and memory, compared with other programs (`cargo xtask bench`).
//!
//! Every figure is a ratio to another program or a limit that is measured in the same run, in
//! rotation; medians are shown. Each measurement is a process of its own, so that peak memory
//! belongs to one job; only extraction and tree building are measured in turn in one process.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "a measuring program prints, may stop, and rounds"
)]

mod arc;
mod build;
mod check;
mod corpus;
mod docsite;
mod extract;
mod features;
mod load;
mod logs;
mod markers;
mod roles;
mod scale;
mod score;
mod scp;
mod serve;
mod sitemap;
mod spxi;
mod store;
mod sync;
mod table;

use std::path::PathBuf;

#[expect(clippy::too_many_lines, reason = "a list of chores")]
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
        Some(
            chore @ ("arc" | "build" | "check" | "extract" | "load" | "logs" | "markers" | "scp"
            | "serve" | "sitemap" | "spxi" | "store" | "sync"),
        ) => {
            let rest: Vec<String> = args.collect();
            let value = |name: &str| {
                let at = rest.iter().position(|arg| arg == name);
                at.and_then(|at| rest.get(at + 1))
            };
            let number = |name: &str, default: u64| {
                value(name).and_then(|value| value.parse().ok()).unwrap_or(default)
            };
            let n_rounds = number("--rounds", 5) as usize;
            if chore == "scp" {
                return scp::run(number("--pages", 102_000), n_rounds);
            }
            let path = |name: &str| value(name).map(PathBuf::from);
            if chore == "check" {
                let site =
                    path("--site").ok_or_else(|| anyhow::anyhow!("check needs --site DIR"))?;
                return check::run(&site, number("--rounds", 3) as usize);
            }
            if chore == "build" {
                let site =
                    path("--site").ok_or_else(|| anyhow::anyhow!("build needs --site DIR"))?;
                let docs = path("--docs");
                let others = [
                    "sqlite3-doc/usr/share/doc/sqlite3",
                    "git-doc/usr/share/doc/git-doc",
                    "debian-policy/usr/share/doc/debian-policy",
                    "debian-policy/usr/share/doc/debian-policy/policy.html",
                ];
                let others =
                    docs.iter().flat_map(|docs| others.iter().map(|other| docs.join(other)));
                let others = others.filter(|other| other.is_dir()).collect();
                let python = path("--python");
                let n_rounds = number("--rounds", 3) as usize;
                return build::run(&build::BuildPaths { site, others, python, n_rounds });
            }
            if chore == "serve" {
                let (seconds, n_rounds) = (number("--seconds", 10), number("--rounds", 3));
                let rutter = load::program(path("--rutter"))?;
                let plan = serve::ServeBench { rutter, seconds, n_rounds: n_rounds as usize };
                return serve::run(&plan);
            }
            if chore == "load" {
                return load::run(&load::program(path("--rutter"))?, number("--seconds", 8));
            }
            if chore == "arc" {
                return arc::run(number("--pages", 1_000_000), n_rounds);
            }
            if chore == "spxi" {
                return spxi::run(n_rounds);
            }
            if chore == "logs" {
                return logs::run(number("--lines", 1_000_000), n_rounds);
            }
            if chore == "store" {
                let n_large = number("--large", store::USUAL_LARGE);
                let n_rounds = number("--rounds", 3) as usize;
                let n_large = (0 < n_large).then_some(n_large);
                return store::run(number("--pages", 100_000), n_rounds, n_large);
            }
            if chore == "sync" {
                let need = |name: &str| {
                    path(name).ok_or_else(|| anyhow::anyhow!("sync needs {name} PATH"))
                };
                return sync::run(&sync::SyncBench {
                    rutter: load::program(path("--rutter"))?,
                    python: need("--python")?,
                    site: need("--site")?,
                    home: value("--home").cloned().unwrap_or_else(|| "index.html".to_owned()),
                    n_rounds: number("--rounds", 3) as usize,
                    n_few: number("--few", 10_000),
                    n_many: number("--many", 100_000),
                    n_scrapy: number("--scrapy", 2_500),
                    n_large: number("--large", store::USUAL_LARGE),
                    only: value("--only").cloned(),
                });
            }
            if chore == "sitemap" {
                return sitemap::run(path("--peer").as_deref(), n_rounds);
            }
            if chore == "markers" {
                let docs =
                    path("--docs").ok_or_else(|| anyhow::anyhow!("markers needs --docs DIR"))?;
                return markers::run(&docs, n_rounds);
            }
            extract::run(&extract::ExtractPaths {
                docs: path("--docs"),
                news: path("--news"),
                python: path("--python"),
                peer: path("--peer"),
                n_rounds,
            })
        }
        Some("scale") => {
            let rest: Vec<String> = args.collect();
            let value = |name: &str| {
                let at = rest.iter().position(|arg| arg == name);
                at.and_then(|at| rest.get(at + 1))
            };
            let n_pages = value("--pages").and_then(|value| value.parse().ok());
            scale::run(n_pages.unwrap_or(1_000_000), value("--folder").map(PathBuf::from))
        }
        Some("features") => {
            let folders: Vec<PathBuf> = args.map(PathBuf::from).collect();
            let [set, out] = folders.as_slice() else {
                anyhow::bail!("usage: rutter-bench features SET_DIR OUT_DIR");
            };
            features::run(set, out)
        }
        Some("score") => {
            let folders: Vec<PathBuf> = args.map(PathBuf::from).collect();
            score::run(&folders)
        }
        Some("texts") => {
            let list = args.next().ok_or_else(|| anyhow::anyhow!("texts needs a LIST"))?;
            score::texts(&PathBuf::from(list))
        }
        Some("dates") => {
            let list = args.next().ok_or_else(|| anyhow::anyhow!("dates needs a LIST"))?;
            score::dates(&PathBuf::from(list))
        }
        _ => anyhow::bail!(
            "usage: rutter-bench scp [--pages N] [--rounds N] | extract --docs DIR [--news DIR] | markers --docs DIR | sitemap | arc [--pages N] | spxi | build --site DIR | check --site DIR | scale [--pages N] [--folder DIR] | score DIR | texts LIST | dates LIST | features SET_DIR OUT_DIR | logs [--lines N] | store [--pages N] [--large N] | sync --python PROGRAM --site DIR [--home PATH] [--few N] [--many N] [--scrapy N] [--large N] [--only PART]"
        ),
    }
}
