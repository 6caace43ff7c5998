//! No request path leaves the root, also while symbolic links are created.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::client::{Client, Running, put};

const SECRET: &str = "the secret outside";

/// A root with symbolic links, some of which leave it.
fn running() -> Running {
    let folder = tempfile::tempdir().unwrap();
    put(&folder.path().join("secret/etc/passwd"), SECRET.as_bytes());
    put(&folder.path().join("secret/index.html"), SECRET.as_bytes());
    put(&folder.path().join("public/a/b/index.html"), b"inside");
    put(&folder.path().join("public/a/x.html"), b"inside");
    put(&folder.path().join("public/.git/config"), SECRET.as_bytes());
    let public = folder.path().join("public");
    symlink(folder.path().join("secret"), public.join("out")).unwrap();
    symlink("../../secret/etc/passwd", public.join("a/passwd")).unwrap();
    symlink("/", public.join("slash")).unwrap();
    symlink("a", public.join("in")).unwrap();
    Running::start(folder, |_| {}, None)
}

#[test] // E01
fn no_path_leaves_the_root() {
    let running = running();
    let part = prop_oneof![
        Just("..".to_owned()),
        Just(".".to_owned()),
        Just("%2e%2e".to_owned()),
        Just("%2E.".to_owned()),
        Just("%2f".to_owned()),
        Just("%5c".to_owned()),
        Just("\\".to_owned()),
        Just("%00".to_owned()),
        Just("%252e%252e".to_owned()),
        Just("%c0%ae%c0%ae".to_owned()),
        Just("a".to_owned()),
        Just("b".to_owned()),
        Just("out".to_owned()),
        Just("in".to_owned()),
        Just("slash".to_owned()),
        Just("secret".to_owned()),
        Just("etc".to_owned()),
        Just("passwd".to_owned()),
        Just(".git".to_owned()),
        Just("config".to_owned()),
        Just("index.html".to_owned()),
        Just(String::new()),
        "[!-~]{1,6}",
    ];
    let paths =
        proptest::collection::vec(part, 1..9).prop_map(|parts| format!("/{}", parts.join("/")));
    let mut runner = TestRunner::new(Config { cases: 3000, ..Config::default() });
    let client = std::cell::RefCell::new(Client::new(running.connect()));
    let result = runner.run(&paths, |path| {
        let mut client = client.borrow_mut();
        let answer = match client.try_ask("GET", &path, &[]) {
            Ok(answer) => answer,
            Err(error) => return Err(TestCaseError::fail(format!("{path}: {error}"))),
        };
        prop_assert!(!answer.text().contains(SECRET), "{path}");
        prop_assert!([200, 308, 400, 404].contains(&answer.status), "{path}: {}", answer.status);
        if answer.header("connection") == Some("close") {
            *client = Client::new(running.connect());
        }
        Ok(())
    });
    result.unwrap();
    assert_eq!(running.get("/in/x.html").text(), "inside", "links within are fine");
    for path in ["/out/etc/passwd", "/a/passwd", "/slash/etc/passwd", "/out/", "/out"] {
        assert_eq!(running.get(path).status, 404, "{path}");
    }
}

#[test] // E02
fn does_not_follow_a_link_created_meanwhile() {
    let running = running();
    let (place, aside) = (running.public("swapped"), running.folder.path().join("aside"));
    let outside = running.folder.path().join("secret");
    put(&aside.join("index.html"), b"inside");
    put(&aside.join("etc/passwd"), b"inside");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut n = 0_u32;
            while !is_over.load(Ordering::Relaxed) {
                // A directory, then a symbolic link of the same name to a place outside.
                fs::rename(&aside, &place).unwrap();
                std::thread::yield_now();
                fs::rename(&place, &aside).unwrap();
                let link = running.public(&format!(".link{n}"));
                symlink(&outside, &link).unwrap();
                fs::rename(&link, &place).unwrap();
                std::thread::yield_now();
                fs::remove_file(&place).unwrap();
                n += 1;
            }
        });
        let readers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut client = Client::new(running.connect());
                    let (end, mut n_inside) = (Instant::now() + Duration::from_secs(3), 0);
                    while Instant::now() < end {
                        for path in ["/swapped/", "/swapped/etc/passwd"] {
                            let answer = client.ask("GET", path, &[]);
                            assert!(!answer.text().contains(SECRET), "{path}");
                            n_inside += u32::from(answer.text() == "inside");
                        }
                    }
                    n_inside
                })
            })
            .collect();
        let found: Vec<_> = readers.into_iter().map(ScopedJoinHandle::join).collect();
        // The other thread ends in any case.
        is_over.store(true, Ordering::Relaxed);
        let n_inside: u32 = found.into_iter().map(Result::unwrap).sum();
        assert!(0 < n_inside, "the folder was never seen");
    });
}
