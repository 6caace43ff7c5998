//! Times another extractor: `rutter-peers NAME LIST PASSES` prints seconds.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [name, list, passes] = args.as_slice() else {
        panic!("usage: rutter-peers NAME LIST PASSES");
    };
    let passes: usize = passes.parse().expect("a number of passes");
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
