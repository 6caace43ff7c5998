//! Proxy settings from environment variables.
//!
//! The caller passes a lookup function, because the library does not read environment variables.
//! The client resolves and checks host names locally even if it uses a proxy, because the proxy can
//! reach the private network that the address check protects.

use std::fmt;

use url::{Host, Url};

use crate::target::Origin;

/// The proxies for http and https, and the hosts that bypass them.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Proxies {
    http: Option<Proxy>,
    https: Option<Proxy>,
    /// Hosts that the client contacts without a proxy.
    direct: Vec<ProxyExemption>,
}

/// Address and credentials of an HTTP proxy.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Proxy {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// The value of `Proxy-Authorization`.
    pub(crate) authorization: Option<String>,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl fmt::Debug for Proxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxies")
            .field("http", &self.http)
            .field("https", &self.https)
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum ProxyExemption {
    All,
    /// A host name with its subdomains, or an IP address; both with an optional port.
    Host(String, Option<u16>),
}

/// An environment variable with an invalid proxy setting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{variable}: {fault}")]
pub struct ProxyError {
    /// Name of the environment variable.
    pub variable: &'static str,
    /// What is wrong with the value of the variable.
    pub fault: &'static str,
}

impl Proxies {
    /// Reads `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`; lower-case names take
    /// precedence. `HTTP_PROXY` in capitals is ignored if `REQUEST_METHOD` is set, because the
    /// process is then a CGI script, and its client could have set the variable.
    ///
    /// ```
    /// # use rutter_fetch::Proxies;
    /// let proxies = Proxies::from_lookup(|name| {
    ///     (name == "https_proxy").then(|| "http://proxy.example:3128".to_owned())
    /// });
    /// assert!(proxies.unwrap() != Proxies::default());
    /// ```
    pub fn from_lookup(get: impl Fn(&str) -> Option<String>) -> Result<Self, ProxyError> {
        let value = |name: &str| get(name).filter(|value| !value.trim().is_empty());
        let both = |upper: &'static str| {
            let is_untrusted = upper == "HTTP_PROXY" && get("REQUEST_METHOD").is_some();
            let lower = value(&upper.to_ascii_lowercase());
            let text = lower.or_else(|| if is_untrusted { None } else { value(upper) });
            text.map(|text| Proxy::parse(&text, upper)).transpose()
        };
        let all = both("ALL_PROXY")?;
        let direct = value("no_proxy").or_else(|| value("NO_PROXY")).unwrap_or_default();
        Ok(Self {
            http: both("HTTP_PROXY")?.or_else(|| all.clone()),
            https: both("HTTPS_PROXY")?.or(all),
            direct: direct.split([',', ' ']).filter_map(ProxyExemption::parse).collect(),
        })
    }

    /// Returns the proxy for an origin; `None` for a direct connection.
    pub(crate) fn for_origin(&self, origin: &Origin) -> Option<&Proxy> {
        let proxy = if origin.is_https { &self.https } else { &self.http };
        let is_direct = self.direct.iter().any(|exemption| exemption.matches(origin));
        proxy.as_ref().filter(|_| !is_direct)
    }
}

impl Proxy {
    fn parse(text: &str, variable: &'static str) -> Result<Self, ProxyError> {
        let error = |fault| ProxyError { variable, fault };
        let text = text.trim();
        let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let url = Url::parse(&whole).map_err(|_| error("the value is not a URL"))?;
        if url.scheme() != "http" {
            return Err(error("only http:// proxies are supported"));
        }
        let host = match url.host() {
            Some(Host::Domain(name)) => name.to_owned(),
            Some(Host::Ipv4(address)) => address.to_string(),
            Some(Host::Ipv6(address)) => address.to_string(),
            None => return Err(error("the URL has no host")),
        };
        let port = url.port_or_known_default().unwrap_or(80);
        let password = url.password().unwrap_or_default();
        let has_user = !url.username().is_empty() || !password.is_empty();
        let authorization = has_user.then(|| {
            let pair =
                [percent_decode(url.username()), vec![b':'], percent_decode(password)].concat();
            format!("Basic {}", encode_base64(&pair))
        });
        Ok(Self { host, port, authorization })
    }
}

