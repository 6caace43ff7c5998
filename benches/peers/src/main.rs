//! Times another extractor or writer: `rutter-peers NAME LIST PASSES` prints
//! seconds; for a sitemap, LIST is the number of links of each entry.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [name, list, passes] = args.as_slice() else {
        panic!("usage: rutter-peers NAME LIST PASSES");
    };
    let passes: usize = passes.parse().expect("a number of passes");
    if name == "sitemap-rs" {
        return sitemap(list.parse().expect("a number of links"), passes);
    }
    let list = fs::read_to_string(list).expect("a list of pages");
    let pages: Vec<String> = list
        .lines()
        .map(|path| String::from_utf8_lossy(&fs::read(path).expect("a page")).into_owned())
        .collect();
    // A page that stops the peer counts as read.
    std::panic::set_hook(Box::new(|_| {}));
    let started = Instant::now();
    let mut n_chars = 0;
    for page in (0..passes).flat_map(|_| &pages) {
        n_chars += match name.as_str() {
            "rs-trafilatura" => catch_unwind(AssertUnwindSafe(|| {
                rs_trafilatura::extract(page).map_or(0, |found| found.content_text.len())
            }))
            .unwrap_or(0),
            other => panic!("no peer {other}"),
        };
    }
    let seconds = started.elapsed().as_secs_f64();
    eprintln!("{n_chars} characters");
    println!("{seconds}");
}

/// Writes the same entries as `benches/src/sitemap.rs`, made beforehand.
fn sitemap(links: usize, passes: usize) {
    use sitemap_rs::url::{ChangeFrequency, Link, Url};
    use sitemap_rs::url_set::UrlSet;

    let urls = (0..50_000_i64).map(|n| {
        let loc = format!(
            "https://harbour.example/guide/section-{}/page-{n}.html?lang=en&v={}",
            n % 97,
            n % 7
        );
        let link = |_| {
            let href = format!("https://harbour.example/de/section-{}/page-{n}.html", n % 97);
            Link::new("de".to_owned(), href)
        };
        let time = jiff::Timestamp::from_second(1_767_225_600 + n * 37).expect("a time");
        let frequency = if n % 3 == 0 { ChangeFrequency::Daily } else { ChangeFrequency::Monthly };
        Url::builder(loc)
            .links((0..links).map(link))
            .last_modified(time.to_zoned(jiff::tz::TimeZone::UTC))
            .change_frequency(frequency)
            .priority((n % 11) as f32 / 10.0)
            .build()
            .expect("a good entry")
    });
    let set = UrlSet::new(urls.collect()).expect("a good set");
    let mut out = Vec::new();
    let started = Instant::now();
    for _ in 0..passes {
        out.clear();
        set.write(&mut out).expect("memory takes everything");
    }
    let seconds = started.elapsed().as_secs_f64();
    eprintln!("{} bytes", out.len());
    println!("{seconds}");
}
