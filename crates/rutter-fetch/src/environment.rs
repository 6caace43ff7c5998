//! Interfaces of a client to the operating system and the log: clock, name resolution, sockets.
//!
//! The caller passes these interfaces to the client, so that tests can replace them and see every
//! name that is resolved and every address that the client connects to.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use tokio::net::TcpStream;

use crate::clock::{BoxFuture, Clock, SystemClock};
use crate::log::FetchLog;

/// Resolves host names to IP addresses.
pub trait HostResolver: fmt::Debug + Send + Sync {
    /// Returns all addresses of the name, in the order in which the client tries them.
    fn resolve(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// Opens TCP connections.
pub trait ConnectionDialer: fmt::Debug + Send + Sync {
    /// Opens a TCP connection to exactly this address.
    fn dial(&self, address: SocketAddr) -> BoxFuture<'static, io::Result<TcpStream>>;
}

/// The resolver of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl HostResolver for SystemResolver {
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

impl ConnectionDialer for SystemDialer {
    fn dial(&self, address: SocketAddr) -> BoxFuture<'static, io::Result<TcpStream>> {
        Box::pin(async move {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            Ok(stream)
        })
    }
}

/// The interfaces that a client uses: clock, resolver, dialer and log.
#[derive(Debug, Clone)]
pub struct Environment {
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Resolver of host names.
    pub resolver: Arc<dyn HostResolver>,
    /// Opener of TCP connections.
    pub dialer: Arc<dyn ConnectionDialer>,
    /// Receiver of the log records.
    pub log: Arc<dyn FetchLog>,
}

impl Environment {
    /// Returns an environment with clock, resolver and sockets of the operating system, and with
    /// `log`.
    pub fn system(log: Arc<dyn FetchLog>) -> Self {
        Self {
            clock: Arc::new(SystemClock::new()),
            resolver: Arc::new(SystemResolver),
            dialer: Arc::new(SystemDialer),
            log,
        }
    }
}
