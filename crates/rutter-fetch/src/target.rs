//! Checks a URL before a request is sent: scheme, credentials, port, host.
//!
//! Every URL of a redirect chain is checked.

use std::net::IpAddr;

use url::{Host, Url};

use crate::error::RequestRefusal;

/// Which ports a client may connect to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum PortPolicy {
    /// The ports 80 and 443, and ports from 1024 on that no other protocol uses.
    #[default]
    Usual,
    /// Only these ports.
    Only(Vec<u16>),
}

/// Ports from 1024 on that browsers block, because other protocols use them.
const OTHER_PROTOCOLS: [u16; 17] = [
    1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669,
    10_080,
];

impl PortPolicy {
    fn allows(&self, port: u16) -> bool {
        match self {
            Self::Usual => {
                matches!(port, 80 | 443) || (1024 <= port && !OTHER_PROTOCOLS.contains(&port))
            }
            Self::Only(ports) => ports.contains(&port),
        }
    }
}

/// Which hosts may serve files of a site (D13).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum HostPolicy {
    /// Hosts with the registrable domain of the site.
    #[default]
    SameSite,
    /// The site's own host and these hosts.
    Listed(Vec<String>),
    /// Any host, with https only.
    AnyHttps,
}

impl HostPolicy {
    /// Returns whether `url` may serve files of `site`.
    ///
    /// ```
    /// # use rutter_fetch::HostPolicy;
    /// # use url::Url;
    /// let url = |text| Url::parse(text).unwrap();
    /// let site = url("https://www.harbour.example/");
    /// assert!(HostPolicy::SameSite.allows(&site, &url("https://cdn.harbour.example/a.scp")));
    /// assert!(!HostPolicy::SameSite.allows(&site, &url("https://harbour.test/a.scp")));
    /// ```
    pub fn allows(&self, site: &Url, url: &Url) -> bool {
        if site.host() == url.host() {
            return true;
        }
        let (Some(Host::Domain(site_name)), Some(Host::Domain(name))) = (site.host(), url.host())
        else {
            return matches!(self, Self::AnyHttps) && url.scheme() == "https";
        };
        match self {
            Self::SameSite => {
                let domain = |host: &str| {
                    let name = host.trim_end_matches('.');
                    psl::domain_str(name).map(str::to_owned)
                };
                domain(site_name).is_some() && domain(site_name) == domain(name)
            }
            Self::Listed(hosts) => hosts.iter().any(|host| host.eq_ignore_ascii_case(name)),
            Self::AnyHttps => url.scheme() == "https",
        }
    }
}

/// The settings that decide which URLs are allowed.
#[derive(Debug, Clone, Default)]
pub(crate) struct UrlRules {
    pub(crate) allow_http: bool,
    /// Whether loopback addresses are allowed, also with plain http.
    pub(crate) allow_loopback: bool,
    pub(crate) ports: PortPolicy,
}

impl UrlRules {
    pub(crate) fn allows_scheme(&self, url: &Url) -> bool {
        match url.scheme() {
            "https" => true,
            "http" => self.allow_http || (self.allow_loopback && is_loopback(url)),
            _ => false,
        }
    }
}

/// Returns whether the host is a loopback address or `localhost`. Other names do not count, because
/// they may resolve to other addresses at any time.
fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name.trim_end_matches('.').eq_ignore_ascii_case("localhost"),
        None => false,
    }
}

/// A URL that passed the checks of this module, with its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) url: Url,
    /// The origin of the URL; robots.txt and connections are cached per origin.
    pub(crate) origin: Origin,
}

/// Scheme, host and port of a URL.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Origin {
    pub(crate) is_https: bool,
    /// Host name in lower case without a trailing dot, or IP address.
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl Origin {
    /// Returns the IP address of the host; `None` if the host is a name.
    pub(crate) fn literal(&self) -> Option<IpAddr> {
        self.host.trim_start_matches('[').trim_end_matches(']').parse().ok()
    }

    /// Returns the value of the `Host` field.
    pub(crate) fn authority(&self) -> String {
        let usual = if self.is_https { 443 } else { 80 };
        if self.port == usual { self.host.clone() } else { format!("{}:{}", self.host, self.port) }
    }

    /// Returns the URL of the origin, with a trailing slash.
    pub(crate) fn root(&self) -> String {
        let scheme = if self.is_https { "https" } else { "http" };
        format!("{scheme}://{}/", self.authority())
    }
}

impl Target {
    /// Checks scheme, credentials, host name and port of a URL. Does not resolve the host.
    pub(crate) fn check(url: &Url, rules: &UrlRules) -> Result<Self, RequestRefusal> {
        let is_https = match url.scheme() {
            "https" => true,
            "http" if rules.allows_scheme(url) => false,
            "http" => return Err(RequestRefusal::PlainHttp),
            other => return Err(RequestRefusal::Scheme(rutter_finding::quoted(other))),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(RequestRefusal::Credentials);
        }
        let host = url.host_str().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase();
        if host.is_empty() {
            return Err(RequestRefusal::NoHost);
        }
        let port = url.port_or_known_default().unwrap_or_default();
        if !rules.ports.allows(port) {
            return Err(RequestRefusal::Port(port));
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
    fn allows_plain_http_for_loopback_only() {
        let rules = UrlRules { allow_loopback: true, ..UrlRules::default() };
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
                assert!(matches!(checked, Err(RequestRefusal::PlainHttp)), "{text}");
            }
        }
        assert!(
            Target::check(&Url::parse("http://127.0.0.1/").unwrap(), &UrlRules::default()).is_err()
        );
    }

    #[test] // SCP-191 SCP-193 D12
    fn checks_urls_before_any_request() {
        let rules = UrlRules::default();
        for (text, wanted) in [
            ("http://h.example/", RequestRefusal::PlainHttp),
            ("ftp://h.example/", RequestRefusal::Scheme("`ftp`".into())),
            ("file:///etc/passwd", RequestRefusal::Scheme("`file`".into())),
            ("https://u@h.example/", RequestRefusal::Credentials),
            ("https://u:p@h.example/", RequestRefusal::Credentials),
            ("https://h.example:25/", RequestRefusal::Port(25)),
            ("https://h.example:22/", RequestRefusal::Port(22)),
            ("https://h.example:6667/", RequestRefusal::Port(6667)),
        ] {
            assert_eq!(Target::check(&url(text), &rules).unwrap_err(), wanted, "{text}");
        }
        let target = Target::check(&url("https://H.example.:443/a#b"), &rules).unwrap();
        assert_eq!(target.origin.authority(), "h.example");
        assert_eq!(target.url.fragment(), None);
        let ports = PortPolicy::Only(vec![80]);
        let rules = UrlRules { allow_http: true, allow_loopback: false, ports };
        assert!(Target::check(&url("http://h.example/"), &rules).is_ok());
        assert!(Target::check(&url("https://h.example/"), &rules).is_err());
    }

    #[test] // SCP-198 SCP-199 D13
    fn limits_the_hosts_of_a_site() {
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
            let list = HostPolicy::Listed(vec!["R2.example".into()]);
            assert_eq!(HostPolicy::SameSite.allows(&site, &other), same, "{text}");
            assert_eq!(list.allows(&site, &other), listed, "{text}");
            assert_eq!(HostPolicy::AnyHttps.allows(&site, &other), any, "{text}");
        }
        let site = url("https://a.github.io/");
        assert!(!HostPolicy::SameSite.allows(&site, &url("https://b.github.io/")));
    }
}
