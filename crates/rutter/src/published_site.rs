//! Fetches the published files of a site, to rebuild a lost state: `--previous URL`.
//!
//! Input: the URL of the published site. Output: a temporary folder with its robots.txt, its
//! sitemaps, the announced collections and its ARC files, each under its path on the site. Sends one
//! request at a time, at the default pace, and obeys robots.txt. Rejects files outside the URL of
//! the site, and sites that take more than 5,000 requests.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use rutter_arc::{ArcReader, Limits as ArcLimits, delta};
use rutter_build::{BaseUrl, BuildPlan};
use rutter_fetch::{
    AddressPolicy, Client, ClientSettings, Environment, FetchedResponse, Proxies, Request,
    ResourceKind, ResponseBody, Url, decode,
};
use rutter_page::Timestamp;
use rutter_robots::RobotsTxt;
use rutter_scp::advert::{self, Advert};
use rutter_sitemap::{SitemapItem, SitemapLimits, SitemapReader};
use tempfile::TempDir;

/// Maximum number of requests to one site.
const MAX_REQUESTS: usize = 5000;

/// Maximum number of days whose ARC deltas are fetched; of a longer period, only the last days are
/// fetched.
const MAX_DAYS: i64 = 1000;

const DAY_SECONDS: i64 = 86_400;

/// Returns whether a value of `--previous` is a URL and not a folder.
pub(crate) fn is_address(text: &Path) -> bool {
    let text = text.to_string_lossy();
    text.starts_with("https://") || text.starts_with("http://")
}

/// Fetches the published files if the plan has a URL as its previous folder and the state is lost.
/// Sets the previous folder of the plan to a temporary folder, which is deleted when the returned
/// value is dropped.
pub(crate) fn fetch_previous(
    plan: &mut BuildPlan,
    say: &mut dyn FnMut(String),
) -> anyhow::Result<Option<TempDir>> {
    let Some(given) = plan.previous.clone().filter(|given| is_address(given)) else {
        return Ok(None);
    };
    if plan.state.join("ledger.tsv").exists() {
        return Ok(None);
    }
    let text = given.to_string_lossy();
    let address = BaseUrl::parse(&text).with_context(|| format!("--previous {text}"))?;
    let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut site = PublishedSite {
        base: plan.base.clone(),
        address,
        folder: folder.path(),
        now: plan.now,
        n_files: 0,
        n_requests: 0,
    };
    let client = client(&site.address)?;
    runtime
        .block_on(site.fetch_all(&client))
        .with_context(|| format!("cannot fetch the published files of {text}"))?;
    say(format!("fetched {} published files from {text}", site.n_files));
    plan.previous = Some(folder.path().to_owned());
    Ok(Some(folder))
}

/// Returns the HTTP client. The user typed the URL, so the client allows plain HTTP or loopback if
/// the URL has it.
fn client(address: &BaseUrl) -> anyhow::Result<Client> {
    let url = Url::parse(address.as_str())?;
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let is_loopback =
        host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
    let usual = ClientSettings::default();
    let settings = ClientSettings {
        // A local preview server needs no pause between requests.
        pace: if is_loopback { Duration::ZERO } else { usual.pace },
        allow_http: url.scheme() == "http",
        address_policy: AddressPolicy { allow_loopback: is_loopback, ..AddressPolicy::default() },
        proxies: Proxies::from_lookup(|name| std::env::var(name).ok())?,
        ..usual
    };
    Ok(Client::new(settings, Environment::system(Arc::new(()))))
}

/// A published site, and the folder for its fetched files.
struct PublishedSite<'f> {
    /// The base URL that the files of the site contain.
    base: BaseUrl,
    /// The URL that the files are fetched from.
    address: BaseUrl,
    folder: &'f Path,
    now: Timestamp,
    n_files: usize,
    n_requests: usize,
}

