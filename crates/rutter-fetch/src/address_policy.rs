//! Decides which IP addresses a client may connect to.
//!
//! The client checks the resolved address directly before it connects. An IPv4 address inside an
//! IPv6 address is checked like any other IPv4 address.
//!
//! Rejects: all addresses that are not globally reachable unicast addresses, and the public
//! addresses of cloud metadata services. [`AddressPolicy::allow_loopback`] additionally allows
//! 127.0.0.0/8 and `::1`.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Which addresses are allowed in addition to the public internet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AddressPolicy {
    /// Allows 127.0.0.0/8 and `::1`, for tests and local previews.
    pub allow_loopback: bool,
    /// Allows `64:ff9b::/96`, for networks that reach IPv4 through NAT64. The embedded IPv4 address
    /// is checked like any other.
    pub allow_nat64: bool,
}

/// A blocked address, with the address range that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockedAddress {
    /// The blocked address.
    pub address: IpAddr,
    /// Description of the address range, such as "a private address".
    pub range: &'static str,
}

impl fmt::Display for BlockedAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}", self.address, self.range)
    }
}

/// Blocked IPv4 ranges: first address, prefix length, description.
const V4: [([u8; 4], u32, &str); 22] = [
    ([0, 0, 0, 0], 8, "an address of this network"),
    ([10, 0, 0, 0], 8, "a private address"),
    ([100, 64, 0, 0], 10, "a shared private address"),
    ([127, 0, 0, 0], 8, "a loopback address"),
    ([168, 63, 129, 16], 32, "a metadata address"),
    ([169, 254, 0, 0], 16, "a link-local or metadata address"),
    ([172, 16, 0, 0], 12, "a private address"),
    ([192, 0, 0, 0], 24, "a protocol address"),
    ([192, 0, 2, 0], 24, "a documentation address"),
    ([192, 31, 196, 0], 24, "a special-purpose address"),
    ([192, 52, 193, 0], 24, "a special-purpose address"),
    ([192, 88, 99, 0], 24, "a relay address"),
    ([192, 168, 0, 0], 16, "a private address"),
    ([192, 175, 48, 0], 24, "a special-purpose address"),
    ([198, 18, 0, 0], 15, "a benchmark address"),
    ([198, 51, 100, 0], 24, "a documentation address"),
    ([203, 0, 113, 0], 24, "a documentation address"),
    ([224, 0, 0, 0], 4, "a multicast address"),
    ([255, 255, 255, 255], 32, "the broadcast address"),
    ([240, 0, 0, 0], 4, "a reserved address"),
    ([233, 252, 0, 0], 24, "a documentation address"),
    ([100, 100, 100, 200], 32, "a metadata address"),
];

/// Blocked IPv6 ranges inside `2000::/3`; everything outside it is blocked anyway.
const V6: [([u16; 3], u32, &str); 5] = [
    ([0x2001, 0, 0], 23, "a protocol or tunnel address"),
    ([0x2001, 0x0db8, 0], 32, "a documentation address"),
    ([0x2002, 0, 0], 16, "a 6to4 address"),
    ([0x2620, 0x004f, 0x8000], 48, "a special-purpose address"),
    ([0x3fff, 0, 0], 20, "a documentation address"),
];

impl AddressPolicy {
    /// Checks whether a connection to an address is allowed.
    ///
    /// ```
    /// # use rutter_fetch::AddressPolicy;
    /// let guard = AddressPolicy::default();
    /// assert!(guard.check("93.184.216.34".parse().unwrap()).is_ok());
    /// assert!(guard.check("::ffff:127.0.0.1".parse().unwrap()).is_err());
    /// ```
    pub fn check(self, address: IpAddr) -> Result<(), BlockedAddress> {
        let is_loopback = match address {
            IpAddr::V4(address) => address.is_loopback(),
            IpAddr::V6(address) => address.is_loopback(),
        };
        if is_loopback && self.allow_loopback {
            return Ok(());
        }
        let range = match address {
            IpAddr::V4(address) => range_of_v4(address),
            IpAddr::V6(address) => self.range_of_v6(address),
        };
        range.map_or(Ok(()), |range| Err(BlockedAddress { address, range }))
    }

