//! One connection from its first byte to its last.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

use crate::answer::Answering;
use crate::body::Body;
use crate::guard::Guarded;
use crate::metrics::Cut;
use crate::report::{self, Activity};
use crate::screen::Screen;
use crate::settings::Limits;
use crate::site::{Site, is_answerable};

/// Streams of one connection of HTTP/2 at once, and below how many waiting
/// bytes each is given more.
const STREAMS: u32 = 32;
const WAITING: usize = 8 << 10;

/// Bytes that are in the kernel but not yet on their way. So a client that
/// takes a little each half minute is seen to do so.
const UNSENT: u32 = 128 << 10;

/// How long an end is waited for after a refusal.
const FAREWELL: Duration = Duration::from_secs(1);

/// What a worker knows.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) site: Site,
    pub(crate) tls: Option<Arc<RwLock<Arc<ServerConfig>>>>,
    pub(crate) stop: watch::Receiver<bool>,
}

/// Waits until the server is to end.
pub(crate) async fn stopped(stop: &mut watch::Receiver<bool>) {
    // A server that is gone has ended.
    drop(stop.wait_for(|stop| *stop).await);
}

/// Answers the requests of one connection.
#[derive(Clone)]
struct Answers {
    site: Site,
    peer: IpAddr,
    activity: Arc<Activity>,
}

impl hyper::service::Service<Request<Incoming>> for Answers {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answering;

    fn call(&self, request: Request<Incoming>) -> Answering {
        let (parts, _) = request.into_parts();
        self.site.answer(parts, Some(self.peer), Some(&self.activity))
    }
}

/// Serves a connection that was accepted.
pub(crate) async fn serve(stream: TcpStream, peer: IpAddr, context: Context) {
    drop(stream.set_nodelay(true));
    #[cfg(target_os = "linux")]
    drop(socket2::SockRef::from(&stream).set_tcp_notsent_lowat(UNSENT));
    let limits = context.site.0.settings.limits;
    let Some(tls) = &context.tls else { return serve_1(stream, peer, context).await };
    let config = Arc::clone(&tls.read().unwrap_or_else(PoisonError::into_inner));
    let mut stop = context.stop.clone();
    let accepting = TlsAcceptor::from(config).accept(stream);
    let accepted = tokio::select! {
        accepted = tokio::time::timeout(limits.head_time, accepting) => accepted,
        () = stopped(&mut stop) => return,
    };
    match accepted {
        Ok(Ok(stream)) if stream.get_ref().1.alpn_protocol() == Some(b"h2") => {
            serve_2(stream, peer, context).await;
        }
        Ok(Ok(stream)) => serve_1(stream, peer, context).await,
        Ok(Err(_)) | Err(_) => context.site.0.metrics.cut(Cut::Tls),
    }
}

fn http1_builder(limits: &Limits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    // The guard keeps the time and the size of heads.
    builder.timer(TokioTimer::new()).header_read_timeout(None);
    builder.max_headers(limits.fields).max_buf_size((2 * limits.head).max(32 << 10));
    // Whoever has said everything may still listen.
    builder.half_close(true);
    builder
}

async fn serve_1<S>(stream: S, peer: IpAddr, mut context: Context)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let site = context.site.clone();
    let limits = site.0.settings.limits;
    let activity = Arc::new(Activity::new());
    let guarded = Guarded::new(stream, &limits, &activity, Some(Screen::new(&limits)));
    let answers = Answers { site: site.clone(), peer, activity: Arc::clone(&activity) };
    let mut connection = http1_builder(&limits).serve_connection(TokioIo::new(guarded), answers);
    let result = tokio::select! {
        result = poll_fn(|cx| connection.poll_without_shutdown(cx)) => result,
        () = stopped(&mut context.stop) => {
            Pin::new(&mut connection).graceful_shutdown();
            poll_fn(|cx| {
                // Whoever has asked for nothing need not be waited for.
                if activity.is_new() { Poll::Ready(Ok(())) } else { connection.poll_without_shutdown(cx) }
            })
            .await
        }
    };
    let parts = connection.into_parts();
    let mut guarded = parts.io.into_inner();
    let is_parse = result.as_ref().is_err_and(hyper::Error::is_parse);
    let fault = guarded.fault();
    if let Some(cut) = guarded.cut() {
        site.0.metrics.cut(cut);
    } else if fault.is_some() || is_parse {
        site.0.metrics.cut(Cut::Broken);
    }
    if let Some(fault) = fault {
        say(&mut guarded, fault.answer()).await;
        site.0.metrics.answered(fault.status());
        let record = report::refused(peer, fault.status(), guarded.request());
        site.0.listeners.tell(&record);
    } else if is_parse {
        // The parser has answered for itself.
        let status = if result.is_err_and(|error| error.is_parse_too_large()) { 431 } else { 400 };
        site.0.metrics.answered(status);
        // What it could not read is still in its hands.
        let line =
            parts.read_buf.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
        site.0.listeners.tell(&report::refused(peer, status, line.unwrap_or_default()));
    }
    farewell(&mut guarded).await;
}

