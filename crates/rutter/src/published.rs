//! Fetches what a site published, so that lost state can be rebuilt from it: `--previous URL`.
//!
//! Input: the address of the published site. Output: a temporary folder with its robots.txt,
//! sitemaps, the collections these announce, and its ARC files, each under the path it has on the
//! site. One request at a time, at the usual pace, within what robots.txt allows.
//! Rejects: files that are not below the address of the site, and sites that take more than
//! 5,000 requests.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use rutter_arc::{Limits as ArcLimits, Reader as ArcReader, delta};
use rutter_build::{Base, Plan};
use rutter_fetch::{
    Body, Client, Fetched, Guard, Means, Proxies, Request, Settings, Url, What, decode,
};
use rutter_page::Timestamp;
use rutter_scp::advert::{self, Advert};
use rutter_signpost::robots::Robots;
use rutter_signpost::sitemap::{Item, Limits, Reader};
use tempfile::TempDir;

/// Most requests, whatever is answered.
const MOST_REQUESTS: usize = 5000;

/// Most days whose ARC deltas are fetched, the last ones.
const MOST_DAYS: i64 = 1000;

const DAY_SECONDS: i64 = 86_400;

/// Whether a value of `--previous` is an address and not a folder.
pub(crate) fn is_address(text: &Path) -> bool {
    let text = text.to_string_lossy();
    text.starts_with("https://") || text.starts_with("http://")
}

/// Fetches the published files where the plan names an address as the
/// previous folder and the state is lost; the plan names the folder then.
/// The folder lives as long as what is returned.
pub(crate) fn fetch_previous(
    plan: &mut Plan,
    say: &mut dyn FnMut(String),
) -> anyhow::Result<Option<TempDir>> {
    let Some(given) = plan.previous.clone().filter(|given| is_address(given)) else {
        return Ok(None);
    };
    if plan.state.join("ledger.tsv").exists() {
        return Ok(None);
    }
    let text = given.to_string_lossy();
    let address = Base::parse(&text).with_context(|| format!("--previous {text}"))?;
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut site = Published {
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
        .with_context(|| format!("cannot fetch what is published at {text}"))?;
    say(format!("fetched {} published files from {text}", site.n_files));
    plan.previous = Some(folder.path().to_owned());
    Ok(Some(folder))
}

/// The owner typed the address, so plain http and loopback are meant.
fn client(address: &Base) -> anyhow::Result<Client> {
    let url = Url::parse(address.as_str())?;
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let is_loopback =
        host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
    let usual = Settings::default();
    let settings = Settings {
        // Nobody else is served by this machine's own preview.
        pace: if is_loopback { Duration::ZERO } else { usual.pace },
        allow_http: url.scheme() == "http",
        guard: Guard { allow_loopback: is_loopback, ..Guard::default() },
        proxies: Proxies::from_lookup(|name| std::env::var(name).ok())?,
        ..usual
    };
    Ok(Client::new(settings, Means::system(Arc::new(()))))
}

/// A published site, and where its files go.
struct Published<'f> {
    /// The address that its files name.
    base: Base,
    /// The address it is fetched from.
    address: Base,
    folder: &'f Path,
    now: Timestamp,
    n_files: usize,
    n_requests: usize,
}