    fn range_of_v6(self, address: Ipv6Addr) -> Option<&'static str> {
        let segments = address.segments();
        if let Some(inner) = address.to_ipv4_mapped() {
            return Some(range_of_v4(inner).unwrap_or("IPv4 inside IPv6"));
        }
        if let [0x64, 0xff9b, 0, 0, 0, 0, high, low] = segments {
            let inner = Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
            return match range_of_v4(inner) {
                None if self.allow_nat64 => None,
                range => Some(range.unwrap_or("a NAT64 address")),
            };
        }
        let [first, second, third, ..] = segments;
        if first & 0xe000 != 0x2000 {
            return Some(match first {
                _ if address.is_loopback() => "a loopback address",
                _ if address.is_unspecified() => "an address of this network",
                0xff00..=0xffff => "a multicast address",
                0xfe80..=0xfebf => "a link-local address",
                0xfc00..=0xfdff | 0xfec0..=0xfeff => "a private address",
                _ => "not a public address",
            });
        }
        let bits = |[a, b, c]: [u16; 3]| u64::from(a) << 32 | u64::from(b) << 16 | u64::from(c);
        let prefix = bits([first, second, third]);
        let found = V6.into_iter().find(|(start, length, _)| {
            let rest = 48 - length;
            prefix >> rest == bits(*start) >> rest
        });
        if let Some((_, _, range)) = found {
            return Some(range);
        }
        // An ISATAP address contains an IPv4 address in its last 32 bits.
        if let [.., 0 | 0x200, 0x5efe, high, low] = segments {
            return range_of_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)));
        }
        None
    }
}

fn range_of_v4(address: Ipv4Addr) -> Option<&'static str> {
    let bits = u64::from(address.to_bits());
    let found = V4.into_iter().find(|(start, length, _)| {
        let rest = 32 - length;
        bits >> rest == u64::from(Ipv4Addr::from_octets(*start).to_bits()) >> rest
    });
    found.map(|(_, _, range)| range)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(policy: AddressPolicy, text: &str) -> bool {
        policy.check(text.parse().unwrap()).is_ok()
    }

    #[test] // N01
    fn allows_only_public_addresses() {
        let policy = AddressPolicy::default();
        for text in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "100.100.100.200",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::ffff:0:127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::808:808",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:1ff::1",
            "2001:db8::1",
            "2002:7f00:1::1",
            "2002:808:808::1",
            "2620:4f:8000::1",
            "3fff::1",
            "3fff:fff::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "4000::1",
            "2a00:1450::5efe:7f00:1",
            "2a00:1450::200:5efe:a00:1",
        ] {
            assert!(!check(policy, text), "{text}");
        }
        for text in [
            "1.1.1.1",
            "93.184.216.34",
            "100.63.255.255",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "198.17.255.255",
            "198.20.0.1",
            "223.255.255.255",
            "2001:200::1",
            "2606:2800:220:1::1",
            "2a00:1450:4001::1",
            "2620:4f:8001::1",
        ] {
            assert!(check(policy, text), "{text}");
        }
    }

    #[test]
    fn allows_nothing_else_with_loopback_or_nat64() {
        let policy = AddressPolicy { allow_loopback: true, ..AddressPolicy::default() };
        for text in ["127.0.0.1", "127.1.2.3", "::1"] {
            assert!(check(policy, text), "{text}");
        }
        for text in ["::ffff:127.0.0.1", "10.0.0.1", "169.254.169.254", "0.0.0.0", "::"] {
            assert!(!check(policy, text), "{text}");
        }
        let policy = AddressPolicy { allow_nat64: true, ..AddressPolicy::default() };
        assert!(check(policy, "64:ff9b::808:808"));
        assert!(!check(policy, "64:ff9b::a9fe:a9fe"));
    }
}
