//! A table of site generators: how to recognize each one, its output folder and its build command.

use std::fs;
use std::path::{Path, PathBuf};

use rutter_build::BaseUrl;

use crate::site::{HomePage, public};

/// A site generator. Paths are relative to the root folder of the generator's project.
#[derive(Debug)]
pub(crate) struct Generator {
    pub(crate) name: &'static str,
    /// Settings files of the generator, each with a word that the file must contain, in lower case.
    files: &'static [(&'static str, &'static str)],
    /// Folders of a repository that may be the root folder of the project.
    roots: &'static [&'static str],
    /// Start of the `generator` meta tag in pages of the generator, in lower case.
    meta: &'static str,
    /// Text in home pages of the generator, if they have no `generator` meta tag.
    mark: &'static str,
    /// Output folder of the generator, unless its setting `folder_key` names another folder.
    folder: &'static str,
    folder_key: &'static str,
    /// The command that builds the site: `{here}` is the root folder, `{root}` is a prefix for
    /// paths in the root folder, and `{cd}` changes to the root folder.
    build: &'static str,
    /// Names of two settings: the URL of the site, and the path below that URL.
    address: (&'static str, &'static str),
    /// Folders below the root folder that may contain the sources of pages.
    sources: &'static [&'static str],
}

/// A recognized generator, with the root folder of its project in the repository.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DetectedGenerator {
    generator: &'static Generator,
    root: &'static str,
}

/// All known generators. Generators with unique file names precede generators with common file
/// names.
const GENERATORS: &[Generator] = &[
    Generator {
        name: "Docusaurus",
        files: &[
            ("docusaurus.config.js", ""),
            ("docusaurus.config.ts", ""),
            ("docusaurus.config.mjs", ""),
            ("docusaurus.config.cjs", ""),
        ],
        roots: &["", "website/", "docs/"],
        meta: "docusaurus",
        mark: "",
        folder: "build",
        folder_key: "",
        build: "{cd}npm ci && npm run build",
        address: ("url", "baseUrl"),
        sources: &["docs", "blog", "src/pages", "pages", "."],
    },
    Generator {
        name: "VitePress",
        files: &[
            (".vitepress/config.js", ""),
            (".vitepress/config.ts", ""),
            (".vitepress/config.mjs", ""),
            (".vitepress/config.mts", ""),
        ],
        roots: &["", "docs/"],
        meta: "vitepress",
        mark: "",
        folder: ".vitepress/dist",
        folder_key: "",
        build: "npm ci && npx vitepress build {here}",
        address: ("hostname", ""),
        sources: &[".", "src", "docs"],
    },
    Generator {
        name: "Astro",
        files: &[
            ("astro.config.mjs", ""),
            ("astro.config.js", ""),
            ("astro.config.ts", ""),
            ("astro.config.cjs", ""),
        ],
        roots: &[""],
        meta: "astro",
        mark: "",
        folder: "dist",
        folder_key: "outDir",
        build: "npm ci && npm run build",
        address: ("site", "base"),
        sources: &["src/content/docs", "src/pages", "src/content"],
    },
    Generator {
        name: "Next.js",
        files: &[("next.config.js", ""), ("next.config.mjs", ""), ("next.config.ts", "")],
        roots: &[""],
        meta: "next.js",
        mark: "/_next/static/",
        folder: "out",
        folder_key: "",
        build: "npm ci && npm run build",
        address: ("", ""),
        sources: &["app", "pages", "src/app", "src/pages"],
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
        roots: &[""],
        meta: "eleventy",
        mark: "",
        folder: "_site",
        folder_key: "",
        build: "npm ci && npx eleventy",
        address: ("", ""),
        sources: &[".", "src", "content"],
    },
    Generator {
        name: "Hexo",
        files: &[("package.json", "\"hexo\"")],
        roots: &[""],
        meta: "hexo",
        mark: "",
        folder: "public",
        folder_key: "",
        build: "npm ci && npx hexo generate",
        address: ("", ""),
        sources: &["source", "source/_posts"],
    },
    Generator {
        name: "MkDocs",
        files: &[("mkdocs.yml", ""), ("mkdocs.yaml", "")],
        roots: &[""],
        meta: "mkdocs",
        mark: "",
        folder: "site",
        folder_key: "site_dir",
        build: "mkdocs build",
        address: ("site_url", ""),
        sources: &["docs"],
    },
    Generator {
        name: "mdBook",
        files: &[("book.toml", "")],
        roots: &["", "book/", "docs/", "guide/"],
        meta: "mdbook",
        mark: "<!-- Book generated using mdBook -->",
        folder: "book",
        folder_key: "build-dir",
        build: "mdbook build {here}",
        address: ("", ""),
        sources: &["src"],
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
        roots: &[""],
        meta: "hugo",
        mark: "",
        folder: "public",
        folder_key: "publishDir",
        build: "hugo",
        address: ("baseURL", ""),
        sources: &["content"],
    },
    Generator {
        name: "Zola",
        files: &[("zola.toml", ""), ("config.toml", "base_url")],
        roots: &[""],
        meta: "zola",
        mark: "",
        folder: "public",
        folder_key: "output_dir",
        build: "zola build",
        address: ("base_url", ""),
        sources: &["content"],
    },
    Generator {
        name: "Jekyll",
        files: &[("_config.yml", ""), ("_config.yaml", ""), ("_config.toml", "")],
        roots: &["", "docs/"],
        meta: "jekyll",
        mark: "",
        folder: "_site",
        folder_key: "destination",
        build: "{cd}bundle install && bundle exec jekyll build",
        address: ("url", "baseurl"),
        sources: &[".", "_posts", "_pages", "_docs"],
    },
    Generator {
        name: "Sphinx",
        files: &[("conf.py", "project")],
        roots: &["", "docs/", "doc/"],
        meta: "docutils",
        mark: "_static/documentation_options.js",
        folder: "_build/html",
        folder_key: "",
        build: "sphinx-build -M html {here} {root}_build",
        address: ("html_baseurl", ""),
        sources: &[".", "source"],
    },
    Generator {
        name: "Sphinx",
        files: &[("source/conf.py", "project")],
        roots: &["", "docs/", "doc/"],
        meta: "docutils",
        mark: "_static/documentation_options.js",
        folder: "build/html",
        folder_key: "",
        build: "sphinx-build -M html {root}source {root}build",
        address: ("html_baseurl", ""),
        sources: &[".", "source"],
    },
];

