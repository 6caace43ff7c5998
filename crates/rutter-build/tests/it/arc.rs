//! The ARC layer of a build: its entries, and how it changes from day to day.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;

use flate2::read::GzDecoder;
use rutter_arc::delta::apply;
use rutter_arc::policy::{AccessDefault, AccessRules};
use rutter_arc::{
    ArcDocumentKind, ArcEntry, ArcPolicy, Consent, JsonWriter, Limits, SitemapHeader, open_sitemap,
};
use rutter_build::ChecksumScope;
use rutter_page::Digest;

use crate::site::{BASE, Site, page, words};

const DAY: i64 = 86_400;

/// Reads an ARC file to its end and asserts that it has no findings.
fn read(bytes: &[u8], form: ArcDocumentKind) -> (SitemapHeader, Vec<ArcEntry<'static>>) {
    let mut findings = Vec::new();
    let mut reader = open_sitemap(bytes, form, Limits::DEFAULT).unwrap();
    let mut entries = Vec::new();
    while let Some(entry) = reader.next_owned(&mut findings).unwrap() {
        entries.push(entry);
    }
    let receipt = reader.finish(&mut findings).unwrap();
    assert_eq!(findings, [], "published ARC files have no findings");
    (receipt.head, entries)
}

fn sitemap(site: &Site) -> (SitemapHeader, Vec<ArcEntry<'static>>) {
    read(&site.files()["arc-sitemap.json"], ArcDocumentKind::Json)
}

fn entry_of(site: &Site, path: &str) -> Option<ArcEntry<'static>> {
    let url = format!("{BASE}{path}");
    sitemap(site).1.into_iter().find(|entry| entry.url.as_str() == url)
}

/// Returns the bytes of a sitemap after applying deltas to it.
fn applied(base: &[u8], deltas: &[&Vec<u8>]) -> Vec<u8> {
    type Stream = Box<dyn Iterator<Item = Result<ArcEntry<'static>, Never>>>;
    let stream =
        |bytes: &[u8]| Box::new(read(bytes, ArcDocumentKind::Json).1.into_iter().map(Ok)) as Stream;
    let mut streams = vec![stream(base)];
    streams.extend(deltas.iter().map(|delta| stream(delta)));
    let head = read(deltas.last().unwrap(), ArcDocumentKind::Json).0.for_sitemap();
    let mut writer = JsonWriter::new(Vec::new(), &head).unwrap();
    apply(streams, |entry| {
        writer.push(&entry).unwrap();
        Ok(())
    })
    .unwrap();
    writer.finish().unwrap()
}

#[derive(Debug)]
struct Never;

impl From<rutter_arc::delta::EntryOrderError> for Never {
    fn from(unsorted: rutter_arc::delta::EntryOrderError) -> Self {
        panic!("{unsorted:?}")
    }
}

#[test] // ARC-020 ARC-021 ARC-028 ARC-005 ARC-032 ARC-037
fn sitemap_is_at_the_paths_where_agents_look() {
    let mut site = Site::of(6);
    site.build_with(|plan| {
        plan.arc.crawl_rate = Some("2/s".to_owned());
        plan.arc.contact = Some("office@harbour.example".to_owned());
        plan.arc.policy.access =
            Some(AccessRules { default: Some(AccessDefault::Allow), ..AccessRules::default() });
    })
    .unwrap();
    let files = site.files();
    let json = &files["arc-sitemap.json"];
    assert_eq!(json, &files[".well-known/arc-sitemap.json"]);
    let (head, entries) = read(json, ArcDocumentKind::Json);
    assert_eq!(head.site.as_deref(), Some("https://harbour.example"));
    assert_eq!(head.crawl_rate.as_deref(), Some("2/s"));
    assert_eq!(head.contact.as_deref(), Some("office@harbour.example"));
    assert_eq!(entries.len(), 7);
    for name in ["arc-sitemap.json", "arc-sitemap.yaml"] {
        let mut text = Vec::new();
        GzDecoder::new(files[&format!("{name}.gz")].as_slice()).read_to_end(&mut text).unwrap();
        assert_eq!(text, files[name]);
    }
    // The same data in YAML.
    assert_eq!(read(&files["arc-sitemap.yaml"], ArcDocumentKind::Yaml), (head, entries));
    let robots = String::from_utf8(files["robots.txt"].clone()).unwrap();
    let lines: Vec<&str> = robots.lines().filter(|line| line.starts_with("Sitemap: ")).collect();
    assert_eq!(
        lines,
        [
            "Sitemap: https://harbour.example/sitemap.xml",
            "Sitemap: https://harbour.example/arc-sitemap.json"
        ],
        "behind the one that every crawler reads (D64)"
    );
    let policy = &files[".well-known/arc-policy.json"];
    let policy = ArcPolicy::read(policy.as_slice(), &mut ()).unwrap().unwrap();
    assert_eq!(policy.contact.as_deref(), Some("office@harbour.example"));
    assert!(files.contains_key("arc-sitemap.jsonld"));
    // Without a declaration of the site owner there is no policy.
    site.build();
    assert!(!site.files().contains_key(".well-known/arc-policy.json"));
}

