//! Determines the address of a client, also behind trusted proxies, and parses networks.
//!
//! The server reads a forwarding header only if a trusted proxy sent it. The last address in the
//! header that is not a trusted proxy is the client, so a client cannot choose its address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use http::HeaderMap;
use http::header::{FORWARDED, HeaderName};

use crate::settings::{ForwardingHeader, TrustedProxies};

pub(crate) use rutter_logs::client_network;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Maximum number of addresses that are read from a forwarding header.
const MAX_HOPS: usize = 32;

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

/// Returns the address of the client that sent a request.
pub(crate) fn client(peer: IpAddr, headers: &HeaderMap, proxies: &TrustedProxies) -> IpAddr {
    let peer = unmap(peer);
    if proxies.trusted.is_empty() || !proxies.trusts(peer) {
        return peer;
    }
    let name = match proxies.header {
        ForwardingHeader::XForwardedFor => X_FORWARDED_FOR,
        ForwardingHeader::Forwarded => FORWARDED,
    };
    // Addresses are parsed one by one, so that an address that is not UTF-8 does not hide the
    // addresses after it.
    let values: Vec<&[u8]> =
        headers.get_all(name).iter().map(http::HeaderValue::as_bytes).collect();
    let hops = values.iter().rev().flat_map(|value| value.rsplit(|byte| *byte == b','));
    let mut client = peer;
    for hop in hops.take(MAX_HOPS) {
        let hop = std::str::from_utf8(hop).ok();
        let address = hop.and_then(|hop| match proxies.header {
            ForwardingHeader::XForwardedFor => address(hop.trim()),
            ForwardingHeader::Forwarded => forwarded(hop),
        });
        // An address that cannot be parsed ends the search.
        let Some(address) = address else { break };
        client = unmap(address);
        if !proxies.trusts(client) {
            break;
        }
    }
    client
}

/// Returns the `for` parameter of an element of `Forwarded`.
fn forwarded(element: &str) -> Option<IpAddr> {
    let pairs = element.split(';').filter_map(|pair| pair.split_once('='));
    let found = pairs.into_iter().find(|(key, _)| key.trim().eq_ignore_ascii_case("for"));
    found.and_then(|(_, value)| address(value.trim().trim_matches('"')))
}

/// Parses an address with optional port and brackets.
fn address(text: &str) -> Option<IpAddr> {
    if let Some(rest) = text.strip_prefix('[') {
        return rest.split_once(']').and_then(|(address, _)| address.parse().ok());
    }
    text.parse().ok().or_else(|| {
        let (address, port) = text.rsplit_once(':')?;
        port.parse::<u16>().ok()?;
        address.parse::<Ipv4Addr>().ok().map(IpAddr::V4)
    })
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
        assert_eq!(client_network("2001:db8::1:2".parse().unwrap()).to_string(), "2001:db8::");
    }

    #[test]
    fn reads_the_client_address_from_trusted_proxies_only() {
        let proxies = TrustedProxies {
            trusted: vec!["10.0.0.0/8".parse().unwrap()],
            header: ForwardingHeader::XForwardedFor,
        };
        let from = |peer: &str, value: &str, proxies: &TrustedProxies| {
            let name = match proxies.header {
                ForwardingHeader::XForwardedFor => X_FORWARDED_FOR,
                ForwardingHeader::Forwarded => FORWARDED,
            };
            let value = http::HeaderValue::from_bytes(value.as_bytes()).unwrap();
            let headers = [(name, value)].into_iter().collect();
            client(peer.parse().unwrap(), &headers, proxies).to_string()
        };
        assert_eq!(from("192.0.2.1", "198.51.100.7", &proxies), "192.0.2.1");
        assert_eq!(from("10.0.0.1", "198.51.100.7", &proxies), "198.51.100.7");
        assert_eq!(from("10.0.0.1", "1.1.1.1, 198.51.100.7, 10.2.2.2", &proxies), "198.51.100.7");
        assert_eq!(from("10.0.0.1", "198.51.100.7, unknown", &proxies), "10.0.0.1");
        assert_eq!(from("10.0.0.1", "198.51.100.7:4711", &proxies), "198.51.100.7");
        assert_eq!(from("10.0.0.1", "\u{e9}, 198.51.100.7", &proxies), "198.51.100.7");
        assert_eq!(from("10.0.0.1", "198.51.100.7, \u{e9}, 10.0.0.2", &proxies), "10.0.0.2");
        assert_eq!(from("::ffff:10.0.0.1", "[2001:db8::1]:1", &proxies), "2001:db8::1");
        let proxies = TrustedProxies { header: ForwardingHeader::Forwarded, ..proxies };
        let value = r#"for=1.1.1.1, proto=https;For="[2001:db8::2]:80";by=10.0.0.9"#;
        assert_eq!(from("10.0.0.1", value, &proxies), "2001:db8::2");
        assert_eq!(from("10.0.0.1", "for=_hidden", &proxies), "10.0.0.1");
    }
}
