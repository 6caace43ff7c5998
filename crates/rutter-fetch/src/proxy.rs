//! Proxies, as the environment names them.
//!
//! The library never reads the environment: the caller hands a look-up in.
//! Names are resolved and checked here all the same, because a proxy stands
//! inside the network that the address check protects.

use std::fmt;

use url::{Host, Url};

use crate::target::Origin;

/// Which proxy leads where.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Proxies {
    http: Option<Proxy>,
    https: Option<Proxy>,
    /// Hosts that are asked directly.
    direct: Vec<Exception>,
}

/// One proxy that speaks HTTP.
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
enum Exception {
    All,
    /// A name and everything below it, or an address.
    Host(String, Option<u16>),
}

/// A proxy that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{variable}: {fault}")]
pub struct ProxyError {
    /// The variable that names it.
    pub variable: &'static str,
    /// What is wrong with it.
    pub fault: &'static str,
}

impl Proxies {
    /// Reads `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, in lower
    /// case first. `HTTP_PROXY` in capitals is left alone where
    /// `REQUEST_METHOD` is set, because there a stranger may have set it.
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
            let is_strange = upper == "HTTP_PROXY" && get("REQUEST_METHOD").is_some();
            let lower = value(&upper.to_ascii_lowercase());
            let text = lower.or_else(|| if is_strange { None } else { value(upper) });
            text.map(|text| Proxy::parse(&text, upper)).transpose()
        };
        let all = both("ALL_PROXY")?;
        let direct = value("no_proxy").or_else(|| value("NO_PROXY")).unwrap_or_default();
        Ok(Self {
            http: both("HTTP_PROXY")?.or_else(|| all.clone()),
            https: both("HTTPS_PROXY")?.or(all),
            direct: direct.split([',', ' ']).filter_map(Exception::parse).collect(),
        })
    }

    /// The proxy on the way to a host; `None` where it is asked directly.
    pub(crate) fn of(&self, origin: &Origin) -> Option<&Proxy> {
        let proxy = if origin.is_https { &self.https } else { &self.http };
        let is_direct = self.direct.iter().any(|exception| exception.fits(origin));
        proxy.as_ref().filter(|_| !is_direct)
    }
}

impl Proxy {
    fn parse(text: &str, variable: &'static str) -> Result<Self, ProxyError> {
        let error = |fault| ProxyError { variable, fault };
        let text = text.trim();
        let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let url = Url::parse(&whole).map_err(|_| error("not an address"))?;
        if url.scheme() != "http" {
            return Err(error("only proxies with http:// are understood"));
        }
        let host = match url.host() {
            Some(Host::Domain(name)) => name.to_owned(),
            Some(Host::Ipv4(address)) => address.to_string(),
            Some(Host::Ipv6(address)) => address.to_string(),
            None => return Err(error("it has no host")),
        };
        let port = url.port_or_known_default().unwrap_or(80);
        let password = url.password().unwrap_or_default();
        let has_user = !url.username().is_empty() || !password.is_empty();
        let authorization = has_user.then(|| {
            let pair = [decoded(url.username()), vec![b':'], decoded(password)].concat();
            format!("Basic {}", base64(&pair))
        });
        Ok(Self { host, port, authorization })
    }
}

impl Exception {
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

    fn fits(&self, origin: &Origin) -> bool {
        let Self::Host(host, port) = self else { return true };
        let ours = origin.host.trim_start_matches('[').trim_end_matches(']');
        let is_below = ours.strip_suffix(host).is_some_and(|rest| {
            rest.is_empty() || (rest.ends_with('.') && origin.literal().is_none())
        });
        is_below && port.is_none_or(|port| port == origin.port)
    }
}

/// Undoes percent-encoding.
fn decoded(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if let (b'%', [high, low, after @ ..]) = (first, after)
            && let (Some(high), Some(low)) =
                (char::from(*high).to_digit(16), char::from(*low).to_digit(16))
            && let Ok(byte) = u8::try_from(high * 16 + low)
        {
            out.push(byte);
            rest = after;
        } else {
            out.push(*first);
        }
    }
    out
}

fn base64(bytes: &[u8]) -> String {
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
    fn ours_which_proxy_leads_where() {
        let found = proxies(&[
            ("HTTP_PROXY", "plain.example:8080"),
            ("https_proxy", "http://us%40er:p%20w@[::1]:3128/"),
            ("NO_PROXY", "localhost, .inside.example,10.0.0.1, out.example:443 *.deep.example"),
        ])
        .unwrap();
        let name = |host, port| found.of(&origin(host, port)).map(|proxy| format!("{proxy:?}"));
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
    fn ours_strange_and_broken_proxies() {
        let strange = [("HTTP_PROXY", "evil.example"), ("REQUEST_METHOD", "GET")];
        assert_eq!(proxies(&strange).unwrap(), Proxies::default());
        let all = proxies(&[("ALL_PROXY", "p.example"), ("no_proxy", "*")]).unwrap();
        assert_eq!(all.of(&origin("h.example", 443)), None);
        for bad in ["socks5://p.example", "https://p.example", "http://"] {
            assert!(proxies(&[("all_proxy", bad)]).is_err(), "{bad}");
        }
        assert_eq!(base64(b"a"), "YQ==");
        assert_eq!(base64(b"ab"), "YWI=");
        assert_eq!(base64(b"abc"), "YWJj");
    }
}