#[test] // ARC-001 ARC-067
fn layer_can_be_turned_off() {
    let mut site = Site::of(4);
    site.build();
    assert!(site.files().keys().any(|name| name.contains("arc-")));
    site.build_with(|plan| plan.layers.arc = false).unwrap();
    assert!(!site.files().keys().any(|name| name.contains("arc-")));
    let robots = fs::read_to_string(site.path("out/robots.txt")).unwrap();
    assert!(!robots.contains("arc-sitemap"));
}

#[test] // ARC-041 ARC-053
fn checksum_date_and_delta_agree() {
    let mut site = Site::of(6);
    site.build();
    let before = entry_of(&site, "docs/0002.html").unwrap();
    // A changed menu is not a change of the page.
    site.put("docs/0002.html", &page("Start", "Page 2", &words(2)));
    site.now = site.now.plus_seconds(DAY);
    site.build();
    assert_eq!(entry_of(&site, "docs/0002.html").unwrap(), before);
    assert!(!site.files().contains_key("arc-sitemap-deltas/2026-05-02.json"));
    // With checksums over the HTML, it is a change.
    site.build_with(|plan| plan.arc.checksum = ChecksumScope::Html).unwrap();
    let after = entry_of(&site, "docs/0002.html").unwrap();
    let html = fs::read(site.path("site/docs/0002.html")).unwrap();
    assert_eq!(after.ai_checksum.as_deref(), Some(Digest::of(&html).to_string().as_str()));
    assert_eq!(after.lastmod, before.lastmod);
    let delta = &site.files()["arc-sitemap-deltas/2026-05-02.json"];
    assert_eq!(read(delta, ArcDocumentKind::Json).1.len(), 7, "every checksum changed");
}

