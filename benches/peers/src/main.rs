//! Runs another extractor or sitemap writer.
//!
//! `rutter-peers NAME LIST PASSES` prints seconds; for `sitemap-rs`, LIST is the number of links of
//! each entry. `rutter-peers texts NAME LIST` writes texts: each line of LIST holds an input file
//! (HTML in UTF-8), an output file and the URL of the page, separated by tabs.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [mode, name, list] = args.as_slice()
        && mode == "texts"
    {
        return texts(name, list);
    }
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
    // A page on which the extractor panics counts as read.
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

/// Writes the text of each listed page; a page on which the extractor panics gets an empty text.
fn texts(name: &str, list: &str) {
    std::panic::set_hook(Box::new(|_| {}));
    for line in fs::read_to_string(list).expect("a list of pages").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [input, output, url] = fields.as_slice() else {
            panic!("`{line}` is not INPUT, OUTPUT and URL");
        };
        let page = fs::read_to_string(input).expect("a page in UTF-8");
        let text = catch_unwind(AssertUnwindSafe(|| text_of(name, &page, url))).unwrap_or_default();
        // The output is renamed into place, so an interrupted run leaves no partial text.
        let partial = format!("{output}.partial");
        fs::write(&partial, text).expect("a writable output");
        fs::rename(&partial, output).expect("a writable output");
    }
}

fn text_of(name: &str, page: &str, url: &str) -> String {
    match name {
        "rs-trafilatura" => {
            let options = rs_trafilatura::Options {
                url: Some(url.to_owned()),
                ..rs_trafilatura::Options::default()
            };
            let found = rs_trafilatura::extract_with_options(page, &options);
            found.map(|found| found.content_text).unwrap_or_default()
        }
        "dom_smoothie" => {
            let config = dom_smoothie::Config {
                text_mode: dom_smoothie::TextMode::Formatted,
                ..dom_smoothie::Config::default()
            };
            let reader = dom_smoothie::Readability::new(page, Some(url), Some(config))
                .or_else(|_| dom_smoothie::Readability::new(page, None, None));
            let article = reader.and_then(|mut reader| reader.parse());
            article.map(|article| article.text_content.to_string()).unwrap_or_default()
        }
        other => panic!("no peer {other}"),
    }
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
