//! A table of site generators: how each is known, where it writes, how it runs.

use std::fs;
use std::path::Path;

use rutter_build::Base;

use crate::site::{Home, public};

/// A program that makes sites.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Generator {
    pub(crate) name: &'static str,
    /// Files of its own, with a word that must stand in them, in lower case.
    files: &'static [(&'static str, &'static str)],
    /// How its `generator` meta begins, in lower case.
    meta: &'static str,
    /// What it leaves in a home page without such a meta.
    mark: &'static str,
    /// Where it writes, the usual place first.
    pub(crate) folders: &'static [&'static str],
    /// The command that builds the site.
    pub(crate) build: &'static str,
    /// Settings that hold the site's address, and the path below it.
    address: (&'static str, &'static str),
}

/// Generators whose files are particular come before those that share names.
pub(crate) const GENERATORS: &[Generator] = &[
    Generator {
        name: "Docusaurus",
        files: &[
            ("docusaurus.config.js", ""),
            ("docusaurus.config.ts", ""),
            ("docusaurus.config.mjs", ""),
            ("docusaurus.config.cjs", ""),
        ],
        meta: "docusaurus",
        mark: "",
        folders: &["build"],
        build: "npm ci && npm run build",
        address: ("url", "baseUrl"),
    },
    Generator {
        name: "VitePress",
        files: &[
            (".vitepress/config.js", ""),
            (".vitepress/config.ts", ""),
            (".vitepress/config.mjs", ""),
            (".vitepress/config.mts", ""),
            ("docs/.vitepress/config.js", ""),
            ("docs/.vitepress/config.ts", ""),
            ("docs/.vitepress/config.mjs", ""),
            ("docs/.vitepress/config.mts", ""),
        ],
        meta: "vitepress",
        mark: "",
        folders: &[".vitepress/dist", "docs/.vitepress/dist"],
        build: "npm ci && npm run docs:build",
        address: ("hostname", ""),
    },
    Generator {
        name: "Astro",
        files: &[
            ("astro.config.mjs", ""),
            ("astro.config.js", ""),
            ("astro.config.ts", ""),
            ("astro.config.cjs", ""),
        ],
        meta: "astro",
        mark: "",
        folders: &["dist"],
        build: "npm ci && npm run build",
        address: ("site", "base"),
    },
    Generator {
        name: "Next.js",
        files: &[("next.config.js", ""), ("next.config.mjs", ""), ("next.config.ts", "")],
        meta: "next.js",
        mark: "/_next/static/",
        folders: &["out"],
        build: "npm ci && npm run build",
        address: ("", ""),
    },
    Generator {
        name: "Eleventy",
        files: &[
            (".eleventy.js", ""),
            ("eleventy.config.js", ""),
            ("eleventy.config.mjs", ""),
            ("eleventy.config.cjs", ""),
            ("eleventy.config.ts", ""),
        ],
        meta: "eleventy",
        mark: "",
        folders: &["_site"],
        build: "npm ci && npx eleventy",
        address: ("", ""),
    },
    Generator {
        name: "Hexo",
        files: &[("package.json", "\"hexo\"")],
        meta: "hexo",
        mark: "",
        folders: &["public"],
        build: "npm ci && npx hexo generate",
        address: ("url", ""),
    },
    Generator {
        name: "MkDocs",
        files: &[("mkdocs.yml", ""), ("mkdocs.yaml", "")],
        meta: "mkdocs",
        mark: "",
        folders: &["site"],
        build: "mkdocs build",
        address: ("site_url", ""),
    },
    Generator {
        name: "mdBook",
        files: &[("book.toml", "")],
        meta: "mdbook",
        mark: "<!-- Book generated using mdBook -->",
        folders: &["book", "book/html"],
        build: "mdbook build",
        address: ("", ""),
    },
    Generator {
        name: "Hugo",
        files: &[
            ("hugo.toml", ""),
            ("hugo.yaml", ""),
            ("hugo.yml", ""),
            ("hugo.json", ""),
            ("config/_default/hugo.toml", ""),
            ("config/_default/hugo.yaml", ""),
            ("config/_default/config.toml", ""),
            ("config/_default/config.yaml", ""),
            ("config.toml", "baseurl"),
            ("config.yaml", "baseurl"),
            ("config.yml", "baseurl"),
        ],
        meta: "hugo",
        mark: "",
        folders: &["public"],
        build: "hugo",
        address: ("baseURL", ""),
    },
    Generator {
        name: "Zola",
        files: &[("zola.toml", ""), ("config.toml", "base_url")],
        meta: "zola",
        mark: "",
        folders: &["public"],
        build: "zola build",
        address: ("base_url", ""),
    },
    Generator {
        name: "Jekyll",
        files: &[("_config.yml", ""), ("_config.yaml", ""), ("_config.toml", "")],
        meta: "jekyll",
        mark: "",
        folders: &["_site"],
        build: "bundle install && bundle exec jekyll build",
        address: ("url", "baseurl"),
    },
    Generator {
        name: "Sphinx",
        files: &[
            ("conf.py", "project"),
            ("docs/conf.py", "project"),
            ("doc/conf.py", "project"),
            ("docs/source/conf.py", "project"),
            ("source/conf.py", "project"),
        ],
        meta: "docutils",
        mark: "_static/documentation_options.js",
        folders: &[
            "docs/_build/html",
            "_build/html",
            "doc/_build/html",
            "docs/build/html",
            "build/html",
        ],
        build: "sphinx-build -M html docs docs/_build",
        address: ("html_baseurl", ""),
    },
];