#[test]
fn deltas_lead_from_one_day_to_the_next() {
    let mut site = Site::of(20);
    site.build();
    let first = site.files()["arc-sitemap.json"].clone();
    // A day later: one page is added, one changes, one is removed.
    site.now = site.now.plus_seconds(DAY);
    site.put("docs/new.html", &page("Home", "New", &words(500)));
    site.put("docs/0002.html", &page("Home", "Page 2", &words(502)));
    site.remove("blog/0003.html");
    site.build();
    let second = site.files()["arc-sitemap.json"].clone();
    let name = |day: &str| format!("arc-sitemap-deltas/{day}.json");
    let delta = site.files()[&name("2026-05-02")].clone();
    let (head, entries) = read(&delta, ArcDocumentKind::Json);
    assert_eq!(entries.len(), 3);
    assert!(entries.iter().any(|entry| entry.removed && entry.url.as_str().contains("0003")));
    assert_eq!(head.since.unwrap().to_string(), "2026-05-02T00:00:00Z");
    assert_eq!(applied(&first, &[&delta]), second);
    // Later on that day, and after three days without changes.
    site.put("docs/0004.html", &page("Home", "Page 4", &words(504)));
    site.put("blog/0003.html", &page("Home", "Page 3", &words(3)));
    site.build();
    let delta = site.files()[&name("2026-05-02")].clone();
    assert_eq!(read(&delta, ArcDocumentKind::Json).1.len(), 4);
    assert_eq!(applied(&first, &[&delta]), site.files()["arc-sitemap.json"]);
    site.now = site.now.plus_seconds(4 * DAY);
    site.remove("docs/0006.html");
    site.build();
    let files = site.files();
    let days: Vec<Vec<u8>> =
        (2..=6).map(|day| files[&name(&format!("2026-05-0{day}"))].clone()).collect();
    for quiet in &days[1..4] {
        assert_eq!(read(quiet, ArcDocumentKind::Json).1, [], "no entry changed on that day");
    }
    assert_eq!(applied(&first, &days.iter().collect::<Vec<_>>()), files["arc-sitemap.json"]);
    let deltas = sitemap(&site).0.deltas.unwrap();
    assert_eq!((deltas.from.as_str(), deltas.to.as_str()), ("2026-05-01", "2026-05-06"));
    // A build without changes writes nothing, but expired deltas are deleted.
    let of_arc = |files: BTreeMap<String, Vec<u8>>| {
        files.into_iter().filter(|(name, _)| name.contains("arc-")).collect::<Vec<_>>()
    };
    site.now = site.now.plus_seconds(10 * DAY);
    site.build();
    assert!(of_arc(site.files()) == of_arc(files), "no byte of the layer changes");
    site.now = site.now.plus_seconds(40 * DAY);
    site.build();
    assert_eq!(sitemap(&site).0.deltas, None);
    assert!(!site.files().keys().any(|name| name.starts_with("arc-sitemap-deltas")));
    site.put("docs/0008.html", &page("Home", "Page 8", &words(508)));
    site.build();
    let deltas = sitemap(&site).0.deltas.unwrap();
    assert_eq!((deltas.from.as_str(), deltas.to.as_str()), ("2026-06-25", "2026-06-25"));
}

// D60: the changes of the first day, not the first publication itself.
#[test]
fn first_day_delta_holds_only_changes_after_the_first_build() {
    let mut site = Site::of(20);
    site.build();
    let name = "arc-sitemap-deltas/2026-05-01.json";
    let (begun, first) = (site.now, site.files());
    let (head, entries) = read(&first[name], ArcDocumentKind::Json);
    assert_eq!(entries, [], "readers without a base read the sitemap");
    assert_eq!(head.since, Some(begun), "it says from when on it is complete");
    assert!(sitemap(&site).0.deltas.is_some());
    site.now = site.now.plus_seconds(60);
    site.put("docs/0002.html", &page("Home", "Page 2", &words(502)));
    site.remove("blog/0003.html");
    site.build();
    let delta = site.files()[name].clone();
    let (head, entries) = read(&delta, ArcDocumentKind::Json);
    assert_eq!((head.since, head.until), (Some(begun), Some(site.now)));
    assert_eq!(entries.len(), 2);
    assert_eq!(applied(&first["arc-sitemap.json"], &[&delta]), site.files()["arc-sitemap.json"]);
}

