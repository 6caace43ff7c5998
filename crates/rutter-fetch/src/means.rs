//! The two things that reach out of the process: names and sockets.
//!
//! Both are handed in, so that tests see every name that was asked for and
//! every address that was dialled.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use tokio::net::TcpStream;

use crate::clock::{Clock, Pending, SystemClock};
use crate::log::Log;

/// Finds the addresses of a name.
pub trait Resolve: fmt::Debug + Send + Sync {
    /// Every address of the name, in the order they should be tried.
    fn resolve(&self, name: &str) -> Pending<'static, io::Result<Vec<IpAddr>>>;
}

/// Opens connections.
pub trait Dial: fmt::Debug + Send + Sync {
    /// Connects to this address and no other.
    fn dial(&self, address: SocketAddr) -> Pending<'static, io::Result<TcpStream>>;
}

/// The resolver of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, name: &str) -> Pending<'static, io::Result<Vec<IpAddr>>> {
        let name = name.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// The network of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemDialer;

impl Dial for SystemDialer {
    fn dial(&self, address: SocketAddr) -> Pending<'static, io::Result<TcpStream>> {
        Box::pin(async move {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            Ok(stream)
        })
    }
}

/// What a client works with.
#[derive(Debug, Clone)]
pub struct Means {
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Names.
    pub resolver: Arc<dyn Resolve>,
    /// Connections.
    pub dialer: Arc<dyn Dial>,
    /// Where records go.
    pub log: Arc<dyn Log>,
}

impl Means {
    /// Those of the machine; records go to `log`.
    pub fn system(log: Arc<dyn Log>) -> Self {
        Self {
            clock: Arc::new(SystemClock::new()),
            resolver: Arc::new(SystemResolver),
            dialer: Arc::new(SystemDialer),
            log,
        }
    }
}
