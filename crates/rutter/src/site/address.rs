//! Decides the base URL of a folder by what its files say.
//!
//! Input: the folder and its home page. Each source names a base URL; the
//! origin that most sources name wins, and on a tie the one that the first
//! source names. Output: the base URL, and which sources named it.

use std::path::Path;

use rutter_build::Base;

use super::{Home, below, of_cname, of_home, of_sitemap, public, start_of};

/// What one file says.
struct Statement {
    source: &'static str,
    base: Base,
}

/// The base URL of a site, and why it was chosen.
pub(crate) fn base_url(site: &Path, home: Option<&Home>) -> Option<(Base, String)> {
    let statements: Vec<Statement> = [
        ("CNAME", of_cname(site)),
        ("sitemap.xml", of_sitemap(site)),
        ("spxi-index.jsonld", of_index(site)),
        ("arc-sitemap.json", of_arc(site)),
        ("the canonical link of the home page", home.and_then(|it| of_home(site, &it.facts))),
        ("robots.txt", of_robots(site)),
    ]
    .into_iter()
    .filter_map(|(source, base)| base.map(|base| Statement { source, base }))
    .collect();
    choose(&statements)
}

fn choose(statements: &[Statement]) -> Option<(Base, String)> {
    let votes = |origin: &str| statements.iter().filter(|it| it.base.origin() == origin).count();
    // Of equal counts, `max_by_key` takes the last.
    let chosen = statements.iter().rev().max_by_key(|it| votes(it.base.origin()))?;
    let origin = chosen.base.origin();
    let (agree, differ): (Vec<_>, Vec<_>) =
        statements.iter().partition(|it| it.base.origin() == origin);
    let mut why: Vec<&str> = agree.iter().map(|it| it.source).collect();
    let last = why.pop().unwrap_or_default();
    let mut why =
        if why.is_empty() { last.to_owned() } else { format!("{} and {last}", why.join(", ")) };
    for other in differ {
        why = format!("{why}; {} says {}", other.source, other.base.origin());
    }
    Some((chosen.base.clone(), why))
}

/// The index names itself, and lies at the base URL.
fn of_index(site: &Path) -> Option<Base> {
    let text = String::from_utf8(start_of(&site.join("spxi-index.jsonld"))?).ok()?;
    let value: serde_json::Value = serde_json::from_str(&text).ok()?;
    let id = value.get("@id")?.as_str()?;
    let folder = id.split('#').next()?.strip_suffix("spxi-index.jsonld");
    folder.map_or_else(|| below(site, id), public)
}

fn of_arc(site: &Path) -> Option<Base> {
    let text = String::from_utf8(start_of(&site.join("arc-sitemap.json"))?).ok()?;
    let (_, rest) = text.split_once("\"site\"")?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    public(rest.split('"').next()?)
}

fn of_robots(site: &Path) -> Option<Base> {
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
        let statements = statements.iter().map(|(source, base)| Statement {
            source,
            base: Base::parse(base).expect("a base URL"),
        });
        let statements: Vec<Statement> = statements.collect();
        let (base, why) = choose(&statements)?;
        Some((base.as_str().to_owned(), why))
    }

    #[test]
    fn most_files_decide_the_base_url() {
        let (apex, www) = ("https://selk.example/", "https://www.selk.example/");
        let cases: [(&[_], _, _); 5] = [
            (&[("a", apex)], apex, "a"),
            (
                &[("sitemap.xml", apex), ("index", apex), ("home", www)],
                apex,
                "sitemap.xml and index; home says https://www.selk.example",
            ),
            (
                &[("sitemap.xml", apex), ("index", www), ("home", www)],
                www,
                "index and home; sitemap.xml says https://selk.example",
            ),
            (
                &[("sitemap.xml", apex), ("home", www)],
                apex,
                "sitemap.xml; home says https://www.selk.example",
            ),
            // A host name of its own belongs to a site at the root.
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