/// Entries that must not be published any longer are removed from deltas of earlier days, too.
#[test]
fn withdrawn_entries_are_in_no_older_delta() {
    let mut site = Site::of(6);
    site.build();
    site.now = site.now.plus_seconds(DAY);
    site.put("docs/0002.html", &page("Home", "Page 2", &words(502)));
    site.build();
    let has = |site: &Site, word: &str| {
        let files = site.files().into_iter();
        let mut deltas =
            files.filter(|(name, _)| name.contains("deltas") && name.ends_with("json"));
        deltas.any(|(_, bytes)| String::from_utf8(bytes).unwrap().contains(word))
    };
    assert!(has(&site, "About Page 2."));
    site.now = site.now.plus_seconds(DAY);
    site.build_with(|plan| plan.restricted = vec!["/docs/0002".to_owned()]).unwrap();
    assert!(!has(&site, "About Page 2."));
    assert!(has(&site, "docs/0002.html"), "the removal is published");
    // Published collections do not contain it either.
    let (_, offers) = site.sitemap();
    assert!(!offers.is_empty());
    for offer in &offers {
        let path = site.path("out").join(offer.url.strip_prefix(BASE).unwrap());
        let (_, lines) = crate::site::read_collection(&path);
        assert!(!lines.iter().any(|line| line.contains("docs/0002.html")), "{}", offer.url);
    }
    for folder in ["out/scp", "state/collections"] {
        let n_files = fs::read_dir(site.path(folder)).unwrap().count();
        assert_eq!(n_files, offers.len(), "{folder}");
    }
    let deltas = sitemap(&site).0.deltas.unwrap();
    assert_eq!((deltas.from.as_str(), deltas.to.as_str()), ("2026-05-03", "2026-05-03"));
    // Removed while the layer was off: the removal is published when the layer is on again.
    let restricted =
        |plan: &mut rutter_build::BuildPlan| plan.restricted = vec!["/docs/0002".to_owned()];
    site.remove("docs/0000.html");
    site.build_with(|plan| {
        restricted(plan);
        plan.layers.arc = false;
    })
    .unwrap();
    site.build_with(restricted).unwrap();
    let delta = &site.files()["arc-sitemap-deltas/2026-05-03.json"];
    let entries = read(delta, ArcDocumentKind::Json).1;
    assert!(entries.iter().any(|entry| entry.removed && entry.url.as_str().contains("0000")));
}

#[test]
fn lost_manifest_does_not_block_the_layer() {
    let mut site = Site::of(4);
    site.build_with(|plan| plan.out = None).unwrap();
    fs::remove_file(site.path("state/files.tsv")).unwrap();
    site.put("docs/0002.html", &page("Home", "Page 2", &words(502)));
    let (_, events) = site.build_with(|plan| plan.out = None).unwrap();
    assert!(events.codes("arc-sitemap.json").is_empty(), "{:?}", events.findings);
    let now = site.now.to_string();
    let sitemap = fs::read_to_string(site.path("site/arc-sitemap.json")).unwrap();
    assert!(sitemap.contains(&format!("\"generated_at\": \"{now}\"")), "{sitemap}");
}

#[test]
fn keeps_files_of_the_site_owner() {
    let mut site = Site::of(4);
    site.put(".well-known/arc-policy.json", "{\"access\":{\"default\":\"deny\"}}");
    let (_, events) =
        site.build_with(|plan| plan.arc.policy.access = Some(AccessRules::default())).unwrap();
    assert!(site.files()[".well-known/arc-policy.json"].starts_with(b"{\"access\""));
    assert_eq!(events.codes(".well-known/arc-policy.json"), ["BD003"]);
    site.put("arc-sitemap.json", "{}");
    site.build();
    assert_eq!(site.files()["arc-sitemap.json"], b"{}");
    let robots = fs::read_to_string(site.path("out/robots.txt")).unwrap();
    assert!(!robots.contains("arc-sitemap"), "a foreign file is not announced");
}

#[test]
fn front_matter_excludes_like_a_meta_element() {
    let mut site = Site::new();
    let text = |front: &str| {
        format!(
            "---\ntitle: T\n{front}\n---\n\nThe word is kestrel, and it is said twice a day at the gate.\n"
        )
    };
    for (name, front) in [
        ("public", ""),
        ("no-ai", "ai_indexable: false"),
        ("members", "auth_required: true"),
        ("directive", "robots_directive: noai"),
        ("draft", "draft: true"),
    ] {
        site.put(&format!("{name}.md"), &text(front));
    }
    site.build_with(|plan| plan.source = rutter_build::SourceKind::Markdown).unwrap();
    let (_, lines) = site.newest("all", "snapshot").unwrap();
    assert_eq!(lines.len(), 1, "{lines:?}");
    let consent = |name: &str| entry_of(&site, &format!("{name}/")).map(|entry| entry.consent());
    assert_eq!(consent("public"), Some(Consent::Given));
    assert_eq!(consent("no-ai"), Some(Consent::Refused));
    assert_eq!(consent("directive"), Some(Consent::Refused));
    assert_eq!(entry_of(&site, "members/").unwrap().auth_required, Some(true));
    assert_eq!(consent("draft"), None, "a draft has no entry");
}

