//! The list of sites to sync, from the command line and from a file.
//!
//! A line of the file has a site, other origins of the same site, and settings: `a.example/docs
//! www.a.example pace=2 exclude=/docs/old/**`. Rejects invalid sites and settings, and lines whose
//! settings differ from those of an earlier line of the same site. An invalid argument is an error;
//! an invalid line of the file is reported, and the sites of all other lines are synced.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use rutter_fetch::{Url, redact};
use rutter_finding::quoted;
use rutter_sync::{Scope, ScopeRules, SyncOptions};

use crate::config::SettingsError;

/// Arguments that limit which pages are synced.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Scope")]
pub(super) struct ScopeArgs {
    /// Sync only pages whose path matches GLOB; may be repeated
    ///
    /// In a pattern, * matches within a path segment, ** across segments, ? one character, and a
    /// trailing / everything below a folder. By default, all pages are synced. Examples:
    /// /docs/**, /20??/.
    #[arg(long, value_name = "GLOB")]
    include: Vec<String>,
    /// Skip pages whose path matches GLOB; may be repeated
    ///
    /// --exclude takes precedence over --include.
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
    /// Sync only pages in these languages
    ///
    /// Language tags, separated by commas; en includes en-GB. By default, pages of all languages
    /// are synced.
    #[arg(long, value_name = "LANGUAGE", value_delimiter = ',')]
    language: Vec<String>,
    /// Follow links even if the site has a sitemap
    ///
    /// The report lists pages that no sitemap lists. By default, links are followed only on sites
    /// without a sitemap.
    #[arg(long)]
    follow_links: bool,
}

/// A site to sync, with its settings.
#[derive(Debug, Clone)]
pub(super) struct SiteToSync {
    /// The root URL of the site.
    pub(super) url: Url,
    pub(super) aliases: Vec<String>,
    pub(super) scope: Scope,
    pub(super) follows_links: bool,
    /// Minimum time between two requests; `None` for the pace of the command line.
    pub(super) pace: Option<Duration>,
}

impl SiteToSync {
    /// Returns the sync options of this site, based on the options of the command line.
    pub(super) fn options(&self, usual: &SyncOptions) -> SyncOptions {
        SyncOptions {
            aliases: self.aliases.clone(),
            scope: self.scope.clone(),
            follows_links: self.follows_links,
            ..usual.clone()
        }
    }
}

/// The sites to sync.
#[derive(Debug, Clone, Default)]
pub(super) struct SiteList {
    /// The sites; no site is listed twice.
    pub(super) sites: Vec<SiteToSync>,
    /// Messages about invalid lines of the file.
    pub(super) faults: Vec<String>,
}

/// A site with its settings, as read from one argument or one line of the file.
#[derive(Debug)]
struct RequestedSite {
    /// Line number in the file; `None` for the command line.
    number: Option<usize>,
    url: Url,
    /// The path that limits the sync; `None` for the whole site.
    prefix: Option<String>,
    aliases: Vec<String>,
    rules: ScopeRules,
    follows_links: bool,
    pace: Option<Duration>,
}

/// Reads the sites of the command line and of a file.
///
/// An alias makes pages of another host pages of the site, so `--alias` requires exactly one site.
pub(super) fn sites(
    given: &[String],
    aliases: &[String],
    file: Option<&Path>,
    args: &ScopeArgs,
) -> anyhow::Result<SiteList> {
    anyhow::ensure!(
        aliases.is_empty() || (given.len() == 1 && file.is_none()),
        "--alias requires exactly one SITE; in a file, write alias=ORIGIN after the site"
    );
    // Report invalid arguments before any site is synced.
    let rules = ScopeRules {
        prefixes: Vec::new(),
        include: args.include.clone(),
        exclude: args.exclude.clone(),
        languages: args.language.clone(),
    };
    Scope::new(rules.clone())?;
    let mut list = SiteList::default();
    let mut lines: Vec<RequestedSite> = Vec::new();
    for site in given {
        let words: Vec<&str> = [site].into_iter().chain(aliases).map(String::as_str).collect();
        lines.push(read(&words)?);
    }
    if let Some(file) = file {
        let text = if file == Path::new("-") {
            std::io::read_to_string(std::io::stdin())
        } else {
            std::fs::read_to_string(file)
        };
        let text = text.with_context(|| format!("cannot read {}", file.display()))?;
        for (at, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = line.split_whitespace().collect();
            if words.is_empty() {
                continue;
            }
            match read(&words) {
                Ok(line) => lines.push(RequestedSite { number: Some(at + 1), ..line }),
                Err(error) => {
                    let hint =
                        error.downcast_ref::<SettingsError>().and_then(|fault| fault.hint.clone());
                    let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
                    list.faults.push(format!("{}:{}: {error:#}{hint}", file.display(), at + 1));
                }
            }
        }
    }
    let (merged, conflicts) = merge(lines);
    let name = file.map(|file| file.display().to_string()).unwrap_or_default();
    list.faults.extend(conflicts.iter().map(|conflict| format!("{name}:{conflict}")));
    for line in merged {
        let url = line.url.clone();
        match named(line, &rules, args) {
            Ok(site) => list.sites.push(site),
            Err(error) => list.faults.push(format!("{url}: {error:#}")),
        }
    }
    Ok(list)
}