impl Published<'_> {
    async fn fetch_all(&mut self, client: &Client) -> anyhow::Result<()> {
        let robots = self.fetch(client, "robots.txt", What::Robots).await?.unwrap_or_default();
        let robots = Robots::parse(&robots);
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
            let Some(text) = self.fetch(client, &name, What::Sitemap).await? else { continue };
            let mut reader = Reader::new(text.as_slice(), Limits::USUAL);
            while let Some(item) = reader.next(&mut ()).with_context(|| name.clone())? {
                match item {
                    Item::Child(child) => waiting.extend(self.path_of(&child.loc)),
                    Item::Foreign(foreign) if foreign.namespace == advert::NAMESPACE => {
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
                    Item::Url(_) | Item::Foreign(_) => {}
                }
            }
        }
        if collections.is_empty() {
            bail!("no sitemap there announces collections");
        }
        for name in collections {
            let fetched = self.fetch(client, &name, What::Collection).await?;
            fetched.with_context(|| format!("{name} is announced and not there"))?;
        }
        self.fetch_arc(client).await
    }

    /// The ARC sitemap with the deltas it announces, and the policy.
    async fn fetch_arc(&mut self, client: &Client) -> anyhow::Result<()> {
        let Some(text) = self.fetch(client, "arc-sitemap.json", What::Arc).await? else {
            return Ok(());
        };
        let mut reader = ArcReader::new(text.as_slice(), ArcLimits::USUAL);
        while reader.next(&mut (), |_| ())?.is_some() {}
        let deltas = reader.finish(&mut ())?.head.deltas;
        if let Some(deltas) = deltas
            && let (Some(from), Some(to)) = (delta::day(&deltas.from), delta::day(&deltas.to))
        {
            for day in days(from, to, self.now) {
                let url = deltas.template.replace("YYYY-MM-DD", &delta::day_of(day));
                if let Some(name) = self.path_of(&url) {
                    self.fetch(client, &name, What::Arc).await?;
                }
            }
        }
        self.fetch(client, ".well-known/arc-policy.json", What::Policy).await?;
        Ok(())
    }

    /// The path below the site that an address of its files stands for.
    fn path_of(&self, url: &str) -> Option<String> {
        let path = self.base.strip(url)?;
        let is_safe = !path.is_empty()
            && !path.contains(['\\', '%', '?', '#', ':'])
            && !path.split('/').any(|segment| matches!(segment, "" | "." | ".."));
        is_safe.then(|| path.to_owned())
    }

    /// Fetches a file into the folder; gives its bytes, or `None` where there
    /// is none.
    async fn fetch(
        &mut self,
        client: &Client,
        name: &str,
        what: What,
    ) -> anyhow::Result<Option<Vec<u8>>> {
        if MOST_REQUESTS <= self.n_requests {
            bail!("this takes more than {MOST_REQUESTS} requests");
        }
        self.n_requests += 1;
        let url = Url::parse(&self.address.join(name))?;
        let site = Some(Url::parse(self.address.as_str())?);
        let answer = client.fetch(&Request { site, ..Request::new(url, what) }).await?;
        let bytes = match (answer.status, &answer.body) {
            (200, Body::Memory(bytes)) => file_bytes(&answer, bytes, what)?,
            (404 | 410, _) => return Ok(None),
            (status, _) => bail!("{name}: answered with status {status}"),
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

/// The days from one to another, without days to come and no more than [`MOST_DAYS`]. Clocks
/// may differ by a day.
fn days(from: Timestamp, to: Timestamp, now: Timestamp) -> impl Iterator<Item = Timestamp> {
    let to = to.min(now.plus_seconds(DAY_SECONDS));
    let n_before = (to.seconds_since(from).div_euclid(DAY_SECONDS)).min(MOST_DAYS - 1);
    let first_of = to.seconds_since(from).rem_euclid(DAY_SECONDS);
    (0..=n_before).rev().map(move |n| to.plus_seconds(-first_of).plus_seconds(-n * DAY_SECONDS))
}

/// The bytes of the file: those of a collection are compressed on the site,
/// those of other files at most on the way.
fn file_bytes(answer: &Fetched, bytes: &[u8], what: What) -> anyhow::Result<Vec<u8>> {
    if what == What::Collection {
        return Ok(bytes.to_vec());
    }
    let coding = answer.fields.content_encoding.as_deref();
    Ok(decode::whole(bytes, coding, what.sizes().decoded)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(from: &str, to: &str, now: &str) -> Vec<String> {
        let time = |text| delta::day(text).unwrap();
        let now = time(now).plus_seconds(3600);
        days(time(from), time(to), now).map(delta::day_of).collect()
    }

    #[test]
    fn asks_for_each_day_and_for_no_more_than_the_last_thousand() {
        let all = ["2026-02-27", "2026-02-28", "2026-03-01"];
        assert_eq!(names("2026-02-27", "2026-03-01", "2026-03-01"), all);
        assert_eq!(names("2026-02-27", "2026-02-27", "2026-03-01"), ["2026-02-27"]);
        assert!(names("2026-03-01", "2026-02-27", "2026-03-01").is_empty());
        // The day after, for clocks that differ; none later.
        let some = names("2026-02-27", "9999-12-31", "2026-02-28");
        assert_eq!(some, all);
        assert!(names("2030-01-01", "9999-12-31", "2026-02-28").is_empty());
        let most = names("0001-01-01", "9999-12-31", "2026-02-28");
        assert_eq!((most.len(), most.last().map(String::as_str)), (1000, Some("2026-03-01")));
    }

    #[test]
    fn counts_requests_that_find_nothing() {
        // Nobody listens, and a request counts all the same.
        let address = Base::parse("http://127.0.0.1:9/").unwrap();
        let client = client(&address).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut site = Published {
            base: address.clone(),
            address,
            folder: folder.path(),
            now: delta::day("2026-02-28").unwrap(),
            n_files: 0,
            n_requests: MOST_REQUESTS - 1,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut ask = || {
            let answer = runtime.block_on(site.fetch(&client, "a.xml", What::Sitemap));
            answer.map_or_else(|error| error.to_string(), |_| String::new())
        };
        let first = ask();
        assert!(!first.contains("more than 5000 requests"), "{first}");
        let second = ask();
        assert!(second.contains("more than 5000 requests"), "{second}");
    }
}
