//! What may be asked for at all: schemes, ports, hosts, and how an address is
//! shown.
//!
//! Every hop of a redirect passes here again.

use std::net::IpAddr;

use url::{Host, Url};

use crate::error::Refused;

/// Which ports may be asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Ports {
    /// 80, 443, and those from 1024 on that belong to no other protocol.
    #[default]
    Usual,
    /// These alone.
    Only(Vec<u16>),
}

/// Ports from 1024 on that browsers refuse, because other protocols live there.
const OTHER_PROTOCOLS: [u16; 17] = [
    1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669,
    10_080,
];

impl Ports {
    fn allows(&self, port: u16) -> bool {
        match self {
            Self::Usual => {
                matches!(port, 80 | 443) || (1024 <= port && !OTHER_PROTOCOLS.contains(&port))
            }
            Self::Only(ports) => ports.contains(&port),
        }
    }
}

/// Which hosts may serve what belongs to a site (D13).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Hosts {
    /// Hosts of the same registrable domain.
    #[default]
    SameSite,
    /// The site's own host and these.
    Listed(Vec<String>),
    /// Any host that speaks https.
    AnyHttps,
}

impl Hosts {
    /// Tells whether `url` may serve what belongs to `site`.
    ///
    /// ```
    /// # use rutter_fetch::Hosts;
    /// # use url::Url;
    /// let url = |text| Url::parse(text).unwrap();
    /// let site = url("https://www.harbour.example/");
    /// assert!(Hosts::SameSite.allows(&site, &url("https://cdn.harbour.example/a.scp")));
    /// assert!(!Hosts::SameSite.allows(&site, &url("https://harbour.test/a.scp")));
    /// ```
    pub fn allows(&self, site: &Url, url: &Url) -> bool {
        if site.host() == url.host() {
            return true;
        }
        let (Some(Host::Domain(ours)), Some(Host::Domain(theirs))) = (site.host(), url.host())
        else {
            return matches!(self, Self::AnyHttps) && url.scheme() == "https";
        };
        match self {
            Self::SameSite => {
                let domain = |name: &str| {
                    let name = name.trim_end_matches('.');
                    psl::domain_str(name).map(str::to_owned)
                };
                domain(ours).is_some() && domain(ours) == domain(theirs)
            }
            Self::Listed(hosts) => hosts.iter().any(|host| host.eq_ignore_ascii_case(theirs)),
            Self::AnyHttps => url.scheme() == "https",
        }
    }
}

/// What is allowed by settings.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules {
    pub(crate) allow_http: bool,
    /// Whether loopback may be asked, and plain http there.
    pub(crate) allow_loopback: bool,
    pub(crate) ports: Ports,
}

impl Rules {
    pub(crate) fn allows_scheme(&self, url: &Url) -> bool {
        match url.scheme() {
            "https" => true,
            "http" => self.allow_http || (self.allow_loopback && is_loopback(url)),
            _ => false,
        }
    }
}

/// An address of this machine, or its name. Another name may lead there today
/// and elsewhere tomorrow.
fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name.trim_end_matches('.').eq_ignore_ascii_case("localhost"),
        None => false,
    }
}

/// Where a checked address leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) url: Url,
    /// Scheme, host and port, as robots.txt and connections are told apart.
    pub(crate) origin: Origin,
}

/// Scheme, host and port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Origin {
    pub(crate) is_https: bool,
    /// The name in lower case without a dot at the end, or the address.
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl Origin {
    /// The address, where the host is one and not a name.
    pub(crate) fn literal(&self) -> Option<IpAddr> {
        self.host.trim_start_matches('[').trim_end_matches(']').parse().ok()
    }

    /// As it stands in a `Host` field.
    pub(crate) fn authority(&self) -> String {
        let usual = if self.is_https { 443 } else { 80 };
        if self.port == usual { self.host.clone() } else { format!("{}:{}", self.host, self.port) }
    }

    /// The address of the root, with a slash at the end.
    pub(crate) fn root(&self) -> String {
        let scheme = if self.is_https { "https" } else { "http" };
        format!("{scheme}://{}/", self.authority())
    }
}

