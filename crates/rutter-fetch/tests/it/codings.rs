//! Bodies are returned as received; decompression is a separate step.

use rutter_fetch::{Request, ResourceKind, ResponseBody, decode};
use rutter_page::Digest;
use rutter_testkit::server::Reply;
use rutter_testkit::{gzip, zstd};

use crate::{TestSite, url};

#[tokio::test] // A08 A09, D05
async fn keeps_received_bytes_and_decodes_on_request() {
    let text = b"{\"collection\":{}}";
    for (name, bytes, coding) in [
        ("present", gzip(text), Some("gzip")),
        ("absent", gzip(text), None),
        ("double", gzip(&gzip(text)), Some("gzip")),
        ("wrong", zstd(text), Some("gzip")),
        ("undone on the way", text.to_vec(), Some("gzip")),
        ("plain", text.to_vec(), None),
    ] {
        let test = TestSite::new();
        let reply = Reply::ok("application/scp", bytes.clone());
        let reply = coding.map_or(reply.clone(), |coding| reply.with("Content-Encoding", coding));
        test.server.route("/all.scp.gz", [reply]);
        let ask = Request::new(url("http://harbour.example/all.scp.gz"), ResourceKind::Collection);
        let answer = test.client.fetch(&ask).await.unwrap();
        assert_eq!(answer.body, ResponseBody::Memory(bytes.clone()), "{name}");
        assert_eq!(answer.digest, Some(Digest::of(&bytes)), "{name}");
        assert_eq!(answer.wire_bytes, bytes.len() as u64, "{name}");
        assert_eq!(answer.decoded_body(ResourceKind::Collection).unwrap(), text, "{name}");
    }
}

#[tokio::test] // A06, D89
async fn limits_the_decompressed_size() {
    let test = TestSite::new();
    let bomb = gzip(&vec![0; 3_000_000]);
    test.server
        .route("/llms.txt", [Reply::ok("text/plain", bomb).with("Content-Encoding", "gzip")]);
    let ask = Request::new(url("http://harbour.example/llms.txt"), ResourceKind::Llms);
    let answer = test.client.fetch(&ask).await.unwrap();
    assert!(answer.wire_bytes < 10_000);
    let error = answer.decoded_body(ResourceKind::Llms).unwrap_err();
    assert!(matches!(error, decode::DecodeError::TooLarge(1_000_000)), "{error:?}");
}
