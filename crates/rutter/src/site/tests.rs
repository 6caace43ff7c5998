//! Tests of site detection with small folders.

use std::fs;

use super::generator::{DetectedGenerator, of_folder, of_home};
use super::*;

/// Creates a folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn name_of(files: &[(&str, &str)]) -> Option<&'static str> {
    of_folder(folder(files).path()).map(DetectedGenerator::name)
}

fn found(files: &[(&str, &str)]) -> Option<(String, String)> {
    let folder = folder(files);
    let home = HomePage::read(folder.path());
    let (base, place) = base_url(folder.path(), home.as_ref())?;
    Some((base.as_str().to_owned(), place))
}

#[test]
fn recognizes_generators_by_their_files() {
    for (file, text, name) in [
        ("hugo.toml", "", "Hugo"),
        ("config/_default/hugo.toml", "", "Hugo"),
        ("config.toml", "baseURL = 'https://harbour.example/'", "Hugo"),
        ("config.toml", "base_url = 'https://harbour.example/'", "Zola"),
        ("docusaurus.config.ts", "", "Docusaurus"),
        ("mkdocs.yml", "", "MkDocs"),
        ("docs/conf.py", "project = 'Selk'", "Sphinx"),
        ("book.toml", "", "mdBook"),
        ("_config.yml", "", "Jekyll"),
        ("eleventy.config.mjs", "", "Eleventy"),
        ("astro.config.mjs", "", "Astro"),
        ("docs/.vitepress/config.mts", "", "VitePress"),
        ("next.config.js", "", "Next.js"),
    ] {
        assert_eq!(name_of(&[(file, text)]), Some(name), "{file}");
    }
    let hexo = [("package.json", r#"{"dependencies":{"hexo":"7"}}"#), ("_config.yml", "")];
    assert_eq!(name_of(&hexo), Some("Hexo"));
    assert_eq!(name_of(&[("config.toml", "x = 1"), ("conf.py", "")]), None);
}

#[test]
fn recognizes_generators_by_their_home_pages() {
    for (head, name) in [
        ("<meta name=generator content='Hugo 0.140.2'>", "Hugo"),
        ("<meta name=Generator content='Docusaurus v3.7.0'>", "Docusaurus"),
        ("<meta name=generator content='mkdocs-1.6.1, mkdocs-material-9.5'>", "MkDocs"),
        ("<meta name=generator content='Docutils 0.21: https://docutils.example/'>", "Sphinx"),
        ("<script src=_static/documentation_options.js></script>", "Sphinx"),
        ("<!-- Book generated using mdBook -->", "mdBook"),
        ("<meta name=generator content='Jekyll v4.3.4'>", "Jekyll"),
        ("<meta name=generator content='Eleventy v3.0.0'>", "Eleventy"),
        ("<meta name=generator content='Astro v5.1.1'>", "Astro"),
        ("<meta name=generator content='VitePress v1.5.0'>", "VitePress"),
        ("<script src=/_next/static/chunks/main.js></script>", "Next.js"),
        ("<meta name=generator content='Zola 0.19'>", "Zola"),
    ] {
        let page = format!("<html><head>{head}<title>a</title></head><body><p>b</p></body></html>");
        let folder = folder(&[("index.html", &page)]);
        let home = HomePage::read(folder.path()).unwrap();
        assert_eq!(of_home(&home).map(DetectedGenerator::name), Some(name), "{head}");
    }
}

#[test]
fn reads_base_url_from_generator_settings() {
    for (file, text, base) in [
        ("hugo.toml", "baseurl = \"https://selk.example/a\"", "https://selk.example/a/"),
        ("hugo.json", "{\n  \"baseURL\": \"https://selk.example/\"\n}", "https://selk.example/"),
        ("config.toml", "base_url = 'https://selk.example'", "https://selk.example/"),
        ("mkdocs.yml", "site_url: https://selk.example/ # ours", "https://selk.example/"),
        (
            "_config.yml",
            "baseurl: \"/docs\"\nurl: \"https://selk.example\"",
            "https://selk.example/docs/",
        ),
        (
            "docusaurus.config.js",
            "const config = {\n  url: 'https://selk.example',\n  baseUrl: '/docs/',\n};",
            "https://selk.example/docs/",
        ),
        (
            "docs/conf.py",
            "project = 1\nhtml_baseurl = 'https://s.example/x/'",
            "https://s.example/x/",
        ),
        ("astro.config.mjs", "  site: `https://selk.example`,", "https://selk.example/"),
    ] {
        let folder = folder(&[(file, text)]);
        let generator = of_folder(folder.path()).unwrap();
        let found = generator.base_url(folder.path()).map(|base| base.as_str().to_owned());
        assert_eq!(found.as_deref(), Some(base), "{file}");
    }
    for placeholder in ["example.org", "www.example.com", "your-docusaurus-site.example.com"] {
        let folder = folder(&[("hugo.toml", &format!("baseURL = 'https://{placeholder}/'"))]);
        assert!(of_folder(folder.path()).unwrap().base_url(folder.path()).is_none());
    }
    let folder = folder(&[("hugo.toml", "baseURL = 'https://docs.example.org/'")]);
    assert!(of_folder(folder.path()).unwrap().base_url(folder.path()).is_some());
}

#[test]
fn finds_output_folder_and_build_command_of_generators() {
    for (file, text, site, build) in [
        ("hugo.toml", "publishDir = \"./html/\"", "html", "hugo"),
        ("mkdocs.yml", "site_name: Selk", "site", "mkdocs build"),
        (
            "website/docusaurus.config.js",
            "",
            "website/build",
            "cd website && npm ci && npm run build",
        ),
        ("docs/book.toml", "", "docs/book", "mdbook build docs"),
        (
            "docs/.vitepress/config.ts",
            "",
            "docs/.vitepress/dist",
            "npm ci && npx vitepress build docs",
        ),
        ("conf.py", "project = 1", "_build/html", "sphinx-build -M html . _build"),
        (
            "docs/source/conf.py",
            "project = 1",
            "docs/build/html",
            "sphinx-build -M html docs/source docs/build",
        ),
    ] {
        let folder = folder(&[(file, text)]);
        let known = of_folder(folder.path()).unwrap();
        assert_eq!(known.folder(folder.path()), Path::new(site), "{file}");
        assert_eq!(known.build(), build, "{file}");
    }
}

#[test]
fn finds_base_url_in_site_files() {
    let link = |href: &str| format!("<link rel=canonical href='{href}'><title>a</title><p>b</p>");
    let sitemap = |loc: &str| format!("<urlset>\n<url><loc> {loc} </loc></url></urlset>");
    let home = "the canonical link of the home page";
    let cname = ("CNAME", "\nselk.example\n");
    let deep = link("https://selk.example/docs/index.html");
    let other = sitemap("https://other.example/");
    for (files, wanted) in [
        (
            vec![cname, ("index.html", &deep)],
            Some(("https://selk.example/", "CNAME and the canonical link of the home page")),
        ),
        (vec![("index.html", deep.as_str())], Some(("https://selk.example/docs/", home))),
        (
            vec![("index.html", deep.as_str()), ("sitemap.xml", &other)],
            Some((
                "https://other.example/",
                "sitemap.xml; the canonical link of the home page names https://selk.example",
            )),
        ),
        (
            vec![("index.html", "a"), ("sitemap.xml", &other)],
            Some(("https://other.example/", "sitemap.xml")),
        ),
        (vec![("CNAME", "not a host")], None),
        (vec![("index.html", link("/").as_str())], None),
        (vec![("index.html", link("http://localhost:1313/").as_str())], None),
        (vec![("index.html", link("https://example.org/").as_str())], None),
        (vec![("index.html", "<p>a")], None),
        (vec![], None),
    ] {
        let wanted = wanted.map(|(base, place)| (base.to_owned(), place.to_owned()));
        assert_eq!(found(&files), wanted, "{files:?}");
    }
}

#[test]
fn finds_path_of_base_url_by_files_of_a_sitemap() {
    for (loc, file, base) in [
        ("https://selk.example/", "index.html", "https://selk.example/"),
        ("https://selk.example/docs/", "index.html", "https://selk.example/docs/"),
        ("https://selk.example/docs/a/b.html", "a/b.html", "https://selk.example/docs/"),
        ("https://selk.example/docs/a", "docs/a/index.html", "https://selk.example/"),
        ("https://selk.example/a?b=1&amp;c=2", "a.html", "https://selk.example/"),
        ("<![CDATA[https://selk.example/x/y]]>", "other.html", "https://selk.example/"),
    ] {
        let sitemap = format!("<?xml version='1.0'?><urlset><url><loc>{loc}</loc></url></urlset>");
        let found = found(&[("sitemap.xml", &sitemap), (file, "a")]).map(|(base, _)| base);
        assert_eq!(found.as_deref(), Some(base), "{loc}");
    }
    // A home page that redirects does not determine the path.
    let page = "<link rel=canonical href=https://selk.example/en/>\
                <meta http-equiv=refresh content='0; url=https://selk.example/en/'>";
    let files = [("index.html", page), ("en/index.html", "a")];
    assert_eq!(found(&files).map(|it| it.0).as_deref(), Some("https://selk.example/"));
}

#[test]
fn detects_source_type_by_files() {
    for (files, wanted) in [
        (vec![("a/b.md", ""), ("c/d/e.HTM", "")], SourceKind::Html),
        (
            vec![("a/b.md", ""), ("node_modules/x/y.html", ""), (".git/z.html", "")],
            SourceKind::Markdown,
        ),
        (vec![("a.txt", "")], SourceKind::Html),
    ] {
        assert_eq!(source(folder(&files).path()), wanted, "{files:?}");
    }
    assert_eq!(source(Path::new("pages.jsonl")), SourceKind::Lines);
    assert_eq!(source(Path::new("pages.NDJSON")), SourceKind::Lines);
}
