//! debug
use rutter_extract::{Extraction, Options, html};
use rutter_page::{PageUrl, Timestamp};
use std::collections::BTreeMap;
fn norm(s: &str) -> String {
    s.split_whitespace().collect::<Vec<_>>().join(" ")
}
fn ex(bytes: &[u8], explain: bool) -> Extraction {
    let mut o = Options::new(
        PageUrl::parse("https://example.org/a/b.html").unwrap(),
        Timestamp::parse("2026-01-01T00:00:00Z").unwrap(),
    );
    o.explain = explain;
    html(bytes, &o)
}
fn text(e: &Extraction) -> String {
    e.to_text()
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    if args[1] == "show" {
        let e = ex(&std::fs::read(&args[2]).unwrap(), true);
        for w in &e.why {
            println!(
                "{} {:6} {}  [{}] {:?}",
                if w.is_kept { "KEEP" } else { "drop" },
                w.chars,
                w.path,
                w.reason,
                w.start
            );
        }
        println!("{}", e.to_markdown());
        for f in &e.findings {
            println!("{f:?}");
        }
        return;
    }
    if args[1] == "text" {
        print!("{}", ex(&std::fs::read(&args[2]).unwrap(), false).to_text());
        return;
    }
    if args[1] == "own" {
        let mut total = rutter_testkit::fidelity::Score::default();
        for case in rutter_testkit::fidelity::cases(std::path::Path::new(&args[2])).unwrap() {
            let o = Options::new(
                PageUrl::parse(case.url().to_owned()).unwrap(),
                Timestamp::parse("2026-01-01T00:00:00Z").unwrap(),
            );
            let e = html(&case.html, &o);
            let page: serde_json::Value = serde_json::from_str(&e.page.to_line()).unwrap();
            let links: Vec<_> =
                e.inline_links().map(|(a, b)| (a.to_owned(), b.to_owned())).collect();
            let s = rutter_testkit::fidelity::score(&case, &page, &links);
            let f = s.fidelity();
            println!(
                "{:32} recall {:.3} precision {:.3} faults {}",
                case.name,
                f.recall(),
                f.precision(),
                s.faults.len()
            );
            for x in &s.faults {
                println!("      {x}");
            }
            total.add(s);
        }
        for (k, c) in &total.counts {
            println!(
                "{k:10} expected {:5} found {:5} extra {:5} recall {:.3} precision {:.3}",
                c.expected,
                c.found,
                c.extra,
                c.recall(),
                c.precision()
            );
        }
        let f = total.fidelity();
        println!("FIDELITY {:.4} precision {:.4}", f.recall(), f.precision());
        return;
    }
    if args[1] == "parse" {
        let mut files = Vec::new();
        for f in std::fs::read_dir(&args[2]).unwrap() {
            let p = f.unwrap().path();
            if p.is_file() {
                files.push(std::fs::read(p).unwrap());
            }
        }
        let bytes: usize = files.iter().map(Vec::len).sum();
        for _ in 0..3 {
            let t = std::time::Instant::now();
            let n: usize = files.iter().map(|f| rutter_extract::bare_tree(f)).sum();
            let a = t.elapsed();
            let t = std::time::Instant::now();
            let m: usize = files.iter().map(|f| ex(f, false).page.content.len()).sum();
            let b = t.elapsed();
            println!(
                "{n} nodes parse {:.1} MB/s, all {:.1} MB/s ratio {:.2} {m}",
                bytes as f64 / 1e6 / a.as_secs_f64(),
                bytes as f64 / 1e6 / b.as_secs_f64(),
                a.as_secs_f64() / b.as_secs_f64()
            );
        }
        return;
    }
    let dir = &args[1];
    let verbose = args.get(2).map(String::as_str);
    let data: BTreeMap<String, serde_json::Value> =
        serde_json::from_slice(&std::fs::read(format!("{dir}/evaldata-open.json")).unwrap())
            .unwrap();
    let mut sums = [[0usize; 3]; 2];
    for (_, it) in &data {
        let file = it["file"].as_str().unwrap();
        let Ok(bytes) = std::fs::read(format!("{dir}/html/{file}")) else { continue };
        use sha2::Digest;
        let part = usize::from(sha2::Sha256::digest(file.as_bytes())[0] % 2);
        let text = norm(&text(&ex(&bytes, false)));
        let get = |k: &str| {
            it[k].as_array().unwrap().iter().map(|s| norm(s.as_str().unwrap())).collect::<Vec<_>>()
        };
        let (with, without) = (get("with"), get("without"));
        let miss: Vec<_> = with.iter().filter(|w| !text.contains(w.as_str())).collect();
        let extra: Vec<_> = without.iter().filter(|w| text.contains(w.as_str())).collect();
        sums[part][0] += with.len() - miss.len();
        sums[part][1] += extra.len();
        sums[part][2] += miss.len();
        if part == 0 && verbose == Some("v") {
            for m in miss {
                println!("MISS {file}: {m}");
            }
            for m in extra {
                println!("EXTRA {file}: {m}");
            }
        }
    }
    for (name, [tp, fp, fneg]) in ["tune", "held"].iter().zip(sums) {
        if *name == "held" && verbose != Some("final") {
            continue;
        }
        let (p, r) = (tp as f64 / (tp + fp) as f64, tp as f64 / (tp + fneg) as f64);
        println!(
            "{name} P {p:.3} R {r:.3} F1 {:.4}  tp {tp} fp {fp} fn {fneg}",
            2.0 * p * r / (p + r)
        );
    }
}