/// Merges the lines of each site: paths and aliases are combined.
///
/// If two lines of a site have different settings, the first one wins, and the other one is
/// reported with both line numbers.
fn merge(lines: Vec<RequestedSite>) -> (Vec<RequestedSite>, Vec<String>) {
    let mut merged: Vec<RequestedSite> = Vec::new();
    let mut conflicts = Vec::new();
    for mut line in lines {
        line.rules.prefixes.extend(line.prefix.clone());
        let Some(known) = merged.iter_mut().find(|known| known.url == line.url) else {
            merged.push(line);
            continue;
        };
        // Arguments have no settings per site, so only lines of the file can differ.
        if let (Some(setting), Some(number)) = (known.different_setting(&line), line.number) {
            let site = line.url.origin().ascii_serialization();
            let place = match known.number {
                Some(known) => format!("line {known}"),
                None => "the command line".to_owned(),
            };
            conflicts.push(format!(
                "{number}: {site} is also on {place} with a different {setting}; all lines of a \
                 site need the same settings"
            ));
            continue;
        }
        if known.prefix.is_none() || line.prefix.is_none() {
            // One of the lines has no path and covers the whole site.
            known.prefix = None;
            known.rules.prefixes.clear();
        } else {
            add(&mut known.rules.prefixes, line.rules.prefixes);
        }
        add(&mut known.aliases, line.aliases);
    }
    (merged, conflicts)
}

fn add(known: &mut Vec<String>, more: Vec<String>) {
    for word in more {
        if !known.contains(&word) {
            known.push(word);
        }
    }
}

/// Creates a site with the filters of its line. A filter that the line does not set is taken from
/// the command line.
fn named(line: RequestedSite, usual: &ScopeRules, args: &ScopeArgs) -> anyhow::Result<SiteToSync> {
    let or = |own: Vec<String>, usual: &Vec<String>| {
        if own.is_empty() { usual.clone() } else { own }
    };
    let rules = ScopeRules {
        prefixes: line.rules.prefixes,
        include: or(line.rules.include, &usual.include),
        exclude: or(line.rules.exclude, &usual.exclude),
        languages: or(line.rules.languages, &usual.languages),
    };
    Ok(SiteToSync {
        url: line.url,
        aliases: line.aliases,
        scope: Scope::new(rules)?,
        follows_links: line.follows_links || args.follow_links,
        pace: line.pace,
    })
}

/// Parses a site with its aliases and settings.
fn read(words: &[&str]) -> anyhow::Result<RequestedSite> {
    let (site, rest) = words.split_first().context("no site is given")?;
    let mut url = site_url(site)?;
    let path = url.path().to_owned();
    url.set_path("/");
    let mut line = RequestedSite {
        number: None,
        url,
        prefix: Some(path).filter(|path| path != "/"),
        aliases: Vec::new(),
        rules: ScopeRules::default(),
        follows_links: false,
        pace: None,
    };
    for word in rest {
        match word.split_once('=') {
            Some((name, value)) if !name.contains(['.', ':', '/']) => line.set(name, value)?,
            _ if *word == "follow-links" => line.follows_links = true,
            // A word without a dot is more likely a comment than a host.
            _ if !word.contains(['.', ':']) => anyhow::bail!(
                "{} is neither an origin nor a setting; a comment starts with `#`",
                quoted(word)
            ),
            _ => line.add_alias(word)?,
        }
    }
    // Report invalid patterns and languages with their line.
    Scope::new(line.rules.clone())?;
    Ok(line)
}

