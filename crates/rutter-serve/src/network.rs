//! Addresses of clients: networks, and who a request really came from.
//!
//! A header about the client's address counts only from a proxy of ours, and
//! is read from its end: the last address that is no proxy of ours is the
//! client, whatever the client wrote before it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use http::HeaderMap;
use http::header::{FORWARDED, HeaderName};

use crate::settings::{Forwarding, Proxies};

pub(crate) use rutter_logs::household;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Addresses in a list that are looked at.
const MOST_HOPS: usize = 32;

/// A network, such as `10.0.0.0/8` or `fd00::/8`, or a single address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

/// A text that is no network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("wanted an address, or an address and a prefix such as 10.0.0.0/8")]
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
    /// Tells whether an address belongs to it.
    pub fn contains(self, address: IpAddr) -> bool {
        match (self.address, plain(address)) {
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

/// An IPv4 address that came as IPv6 is one.
pub(crate) fn plain(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(six) => six.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

/// Who a request came from.
pub(crate) fn client(peer: IpAddr, headers: &HeaderMap, proxies: &Proxies) -> IpAddr {
    let peer = plain(peer);
    if proxies.trusted.is_empty() || !proxies.trusts(peer) {
        return peer;
    }
    let name = match proxies.header {
        Forwarding::XForwardedFor => X_FORWARDED_FOR,
        Forwarding::Forwarded => FORWARDED,
    };
    // What a client wrote before, of whatever bytes, hides nothing behind it.
    let values: Vec<&[u8]> =
        headers.get_all(name).iter().map(http::HeaderValue::as_bytes).collect();
    let hops = values.iter().rev().flat_map(|value| value.rsplit(|byte| *byte == b','));
    let mut client = peer;
    for hop in hops.take(MOST_HOPS) {
        let hop = std::str::from_utf8(hop).ok();
        let address = hop.and_then(|hop| match proxies.header {
            Forwarding::XForwardedFor => address(hop.trim()),
            Forwarding::Forwarded => forwarded(hop),
        });
        // What a proxy of ours did not understand says nothing.
        let Some(address) = address else { break };
        client = plain(address);
        if !proxies.trusts(client) {
            break;
        }
    }
    client
}

/// The `for` of an element of `Forwarded`.
fn forwarded(element: &str) -> Option<IpAddr> {
    let pairs = element.split(';').filter_map(|pair| pair.split_once('='));
    let found = pairs.into_iter().find(|(key, _)| key.trim().eq_ignore_ascii_case("for"));
    found.and_then(|(_, value)| address(value.trim().trim_matches('"')))
}

/// An address, perhaps with a port, perhaps in brackets.
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
    fn ours_networks_hold_what_they_say() {
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
        assert_eq!(household("2001:db8::1:2".parse().unwrap()).to_string(), "2001:db8::");
    }

    #[test]
    fn ours_a_client_cannot_choose_its_address() {
        let proxies = Proxies {
            trusted: vec!["10.0.0.0/8".parse().unwrap()],
            header: Forwarding::XForwardedFor,
        };
        let from = |peer: &str, value: &str, proxies: &Proxies| {
            let name = match proxies.header {
                Forwarding::XForwardedFor => X_FORWARDED_FOR,
                Forwarding::Forwarded => FORWARDED,
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
        let proxies = Proxies { header: Forwarding::Forwarded, ..proxies };
        let value = r#"for=1.1.1.1, proto=https;For="[2001:db8::2]:80";by=10.0.0.9"#;
        assert_eq!(from("10.0.0.1", value, &proxies), "2001:db8::2");
        assert_eq!(from("10.0.0.1", "for=_hidden", &proxies), "10.0.0.1");
    }
}
