//! A build is replaced under load: every response belongs to one build.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rutter_page::Digest;

use crate::client::{Answer, Client, Running, swap};

/// Content of a build: every byte identifies it, so a mixture is visible.
fn bytes(build: usize, size: usize) -> Vec<u8> {
    let mut bytes = vec![u8::try_from(build % 251).unwrap(); size + build];
    bytes.splice(..8, build.to_le_bytes());
    bytes
}

fn is_whole(answer: &Answer) -> bool {
    let build = usize::from_le_bytes(answer.body[..8].try_into().unwrap());
    let tag = format!("\"{}\"", Digest::of(&answer.body));
    answer.body[8..].iter().all(|byte| usize::from(*byte) == build % 251)
        && answer.header("etag") == Some(tag.as_str())
        && answer.header("content-length") == Some(answer.body.len().to_string().as_str())
}

#[test] // E09
fn no_response_mixes_two_builds() {
    for recheck in [Duration::ZERO, Duration::from_millis(20)] {
        let running = Running::new(
            &[("small.json", &bytes(0, 5000)), ("large.json", &bytes(0, 700_000))],
            |settings| settings.limits.recheck = recheck,
        );
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let readers: Vec<_> = (0..6)
                .map(|number| {
                    let (running, is_over) = (&running, &is_over);
                    scope.spawn(move || {
                        let mut client = Client::new(running.connect());
                        let (mut n, mut tag) = (0_u32, String::new());
                        let path = if number % 2 == 0 { "/small.json" } else { "/large.json" };
                        while !is_over.load(Ordering::Relaxed) {
                            let answer = client.ask("GET", path, &[("If-None-Match", &tag)]);
                            match answer.status {
                                200 => assert!(is_whole(&answer), "{path}"),
                                304 => assert_eq!(answer.header("etag"), Some(tag.as_str())),
                                status => panic!("{path}: {status}"),
                            }
                            answer.header("etag").unwrap().clone_into(&mut tag);
                            n += 1;
                        }
                        n
                    })
                })
                .collect();
            for build in 1..=200 {
                swap(&running.public("small.json"), &bytes(build, 5000));
                swap(&running.public("large.json"), &bytes(build, 700_000));
            }
            is_over.store(true, Ordering::Relaxed);
            let n: u32 = readers.into_iter().map(|reader| reader.join().unwrap()).sum();
            assert!(50 < n, "{n} answers");
        });
        std::thread::sleep(recheck);
        assert_eq!(running.get("/small.json").body, bytes(200, 5000));
    }
}

#[test]
fn a_resumed_download_never_joins_two_files() {
    let running = Running::new(&[("large.json", &bytes(1, 700_000))], |_| {});
    let first = running.ask("GET", "/large.json", &[("Range", "bytes=0-99999")]);
    let tag = first.header("etag").unwrap().to_owned();
    let date = first.header("last-modified").unwrap().to_owned();
    let rest = running.ask("GET", "/large.json", &[("Range", "bytes=100000-"), ("If-Range", &tag)]);
    assert_eq!(rest.status, 206);
    assert_eq!([first.body, rest.body].concat(), bytes(1, 700_000));
    swap(&running.public("large.json"), &bytes(2, 700_000));
    for validator in [&tag, &date] {
        let headers = [("Range", "bytes=100000-"), ("If-Range", validator.as_str())];
        let answer = running.ask("GET", "/large.json", &headers);
        assert_eq!((answer.status, answer.body), (200, bytes(2, 700_000)));
    }
}