/// Maximum number of parent folders of a site to search for the settings of its generator.
const MOST_ABOVE: usize = 4;

/// Returns the generator of a built site, with the root of its project if it is found: the parent
/// folder whose settings name the site as their output.
pub(crate) fn of_site(site: &Path, home: Option<&HomePage>) -> Option<rutter_build::Generator> {
    let real = site.canonicalize().ok()?;
    let made = home.and_then(of_home);
    let above = real.ancestors().skip(1).take(MOST_ABOVE);
    let found =
        above.filter_map(|folder| Some((folder, of_folder(folder)?))).find(|(folder, it)| {
            let is_output =
                folder.join(it.folder(folder)).canonicalize().is_ok_and(|it| it == real);
            is_output || made.is_some_and(|made| made.name() == it.name())
        });
    let sources = |it: DetectedGenerator| {
        it.generator.sources.iter().map(|name| (*name).to_owned()).collect()
    };
    match (found, made) {
        (Some((folder, it)), _) => Some(rutter_build::Generator {
            name: it.name().to_owned(),
            root: Some(folder.join(it.root)),
            sources: sources(it),
        }),
        (None, Some(it)) => {
            let name = it.name().to_owned();
            Some(rutter_build::Generator { name, root: None, sources: sources(it) })
        }
        (None, None) => None,
    }
}

/// Recognizes a generator by its files in a folder.
pub(crate) fn of_folder(folder: &Path) -> Option<DetectedGenerator> {
    let is_there = |path: &Path, word: &str| match word {
        "" => path.is_file(),
        word => fs::read_to_string(path).is_ok_and(|text| text.to_ascii_lowercase().contains(word)),
    };
    GENERATORS.iter().find_map(|generator| {
        let root = generator.roots.iter().find(|root| {
            let mut files = generator.files.iter();
            files.any(|(name, word)| is_there(&folder.join(root).join(name), word))
        })?;
        Some(DetectedGenerator { generator, root })
    })
}

/// Recognizes a generator by a home page that it generated.
pub(crate) fn of_home(home: &HomePage) -> Option<DetectedGenerator> {
    let metas = home.facts.metas.iter().filter(|(name, _)| name == "generator");
    let metas: Vec<String> = metas.map(|(_, value)| value.to_ascii_lowercase()).collect();
    let by_meta = |it: &&Generator| metas.iter().any(|meta| meta.starts_with(it.meta));
    let by_mark = |it: &&Generator| !it.mark.is_empty() && home.text.contains(it.mark);
    let found = GENERATORS.iter().find(by_meta).or_else(|| GENERATORS.iter().find(by_mark));
    found.map(|generator| DetectedGenerator { generator, root: "" })
}

impl DetectedGenerator {
    pub(crate) fn name(self) -> &'static str {
        self.generator.name
    }

    /// Returns the command that builds the site.
    pub(crate) fn build(self) -> String {
        let here = if self.root.is_empty() { "." } else { self.root.trim_end_matches('/') };
        let cd = if self.root.is_empty() { String::new() } else { format!("cd {here} && ") };
        let build = self.generator.build.replace("{cd}", &cd);
        build.replace("{here}", here).replace("{root}", self.root)
    }

    /// Returns the path of the output folder, relative to the repository in `folder`.
    pub(crate) fn folder(self, folder: &Path) -> PathBuf {
        let text = self.settings(folder).unwrap_or_default();
        let named = setting(&text, self.generator.folder_key);
        let named = named.map(|named| named.trim_start_matches("./").trim_end_matches('/'));
        Path::new(self.root).join(named.unwrap_or(self.generator.folder))
    }

    /// Returns the base URL in the settings of the generator.
    pub(crate) fn base_url(self, folder: &Path) -> Option<BaseUrl> {
        let (address, path) = self.generator.address;
        let text = self.settings(folder)?;
        let url = setting(&text, address)?.trim_end_matches('/');
        let path = setting(&text, path).unwrap_or_default().trim_start_matches('/');
        public(&format!("{url}/{path}"))
    }

    fn settings(self, folder: &Path) -> Option<String> {
        let root = folder.join(self.root);
        let files = self.generator.files.iter();
        files.map(|(name, _)| fs::read_to_string(root.join(name))).find_map(Result::ok)
    }
}

/// Returns the value of a setting that has its own line, in TOML, YAML, JSON, Python or JavaScript.
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