/// Tells the generator by its files in a folder.
pub(crate) fn of_folder(folder: &Path) -> Option<&'static Generator> {
    GENERATORS.iter().find(|generator| {
        generator.files.iter().any(|(name, word)| {
            let path = folder.join(name);
            match *word {
                "" => path.is_file(),
                word => fs::read_to_string(path)
                    .is_ok_and(|text| text.to_ascii_lowercase().contains(word)),
            }
        })
    })
}

/// Tells the generator by the home page it made.
pub(crate) fn of_home(home: &Home) -> Option<&'static Generator> {
    let metas = home.facts.metas.iter().filter(|(name, _)| name == "generator");
    let metas: Vec<String> = metas.map(|(_, value)| value.to_ascii_lowercase()).collect();
    let by_meta =
        |generator: &&Generator| metas.iter().any(|meta| meta.starts_with(generator.meta));
    let by_mark =
        |generator: &&Generator| !generator.mark.is_empty() && home.text.contains(generator.mark);
    GENERATORS.iter().find(by_meta).or_else(|| GENERATORS.iter().find(by_mark))
}

impl Generator {
    /// The site's address, where the generator's settings hold it.
    pub(crate) fn base_url(&self, folder: &Path) -> Option<Base> {
        let (address, path) = self.address;
        let texts = self.files.iter().map(|(name, _)| fs::read_to_string(folder.join(name)));
        let text = texts.flatten().next()?;
        let url = setting(&text, address)?;
        let path = setting(&text, path).filter(|path| !path.contains("://")).unwrap_or("");
        let gap = if url.ends_with('/') || path.starts_with('/') { "" } else { "/" };
        let path = if url.ends_with('/') { path.trim_start_matches('/') } else { path };
        public(&format!("{url}{gap}{path}"))
    }
}

/// The value of a setting that stands on a line of its own, in any of the
/// languages settings are written in.
fn setting<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    if key.is_empty() {
        return None;
    }
    text.lines().find_map(|line| {
        let line = line.trim_start().trim_start_matches(['"', '\'']);
        let (name, rest) = line.split_at_checked(key.len())?;
        let rest = rest.trim_start_matches(['"', '\'']).trim_start();
        let value = rest.strip_prefix([':', '=']).filter(|_| name.eq_ignore_ascii_case(key))?;
        let value = value.trim();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
        let value = match quote {
            Some(quote) => value.get(1..)?.split(quote).next()?,
            None => value.split([' ', '#', ',']).next()?,
        };
        Some(value).filter(|value| !value.is_empty())
    })
}
