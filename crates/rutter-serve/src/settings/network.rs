//! Networks, and the proxies that may set the address of a client.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A network such as `10.0.0.0/8` or `fd00::/8`, or a single address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

/// An invalid network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected an address, or a network such as 10.0.0.0/8")]
pub struct NetworkError;

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| NetworkError)?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            Some(prefix) => prefix.parse().map_err(|_| NetworkError)?,
            None => most,
        };
        if prefix <= most { Ok(Self { address, prefix }) } else { Err(NetworkError) }
    }
}

impl Network {
    /// Returns whether an address belongs to the network.
    pub fn contains(self, address: IpAddr) -> bool {
        match (self.address, unmap(address)) {
            (IpAddr::V4(one), IpAddr::V4(other)) => {
                let shift = 32 - u32::from(self.prefix);
                let cut = |address: Ipv4Addr| address.to_bits().checked_shr(shift).unwrap_or(0);
                cut(one) == cut(other)
            }
            (IpAddr::V6(one), IpAddr::V6(other)) => {
                let shift = 128 - u32::from(self.prefix);
                let cut = |address: Ipv6Addr| address.to_bits().checked_shr(shift).unwrap_or(0);
                cut(one) == cut(other)
            }
            _ => false,
        }
    }
}

/// Converts an IPv4-mapped IPv6 address to IPv4.
pub(crate) fn unmap(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(six) => six.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

/// Which proxies may set the client's address.
#[derive(Debug, Clone, Default)]
pub struct TrustedProxies {
    /// Networks of trusted proxies; the header of other clients is ignored.
    pub trusted: Vec<Network>,
    /// The header that the proxies set. Other forwarding headers are ignored, because a proxy that
    /// sets one header passes on the others as the client sent them.
    pub header: ForwardingHeader,
}

impl TrustedProxies {
    pub(crate) fn trusts(&self, address: IpAddr) -> bool {
        self.trusted.iter().any(|network| network.contains(address))
    }
}

/// A header with the client's address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ForwardingHeader {
    /// `X-Forwarded-For`.
    #[default]
    XForwardedFor,
    /// `Forwarded` (RFC 7239).
    Forwarded,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_addresses_in_a_network() {
        let holds = |network: &str, address: &str| {
            network.parse::<Network>().unwrap().contains(address.parse().unwrap())
        };
        assert!(holds("10.0.0.0/8", "10.200.3.4") && !holds("10.0.0.0/8", "11.0.0.0"));
        assert!(holds("0.0.0.0/0", "255.1.2.3") && !holds("0.0.0.0/0", "::1"));
        assert!(holds("::/0", "fd00::1") && holds("fd00::/8", "fd12::9"));
        assert!(holds("127.0.0.1", "::ffff:127.0.0.1") && !holds("127.0.0.1", "127.0.0.2"));
        for bad in ["", "10.0.0.0/33", "::/129", "10.0.0.0/x", "host", "10.0.0.0/-1"] {
            assert_eq!(bad.parse::<Network>(), Err(NetworkError), "{bad}");
        }
    }
}
