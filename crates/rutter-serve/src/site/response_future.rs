//! A response that is ready at once, or later.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::Response;

use crate::respond::body::Body;

/// A future that completes with a response and never fails.
pub struct ResponseFuture(ResponseState);

enum ResponseState {
    Now(Option<Response<Body>>),
    Soon(Pin<Box<dyn Future<Output = Response<Body>> + Send>>),
}

impl std::fmt::Debug for ResponseFuture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answering").finish_non_exhaustive()
    }
}

impl ResponseFuture {
    pub(super) fn now(response: Response<Body>) -> Self {
        Self(ResponseState::Now(Some(response)))
    }

    pub(super) fn soon(future: impl Future<Output = Response<Body>> + Send + 'static) -> Self {
        Self(ResponseState::Soon(Box::pin(future)))
    }
}

impl Future for ResponseFuture {
    type Output = Result<Response<Body>, std::convert::Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            ResponseState::Now(response) => {
                Poll::Ready(Ok(response.take().expect("a future is not polled after completion")))
            }
            ResponseState::Soon(future) => future.as_mut().poll(cx).map(Ok),
        }
    }
}