impl RequestedSite {
    /// Returns the first setting that differs from that of another line of the same site.
    fn different_setting(&self, other: &Self) -> Option<&'static str> {
        let is_same = |one: &[String], two: &[String]| {
            let sorted = |words: &[String]| words.iter().cloned().collect::<BTreeSet<_>>();
            sorted(one) == sorted(two)
        };
        let (ours, theirs) = (&self.rules, &other.rules);
        let settings = [
            ("include", is_same(&ours.include, &theirs.include)),
            ("exclude", is_same(&ours.exclude, &theirs.exclude)),
            ("language", is_same(&ours.languages, &theirs.languages)),
            ("pace", self.pace == other.pace),
            ("follow-links", self.follows_links == other.follows_links),
        ];
        settings.into_iter().find_map(|(name, is_same)| (!is_same).then_some(name))
    }

    fn set(&mut self, name: &str, value: &str) -> anyhow::Result<()> {
        let words = value.split(',').filter(|word| !word.is_empty()).map(str::to_owned);
        match name {
            "alias" => self.add_alias(value)?,
            "include" => self.rules.include.extend(words),
            "exclude" => self.rules.exclude.extend(words),
            "language" => self.rules.languages.extend(words),
            "pace" => {
                let seconds = value.parse().ok().map(Duration::try_from_secs_f64);
                let pace = seconds.and_then(Result::ok);
                self.pace = Some(pace.with_context(|| {
                    format!("pace={} is not a number of seconds", quoted(value))
                })?);
            }
            _ => anyhow::bail!(
                "{} is not a setting of a site; settings are alias, exclude, follow-links, \
                 include, language and pace",
                quoted(name)
            ),
        }
        Ok(())
    }

    fn add_alias(&mut self, word: &str) -> anyhow::Result<()> {
        let alias = site_url(word)?.origin().ascii_serialization();
        add(&mut self.aliases, vec![alias]);
        Ok(())
    }
}

