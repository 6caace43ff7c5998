//! Determines the base URL of a site from its files.
//!
//! Input: the folder and its home page. Several files may name a base URL: the origin that most of
//! them name wins, and on a tie, the origin of the first file wins. Output: the base URL, and the
//! files that name its origin.

use std::path::Path;

use rutter_build::BaseUrl;

use super::{HomePage, below, of_cname, of_home, of_sitemap, public, start_of};

/// The base URL that one file names.
struct BaseUrlStatement {
    source: &'static str,
    base: BaseUrl,
}

/// Returns the base URL of a site, and the files that name it.
pub(crate) fn base_url(site: &Path, home: Option<&HomePage>) -> Option<(BaseUrl, String)> {
    let statements: Vec<BaseUrlStatement> = [
        ("CNAME", of_cname(site)),
        ("sitemap.xml", of_sitemap(site)),
        ("spxi-index.jsonld", of_index(site)),
        ("arc-sitemap.json", of_arc(site)),
        ("the canonical link of the home page", home.and_then(|it| of_home(site, &it.facts))),
        ("robots.txt", of_robots(site)),
    ]
    .into_iter()
    .filter_map(|(source, base)| base.map(|base| BaseUrlStatement { source, base }))
    .collect();
    choose(&statements)
}

fn choose(statements: &[BaseUrlStatement]) -> Option<(BaseUrl, String)> {
    let votes = |origin: &str| statements.iter().filter(|it| it.base.origin() == origin).count();
    // On a tie, `max_by_key` returns the last element.
    let chosen = statements.iter().rev().max_by_key(|it| votes(it.base.origin()))?;
    let origin = chosen.base.origin();
    let (agree, differ): (Vec<_>, Vec<_>) =
        statements.iter().partition(|it| it.base.origin() == origin);
    let mut why: Vec<&str> = agree.iter().map(|it| it.source).collect();
    let last = why.pop().unwrap_or_default();
    let mut why =
        if why.is_empty() { last.to_owned() } else { format!("{} and {last}", why.join(", ")) };
    for other in differ {
        why = format!("{why}; {} names {}", other.source, other.base.origin());
    }
    Some((chosen.base.clone(), why))
}

/// Reads the base URL from the `@id` of the SPXI index, which is a URL below the base URL.
fn of_index(site: &Path) -> Option<BaseUrl> {
    let text = String::from_utf8(start_of(&site.join("spxi-index.jsonld"))?).ok()?;
    let value: serde_json::Value = serde_json::from_str(&text).ok()?;
    let id = value.get("@id")?.as_str()?;
    let folder = id.split('#').next()?.strip_suffix("spxi-index.jsonld");
    folder.map_or_else(|| below(site, id), public)
}

fn of_arc(site: &Path) -> Option<BaseUrl> {
    let text = String::from_utf8(start_of(&site.join("arc-sitemap.json"))?).ok()?;
    let (_, rest) = text.split_once("\"site\"")?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    public(rest.split('"').next()?)
}

fn of_robots(site: &Path) -> Option<BaseUrl> {
    let text = String::from_utf8(start_of(&site.join("robots.txt"))?).ok()?;
    let sitemap = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim().eq_ignore_ascii_case("sitemap").then(|| value.trim())
    })?;
    let origin = public(sitemap.split(['?', '#']).next()?)?.origin().to_owned();
    public(&format!("{origin}/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(statements: &[(&'static str, &str)]) -> Option<(String, String)> {
        let statements = statements.iter().map(|(source, base)| BaseUrlStatement {
            source,
            base: BaseUrl::parse(base).expect("a base URL"),
        });
        let statements: Vec<BaseUrlStatement> = statements.collect();
        let (base, why) = choose(&statements)?;
        Some((base.as_str().to_owned(), why))
    }

    #[test]
    fn majority_of_files_decides_the_base_url() {
        let (apex, www) = ("https://selk.example/", "https://www.selk.example/");
        let cases: [(&[_], _, _); 5] = [
            (&[("a", apex)], apex, "a"),
            (
                &[("sitemap.xml", apex), ("index", apex), ("home", www)],
                apex,
                "sitemap.xml and index; home names https://www.selk.example",
            ),
            (
                &[("sitemap.xml", apex), ("index", www), ("home", www)],
                www,
                "index and home; sitemap.xml names https://selk.example",
            ),
            (
                &[("sitemap.xml", apex), ("home", www)],
                apex,
                "sitemap.xml; home names https://www.selk.example",
            ),
            // CNAME implies a site at the root of its host.
            (
                &[("CNAME", apex), ("sitemap.xml", "https://selk.example/docs/")],
                apex,
                "CNAME and sitemap.xml",
            ),
        ];
        for (statements, base, why) in cases {
            assert_eq!(said(statements), Some((base.to_owned(), why.to_owned())));
        }
        assert_eq!(said(&[]), None);
    }
}
