//! Bodies come as they are on the wire; decoding is a second step.

use rutter_fetch::{Body, Request, What, decode};
use rutter_page::Digest;
use rutter_testkit::server::Reply;
use rutter_testkit::{gzip, zstd};

use crate::{Bay, url};

#[tokio::test] // A08 A09 of reliability.md, D05
async fn ours_the_wire_is_kept_and_the_text_comes_out() {
    let text = b"{\"collection\":{}}";
    for (name, bytes, coding) in [
        ("present", gzip(text), Some("gzip")),
        ("absent", gzip(text), None),
        ("double", gzip(&gzip(text)), Some("gzip")),
        ("wrong", zstd(text), Some("gzip")),
        ("undone on the way", text.to_vec(), Some("gzip")),
        ("plain", text.to_vec(), None),
    ] {
        let bay = Bay::new();
        let reply = Reply::ok("application/scp", bytes.clone());
        let reply = coding.map_or(reply.clone(), |coding| reply.with("Content-Encoding", coding));
        bay.server.route("/all.scp.gz", [reply]);
        let ask = Request::new(url("http://harbour.example/all.scp.gz"), What::Collection);
        let answer = bay.client.fetch(&ask).await.unwrap();
        assert_eq!(answer.body, Body::Memory(bytes.clone()), "{name}");
        assert_eq!(answer.digest, Some(Digest::of(&bytes)), "{name}");
        assert_eq!(answer.wire_bytes, bytes.len() as u64, "{name}");
        assert_eq!(answer.text(What::Collection).unwrap(), text, "{name}");
    }
}

#[tokio::test] // A06 of reliability.md, D89
async fn ours_a_small_body_that_grows() {
    let bay = Bay::new();
    let bomb = gzip(&vec![0; 3_000_000]);
    bay.server.route("/llms.txt", [Reply::ok("text/plain", bomb).with("Content-Encoding", "gzip")]);
    let ask = Request::new(url("http://harbour.example/llms.txt"), What::Llms);
    let answer = bay.client.fetch(&ask).await.unwrap();
    assert!(answer.wire_bytes < 10_000);
    let error = answer.text(What::Llms).unwrap_err();
    assert!(matches!(error, decode::DecodeError::TooLarge(1_000_000)), "{error:?}");
}