impl PublishedSite<'_> {
    async fn fetch_all(&mut self, client: &Client) -> anyhow::Result<()> {
        let robots =
            self.fetch(client, "robots.txt", ResourceKind::Robots).await?.unwrap_or_default();
        let robots = RobotsTxt::parse(&robots);
        let named = robots.sitemaps().filter_map(|(_, url)| self.path_of(url));
        let usual = ["sitemap.xml", "sitemap-rutter.xml", "sitemap-scp.xml"].map(str::to_owned);
        let mut waiting: Vec<String> =
            named.filter(|name| name.contains(".xml")).chain(usual).collect();
        let mut seen = BTreeSet::new();
        let mut collections = BTreeSet::new();
        while let Some(name) = waiting.pop() {
            if !seen.insert(name.clone()) {
                continue;
            }
            let Some(text) = self.fetch(client, &name, ResourceKind::Sitemap).await? else {
                continue;
            };
            let mut reader = SitemapReader::new(text.as_slice(), SitemapLimits::USUAL);
            while let Some(item) = reader.next(&mut ()).with_context(|| name.clone())? {
                match item {
                    SitemapItem::Child(child) => waiting.extend(self.path_of(&child.loc)),
                    SitemapItem::Foreign(foreign) if foreign.namespace == advert::NAMESPACE => {
                        let attributes: Vec<(&str, &str)> = foreign
                            .attributes
                            .iter()
                            .map(|(n, v)| (n.as_str(), v.as_str()))
                            .collect();
                        let read = Advert::read(&foreign.name, &attributes, &foreign.text);
                        if let Some(Ok(Advert::Collection(offer))) = read {
                            collections.extend(self.path_of(&offer.url));
                        }
                    }
                    SitemapItem::Url(_) | SitemapItem::Foreign(_) => {}
                }
            }
        }
        if collections.is_empty() {
            bail!("no sitemap announces collections");
        }
        for name in collections {
            let fetched = self.fetch(client, &name, ResourceKind::Collection).await?;
            fetched.with_context(|| format!("{name} is announced but does not exist"))?;
        }
        self.fetch_arc(client).await
    }

    /// Fetches the ARC sitemap, its deltas and the policy.
    async fn fetch_arc(&mut self, client: &Client) -> anyhow::Result<()> {
        let Some(text) = self.fetch(client, "arc-sitemap.json", ResourceKind::Arc).await? else {
            return Ok(());
        };
        let mut reader = ArcReader::new(text.as_slice(), ArcLimits::DEFAULT);
        while reader.next(&mut (), |_| ())?.is_some() {}
        let deltas = reader.finish(&mut ())?.head.deltas;
        if let Some(deltas) = deltas
            && let (Some(from), Some(to)) =
                (delta::parse_day(&deltas.from), delta::parse_day(&deltas.to))
        {
            for day in days(from, to, self.now) {
                let url = deltas.template.replace("YYYY-MM-DD", &delta::format_day(day));
                if let Some(name) = self.path_of(&url) {
                    self.fetch(client, &name, ResourceKind::Arc).await?;
                }
            }
        }
        self.fetch(client, ".well-known/arc-policy.json", ResourceKind::Policy).await?;
        Ok(())
    }

    /// Returns the path of a URL below the site, if it is safe as a file name.
    fn path_of(&self, url: &str) -> Option<String> {
        let path = self.base.strip(url)?;
        let is_safe = !path.is_empty()
            && !path.contains(['\\', '%', '?', '#', ':'])
            && !path.split('/').any(|segment| matches!(segment, "" | "." | ".."));
        is_safe.then(|| path.to_owned())
    }

    /// Fetches a file into the folder and returns its bytes, or `None` if it does not exist.
    async fn fetch(
        &mut self,
        client: &Client,
        name: &str,
        what: ResourceKind,
    ) -> anyhow::Result<Option<Vec<u8>>> {
        if MAX_REQUESTS <= self.n_requests {
            bail!("the site takes more than {MAX_REQUESTS} requests");
        }
        self.n_requests += 1;
        let url = Url::parse(&self.address.join(name))?;
        let site = Some(Url::parse(self.address.as_str())?);
        let answer = client.fetch(&Request { site, ..Request::new(url, what) }).await?;
        let bytes = match (answer.status, &answer.body) {
            (200, ResponseBody::Memory(bytes)) => file_bytes(&answer, bytes, what)?,
            (404 | 410, _) => return Ok(None),
            (status, _) => bail!("cannot fetch {name}: status {status}"),
        };
        let path = self.folder.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&path, &bytes).with_context(|| path.display().to_string())?;
        self.n_files += 1;
        Ok(Some(bytes))
    }
}

