//! Conditional requests and ranges: every line of `fixtures/conditions.tsv` is a case, for a file
//! in memory, a large file, and a compressed collection.

use rutter_page::Digest;
use rutter_serve::SiteSettings;

use crate::client::{Client, Running};

const TABLE: &str = include_str!("../../fixtures/conditions.tsv");

struct Case<'c> {
    method: &'c str,
    headers: Vec<(&'c str, String)>,
    status: u16,
    bytes: &'c str,
    line: &'c str,
}

fn cases(fill: &dyn Fn(&str) -> String) -> impl Iterator<Item = Case<'_>> {
    TABLE.lines().filter(|line| !line.starts_with('#')).map(move |line| {
        let cells: Vec<&str> = line.split('\t').collect();
        let &[method, headers, status, bytes] = cells.as_slice() else { panic!("{line}") };
        let headers = headers.split(" | ").filter(|header| !header.is_empty()).map(|header| {
            let (name, value) = header.split_once(':').unwrap();
            (name, fill(value.trim()))
        });
        Case { method, headers: headers.collect(), status: status.parse().unwrap(), bytes, line }
    })
}

/// Runs the table against a file of 100 bytes.
fn run(running: &Running, path: &str, bytes: &[u8]) -> usize {
    let mut client = Client::new(running.connect());
    let plain = client.ask("GET", path, &[]);
    assert_eq!((plain.status, plain.body.len()), (200, bytes.len()));
    let tag = plain.header("etag").unwrap().to_owned();
    let fill = |value: &str| {
        // Whole days suffice for the dates.
        value
            .replace("{tag}", &tag)
            .replace("{bare}", tag.trim_matches('"'))
            .replace("{open}", tag.trim_end_matches('"'))
            .replace("{date}", "Fri, 01 May 2026 12:00:00 GMT")
            .replace("{later}", "Sat, 02 May 2026 12:00:00 GMT")
            .replace("{earlier}", "Fri, 01 May 2026 11:59:59 GMT")
            .replace("{rfc850}", "Friday, 01-May-26 12:00:00 GMT")
            .replace("{asctime}", "Fri May  1 12:00:00 2026")
    };
    let mut n = 0;
    for case in cases(&fill) {
        n += 1;
        let headers: Vec<(&str, &str)> =
            case.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let answer = client.ask(case.method, path, &headers);
        assert_eq!(answer.status, case.status, "{path} {}", case.line);
        let is_head = case.method == "HEAD";
        let wanted = match case.bytes {
            "all" => bytes,
            "none" => &[],
            range => {
                let (first, last) = range.split_once('-').unwrap();
                let (first, last): (usize, usize) = (first.parse().unwrap(), last.parse().unwrap());
                let range = format!("bytes {first}-{last}/{}", bytes.len());
                assert_eq!(answer.header("content-range"), Some(range.as_str()), "{}", case.line);
                let length = (last + 1 - first).to_string();
                assert_eq!(answer.header("content-length"), Some(length.as_str()));
                &bytes[first..=last]
            }
        };
        assert!(is_head || answer.body == wanted, "{path} {}", case.line);
        // Header fields that each of them repeats (D07).
        for name in ["etag", "last-modified", "vary"] {
            assert_eq!(answer.header(name), plain.header(name), "{name} {path} {}", case.line);
        }
        // Caches must not store a failed condition (RFC 9111, section 3).
        let is_refusal = matches!(answer.status, 412 | 416);
        let cache = if is_refusal { Some("no-store") } else { plain.header("cache-control") };
        assert_eq!(answer.header("cache-control"), cache, "{path} {}", case.line);
        match answer.status {
            304 => {
                for name in ["content-type", "content-length", "content-encoding"] {
                    assert_eq!(answer.header(name), None, "{}", case.line);
                }
            }
            416 => {
                let range = format!("bytes */{}", bytes.len());
                assert_eq!(answer.header("content-range"), Some(range.as_str()));
            }
            200 | 206 => {
                for name in ["content-type", "content-encoding", "accept-ranges"] {
                    assert_eq!(answer.header(name), plain.header(name), "{}", case.line);
                }
            }
            _ => {}
        }
    }
    n
}

fn served(name: &str, rest: &str) -> Vec<u8> {
    format!(
        r#"{{"version":2,"base":"https://harbour.example","files":[{{"path":"{name}","modified":"2026-05-01T12:00:00Z",{rest}}}]}}"#
    )
    .into_bytes()
}

fn running(name: &str, bytes: &[u8], rest: &str) -> Running {
    running_with(name, bytes, rest, |_| {})
}

fn running_with(
    name: &str,
    bytes: &[u8],
    rest: &str,
    change: impl FnOnce(&mut SiteSettings),
) -> Running {
    let folder = tempfile::tempdir().unwrap();
    crate::client::put(&folder.path().join("public").join(name), bytes);
    crate::client::put(&folder.path().join("state/served.json"), &served(name, rest));
    Running::start(folder, change, None)
}

#[test] // ARC-022 SCP-148 SCP-152
fn conditions_and_ranges_of_a_small_file() {
    let bytes: Vec<u8> = (0..100).collect();
    let page = running("page.html", &bytes, r#""type":"text/html","cache":"page""#);
    let n = run(&page, "/page.html", &bytes);
    assert!(60 <= n, "{n} cases");
    assert_eq!(
        page.get("/page.html").header("etag"),
        Some(format!("\"{}\"", Digest::of(&bytes)).as_str())
    );
}

#[test] // SCP-148 SCP-152
fn conditions_and_ranges_of_a_compressed_collection() {
    // Served with the type of a collection: ranges apply to the stored bytes.
    let bytes: Vec<u8> = (0..100).collect();
    let rest = r#""type":"application/scp","coding":"gzip","cache":"snapshot""#;
    let running = running("a.scp.gz", &bytes, rest);
    run(&running, "/a.scp.gz", &bytes);
    let part = running.ask("GET", "/a.scp.gz", &[("Range", "bytes=3-4")]);
    assert_eq!(part.header("content-encoding"), Some("gzip"));
}

#[test] // SCP-152
fn conditions_and_ranges_of_a_large_file() {
    let bytes: Vec<u8> = (0..100).collect();
    let rest = r#""type":"application/scp","cache":"snapshot""#;
    let running = running_with("a.scp", &bytes, rest, |settings| settings.limits.small = 10);
    let n = run(&running, "/a.scp", &bytes);
    assert!(60 <= n, "{n} cases");
}