/// A site with a page for each reason of exclusion, and a public page.
fn with_excluded_pages() -> Site {
    let site = Site::of(4);
    let text = |mark: &str, head: &str, body: &str| {
        page("Home", "Secret", &format!("The word is {mark}. {}", words(77)))
            .replace("</head>", &format!("{head}</head>"))
            .replace("<body>", &format!("<body {body}>"))
    };
    site.put("no-ai.html", &text("kestrel", "", "data-ai-indexable=\"false\""));
    let meta = "<meta name=\"ai_indexable\" content=\"nope\">";
    site.put("no-ai-meta.html", &text("kestrel", meta, ""));
    site.put("members.html", &text("kestrel", "", "data-ai-auth-required=\"true\""));
    site.put("staff/desk.html", &text("kestrel", "", ""));
    site.put("noindex.html", &text("kestrel", "<meta name=robots content=noindex>", ""));
    let sensitive = "data-ai-page=\"clinic\" data-ai-context=\"sensitive\"";
    site.put("clinic.html", &text("kestrel", "", sensitive));
    let hidden = "data-ai-visibility=\"hidden\" data-ai-context=\"sensitive\"";
    site.put("ward.html", &text("kestrel", "", hidden));
    let part = text("kestrel", "", "")
        .replace("<h1", "<h1 data-ai-page=\"log\" data-ai-indexable=\"false\"");
    site.put("log.html", &part);
    let root = text("kestrel", "", "").replace("<html ", "<html data-ai-auth-required=\"true\" ");
    site.put("root.html", &root);
    site
}

#[test] // ARC-025 ARC-063 ARC-055 D56 D57 D59 D85
fn excluded_pages_are_in_no_artifact() {
    let mut site = with_excluded_pages();
    site.build_with(|plan| plan.restricted = vec!["/staff/".to_owned()]).unwrap();
    let exclusion = [
        "no-ai.html",
        "no-ai-meta.html",
        "members.html",
        "staff/desk.html",
        "noindex.html",
        "clinic.html",
        "ward.html",
        "log.html",
        "root.html",
    ];
    for name in exclusion {
        let entry = entry_of(&site, name).unwrap();
        let needs_login = matches!(
            name,
            "members.html" | "staff/desk.html" | "clinic.html" | "ward.html" | "root.html"
        );
        assert_eq!(entry.ai_indexable, Some(false), "{name}");
        assert_eq!(entry.auth_required, needs_login.then_some(true), "{name}");
        assert_eq!(entry.lastmod.is_none(), needs_login, "{name}");
        assert_eq!(entry.consent(), Consent::Refused, "{name}");
        assert!(!entry.has_content() && entry.crawl_priority.is_none(), "{name}");
    }
    assert_eq!(
        entry_of(&site, "noindex.html").unwrap().robots_directive.as_deref(),
        Some("noindex")
    );
    let public = entry_of(&site, "docs/0002.html").unwrap();
    assert_eq!(public.consent(), Consent::Given);
    assert!(public.ai_summary.is_some() && public.ai_checksum.is_some());
    // No artifact contains their content, and only ARC files contain their URLs; the sitemap lists
    // pages that readers may see and AI may not use.
    let (_, lines) = site.newest("all", "snapshot").unwrap();
    assert!(!lines.iter().any(|line| line.contains("kestrel")));
    for (name, bytes) in site.files() {
        let is_page = name.ends_with(".html");
        let is_coded = name.ends_with(".gz") || name.ends_with(".zst");
        if is_page || is_coded {
            continue;
        }
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("kestrel"), "{name}");
        if !name.contains("arc-sitemap") {
            for path in ["members.html", "staff/", "noindex.html", "clinic.html"] {
                assert!(!text.contains(path), "{path} in {name}");
            }
        }
    }
    assert!(!site.files().contains_key("no-ai.md") && !site.files().contains_key("members.md"));
}

