//! Serves one connection: TLS handshake, requests over HTTP/1.1 or HTTP/2, and the end of the
//! connection.

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

use crate::admission::guard::GuardedStream;
use crate::admission::request::check_request;
use crate::admission::screen::HeadScreener;
use crate::monitor::activity::ConnectionActivity;
use crate::monitor::metrics::CutReason;
use crate::monitor::report;
use crate::respond::body::Body;
use crate::respond::refusal::Refusal;
use crate::settings::ConnectionLimits;
use crate::site::Site;
use crate::site::response_future::ResponseFuture;

/// Maximum number of parallel streams of one HTTP/2 connection, and maximum number of bytes that
/// are buffered for each stream.
const STREAMS: u32 = 32;
const WAITING: usize = 8 << 10;

/// Maximum number of unsent bytes that the kernel buffers. With a low value, the server notices
/// soon that a client does not read.
const UNSENT: u32 = 128 << 10;

/// How long the server waits for the client after a rejected request.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// What each connection uses: the site, the TLS configuration and the stop signal.
#[derive(Clone)]
pub(crate) struct ConnectionContext {
    pub(crate) site: Site,
    pub(crate) tls: Option<Arc<RwLock<Arc<ServerConfig>>>>,
    pub(crate) stop: watch::Receiver<bool>,
}

/// Waits until the server is stopped.
pub(crate) async fn stopped(stop: &mut watch::Receiver<bool>) {
    // An error means that the server was dropped, which also counts as stopped.
    drop(stop.wait_for(|stop| *stop).await);
}

/// Handles the requests of one connection.
#[derive(Clone)]
struct ConnectionService {
    site: Site,
    peer: IpAddr,
    activity: Arc<ConnectionActivity>,
}

impl hyper::service::Service<Request<Incoming>> for ConnectionService {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn call(&self, request: Request<Incoming>) -> ResponseFuture {
        let (parts, _) = request.into_parts();
        self.site.answer(parts, Some(self.peer), Some(&self.activity))
    }
}

/// Serves an accepted connection.
pub(crate) async fn serve(stream: TcpStream, peer: IpAddr, context: ConnectionContext) {
    drop(stream.set_nodelay(true));
    #[cfg(target_os = "linux")]
    drop(socket2::SockRef::from(&stream).set_tcp_notsent_lowat(UNSENT));
    let limits = context.site.0.settings.limits.connection;
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
        Ok(Err(_)) | Err(_) => context.site.0.metrics.cut(CutReason::Tls),
    }
}

fn http1_builder(limits: &ConnectionLimits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    // `GuardedStream` limits the time and the size of heads.
    builder.timer(TokioTimer::new()).header_read_timeout(None);
    builder.max_headers(limits.fields).max_buf_size((2 * limits.head).max(32 << 10));
    // A client that has closed its sending side may still read.
    builder.half_close(true);
    builder
}

async fn serve_1<S>(stream: S, peer: IpAddr, mut context: ConnectionContext)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let site = context.site.clone();
    let limits = site.0.settings.limits.connection;
    let activity = Arc::new(ConnectionActivity::new());
    let guarded = GuardedStream::new(stream, &limits, &activity, Some(HeadScreener::new(&limits)));
    let answers = ConnectionService { site: site.clone(), peer, activity: Arc::clone(&activity) };
    let mut connection = http1_builder(&limits).serve_connection(TokioIo::new(guarded), answers);
    let result = tokio::select! {
        result = poll_fn(|cx| connection.poll_without_shutdown(cx)) => result,
        () = stopped(&mut context.stop) => {
            Pin::new(&mut connection).graceful_shutdown();
            poll_fn(|cx| {
                // A connection that has sent no request is closed at once.
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
        site.0.metrics.cut(CutReason::Broken);
    }
    if let Some(fault) = fault {
        say(&mut guarded, fault.answer()).await;
        site.0.metrics.answered(fault.status());
        let record = report::refused(peer, fault.status(), guarded.request());
        site.0.listeners.notify(&record);
    } else if is_parse {
        // The parser has sent a response itself.
        let status = if result.is_err_and(|error| error.is_parse_too_large()) { 431 } else { 400 };
        site.0.metrics.answered(status);
        // The rejected bytes are still in the buffer of the parser.
        let line =
            parts.read_buf.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
        site.0.listeners.notify(&report::refused(peer, status, line.unwrap_or_default()));
    }
    close_gracefully(&mut guarded).await;
}

async fn say<S: AsyncWrite + Unpin>(stream: &mut GuardedStream<S>, text: &[u8]) {
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
    drop(tokio::time::timeout(CLOSE_TIMEOUT, work).await);
}

/// Closes a connection so that the last response arrives: shuts down the sending side, then reads
/// and discards the bytes that the client still sends, for at most [`CLOSE_TIMEOUT`].
async fn close_gracefully<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut GuardedStream<S>) {
    let work = async {
        let end = poll_fn(|cx| Pin::new(&mut *stream).poll_shutdown(cx)).await;
        if end.is_ok() && stream.cut().is_none() {
            stream.read_to_end().await;
        }
    };
    drop(tokio::time::timeout(CLOSE_TIMEOUT, work).await);
}

async fn serve_2<S>(stream: S, peer: IpAddr, mut context: ConnectionContext)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let site = context.site.clone();
    let limits = site.0.settings.limits.connection;
    let activity = Arc::new(ConnectionActivity::shared());
    let guarded = GuardedStream::new(stream, &limits, &activity, None);
    let answers = ConnectionService { site: site.clone(), peer, activity: Arc::clone(&activity) };
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder.timer(TokioTimer::new()).max_concurrent_streams(STREAMS);
    builder.max_header_list_size(u32::try_from(limits.head).unwrap_or(u32::MAX));
    builder.max_send_buf_size(WAITING);
    let mut connection = builder.serve_connection(TokioIo::new(guarded), answers);
    // Connection errors are ignored, because clients cause them.
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

/// Serves `/metrics`; other paths get 404.
pub(crate) async fn serve_metrics(listener: tokio::net::TcpListener, site: Site) {
    // Monitoring needs few connections; more are rejected.
    let permits = Arc::new(tokio::sync::Semaphore::new(64));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let Ok(permit) = Arc::clone(&permits).try_acquire_owned() else { continue };
        let site = site.clone();
        tokio::spawn(async move {
            let limits = site.0.settings.limits.connection;
            let activity = Arc::new(ConnectionActivity::new());
            let guarded =
                GuardedStream::new(stream, &limits, &activity, Some(HeadScreener::new(&limits)));
            let answer = hyper::service::service_fn(|request: Request<Incoming>| {
                let flight = activity.begin();
                let (parts, _) = request.into_parts();
                let mut response = Response::new(Body::empty());
                if let Err(error) = check_request(&parts, &limits) {
                    response = Refusal::from(error).answer();
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
