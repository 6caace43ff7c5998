//! A site as a tower service, and as a layer in front of another service.
//!
//! ```no_run
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! use rutter_serve::{Site, SiteSettings};
//!
//! let site = Site::open(SiteSettings::new("public"), Vec::new())?;
//! // Serves files of the directory; other requests go to the inner service.
//! let layer = site.layer();
//! # let _ = layer; Ok(()) }
//! ```
//!
//! The client's address comes from the [`PeerAddress`] in the extensions of a request; without it,
//! the request rate is not limited.

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

use crate::respond::body::Body;
use crate::site::Site;
use crate::site::response_future::ResponseFuture;

/// The address that a request came from; insert it into the extensions of the request.
#[derive(Debug, Clone, Copy)]
pub struct PeerAddress(pub IpAddr);

impl Site {
    /// Returns a layer that serves the files of the site and passes all other requests to the inner
    /// service: other methods, requests with a body, missing files, and the partner API if there
    /// are no tokens.
    pub fn layer(&self) -> SiteLayer {
        SiteLayer(self.clone())
    }
}

impl<B> Service<Request<B>> for Site {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ResponseFuture {
        let (parts, _) = request.into_parts();
        let peer = parts.extensions.get::<PeerAddress>().map(|peer| peer.0);
        self.answer(parts, peer, None)
    }
}

/// The layer of [`Site::layer`].
#[derive(Debug, Clone)]
pub struct SiteLayer(Site);

impl<S> Layer<S> for SiteLayer {
    type Service = LayeredSite<S>;

    fn layer(&self, inner: S) -> LayeredSite<S> {
        LayeredSite { site: self.0.clone(), inner }
    }
}

/// A site in front of another service.
#[derive(Debug, Clone)]
pub struct LayeredSite<S> {
    site: Site,
    inner: S,
}

impl<S, B, R> Service<Request<B>> for LayeredSite<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    B: Send + 'static,
{
    type Response = Response<EitherBody<R>>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let site = self.site.clone();
        // The service that `poll_ready` found ready handles this request; its clone is kept for the
        // next request.
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        let (parts, body) = request.into_parts();
        Box::pin(async move {
            // Requests for the inner service are neither counted nor logged.
            if !site.has(&parts).await {
                let response = inner.call(Request::from_parts(parts, body)).await?;
                return Ok(response.map(EitherBody::Inner));
            }
            let peer = parts.extensions.get::<PeerAddress>().map(|peer| peer.0);
            let Ok(response) = site.answer(parts, peer, None).await;
            Ok(response.map(EitherBody::Site))
        })
    }
}

/// A response body of the site or of the inner service.
#[derive(Debug)]
pub enum EitherBody<R> {
    /// Body of the site.
    Site(Body),
    /// Body of the inner service.
    Inner(R),
}

impl<R> http_body::Body for EitherBody<R>
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