#[test] // D85
fn undeclared_restricted_pages_are_not_listed() {
    let mut site = Site::of(4);
    let form = "<form><input type=\"password\" name=\"p\"></form>";
    site.put("login.html", &format!("<title>Log in</title><body><main>{form}</main>"));
    site.put("drafts/a.html", &page("Home", "Plan", &words(70)));
    site.put("robots.txt", "User-agent: *\nDisallow: /drafts/\n");
    let list = |plan: &mut rutter_build::BuildPlan| plan.arc.lists_restricted = true;
    site.build_with(list).unwrap();
    assert_eq!(entry_of(&site, "login.html").unwrap().auth_required, Some(true));
    assert_eq!(entry_of(&site, "drafts/a.html").unwrap().ai_indexable, Some(false));
    // Pages that were listed before get a removal entry.
    site.now = site.now.plus_seconds(DAY);
    site.build();
    for name in ["login.html", "drafts/a.html"] {
        assert_eq!(entry_of(&site, name), None, "{name}");
    }
    let (_, entries) =
        read(&site.files()["arc-sitemap-deltas/2026-05-02.json"], ArcDocumentKind::Json);
    let removed = entries.iter().filter(|entry| entry.removed).map(|entry| entry.url.as_str());
    let removed: Vec<&str> = removed.collect();
    assert_eq!(removed, [format!("{BASE}drafts/a.html"), format!("{BASE}login.html")]);
}

#[test] // ARC-027
fn sensitive_pages_can_be_approved_and_urls_unlisted() {
    let mut site = with_excluded_pages();
    site.build_with(|plan| {
        plan.arc.approved = vec!["/clinic".to_owned()];
        plan.arc.unlisted = vec!["/staff/".to_owned()];
        plan.arc.priorities = vec![("/docs/".to_owned(), 0.8), ("/".to_owned(), 0.25)];
    })
    .unwrap();
    let clinic = entry_of(&site, "clinic.html").unwrap();
    assert_eq!(clinic.consent(), Consent::Given);
    assert!(clinic.ai_tags.iter().any(|tag| &**tag == "sensitive"));
    let snapshot = clinic.ai_snapshot.unwrap();
    assert!(snapshot.get().contains("\"ai_context\":[\"sensitive\"]"), "{snapshot:?}");
    assert!(!snapshot.get().contains("kestrel"));
    assert_eq!(entry_of(&site, "staff/desk.html"), None);
    assert_eq!(clinic.crawl_priority, Some(0.25));
    assert_eq!(entry_of(&site, "docs/0002.html").unwrap().crawl_priority, Some(0.8));
    // Readers that know the URL get a removal entry.
    site.now = site.now.plus_seconds(DAY);
    site.build_with(|plan| plan.arc.unlisted = vec!["/docs/".to_owned()]).unwrap();
    let delta = &site.files()["arc-sitemap-deltas/2026-05-02.json"];
    let gone = read(delta, ArcDocumentKind::Json).1.into_iter().filter(|entry| entry.removed);
    assert_eq!(gone.count(), 2);
}

#[test] // ARC-002
fn summary_of_the_page_comes_before_the_description() {
    let mut site = Site::new();
    let head = "<meta name=keywords content=\"boats, harbour\">";
    let given = format!("{head}<meta name=\"ai_summary\" content=\"Boats for hire.\">");
    let put = |name: &str, head: &str| {
        let text = page("Home", name, &words(3)).replace("</head>", &format!("{head}</head>"));
        site.put(&format!("{name}.html"), &text);
    };
    put("given", &given);
    put("described", head);
    let text = page("Home", "bare", &words(3));
    let (start, end) =
        (text.find("<meta name=\"description\"").unwrap(), text.find("</head>").unwrap());
    site.put("bare.html", &format!("{}{}", &text[..start], &text[end..]));
    site.build();
    let entry = |name: &str| entry_of(&site, &format!("{name}.html")).unwrap();
    assert_eq!(entry("given").ai_summary.as_deref(), Some("Boats for hire."));
    assert_eq!(entry("described").ai_summary.as_deref(), Some("About described."));
    let tags = entry("described").ai_tags;
    assert_eq!(tags.iter().map(|tag| &**tag).collect::<Vec<_>>(), ["boats", "harbour"]);
    // The entry contains only sentences of the page.
    let summary = entry("bare").ai_summary.unwrap();
    let (_, lines) = site.newest("all", "snapshot").unwrap();
    let line = lines.iter().find(|line| line.contains("/bare.html")).unwrap();
    assert!(line.contains(&*summary), "{summary}");
}

