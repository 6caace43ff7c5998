//! The interfaces between a client and its process: clock, name resolution, sockets, log.
//!
//! The caller passes them in, so that tests see every name that is resolved and every address
//! that is dialed.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use tokio::net::TcpStream;

use crate::clock::{BoxFuture, Clock, SystemClock};
use crate::log::FetchLog;

/// Resolves host names.
pub trait Resolve: fmt::Debug + Send + Sync {
    /// Returns all addresses of the name, in the order in which they are tried.
    fn resolve(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// Opens connections.
pub trait Dial: fmt::Debug + Send + Sync {
    /// Connects to exactly this address.
    fn dial(&self, address: SocketAddr) -> BoxFuture<'static, io::Result<TcpStream>>;
}

/// The resolver of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let name = name.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// TCP sockets of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemDialer;

impl Dial for SystemDialer {
    fn dial(&self, address: SocketAddr) -> BoxFuture<'static, io::Result<TcpStream>> {
        Box::pin(async move {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            Ok(stream)
        })
    }
}

/// Everything outside the client that it uses.
#[derive(Debug, Clone)]
pub struct Environment {
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Name resolution.
    pub resolver: Arc<dyn Resolve>,
    /// Connections.
    pub dialer: Arc<dyn Dial>,
    /// The log.
    pub log: Arc<dyn FetchLog>,
}

impl Environment {
    /// Returns the environment of the operating system, with records written to `log`.
    pub fn system(log: Arc<dyn FetchLog>) -> Self {
        Self {
            clock: Arc::new(SystemClock::new()),
            resolver: Arc::new(SystemResolver),
            dialer: Arc::new(SystemDialer),
            log,
        }
    }
}