async fn say<S: AsyncWrite + Unpin>(stream: &mut Guarded<S>, text: &[u8]) {
    let mut rest = text;
    let work = poll_fn(|cx| {
        while !rest.is_empty() {
            match Pin::new(&mut *stream).poll_write(cx, rest) {
                Poll::Ready(Ok(n)) if 0 < n => rest = rest.get(n..).unwrap_or_default(),
                Poll::Ready(_) => break,
                Poll::Pending => return Poll::Pending,
            }
        }
        Pin::new(&mut *stream).poll_flush(cx).map(drop)
    });
    drop(tokio::time::timeout(FAREWELL, work).await);
}

/// Ends a connection so that what was sent arrives: our side first, then a
/// look at what still comes, for a moment.
async fn farewell<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut Guarded<S>) {
    let work = async {
        let end = poll_fn(|cx| Pin::new(&mut *stream).poll_shutdown(cx)).await;
        if end.is_ok() && stream.cut().is_none() {
            stream.read_to_end().await;
        }
    };
    drop(tokio::time::timeout(FAREWELL, work).await);
}

async fn serve_2<S>(stream: S, peer: IpAddr, mut context: Context)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let site = context.site.clone();
    let limits = site.0.settings.limits;
    let activity = Arc::new(Activity::shared());
    let guarded = Guarded::new(stream, &limits, &activity, None);
    let answers = Answers { site: site.clone(), peer, activity: Arc::clone(&activity) };
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder.timer(TokioTimer::new()).max_concurrent_streams(STREAMS);
    builder.max_header_list_size(u32::try_from(limits.head).unwrap_or(u32::MAX));
    builder.max_send_buf_size(WAITING);
    let mut connection = builder.serve_connection(TokioIo::new(guarded), answers);
    // How it ends is the client's affair.
    tokio::select! {
        result = &mut connection => drop(result),
        () = stopped(&mut context.stop) => {
            Pin::new(&mut connection).graceful_shutdown();
            drop(connection.await);
        }
    }
    if let Some(cut) = activity.cut() {
        site.0.metrics.cut(cut);
    }
}

/// Serves `/metrics` and nothing else.
pub(crate) async fn serve_metrics(listener: tokio::net::TcpListener, site: Site) {
    // Monitoring needs few connections; a flood of them is not served.
    let permits = Arc::new(tokio::sync::Semaphore::new(64));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let Ok(permit) = Arc::clone(&permits).try_acquire_owned() else { continue };
        let site = site.clone();
        tokio::spawn(async move {
            let limits = site.0.settings.limits;
            let activity = Arc::new(Activity::new());
            let guarded = Guarded::new(stream, &limits, &activity, Some(Screen::new(&limits)));
            let answer = hyper::service::service_fn(|request: Request<Incoming>| {
                let flight = activity.begin();
                let (parts, _) = request.into_parts();
                let mut response = Response::new(Body::empty());
                if let Err(refusal) = is_answerable(&parts, &limits) {
                    response = refusal.answer();
                } else if parts.uri.path() == "/metrics" {
                    *response.body_mut() = Body::whole(Bytes::from(site.metrics_text()));
                    let kind = http::HeaderValue::from_static("text/plain; version=0.0.4");
                    response.headers_mut().insert(http::header::CONTENT_TYPE, kind);
                } else {
                    *response.status_mut() = http::StatusCode::NOT_FOUND;
                }
                drop(flight);
                std::future::ready(Ok::<_, Infallible>(response))
            });
            drop(http1_builder(&limits).serve_connection(TokioIo::new(guarded), answer).await);
            drop(permit);
        });
    }
}