#[test]
fn home_page_links_to_the_sitemap_with_inject() {
    let mut site = Site::of(4);
    site.build_with(|plan| plan.layers.inject = true).unwrap();
    let home = fs::read_to_string(site.path("out/index.html")).unwrap();
    let script = home.split("<script type=\"application/ld+json\">").nth(1).unwrap();
    let script = script.split("</script>").next().unwrap();
    let value: serde_json::Value = serde_json::from_str(script).unwrap();
    assert_eq!(value["name"], "ARC Sitemap");
    assert_eq!(value["distribution"][0]["contentUrl"], "https://harbour.example/arc-sitemap.json");
    let other = fs::read_to_string(site.path("out/docs/0002.html")).unwrap();
    assert!(!other.contains("ld+json"));
}

/// Dates of entries, URLs of excluded pages, tombstones and deltas are rebuilt from the published
/// files.
#[test]
fn lost_state_is_rebuilt_from_published_files() {
    let lived_in = || {
        let mut site = with_excluded_pages();
        site.build_with(|plan| plan.restricted = vec!["/staff/".to_owned()]).unwrap();
        site.now = site.now.plus_seconds(DAY);
        site.remove("noindex.html");
        site.put("docs/0002.html", &page("Home", "Page 2", &words(502)));
        site.build_with(|plan| plan.restricted = vec!["/staff/".to_owned()]).unwrap();
        site
    };
    let (mut site, mut other) = (lived_in(), lived_in());
    fs::remove_dir_all(site.path("state")).unwrap();
    let previous = site.path("out");
    for (site, previous) in [(&mut site, Some(previous)), (&mut other, None)] {
        site.build_with(|plan| {
            plan.restricted = vec!["/staff/".to_owned()];
            plan.previous = previous;
        })
        .unwrap();
        site.remove("docs/0000.html");
        site.build_with(|plan| plan.restricted = vec!["/staff/".to_owned()]).unwrap();
    }
    let (found, wanted) = (site.files(), other.files());
    for (name, bytes) in wanted.iter().filter(|(name, _)| !name.ends_with("gz")) {
        let found = found.get(name).map(|bytes| String::from_utf8_lossy(bytes));
        assert_eq!(found, Some(String::from_utf8_lossy(bytes)), "{name}");
    }
    let differ = |name: &&String| found.get(*name) != wanted.get(*name);
    let names: Vec<&String> = found.keys().chain(wanted.keys()).filter(differ).collect();
    assert_eq!(names, Vec::<&String>::new());
}

#[test] // D85
fn setting_lists_pages_with_password_and_disallowed_pages() {
    let mut site = Site::of(4);
    let form = "<form><input type=\"password\" name=\"p\"></form>";
    site.put("members/login.html", &format!("<title>Log in</title><body><main>{form}</main>"));
    let noindex = "<meta name=\"robots\" content=\"noindex\"></head>";
    let closed = page("Home", "Plan", &words(70)).replace("</head>", noindex);
    site.put("drafts/a.html", &closed);
    site.put("robots.txt", "User-agent: *\nDisallow: /drafts/\n");
    site.build_with(|plan| plan.restricted = vec!["/members/".to_owned()]).unwrap();
    assert_eq!(entry_of(&site, "drafts/a.html"), None);
    assert_eq!(entry_of(&site, "members/login.html").unwrap().auth_required, Some(true));
}
