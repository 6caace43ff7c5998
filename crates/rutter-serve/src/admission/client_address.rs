//! Determines the address of a client, also behind trusted proxies.
//!
//! The server reads a forwarding header only if a trusted proxy sent it. The last address in the
//! header that is not a trusted proxy is the client, so a client cannot choose its address.

use std::net::{IpAddr, Ipv4Addr};

use http::HeaderMap;
use http::header::{FORWARDED, HeaderName};

use crate::settings::network::{ForwardingHeader, TrustedProxies, unmap};

pub(crate) use rutter_logs::client_network;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Maximum number of addresses that are read from a forwarding header.
const MAX_HOPS: usize = 32;

/// Returns the address of the client that sent a request.
pub(crate) fn client_address(
    peer: IpAddr,
    headers: &HeaderMap,
    proxies: &TrustedProxies,
) -> IpAddr {
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
    fn joins_the_addresses_of_one_client() {
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
            client_address(peer.parse().unwrap(), &headers, proxies).to_string()
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