/// Parses the URL of a site and removes query and fragment.
fn site_url(word: &str) -> anyhow::Result<Url> {
    let shown = quoted(&redact(word));
    let no_host =
        || SettingsError::missing(format!("{shown} has no host"), "example: https://example.org");
    let text = if word.contains("://") { word.to_owned() } else { format!("https://{word}") };
    let rest = text.split_once("://").map_or("", |(_, rest)| rest);
    anyhow::ensure!(!rest.is_empty() && !rest.starts_with([':', '/', '?', '#']), no_host());
    let mut url = match Url::parse(&text) {
        Ok(url) => url,
        Err(error) => anyhow::bail!("{shown} is not the URL of a site: {error}"),
    };
    let is_open = url.username().is_empty() && url.password().is_none();
    anyhow::ensure!(is_open, "{shown}: the URL must not contain a user name or password");
    let is_web = matches!(url.scheme(), "http" | "https");
    anyhow::ensure!(is_web, "{shown}: the scheme must be http or https");
    anyhow::ensure!(url.host_str().is_some_and(|host| !host.is_empty()), no_host());
    url.set_query(None);
    url.set_fragment(None);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|&it| it.to_owned()).collect()
    }

    fn list(given: &[&str], aliases: &[&str], file: Option<&Path>) -> anyhow::Result<SiteList> {
        sites(&words(given), &words(aliases), file, &ScopeArgs::default())
    }

    fn named(list: &SiteList) -> Vec<(&str, Vec<&str>)> {
        let sites = list.sites.iter();
        sites.map(|it| (it.url.as_str(), it.aliases.iter().map(String::as_str).collect())).collect()
    }

    #[test] // D88
    fn alias_requires_exactly_one_site() {
        let www = ["www.a.example"];
        let one = list(&["a.example"], &www, None).unwrap();
        assert_eq!(named(&one), [("https://a.example/", vec!["https://www.a.example"])]);
        assert!(list(&["a.example", "evil.example"], &www, None).is_err());
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sites.txt");
        let text = "\u{feff}# ours\nhttps://a.example https://www.a.example # both\n\n\
                    b.example/deep?q=1\na.example a.test www.a.example\n";
        std::fs::write(&file, text).unwrap();
        let all = list(&["b.example"], &[], Some(&file)).unwrap();
        let a = ("https://a.example/", vec!["https://www.a.example", "https://a.test"]);
        assert_eq!(named(&all), [("https://b.example/", vec![]), a]);
        assert!(list(&["a.example"], &www, Some(&file)).is_err());
        for bad in ["https://", "", "/docs", "ftp://b.example", "https://u:p@a.example"] {
            assert!(list(&[bad], &[], None).is_err(), "{bad}");
        }
    }

    #[test]
    fn paths_limit_a_site_and_are_combined() {
        let prefixes = |given: &[&str]| {
            let list = list(given, &[], None).unwrap();
            let [site] = list.sites.as_slice() else { panic!("{list:?}") };
            assert_eq!(site.url.as_str(), "https://a.example/");
            site.scope.rules().prefixes.clone()
        };
        assert_eq!(prefixes(&["a.example/docs"]), ["/docs"]);
        assert_eq!(prefixes(&["a.example/docs/", "https://a.example/blog"]), ["/docs/", "/blog"]);
        assert!(prefixes(&["a.example/docs", "a.example"]).is_empty());
        assert!(prefixes(&["a.example", "a.example/docs"]).is_empty());
    }

    #[test]
    fn line_settings_override_the_command_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sites.txt");
        let text = "a.example/docs pace=2.5 include=/docs/** exclude=/x/,/y/ language=en,de \
                    alias=www.a.example follow-links\nb.example\n";
        std::fs::write(&file, text).unwrap();
        let args = ScopeArgs { language: words(&["fr"]), ..ScopeArgs::default() };
        let list = sites(&[], &[], Some(&file), &args).unwrap();
        let [a, b] = list.sites.as_slice() else { panic!("{list:?}") };
        let wanted = ScopeRules {
            prefixes: words(&["/docs"]),
            include: words(&["/docs/**"]),
            exclude: words(&["/x/", "/y/"]),
            languages: words(&["en", "de"]),
        };
        assert_eq!((a.scope.rules(), a.follows_links), (&wanted, true));
        assert_eq!(a.pace, Some(Duration::from_millis(2_500)));
        assert_eq!(a.aliases, ["https://www.a.example"]);
        // Filters of the command line apply to lines without filters.
        assert_eq!(b.scope.rules().languages, ["fr"]);
        assert_eq!((b.follows_links, b.pace), (false, None));
    }

    #[test]
    fn lines_of_one_site_with_different_settings_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sites.txt");
        let text = "a.example/docs exclude=/docs/old/** language=en\n# a remark\n\
                    b.example\n\
                    a.example/blog language=en,de exclude=/docs/old/**\n\
                    https://a.example/wiki language=en exclude=/docs/old/**\n\
                    b.example pace=3\nc.example follow-links\nc.example\nd.example include=/x/\n";
        std::fs::write(&file, text).unwrap();
        let list = list(&["d.example"], &[], Some(&file)).unwrap();
        let names: Vec<&str> = list.sites.iter().map(|site| site.url.as_str()).collect();
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| format!("https://{name}.example/"));
        assert_eq!(names, [&d, &a, &b, &c]);
        // The order of settings does not matter; the paths are combined.
        let rules = list.sites[1].scope.rules();
        assert_eq!(rules.prefixes, ["/docs", "/wiki"]);
        assert_eq!(
            (&rules.exclude, &rules.languages),
            (&words(&["/docs/old/**"]), &words(&["en"]))
        );
        assert_eq!((list.sites[2].pace, list.sites[3].follows_links), (None, true));
        assert!(list.sites[0].scope.rules().include.is_empty());
        let faults = list.faults.join("\n");
        for wanted in [
            "sites.txt:4: https://a.example is also on line 1 with a different language",
            "sites.txt:6: https://b.example is also on line 3 with a different pace",
            "sites.txt:8: https://c.example is also on line 7 with a different follow-links",
            "sites.txt:9: https://d.example is also on the command line with a different include",
        ] {
            assert!(faults.contains(wanted), "{wanted}\n{faults}");
        }
        assert_eq!(list.faults.len(), 4, "{faults}");
    }

    #[test]
    fn reports_invalid_lines_and_keeps_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sites.txt");
        let text = "a.example\nhttps://u:secret@b.example\nc.example our docs\nd.example depth=3\n\
                    e.example include=/a[\nf.example pace=fast\nhttps://\ng.example\n";
        std::fs::write(&file, text).unwrap();
        let list = list(&[], &[], Some(&file)).unwrap();
        assert_eq!(named(&list), [("https://a.example/", vec![]), ("https://g.example/", vec![])]);
        let faults = list.faults.join("\n");
        for wanted in [
            "sites.txt:2: `https://b.example`: the URL must not contain a user name or password",
            "sites.txt:3: `our` is neither an origin nor a setting",
            "sites.txt:4: `depth` is not a setting of a site",
            "sites.txt:5: `/a[` is not a valid glob",
            "sites.txt:6: pace=`fast` is not a number of seconds",
            "sites.txt:7: `https://` has no host",
        ] {
            assert!(faults.contains(wanted), "{wanted}\n{faults}");
        }
        assert!(list.faults.len() == 6 && !faults.contains("secret"), "{faults}");
    }
}
