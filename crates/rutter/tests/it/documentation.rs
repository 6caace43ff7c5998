//! Runs the console blocks of README.md and of the pages in `docs/`, and compares their output.
//!
//! The blocks of a page are one session: they run in order in one folder. A command that ends
//! with ` &` runs in the background until the page ends; the session continues when its port
//! accepts connections. Port 8391 is replaced by a free one. In `sh` blocks, only the options of
//! `rutter` commands are checked, because such commands need a network, a key or a service.
//! `UPDATE_EXPECTED=1 cargo test -p rutter documentation` writes the output into the pages.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::{masked, root, run, stage};

const PORT: &str = "8391";

/// A process that ends with the test.
struct BackgroundProcess(Child);

impl Drop for BackgroundProcess {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// README.md and all pages below `docs/`.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

/// Where the content of each fenced block of this language is.
fn blocks(page: &str, language: &str) -> Vec<Range<usize>> {
    let fence = format!("```{language}\n");
    let mut blocks = Vec::new();
    for (at, _) in page.match_indices(&fence) {
        let start = at + fence.len();
        let len = page[start..].find("```").unwrap();
        blocks.push(start..start + len);
    }
    blocks
}

/// Runs all console blocks of a page and returns the page with what was printed.
fn replay_page(page: &str) -> String {
    let folder = stage();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let mut background = Vec::new();
    let (mut replayed, mut rest) = (String::new(), 0);
    for block in blocks(page, "console") {
        replayed.push_str(&page[rest..block.start]);
        for line in page[block.clone()].lines() {
            let Some(command) = line.strip_prefix("$ ") else { continue };
            writeln!(replayed, "{line}").unwrap();
            let command = command.replace(PORT, &port);
            if let Some(command) = command.strip_suffix(" &") {
                background.push(start(command, folder.path(), &port));
            } else {
                replayed.push_str(&run(&command, folder.path()).replace(&port, PORT));
            }
        }
        rest = block.end;
    }
    replayed.push_str(&page[rest..]);
    replayed
}

/// Starts a server and waits until its port accepts connections.
fn start(command: &str, folder: &Path, port: &str) -> BackgroundProcess {
    let program = Path::new(env!("CARGO_BIN_EXE_rutter"));
    let args = command.strip_prefix("rutter ").expect("only rutter runs in the background");
    let child = Command::new(program)
        .args(args.split(' '))
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let process = BackgroundProcess(child);
    let deadline = Instant::now() + Duration::from_mins(1);
    while TcpStream::connect(format!("127.0.0.1:{port}")).is_err() {
        assert!(Instant::now() < deadline, "`{command}` does not serve");
        std::thread::yield_now();
    }
    process
}

#[test]
fn pages_show_what_commands_print() {
    let mut wrong = Vec::new();
    let mut n_pages = 0;
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        if blocks(&page, "console").is_empty() {
            continue;
        }
        n_pages += 1;
        let replayed = replay_page(&page);
        if masked(&page) == masked(&replayed) {
            continue;
        }
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            fs::write(&path, replayed).unwrap();
        } else {
            wrong.push(format!("--- {}\n{replayed}", path.display()));
        }
    }
    assert!(4 <= n_pages);
    assert!(wrong.is_empty(), "pages show other output:\n{}", wrong.join("\n"));
}

#[test]
fn pages_name_options_that_exist() {
    let mut helps: BTreeMap<String, String> = BTreeMap::new();
    let mut unknown = Vec::new();
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        for block in blocks(&page, "sh") {
            for line in page[block].lines() {
                let line = line.split(" # ").next().unwrap();
                for command in line.split(" | ").filter_map(|it| it.strip_prefix("rutter ")) {
                    let words: Vec<&str> = command.split_whitespace().collect();
                    let is_name = |word: &&&str| word.chars().all(|c| c.is_ascii_lowercase());
                    // A second word may be a subcommand or an argument; help knows.
                    let name =
                        words.iter().take(1).chain(words.iter().skip(1).take(1).filter(is_name));
                    let name = name.copied().collect::<Vec<_>>().join(" ");
                    let help = helps.entry(name.clone()).or_insert_with(|| help(&name));
                    for flag in words.iter().filter(|word| word.starts_with("--")) {
                        let flag = flag.split('=').next().unwrap();
                        if !help.contains(flag) {
                            unknown.push(format!("{}: rutter {name} {flag}", path.display()));
                        }
                    }
                }
            }
        }
    }
    assert!(unknown.is_empty(), "unknown options:\n{}", unknown.join("\n"));
}

fn help(name: &str) -> String {
    let words: Vec<&str> = name.split(' ').collect();
    for n_words in (1..=words.len()).rev() {
        let program = env!("CARGO_BIN_EXE_rutter");
        let output = Command::new(program).args(&words[..n_words]).arg("--help").output().unwrap();
        if output.status.success() {
            return String::from_utf8(output.stdout).unwrap();
        }
    }
    panic!("rutter has no command {name}");
}