/// Returns the days of a period, but at most the last [`MAX_DAYS`], and no day after tomorrow.
/// Tomorrow is included, because clocks may differ.
fn days(from: Timestamp, to: Timestamp, now: Timestamp) -> impl Iterator<Item = Timestamp> {
    let to = to.min(now.plus_seconds(DAY_SECONDS));
    let n_before = (to.seconds_since(from).div_euclid(DAY_SECONDS)).min(MAX_DAYS - 1);
    let first_of = to.seconds_since(from).rem_euclid(DAY_SECONDS);
    (0..=n_before).rev().map(move |n| to.plus_seconds(-first_of).plus_seconds(-n * DAY_SECONDS))
}

/// Returns the bytes of a file. Collections stay compressed; the content encoding of other files is
/// removed.
fn file_bytes(
    answer: &FetchedResponse,
    bytes: &[u8],
    what: ResourceKind,
) -> anyhow::Result<Vec<u8>> {
    if what == ResourceKind::Collection {
        return Ok(bytes.to_vec());
    }
    let coding = answer.fields.content_encoding.as_deref();
    Ok(decode::decode_all(bytes, coding, what.size_limits().decoded)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(from: &str, to: &str, now: &str) -> Vec<String> {
        let time = |text| delta::parse_day(text).unwrap();
        let now = time(now).plus_seconds(3600);
        days(time(from), time(to), now).map(delta::format_day).collect()
    }

    #[test]
    fn days_are_limited_to_the_last_thousand() {
        let all = ["2026-02-27", "2026-02-28", "2026-03-01"];
        assert_eq!(names("2026-02-27", "2026-03-01", "2026-03-01"), all);
        assert_eq!(names("2026-02-27", "2026-02-27", "2026-03-01"), ["2026-02-27"]);
        assert!(names("2026-03-01", "2026-02-27", "2026-03-01").is_empty());
        // The next day is included, because clocks may differ; later days are not.
        let some = names("2026-02-27", "9999-12-31", "2026-02-28");
        assert_eq!(some, all);
        assert!(names("2030-01-01", "9999-12-31", "2026-02-28").is_empty());
        let most = names("0001-01-01", "9999-12-31", "2026-02-28");
        assert_eq!((most.len(), most.last().map(String::as_str)), (1000, Some("2026-03-01")));
    }

    #[test]
    fn counts_failed_requests() {
        // No server listens on this port.
        let address = BaseUrl::parse("http://127.0.0.1:9/").unwrap();
        let client = client(&address).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut site = PublishedSite {
            base: address.clone(),
            address,
            folder: folder.path(),
            now: delta::parse_day("2026-02-28").unwrap(),
            n_files: 0,
            n_requests: MAX_REQUESTS - 1,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut ask = || {
            let answer = runtime.block_on(site.fetch(&client, "a.xml", ResourceKind::Sitemap));
            answer.map_or_else(|error| error.to_string(), |_| String::new())
        };
        let first = ask();
        assert!(!first.contains("more than 5000 requests"), "{first}");
        let second = ask();
        assert!(second.contains("more than 5000 requests"), "{second}");
    }
}
