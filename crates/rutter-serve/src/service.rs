//! The site as a service of tower, and as a layer before another service.
//!
//! ```no_run
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! use rutter_serve::{Settings, Site};
//!
//! let site = Site::open(Settings::new("public"), Vec::new())?;
//! // Files of the folder first; what it does not have, the inner service answers.
//! let layer = site.layer();
//! # let _ = layer; Ok(()) }
//! ```
//!
//! Who asks is read from the [`Peer`] in the extensions of a request; without
//! one, requests are not counted.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http::{Request, Response};
use http_body::{Frame, SizeHint};
use tower_layer::Layer;
use tower_service::Service;

use crate::answer::Answering;
use crate::body::Body;
use crate::site::Site;

/// The address a request came from: put it into the request's extensions.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub IpAddr);

impl Site {
    /// A layer that answers what the folder has, and hands everything else to
    /// the service within: other methods, requests with a body, what is not
    /// found, and the addresses of the partner API where there are no tokens.
    pub fn layer(&self) -> SiteLayer {
        SiteLayer(self.clone())
    }
}

impl<B> Service<Request<B>> for Site {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answering;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Answering {
        let (parts, _) = request.into_parts();
        let peer = parts.extensions.get::<Peer>().map(|peer| peer.0);
        self.answer(parts, peer, None)
    }
}

/// See [`Site::layer`].
#[derive(Debug, Clone)]
pub struct SiteLayer(Site);

impl<S> Layer<S> for SiteLayer {
    type Service = Layered<S>;

    fn layer(&self, inner: S) -> Layered<S> {
        Layered { site: self.0.clone(), inner }
    }
}

/// A site before another service.
#[derive(Debug, Clone)]
pub struct Layered<S> {
    site: Site,
    inner: S,
}

impl<S, B, R> Service<Request<B>> for Layered<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    B: Send + 'static,
{
    type Response = Response<Either<R>>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let site = self.site.clone();
        // The one that is ready is used, a clone of it waits for the next.
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        let (parts, body) = request.into_parts();
        Box::pin(async move {
            // What is handed on is none of ours: not counted, not on record.
            if !site.has(&parts).await {
                let response = inner.call(Request::from_parts(parts, body)).await?;
                return Ok(response.map(Either::Inner));
            }
            let peer = parts.extensions.get::<Peer>().map(|peer| peer.0);
            let Ok(response) = site.answer(parts, peer, None).await;
            Ok(response.map(Either::Site))
        })
    }
}

/// A body of the site, or of the service within.
#[derive(Debug)]
pub enum Either<R> {
    /// Of the site.
    Site(Body),
    /// Of the service within.
    Inner(R),
}

impl<R> http_body::Body for Either<R>
where
    R: http_body::Body + Unpin,
    R::Error: std::error::Error + Send + Sync + 'static,
{
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match self.get_mut() {
            Self::Site(body) => Pin::new(body).poll_frame(cx),
            Self::Inner(body) => {
                let frame = ready!(Pin::new(body).poll_frame(cx));
                Poll::Ready(frame.map(|frame| match frame {
                    Ok(frame) => {
                        Ok(frame.map_data(|mut data| data.copy_to_bytes(data.remaining())))
                    }
                    Err(error) => Err(io::Error::other(error)),
                }))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Site(body) => body.is_end_stream(),
            Self::Inner(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Site(body) => body.size_hint(),
            Self::Inner(body) => body.size_hint(),
        }
    }
}
