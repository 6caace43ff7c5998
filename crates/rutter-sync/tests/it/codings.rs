//! Pages in other content codings and character sets.

use rutter_store::prelude::*;
use rutter_testkit::gzip;
use rutter_testkit::server::Reply;

use crate::test_site::TestSite;

const PAGE: &str = "<html lang=en><title>Tides</title><main><p>High water is at noon.</p></main>";

fn line(site: &TestSite, path: &str) -> String {
    site.store.line(&format!("http://harbour.example{path}")).unwrap().unwrap()
}

#[tokio::test]
async fn gzip_page_without_content_encoding_is_decoded() {
    let site = TestSite::new();
    site.sitemap(&[], &["/a", "/bomb"]);
    site.server.route("/a", [Reply::ok("text/html", gzip(PAGE.as_bytes()))]);
    let bomb = gzip(&vec![b' '; 200 << 20]);
    site.server.route("/bomb", [Reply::ok("text/html", bomb)]);
    let report = site.sync().await;
    assert_eq!(report.added, 1, "{report:?}");
    assert!(line(&site, "/a").contains("High water is at noon."));
    assert_eq!(report.left_out_by_code()["undecodable"], 1);
}

#[tokio::test]
async fn pages_in_other_character_sets_are_read() {
    let text = "<html lang=ja><title>\u{6e2f}</title><main><p>\u{6f6e}\u{306e}\u{6642}\u{523b}\u{8868}\u{3067}\u{3059}\u{3002}</p></main>";
    // Encoded in Shift_JIS by hand.
    let title = [0x8d, 0x60];
    let words = [
        0x92, 0xaa, 0x82, 0xcc, 0x8e, 0x9e, 0x8d, 0x8f, 0x95, 0x5c, 0x82, 0xc5, 0x82, 0xb7, 0x81,
        0x42,
    ];
    let shift_jis = |head: &[u8]| {
        let head = [b"<html lang=ja>".as_slice(), head, b"<title>"].concat();
        [&head, &title[..], b"</title><main><p>", &words[..], b"</p></main>"].concat()
    };
    let utf16 = |is_big: bool| -> Vec<u8> {
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        units.flat_map(|it| if is_big { it.to_be_bytes() } else { it.to_le_bytes() }).collect()
    };
    let pages: [(&str, &str, Vec<u8>); 5] = [
        ("/header", "text/html; charset=Shift_JIS", shift_jis(b"")),
        ("/meta", "text/html", shift_jis(b"<meta charset=shift_jis>")),
        ("/utf-8", "text/html", [b"\xef\xbb\xbf", text.as_bytes()].concat()),
        ("/utf-16le", "text/html", utf16(false)),
        // A byte-order mark takes precedence over the header.
        ("/utf-16be", "text/html; charset=iso-8859-1", utf16(true)),
    ];
    let site = TestSite::new();
    site.sitemap(&[], &pages.iter().map(|(path, ..)| *path).collect::<Vec<_>>());
    for (path, media, bytes) in &pages {
        site.server.route(path, [Reply::ok(media, bytes.clone())]);
    }
    site.sync().await;
    for (path, ..) in &pages {
        let line = line(&site, path);
        assert!(line.contains("\u{6f6e}\u{306e}\u{6642}\u{523b}\u{8868}"), "{path}: {line}");
        assert!(line.contains("\"title\":\"\u{6e2f}\""), "{path}: {line}");
    }
}