impl Target {
    /// Checks everything that can be seen without asking anybody.
    pub(crate) fn check(url: &Url, rules: &Rules) -> Result<Self, Refused> {
        let is_https = match url.scheme() {
            "https" => true,
            "http" if rules.allows_scheme(url) => false,
            "http" => return Err(Refused::PlainHttp),
            other => return Err(Refused::Scheme(rutter_finding::quoted(other))),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refused::Credentials);
        }
        let host = url.host_str().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase();
        if host.is_empty() {
            return Err(Refused::NoHost);
        }
        let port = url.port_or_known_default().unwrap_or_default();
        if !rules.ports.allows(port) {
            return Err(Refused::Port(port));
        }
        let mut url = url.clone();
        url.set_fragment(None);
        Ok(Self { url, origin: Origin { is_https, host, port } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn ours_plain_http_is_for_loopback_where_only_that_is_allowed() {
        let rules = Rules { allow_loopback: true, ..Rules::default() };
        for (text, is_fine) in [
            ("http://127.0.0.1:8080/", true),
            ("http://127.9.9.9/", true),
            ("http://[::1]:8080/", true),
            ("http://localhost:8080/", true),
            ("http://LOCALHOST./", true),
            ("https://harbour.example/", true),
            ("http://harbour.example/", false),
            ("http://localhost.example/", false),
            ("http://10.0.0.1/", false),
        ] {
            let checked = Target::check(&Url::parse(text).unwrap(), &rules);
            assert_eq!(checked.is_ok(), is_fine, "{text}");
            if !is_fine {
                assert!(matches!(checked, Err(Refused::PlainHttp)), "{text}");
            }
        }
        assert!(
            Target::check(&Url::parse("http://127.0.0.1/").unwrap(), &Rules::default()).is_err()
        );
    }

    #[test] // SCP-191 SCP-193 D12
    fn spec_what_is_seen_without_asking() {
        let rules = Rules::default();
        for (text, wanted) in [
            ("http://h.example/", Refused::PlainHttp),
            ("ftp://h.example/", Refused::Scheme("`ftp`".into())),
            ("file:///etc/passwd", Refused::Scheme("`file`".into())),
            ("https://u@h.example/", Refused::Credentials),
            ("https://u:p@h.example/", Refused::Credentials),
            ("https://h.example:25/", Refused::Port(25)),
            ("https://h.example:22/", Refused::Port(22)),
            ("https://h.example:6667/", Refused::Port(6667)),
        ] {
            assert_eq!(Target::check(&url(text), &rules).unwrap_err(), wanted, "{text}");
        }
        let target = Target::check(&url("https://H.example.:443/a#b"), &rules).unwrap();
        assert_eq!(target.origin.authority(), "h.example");
        assert_eq!(target.url.fragment(), None);
        let ports = Ports::Only(vec![80]);
        let rules = Rules { allow_http: true, allow_loopback: false, ports };
        assert!(Target::check(&url("http://h.example/"), &rules).is_ok());
        assert!(Target::check(&url("https://h.example/"), &rules).is_err());
    }

    #[test] // SCP-198 SCP-199 D13
    fn spec_hosts_of_collections() {
        let site = url("https://www.harbour.co.uk/");
        for (text, same, listed, any) in [
            ("https://www.harbour.co.uk/a", true, true, true),
            ("https://cdn.harbour.co.uk/a", true, false, true),
            ("https://harbour.co.uk./a", true, false, true),
            ("https://other.co.uk/a", false, false, true),
            ("https://r2.example/a", false, true, true),
            ("http://r2.example/a", false, true, false),
            ("https://1.2.3.4/a", false, false, true),
        ] {
            let other = url(text);
            let list = Hosts::Listed(vec!["R2.example".into()]);
            assert_eq!(Hosts::SameSite.allows(&site, &other), same, "{text}");
            assert_eq!(list.allows(&site, &other), listed, "{text}");
            assert_eq!(Hosts::AnyHttps.allows(&site, &other), any, "{text}");
        }
        let site = url("https://a.github.io/");
        assert!(!Hosts::SameSite.allows(&site, &url("https://b.github.io/")));
    }
}
