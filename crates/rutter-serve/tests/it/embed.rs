//! The site embedded in another server.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response};
use http_body::Body as _;
use rutter_serve::{PeerAddress, RateLimit, Site, SiteSettings};
use tower_layer::Layer;
use tower_service::Service;

use crate::client::{Records, put};

/// An inner service that returns the request it got.
#[derive(Clone)]
struct Echo;

impl Service<Request<String>> for Echo {
    type Response = Response<String>;
    type Error = Infallible;
    type Future = std::future::Ready<Result<Response<String>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<String>) -> Self::Future {
        let text = format!("{} {}", request.method(), request.body());
        std::future::ready(Ok(Response::new(text)))
    }
}

async fn text<B>(mut body: B) -> String
where
    B: http_body::Body<Data = bytes::Bytes, Error = std::io::Error> + Unpin,
{
    let mut bytes = Vec::new();
    while let Some(frame) = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        bytes.extend(frame.unwrap().into_data().unwrap());
    }
    String::from_utf8(bytes).unwrap()
}

fn request(method: &str, path: &str) -> Request<String> {
    let request = Request::builder().method(method).uri(path).header("host", "a");
    request.extension(PeerAddress([192, 0, 2, 1].into())).body("asked".to_owned()).unwrap()
}

#[test]
fn layer_serves_files_and_passes_on_other_requests() {
    let folder = tempfile::tempdir().unwrap();
    put(&folder.path().join("a.html"), b"<p>a");
    put(&folder.path().join("404.html"), b"<p>lost");
    let settings = SiteSettings {
        rate: Some(RateLimit { every: Duration::from_hours(1), burst: 3 }),
        ..SiteSettings::new(folder.path())
    };
    let records = Arc::new(Records::default());
    let mut site = Site::open(settings, vec![Arc::clone(&records) as _]).unwrap();
    let mut layered = site.layer().layer(Echo);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let response = layered.call(request("GET", "/a.html")).await.unwrap();
        assert_eq!(response.headers()["content-type"], "text/html; charset=utf-8");
        assert_eq!(text(response.into_body()).await, "<p>a");
        let response = layered.call(request("GET", "/none")).await.unwrap();
        assert_eq!(text(response.into_body()).await, "GET asked");
        let response = layered.call(request("POST", "/a.html")).await.unwrap();
        assert_eq!(text(response.into_body()).await, "POST asked");
        // Requests that the site would refuse reach the inner service.
        for path in ["/a%2fb", "/.git", "/%ff", "/arc-api/v1/pages", "/arc-api/v1/other"] {
            let response = layered.call(request("GET", path)).await.unwrap();
            assert_eq!(text(response.into_body()).await, "GET asked", "{path}");
        }
        let mut with_body = request("GET", "/a.html");
        with_body.headers_mut().insert("content-length", "5".parse().unwrap());
        let response = layered.call(with_body).await.unwrap();
        assert_eq!(text(response.into_body()).await, "GET asked");
        // They are not counted as requests of the site.
        let targets: Vec<String> =
            records.0.lock().unwrap().iter().map(|record| record.target.to_string()).collect();
        assert_eq!(targets, ["/a.html"]);
        assert_eq!((site.metrics().count(200), site.metrics().count(404)), (1, 0));
        let Ok(response) = site.call(request("GET", "/none")).await;
        assert_eq!(
            (response.status().as_u16(), text(response.into_body()).await.as_str()),
            (404, "<p>lost")
        );
        let Ok(response) = site.call(request("HEAD", "/a.html")).await;
        assert_eq!(
            (response.headers()["content-length"].as_bytes(), response.body().is_end_stream()),
            (&b"4"[..], true)
        );
        let Ok(response) = site.call(request("GET", "/a.html")).await;
        assert_eq!(response.status(), 429, "who asks is counted");
        assert_eq!(site.metrics().count(429), 1);
    });
}