impl ProxyExemption {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        if text.is_empty() {
            return None;
        }
        if text == "*" {
            return Some(Self::All);
        }
        let is_bare_v6 = text.matches(':').count() > 1 && !text.starts_with('[');
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !is_bare_v6 => match port.parse() {
                Ok(port) => (host, Some(port)),
                Err(_) => (text.as_str(), None),
            },
            _ => (text.as_str(), None),
        };
        let host = host.trim_start_matches("*.").trim_start_matches('.').trim_end_matches('.');
        let host = host.trim_start_matches('[').trim_end_matches(']');
        Some(Self::Host(host.to_owned(), port))
    }

    fn matches(&self, origin: &Origin) -> bool {
        let Self::Host(host, port) = self else { return true };
        let name = origin.host.trim_start_matches('[').trim_end_matches(']');
        let is_below = name.strip_suffix(host).is_some_and(|rest| {
            rest.is_empty() || (rest.ends_with('.') && origin.literal().is_none())
        });
        is_below && port.is_none_or(|port| port == origin.port)
    }
}

fn percent_decode(text: &str) -> Vec<u8> {
    percent_encoding::percent_decode_str(text).collect()
}

fn encode_base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            if chunk.len() < place {
                out.push('=');
                continue;
            }
            let digit = bits >> (18 - 6 * place) & 63;
            let at = usize::try_from(digit).unwrap_or_default();
            out.push(char::from(DIGITS.get(at).copied().unwrap_or(b'A')));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(pairs: &[(&str, &str)]) -> Result<Proxies, ProxyError> {
        Proxies::from_lookup(|name| {
            let found = pairs.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    fn origin(host: &str, port: u16) -> Origin {
        Origin { is_https: port == 443, host: host.to_owned(), port }
    }

    #[test]
    fn chooses_proxy_by_scheme_and_host() {
        let found = proxies(&[
            ("HTTP_PROXY", "plain.example:8080"),
            ("https_proxy", "http://us%40er:p%20w@[::1]:3128/"),
            ("NO_PROXY", "localhost, .inside.example,10.0.0.1, out.example:443 *.deep.example"),
        ])
        .unwrap();
        let name =
            |host, port| found.for_origin(&origin(host, port)).map(|proxy| format!("{proxy:?}"));
        assert_eq!(name("h.example", 80).as_deref(), Some("plain.example:8080"));
        assert_eq!(name("h.example", 443).as_deref(), Some("::1:3128"));
        for direct in
            ["localhost", "inside.example", "a.inside.example", "10.0.0.1", "a.deep.example"]
        {
            assert_eq!(name(direct, 443), None, "{direct}");
        }
        assert_eq!(name("out.example", 443), None);
        assert!(name("out.example", 80).is_some());
        assert!(name("notinside.example", 80).is_some());
        let wanted = Some("Basic dXNAZXI6cCB3".to_owned());
        assert_eq!(found.https.as_ref().unwrap().authorization, wanted);
        assert!(!format!("{found:?}").contains("dXN"));
    }

    #[test]
    fn rejects_untrusted_and_invalid_proxies() {
        let strange = [("HTTP_PROXY", "evil.example"), ("REQUEST_METHOD", "GET")];
        assert_eq!(proxies(&strange).unwrap(), Proxies::default());
        let all = proxies(&[("ALL_PROXY", "p.example"), ("no_proxy", "*")]).unwrap();
        assert_eq!(all.for_origin(&origin("h.example", 443)), None);
        for bad in ["socks5://p.example", "https://p.example", "http://"] {
            assert!(proxies(&[("all_proxy", bad)]).is_err(), "{bad}");
        }
        assert_eq!(encode_base64(b"a"), "YQ==");
        assert_eq!(encode_base64(b"ab"), "YWI=");
        assert_eq!(encode_base64(b"abc"), "YWJj");
    }
}
