//! The content and header fields of responses.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;

use rutter_page::Digest;

use crate::client::{Client, Running, put, swap, wait_for};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn tag(bytes: &[u8]) -> String {
    format!("\"{}\"", Digest::of(bytes))
}

#[test] // SCP-144 SCP-145 SCP-146 SCP-147 SCP-149 SCP-150 SCP-151 SCP-202 SCP-213
fn serves_collections_as_stored() {
    let sum = format!("sha256:{}", "0f".repeat(32));
    let text = format!(
        "{{\"collection\":{{\"id\":\"a\",\"section\":\"all\",\"type\":\"snapshot\",\"generated\":\"2026-05-01T12:00:00.7Z\",\"checksum\":\"{sum}\",\"version\":\"0.1\"}}}}\n{{}}\n"
    );
    let (gz, zst) = (gzip(text.as_bytes()), zstd::encode_all(text.as_bytes(), 3).unwrap());
    let files = [
        ("scp/a.scp", text.as_bytes(), None),
        ("scp/a.scp.gz", &gz, Some("gzip")),
        ("scp/a.scp.zst", &zst, Some("zstd")),
    ];
    let folder = tempfile::tempdir().unwrap();
    let rows = files.map(|(name, bytes, coding)| {
        put(&folder.path().join("public").join(name), bytes);
        let coding = coding.map_or(String::new(), |coding| format!(r#""coding":"{coding}","#));
        let stored = Digest::of(bytes);
        format!(
            r#"{{"path":"{name}","type":"application/scp",{coding}"digest":"{sum}","stored":"{stored}","cache":"snapshot"}}"#
        )
    });
    let rows = rows.join(",");
    let served = format!(r#"{{"version":2,"base":"https://a.example","files":[{rows}]}}"#);
    put(&folder.path().join("state/served.json"), served.as_bytes());
    let running = Running::start(folder, |_| {}, None);
    for (name, bytes, coding) in files {
        // Independent of `Accept-Encoding` (D05).
        for accept in ["", "identity", "gzip", "gzip;q=0, zstd;q=0, identity;q=0"] {
            let path = format!("/{name}");
            let answer = running.ask("GET", &path, &[("Accept-Encoding", accept)]);
            assert_eq!(answer.status, 200);
            assert_eq!(answer.body, bytes);
            assert_eq!(answer.header("content-type"), Some("application/scp"));
            assert_eq!(answer.header("content-encoding"), coding);
            assert_eq!(answer.header("content-length"), Some(bytes.len().to_string().as_str()));
            assert_eq!(answer.header("etag"), Some(format!("\"{sum}\"").as_str()));
            assert_eq!(answer.header("last-modified"), Some("Fri, 01 May 2026 12:00:00 GMT"));
            assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
            assert_eq!(answer.header("vary"), None);
            assert_eq!(answer.header("www-authenticate"), None);
            let head = running.ask("HEAD", &path, &[("Accept-Encoding", accept)]);
            let mut same = answer.clone();
            same.body.clear();
            same.headers.insert("date".to_owned(), head.header("date").unwrap().to_owned());
            assert_eq!(head, same);
        }
    }
}

#[test] // SCP-150 D08
fn tag_of_a_plain_collection_is_its_checksum_without_served_json() {
    let bare = "{\"collection\":{\"id\":\"a\"}}\n{}\n";
    let sum = Digest::of(bare.as_bytes());
    let text = bare.replacen("\"a\"", &format!("\"a\",\"checksum\":\"{sum}\""), 1);
    let false_text = text.replace("{}\n", "[]\n");
    let files = [("a.scp", text.as_bytes()), ("false.scp", false_text.as_bytes())];
    let running = Running::new(&files, |_| {});
    let tag = |path: &str| running.ask("GET", path, &[]).header("etag").unwrap().to_owned();
    assert_eq!(tag("/a.scp"), format!("\"{sum}\""));
    // A wrong checksum may also be that of other bytes.
    assert_ne!(tag("/false.scp"), format!("\"{sum}\""));
}

#[test] // D08
fn same_content_with_other_bytes_has_another_etag() {
    let sum = format!("sha256:{}", "0f".repeat(32));
    let filler = "x".repeat(300_000);
    let text = format!("{{\"collection\":{{\"checksum\":\"{sum}\"}}}}\n\"{filler}\"\n");
    let [one, two] = [1, 19].map(|level| zstd::encode_all(text.as_bytes(), level).unwrap());
    assert_ne!(one, two);
    // In memory, and too large for it.
    for small in [1 << 20, 10] {
        let folder = tempfile::tempdir().unwrap();
        put(&folder.path().join("public/a.scp.zst"), &one);
        let served = format!(
            r#"{{"version":2,"base":"https://a.example","files":[{{"path":"a.scp.zst","type":"application/scp","coding":"zstd","digest":"{sum}","stored":"{}","cache":"snapshot"}}]}}"#,
            Digest::of(&one)
        );
        put(&folder.path().join("state/served.json"), served.as_bytes());
        let running = Running::start(folder, |settings| settings.limits.small = small, None);
        let tag = || running.get("/a.scp.zst").header("etag").unwrap().to_owned();
        let built = tag();
        assert_eq!(built, format!("\"{sum}\""));
        swap(&running.public("a.scp.zst"), &two);
        let headers = [("Range", "bytes=5-"), ("If-Range", built.as_str())];
        let answer = running.ask("GET", "/a.scp.zst", &headers);
        assert_eq!((answer.status, &answer.body), (200, &two), "two files are not mixed");
        let other = tag();
        assert!(other.starts_with(&format!("\"{sum}-")) && other != built, "{other}");
        let headers = [("Range", "bytes=5-"), ("If-Range", other.as_str())];
        assert_eq!(running.ask("GET", "/a.scp.zst", &headers).status, 206);
        swap(&running.public("a.scp.zst"), &one);
        assert_eq!(tag(), built);
    }
    // Without recorded digests, each has an ETag of its own.
    let running = Running::new(&[("a.scp.zst", &one)], |_| {});
    let tag = || running.get("/a.scp.zst").header("etag").unwrap().to_owned();
    let first = tag();
    swap(&running.public("a.scp.zst"), &two);
    assert_ne!(tag(), first);
}

#[test]
fn declares_utf8_pages() {
    let running = Running::new(
        &[("a.html", "<p>é".as_bytes()), ("b.html", b"<p>\xe9"), ("404.html", b"<p>none")],
        |_| {},
    );
    let kind = |path: &str| running.get(path).header("content-type").unwrap().to_owned();
    assert_eq!(kind("/a"), "text/html; charset=utf-8");
    assert_eq!(kind("/b"), "text/html");
    assert_eq!(kind("/c"), "text/html; charset=utf-8");
}

#[test] // ARC-022 ARC-023 SPX-049 SPX-050
fn serves_compressed_files_on_request() {
    let plain = br#"{"arc_sitemap_version":"2.1","pages":[]}"#;
    let coded = gzip(plain);
    let running = Running::new(
        &[
            ("arc-sitemap.json", plain),
            ("arc-sitemap.json.gz", &coded),
            ("spxi-index.jsonld", b"{}"),
            ("page.html", b"<p>page"),
            ("page.html.gz", &gzip(b"<p>page")),
        ],
        |_| {},
    );
    let answer = running.get("/arc-sitemap.json");
    assert_eq!((answer.body.as_slice(), answer.header("content-encoding")), (&plain[..], None));
    assert_eq!(answer.header("etag"), Some(tag(plain).as_str()));
    assert_eq!(answer.header("vary"), Some("accept-encoding"));
    let answer = running.ask("GET", "/arc-sitemap.json", &[("Accept-Encoding", "br, gzip;q=0.5")]);
    assert_eq!(answer.body, coded);
    assert_eq!(answer.header("content-encoding"), Some("gzip"));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    // The digest is not recorded, so the ETag contains it.
    let gzip_tag = gzip_tag(plain, Some(&coded));
    assert_eq!(answer.header("etag"), Some(gzip_tag.as_str()));
    assert_eq!(answer.header("vary"), Some("accept-encoding"));
    let headers = [("Accept-Encoding", "gzip"), ("If-None-Match", gzip_tag.as_str())];
    let answer = running.ask("GET", "/arc-sitemap.json", &headers);
    assert_eq!((answer.status, answer.header("vary")), (304, Some("accept-encoding")));
    // The ETag of one representation does not match the other.
    let answer = running.ask("GET", "/arc-sitemap.json", &[("If-None-Match", &gzip_tag)]);
    assert_eq!(answer.status, 200);
    // Under its own name it is a gzip file.
    let answer = running.get("/arc-sitemap.json.gz");
    assert_eq!(answer.header("content-encoding"), Some("gzip"));
    assert_eq!(answer.header("etag"), Some(tag(&coded).as_str()));
    let answer = running.ask("GET", "/spxi-index.jsonld", &[("Accept-Encoding", "gzip")]);
    assert_eq!(answer.header("content-type"), Some("application/ld+json"));
    assert_eq!(answer.header("vary"), None, "there is nothing to choose");
    // Pages are not compressed.
    let answer = running.ask("GET", "/page.html", &[("Accept-Encoding", "gzip")]);
    assert_eq!((answer.text().as_str(), answer.header("vary")), ("<p>page", Some("accept")));
}

/// Returns the `ETag` of a compressed file, with the digest of its bytes if it is not recorded.
#[test] // D08
fn compresses_text_that_has_no_file_beside_it() {
    let text = "<url><loc>https://harbour.example/</loc></url>\n".repeat(200);
    let large = text.repeat(40);
    let folder = tempfile::tempdir().unwrap();
    let public = folder.path().join("public");
    for (name, text) in [("sitemap.xml", &text), ("llms.txt", &text), ("sitemap-2.xml", &large)] {
        put(&public.join(name), text.as_bytes());
    }
    put(&public.join("robots.txt"), b"User-agent: *\n");
    put(&public.join("page.html"), format!("<p>{text}").as_bytes());
    // In memory, and too large for it.
    let running = Running::start(folder, |settings| settings.limits.small = 64 << 10, None);
    let accept = ("Accept-Encoding", "zstd, gzip, identity");
    for (name, text) in [("/sitemap.xml", &text), ("/llms.txt", &text), ("/sitemap-2.xml", &large)]
    {
        let coded = running.ask("GET", name, &[accept]);
        assert_eq!(coded.header("content-encoding"), Some("gzip"), "{name}");
        assert_eq!(coded.header("vary"), Some("accept-encoding"));
        let mut found = String::new();
        flate2::read::GzDecoder::new(&*coded.body).read_to_string(&mut found).unwrap();
        assert_eq!(found, *text, "{name}");
        let plain = running.ask("GET", name, &[]);
        assert_eq!(plain.header("content-encoding"), None);
        assert_eq!(plain.header("vary"), Some("accept-encoding"));
        assert_eq!(plain.body, text.as_bytes());
        let tag = coded.header("etag").unwrap();
        assert_ne!(Some(tag), plain.header("etag"), "other bytes, another tag");
        assert!(tag.contains("-gzip"), "{tag}");
        let again = running.ask("GET", name, &[accept, ("If-None-Match", tag)]);
        assert_eq!(again.status, 304);
        let part = running.ask("GET", name, &[accept, ("Range", "bytes=2-5")]);
        assert_eq!((part.status, &part.body[..]), (206, &coded.body[2..6]));
    }
    // Too small to compress, or negotiated by `Accept`.
    for name in ["/robots.txt", "/page.html"] {
        let answer = running.ask("GET", name, &[accept]);
        assert_eq!(answer.header("content-encoding"), None, "{name}");
    }
}

fn gzip_tag(plain: &[u8], coded: Option<&[u8]>) -> String {
    let start = |bytes: &[u8]| {
        let hex = Digest::of(bytes).to_string();
        format!("-{}", &hex["sha256:".len()..][..32])
    };
    format!("\"{}-gzip{}\"", Digest::of(plain), coded.map(start).unwrap_or_default())
}

#[test] // D08
fn recompressed_file_has_another_etag() {
    let plain = b"{\"pages\":[]}".repeat(100);
    let (built, anew) = (gzip(&plain), {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        out.write_all(&plain).unwrap();
        out.finish().unwrap()
    });
    assert_ne!(built, anew);
    let folder = tempfile::tempdir().unwrap();
    let row = |name: &str, bytes: &[u8]| {
        let digest = Digest::of(bytes);
        format!(
            r#"{{"path":"{name}","type":"application/json","digest":"{digest}","cache":"entry"}}"#
        )
    };
    let rows = [row("a.json", &plain), row("a.json.gz", &built)].join(",");
    let served = format!(r#"{{"version":2,"base":"https://harbour.example","files":[{rows}]}}"#);
    put(&folder.path().join("state/served.json"), served.as_bytes());
    put(&folder.path().join("public/a.json"), &plain);
    put(&folder.path().join("public/a.json.gz"), &built);
    let running = Running::start(folder, |_| {}, None);
    let ask = || running.ask("GET", "/a.json", &[("Accept-Encoding", "gzip")]);
    assert_eq!(ask().header("etag"), Some(gzip_tag(&plain, None).as_str()));
    swap(&running.public("a.json.gz"), &anew);
    let answer = ask();
    assert_eq!(answer.body, anew);
    assert_eq!(answer.header("etag"), Some(gzip_tag(&plain, Some(&anew)).as_str()));
}

#[test]
fn serves_markdown_if_listed() {
    let markdown = b"# Tides\n";
    let running = Running::new(
        &[
            ("index.html", b"<h1>Home"),
            ("docs/tides.html", b"<h1>Tides"),
            ("docs/tides.md", markdown),
            ("docs/index.html", b"<h1>Docs"),
            ("404.html", b"<h1>Lost"),
        ],
        |_| {},
    );
    let wants = [("Accept", "text/markdown, text/html;q=0.5")];
    for path in ["/docs/tides.html", "/docs/tides"] {
        let answer = running.ask("GET", path, &wants);
        assert_eq!((answer.status, answer.body.as_slice()), (200, &markdown[..]));
        assert_eq!(answer.header("content-type"), Some("text/markdown; charset=utf-8"));
        assert_eq!(answer.header("vary"), Some("accept"));
        assert_eq!(answer.header("x-markdown-tokens"), Some("2"));
        assert_eq!(answer.header("content-location"), Some("/docs/tides.md"));
        assert_eq!(answer.header("etag"), Some(tag(markdown).as_str()));
        let head = running.ask("HEAD", path, &wants);
        assert_eq!(head.header("x-markdown-tokens"), Some("2"));
        let html = running.ask("GET", path, &[("Accept", "*/*")]);
        assert_eq!((html.text().as_str(), html.header("vary")), ("<h1>Tides", Some("accept")));
        let link = "</docs/tides.md>; rel=\"alternate\"; type=\"text/markdown\"";
        assert_eq!(html.header("link"), Some(link));
        assert_ne!(html.header("etag"), answer.header("etag"));
    }
    // A page without a twin stays HTML, and still has `Vary`.
    let answer = running.ask("GET", "/docs/", &wants);
    assert_eq!((answer.text().as_str(), answer.header("vary")), ("<h1>Docs", Some("accept")));
    let answer = running.ask("GET", "/docs?a=b", &wants);
    assert_eq!((answer.status, answer.header("location")), (308, Some("/docs/?a=b")));
    assert_eq!(answer.header("vary"), Some("accept"));
    assert_eq!(running.get("/").text(), "<h1>Home");
    let answer = running.get("/docs/none.html");
    assert_eq!((answer.status, answer.text().as_str()), (404, "<h1>Lost"));
    let kind = Some("text/html; charset=utf-8");
    assert_eq!((answer.header("etag"), answer.header("content-type")), (None, kind));
    // Search engines must not index the URL of the twin, but that of the page.
    let twin = running.get("/docs/tides.md");
    assert_eq!(twin.header("x-robots-tag"), Some("noindex"));
    let page = running.ask("GET", "/docs/tides.html", &wants);
    assert_eq!((page.text(), page.header("x-robots-tag")), (twin.text(), None));
    assert_eq!(twin.header("vary"), None);
}

#[test]
fn uses_the_metadata_of_the_catalog() {
    let folder = tempfile::tempdir().unwrap();
    let public = folder.path().join("public");
    put(&public.join("a.html"), b"<p>a");
    put(&public.join("odd.bin"), b"{}");
    put(&public.join("robots.txt"), b"User-agent: *\n");
    let served = r#"{"version":2,"base":"https://harbour.example/docs/","files":[
{"path":"a.html","type":"text/html","modified":"2020-02-02T02:02:02Z","cache":"page"},
{"path":"odd.bin","type":"application/ld+json","cache":"entry"}]}"#;
    put(&folder.path().join("state/served.json"), served.as_bytes());
    let running = Running::start(folder, |_| {}, None);
    for path in ["/a.html", "/docs/a.html", "/docs/a"] {
        let answer = running.get(path);
        assert_eq!(answer.header("last-modified"), Some("Sun, 02 Feb 2020 02:02:02 GMT"), "{path}");
        assert_eq!(answer.header("cache-control"), Some("public, max-age=0, must-revalidate"));
    }
    assert_eq!(running.get("/docs").header("location"), Some("/docs/"));
    let answer = running.get("/odd.bin");
    assert_eq!(answer.header("content-type"), Some("application/ld+json"));
    assert_eq!(answer.header("cache-control"), Some("public, max-age=3600"));
    // The catalog does not describe a newer file; file times have a resolution of a few
    // milliseconds.
    let state = running.folder.path().join("state/served.json");
    let changed = |path: &std::path::Path| {
        let metadata = fs::metadata(path).unwrap();
        (metadata.ctime(), metadata.ctime_nsec())
    };
    wait_for("a tick", || {
        put(&running.folder.path().join("tick"), b"");
        changed(&state) < changed(&running.folder.path().join("tick"))
    });
    swap(&running.public("a.html"), b"<p>new");
    let answer = running.get("/a.html");
    assert_eq!(answer.text(), "<p>new");
    assert_ne!(answer.header("last-modified"), Some("Sun, 02 Feb 2020 02:02:02 GMT"));
    // A new served.json is loaded automatically, an invalid one changes nothing.
    swap(&state, b"{");
    wait_for("a failed reload", || {
        running.get("/odd.bin");
        running.site.metrics().text().contains("result=\"failed\"} 1")
    });
    assert_eq!(running.get("/odd.bin").header("content-type"), Some("application/ld+json"));
    swap(&state, served.replace("ld+json", "json").as_bytes());
    wait_for("a reload", || {
        running.get("/odd.bin").header("content-type") == Some("application/json")
    });
    let again = running.get("/a.html");
    assert_eq!(again.header("last-modified"), Some("Sun, 02 Feb 2020 02:02:02 GMT"));
}

#[test] // SCP-159 SCP-160 D10
fn limits_the_cache_lifetime_to_the_expiry() {
    let line = |expires: &str| {
        format!("{{\"collection\":{{\"type\":\"delta\",\"expires\":\"{expires}\"}}}}\n")
            .into_bytes()
    };
    let running = Running::new(
        &[("a.scp", &line("2020-01-01T00:00:00Z")), ("b.scp", &line("2999-01-01T00:00:00Z"))],
        |_| {},
    );
    let cache = |path: &str| running.get(path).header("cache-control").unwrap().to_owned();
    assert_eq!(cache("/a.scp"), "public, max-age=0, must-revalidate");
    assert_eq!(cache("/b.scp"), "public, max-age=3600, must-revalidate");
}

#[test]
fn a_missing_root_is_empty() {
    let running = Running::new(&[("a.txt", b"a")], |_| {});
    assert_eq!(running.get("/a.txt").status, 200);
    let (public, aside) = (running.public(""), running.folder.path().join("aside"));
    fs::rename(&public, &aside).unwrap();
    wait_for("a 404", || running.get("/a.txt").status == 404);
    fs::rename(&aside, &public).unwrap();
    wait_for("a 200", || running.get("/a.txt").status == 200);
}

#[test]
fn serves_large_files_and_ranges() {
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8).collect();
    let running = Running::new(&[("large.bin", &bytes)], |_| {});
    let mut client = Client::new(running.connect());
    for _ in 0..3 {
        let answer = client.ask("GET", "/large.bin", &[]);
        assert!(answer.body == bytes);
        assert_eq!(answer.header("etag"), Some(tag(&bytes).as_str()));
    }
    let answer = client.ask("GET", "/large.bin", &[("Range", "bytes=1000000-2500000")]);
    assert_eq!(answer.header("content-range"), Some("bytes 1000000-2500000/3000000"));
    assert!(answer.status == 206 && answer.body == bytes[1_000_000..=2_500_000]);
}

#[test] // SCP-205
fn throttles_downloads() {
    let bytes = vec![7; 600_000];
    let running = Running::new(&[("large.bin", &bytes)], |settings| {
        settings.bandwidth = Some(1_000_000);
    });
    let start = std::time::Instant::now();
    assert!(running.get("/large.bin").body == bytes);
    // The last chunk of at most 250,000 bytes is sent when the previous ones are due.
    assert!(std::time::Duration::from_millis(300) < start.elapsed());
}

#[test]
fn a_truncated_file_fails_the_response() {
    let bytes = vec![7; 40_000_000];
    let running = Running::new(&[("large.bin", &bytes)], |_| {});
    let mut stream = running.connect();
    stream.write_all(b"GET /large.bin HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    let mut start = [0; 64];
    stream.read_exact(&mut start).unwrap();
    fs::File::options().write(true).open(running.public("large.bin")).unwrap().set_len(9).unwrap();
    let mut rest = Vec::new();
    // The response is incomplete: fewer bytes than announced, or a reset.
    let result = stream.read_to_end(&mut rest);
    assert!(result.is_err() || rest.len() < bytes.len());
}

#[test]
fn serves_a_file_next_to_an_unreadable_one() {
    let folder = tempfile::tempdir().unwrap();
    let public = folder.path().join("public");
    put(&public.join("sitemap.xml"), b"<urlset/>");
    put(&public.join("a.html"), b"<p>a");
    fs::create_dir(public.join("sitemap.xml.gz")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", public.join("a.md")).unwrap();
    // With a state, each file is compared before it is sent.
    let served = br#"{"version":2,"base":"https://harbour.example","files":[]}"#;
    put(&folder.path().join("state/served.json"), served);
    let running = Running::start(folder, |_| {}, None);
    for (path, body) in [("/sitemap.xml", "<urlset/>"), ("/a.html", "<p>a")] {
        let answer = running.get(path);
        assert_eq!((answer.status, answer.text()), (200, body.to_owned()), "{path}");
    }
}
