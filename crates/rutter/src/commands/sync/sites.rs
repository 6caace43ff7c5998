//! Which sites are meant: those of the command line and of a file, each once,
//! with their other addresses.

use std::path::Path;

use anyhow::Context;
use rutter_fetch::Url;
use rutter_finding::quoted;

/// A site, and the other origins that are the same site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) url: Url,
    pub(crate) aliases: Vec<String>,
}

/// Sites of the command line and of a file.
///
/// An alias makes pages of another host pages of the site, so it is said of
/// one site and never of a list.
pub(crate) fn sites(
    given: &[String],
    aliases: &[String],
    file: Option<&Path>,
) -> anyhow::Result<Vec<Named>> {
    anyhow::ensure!(
        aliases.is_empty() || (given.len() == 1 && file.is_none()),
        "--alias: goes with exactly one SITE; in a file, write it behind the site, on its line"
    );
    let mut lines: Vec<(String, Vec<String>)> = given
        .iter()
        .map(|site| (site.clone(), [site].into_iter().chain(aliases).cloned().collect()))
        .collect();
    if let Some(file) = file {
        let text = if file == Path::new("-") {
            std::io::read_to_string(std::io::stdin())
        } else {
            std::fs::read_to_string(file)
        };
        let text = text.with_context(|| file.display().to_string())?;
        for (at, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            if !words.is_empty() {
                lines.push((format!("{}:{}", file.display(), at + 1), words));
            }
        }
    }
    let mut sites: Vec<Named> = Vec::new();
    for (place, words) in lines {
        // Of a site that is named by one word it is the only one; of two, the
        // second is more likely a remark than a host without a dot.
        let odd = words.iter().skip(1).find(|word| !word.contains(['.', ':']));
        if let Some(odd) = odd {
            let odd = quoted(odd);
            anyhow::bail!("{place}: {odd} is no address of the same site; `#` begins a remark");
        }
        let words = words.iter().map(|word| root(&place, word));
        let mut words = words.collect::<anyhow::Result<Vec<Url>>>()?.into_iter();
        let Some(url) = words.next() else { continue };
        let site = match sites.iter_mut().find(|site| site.url == url) {
            Some(site) => site,
            None => {
                sites.push(Named { url, aliases: Vec::new() });
                let Some(site) = sites.last_mut() else { continue };
                site
            }
        };
        for alias in words.map(|url| url.origin().ascii_serialization()) {
            if !site.aliases.contains(&alias) {
                site.aliases.push(alias);
            }
        }
    }
    anyhow::ensure!(!sites.is_empty(), "no site is named");
    Ok(sites)
}

/// The root of a site, however it is written.
fn root(place: &str, word: &str) -> anyhow::Result<Url> {
    let text = if word.contains("://") { word.to_owned() } else { format!("https://{word}") };
    let mut url = Url::parse(&text).with_context(|| format!("{place}: not an address"))?;
    let is_open = url.username().is_empty() && url.password().is_none();
    anyhow::ensure!(is_open, "{place}: a site is named without user and password");
    let is_web = matches!(url.scheme(), "http" | "https");
    anyhow::ensure!(is_web, "{place}: not the address of a site");
    url.set_path("/");
    url.set_query(None);
    url.set_fragment(None);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(sites: &[Named]) -> Vec<(&str, Vec<&str>)> {
        let sites = sites.iter();
        sites.map(|it| (it.url.as_str(), it.aliases.iter().map(String::as_str).collect())).collect()
    }

    #[test] // D88
    fn ours_an_alias_is_of_one_site() {
        let words = |words: &[&str]| -> Vec<String> { words.iter().map(|&it| it.into()).collect() };
        let www = words(&["www.a.example"]);
        let one = sites(&words(&["a.example"]), &www, None).unwrap();
        assert_eq!(named(&one), [("https://a.example/", vec!["https://www.a.example"])]);
        assert!(sites(&words(&["a.example", "evil.example"]), &www, None).is_err());
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sites.txt");
        let text = "\u{feff}# ours\nhttps://a.example https://www.a.example # both\n\n\
                    b.example/deep?q=1\na.example a.test www.a.example\n";
        std::fs::write(&file, text).unwrap();
        let all = sites(&words(&["b.example"]), &[], Some(&file)).unwrap();
        let a = ("https://a.example/", vec!["https://www.a.example", "https://a.test"]);
        assert_eq!(named(&all), [("https://b.example/", vec![]), a]);
        assert!(sites(&words(&["a.example"]), &www, Some(&file)).is_err());
        for bad in
            ["https://", "a.example ftp://b.example", "https://u:p@a.example", "a.example our docs"]
        {
            std::fs::write(&file, bad).unwrap();
            assert!(sites(&[], &[], Some(&file)).is_err(), "{bad}");
        }
    }
}
