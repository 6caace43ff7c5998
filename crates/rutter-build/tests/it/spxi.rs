//! The SPXI layer of a build: the index, its packets, and the files that name them.

use std::fs;
use std::io::Read;

use flate2::read::GzDecoder;
use rutter_build::{
    BaseUrl, BuildError, BuildPlan, EntityDeclaration, HostKind, SpxiSettings, SurfaceRule,
};
use rutter_spxi::{Collision, Entity, Kernel, PacketQuestion, SemanticIndex, VerificationLevel};
use serde_json::{Value, json};

use crate::site::{BASE, RecordedEvents, Site, page, words};

const INDEX_FILE: &str = "spxi-index.jsonld";

pub(crate) fn entity(page: &str, name: &str) -> EntityDeclaration {
    let text = |text: &str| Some(text.to_owned());
    EntityDeclaration {
        entity: Entity {
            id: Some(format!("{BASE}{page}")),
            entity_type: text("Museum"),
            name: text(name),
            negative_tags: vec!["NOT the band".to_owned()],
            markers: vec!["the harbour office".to_owned(), "on Monday".to_owned()],
            verification: Some(VerificationLevel::SelfAttested),
            collisions: vec![Collision {
                with: text("The Loft (band)"),
                attribute: text("It plays."),
                risk: None,
            }],
            ..Entity::default()
        },
        has_packet: true,
        ..EntityDeclaration::default()
    }
}

fn spxi(entities: Vec<EntityDeclaration>) -> SpxiSettings {
    let summary = Some("A harbour, and not a band.".to_owned());
    SpxiSettings {
        index: SemanticIndex {
            kernel: Some(Kernel { summary, specification: None }),
            ..SemanticIndex::default()
        },
        entities,
        packets: true,
        robots_group: true,
        ..SpxiSettings::default()
    }
}

pub(crate) fn declares(entities: Vec<EntityDeclaration>) -> impl FnOnce(&mut BuildPlan) {
    |plan: &mut BuildPlan| plan.spxi = Some(spxi(entities))
}

pub(crate) fn index(site: &Site) -> Value {
    serde_json::from_slice(&site.files()[INDEX_FILE]).unwrap()
}

fn ids(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|one| one["@id"].as_str().unwrap()).collect()
}

/// Returns the findings of the layer, without those about text.
fn findings_of(events: &RecordedEvents) -> Vec<(&str, &str)> {
    let of_layer =
        events.findings.iter().filter(|it| ["BD003", "BD015", "BD016", "BD017"].contains(&it.1));
    of_layer.map(|(place, code, _)| (place.as_str(), *code)).collect()
}

#[test] // SPX-001 SPX-002 SPX-011 SPX-016 SPX-017 SPX-018 SPX-021 SPX-048 SPX-072
fn sitemap_and_index_name_each_other() {
    let mut site = Site::of(6);
    let (_, events) =
        site.build_with(declares(vec![entity("docs/0002.html", "The Loft")])).unwrap();
    assert_eq!(findings_of(&events), []);
    let value = index(&site);
    assert_eq!(value["@type"], "spxi:SemanticIndex");
    assert_eq!(value["@id"], format!("{BASE}{INDEX_FILE}"));
    assert_eq!(value["name"], "Harbour");
    assert_eq!(ids(&value["spxi:hasEntity"]), [format!("{BASE}docs/0002.html")]);
    let kernel = &value["spxi:siteKernel"]["spxi:compressionSurvivalSummary"];
    assert_eq!(kernel, "A harbour, and not a band.");
    // Every page of the sitemap is a surface with the date of the ledger.
    let (entries, _) = site.sitemap();
    let locs: Vec<&str> = entries.iter().map(|entry| entry.loc.as_str()).collect();
    assert_eq!(ids(&value["spxi:hasSurface"]), locs);
    let newest = entries.iter().filter_map(|entry| entry.lastmod).max().unwrap();
    assert_eq!(value["dateModified"], newest.to_string());
    // Only an edit changes the date.
    site.put("blog/0001.html", &page("Home", "Page 1", "Something else stands here now."));
    site.build_with(declares(vec![entity("docs/0002.html", "The Loft")])).unwrap();
    assert_eq!(index(&site)["dateModified"], site.row("blog/0001.html")[4]);
    let outcome = site.build_with(declares(vec![entity("docs/0002.html", "The Loft")])).unwrap().0;
    assert!(outcome.is_unchanged());
}

#[test] // SPX-002 SPX-039 SPX-040 SPX-041 SPX-042 SPX-043 SPX-046 SPX-047 SPX-073
fn entries_of_entities_link_to_the_index_as_alternates() {
    let mut site = Site::of(6);
    site.build_with(declares(vec![entity("docs/0002.html#loft", "The Loft")])).unwrap();
    let linked = |site: &Site| {
        let (entries, _) = site.sitemap();
        let linked: Vec<String> = entries
            .iter()
            .filter(|entry| entry.alternates.iter().any(|link| link.hreflang == "x-spxi"))
            .map(|entry| entry.loc.clone())
            .collect();
        linked
    };
    assert_eq!(linked(&site), [format!("{BASE}docs/0002.html")]);
    let text = fs::read_to_string(site.path("out/sitemap.xml")).unwrap();
    assert!(text.contains("xmlns:xhtml=\"http://www.w3.org/1999/xhtml\""));
    let line = text.lines().find(|line| line.contains("x-spxi")).unwrap();
    for part in [
        "<xhtml:link ",
        "rel=\"alternate\"",
        "type=\"application/ld+json\"",
        "hreflang=\"x-spxi\"",
        "href=\"https://harbour.example/spxi-index.jsonld\"",
    ] {
        assert!(line.contains(part), "{line}");
    }
    assert!(!text.contains("spxi:") && !text.contains('#'), "{text}");
    // One entity is added, one is no longer declared.
    site.build_with(declares(vec![entity("blog/0001.html", "The Mole")])).unwrap();
    assert_eq!(linked(&site), [format!("{BASE}blog/0001.html")]);
    site.build();
    assert_eq!(linked(&site), Vec::<String>::new());
    assert!(!site.files().keys().any(|name| name.contains("spxi")));
}

#[test] // SPX-014 SPX-030 SPX-045 SPX-008 SPX-015 SPX-031
fn packets_are_next_to_their_pages() {
    let mut site = Site::of(4);
    site.put("docs/index.html", &page("Home", "Documents", &words(77)));
    site.put("ü/seal.html", &page("Home", "Seal", &words(78)));
    let mut loft = entity("docs/0002.html", "The Loft");
    loft.questions =
        vec![PacketQuestion { question: "Is it a band?".into(), answer: "No.".into() }];
    loft.kernel =
        Some(Kernel { summary: Some("The Loft is a museum.".into()), specification: None });
    let without = EntityDeclaration { has_packet: false, ..entity("blog/0001.html", "No packet") };
    let entities = vec![
        entity("", "Harbour"),
        entity("docs/", "Documents"),
        loft,
        entity("docs/0002.html#cellar", "The Cellar"),
        entity("%C3%BC/seal.html", "Seal"),
        without,
    ];
    let (_, events) = site.build_with(declares(entities)).unwrap();
    assert_eq!(findings_of(&events), []);
    let files = site.files();
    let packets: Vec<&String> =
        files.keys().filter(|name| name.ends_with("spxi-packet.jsonld")).collect();
    let wanted = ["docs/0002/", "docs/", "", "ü/seal/"].map(|it| format!("{it}spxi-packet.jsonld"));
    assert_eq!(packets, wanted.iter().collect::<Vec<_>>());
    let value = index(&site);
    let refs: Vec<&Value> = value["spxi:hasEntity"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["spxi:packetRef"])
        .collect();
    let address = |path: &str| json!(format!("{BASE}{path}spxi-packet.jsonld"));
    let shared = address("docs/0002/");
    assert_eq!(
        refs,
        [&address(""), &address("docs/"), &shared, &shared, &address("%C3%BC/seal/"), &Value::Null]
    );
    // The packet contains what the index contains.
    let packet: Value = serde_json::from_slice(&files["docs/0002/spxi-packet.jsonld"]).unwrap();
    assert_eq!(packet["@id"], shared);
    assert_eq!(packet["url"], format!("{BASE}docs/0002.html"));
    assert_eq!(packet["isPartOf"]["@id"], format!("{BASE}{INDEX_FILE}"));
    assert_eq!(packet["dateModified"], site.row("docs/0002.html")[4]);
    for (about, indexed) in packet["spxi:about"]
        .as_array()
        .unwrap()
        .iter()
        .zip(&value["spxi:hasEntity"].as_array().unwrap()[2..4])
    {
        for (name, value) in
            indexed.as_object().unwrap().iter().filter(|(name, _)| *name != "@type")
        {
            assert_eq!(about[name], *value, "{name}");
        }
        assert_eq!(about["@type"], json!(["Museum", "spxi:IndexedEntity", "mp:IndexedEntity"]));
        assert_eq!(about["differentFrom"][0]["name"], "The Loft (band)");
    }
    assert_eq!(packet["spxi:faq"][0]["acceptedAnswer"]["text"], "No.");
    assert_eq!(
        packet["spxi:holographicKernel"]["spxi:compressionSurvivalSummary"],
        "The Loft is a museum."
    );
}

#[test] // SPX-055 SPX-056 D79 D80
fn group_of_ai_agents_keeps_existing_rules() {
    let mut site = Site::of(3);
    site.put("robots.txt", "User-agent: *\nDisallow: /drafts/\n\nUser-agent: CCBot\nDisallow: /\n");
    let declare = |plan: &mut BuildPlan| {
        let mut spxi = spxi(vec![entity("docs/0002.html", "The Loft")]);
        spxi.agents = vec!["ClaudeBot".to_owned()];
        plan.spxi = Some(spxi);
    };
    site.build_with(declare).unwrap();
    let text = fs::read_to_string(site.path("out/robots.txt")).unwrap();
    let robots = rutter_robots::RobotsTxt::parse(text.as_bytes());
    for agent in [
        "GPTBot",
        "ChatGPT-User",
        "Claude-Web",
        "PerplexityBot",
        "FacebookBot",
        "Google-Extended",
        "ClaudeBot",
    ] {
        assert!(text.contains(&format!("User-agent: {agent}\n")), "{agent}");
        assert!(!robots.is_allowed(agent, "/drafts/a.html"), "{agent}");
        assert!(robots.is_allowed(agent, "/spxi-index.jsonld"), "{agent}");
    }
    // An agent that the site owner disallows stays disallowed.
    assert!(!robots.is_allowed("CCBot", "/spxi-index.jsonld"));
    for line in [
        "Allow: /spxi-index.jsonld",
        "Allow: /spxi-packet.jsonld",
        "Allow: /*/spxi-packet.jsonld",
        "Sitemap: https://harbour.example/sitemap.xml",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}");
    }
    // The group can be turned off.
    site.build_with(|plan| {
        plan.spxi = Some(SpxiSettings { robots_group: false, ..spxi(vec![entity("", "Harbour")]) });
    })
    .unwrap();
    assert!(!fs::read_to_string(site.path("out/robots.txt")).unwrap().contains("GPTBot"));
}

#[test] // SPX-059 SPX-061 SPX-050 SPX-049 D83
fn pages_llms_txt_and_header_files_name_the_index() {
    let mut site = Site::of(3);
    site.build_with(|plan| {
        plan.layers.inject = true;
        plan.layers.headers = Some(HostKind::Netlify);
        plan.spxi = Some(spxi(vec![entity("docs/0002.html", "The Loft")]));
    })
    .unwrap();
    let files = site.files();
    let text = |name: &str| String::from_utf8(files[name].clone()).unwrap();
    let link = "<link rel=\"alternate\" type=\"application/ld+json\" href=\"/spxi-index.jsonld\">";
    for name in files.keys().filter(|name| name.ends_with(".html")) {
        assert!(text(name).contains(link), "{name}");
    }
    let packet = "<link rel=\"alternate\" type=\"application/ld+json\" href=\"/docs/0002/spxi-packet.jsonld\">";
    assert!(text("docs/0002.html").contains(packet));
    assert!(!text("index.html").contains("spxi-packet"));
    assert!(text("llms.txt").contains("(https://harbour.example/spxi-index.jsonld)"));
    let headers = text("_headers");
    let at = headers.find("/spxi-index.jsonld\n  Content-Type: application/ld+json\n");
    assert!(at.is_some(), "{headers}");
    assert!(headers.contains("/*spxi-packet.jsonld\n  Content-Type: application/ld+json\n"));
    let served = fs::read_to_string(site.path("state/served.json")).unwrap();
    let served: Value = serde_json::from_str(&served).unwrap();
    for (path, coding) in [(INDEX_FILE, Value::Null), ("spxi-index.jsonld.gz", json!("gzip"))] {
        let file =
            served["files"].as_array().unwrap().iter().find(|file| file["path"] == path).unwrap();
        assert_eq!((&file["type"], &file["coding"]), (&json!("application/ld+json"), &coding));
    }
    let mut unzipped = Vec::new();
    GzDecoder::new(files["spxi-index.jsonld.gz"].as_slice()).read_to_end(&mut unzipped).unwrap();
    assert_eq!(unzipped, files[INDEX_FILE]);
}

#[test] // SPX-064 D65 D85
fn entity_without_a_public_page_is_not_in_the_index() {
    let mut site = Site::of(3);
    let noai = page("Home", "Silent", &words(50))
        .replace("<title>", "<meta name=\"robots\" content=\"noai\"><title>");
    let noindex = page("Home", "Hidden", &words(51))
        .replace("<title>", "<meta name=\"robots\" content=\"noindex\"><title>");
    site.put("silent.html", &noai);
    site.put("hidden.html", &noindex);
    let entities = || {
        vec![
            entity("docs/0002.html", "The Loft"),
            entity("silent.html", "Silent"),
            entity("hidden.html", "Hidden"),
            entity("docs/0002", "Misspelt"),
        ]
    };
    let (_, events) = site.build_with(declares(entities())).unwrap();
    let base = |path: &str| format!("{BASE}{path}");
    let mut missing: Vec<String> =
        findings_of(&events).iter().map(|(place, _)| (*place).to_owned()).collect();
    missing.sort();
    assert_eq!(missing, [base("docs/0002"), base("hidden.html"), base("silent.html")]);
    let why = |code: &str, page: &str| {
        let found = events.findings.iter().find(|it| it.0 == page && it.1 == code);
        found.map(|it| it.2.clone()).unwrap_or_default()
    };
    assert_eq!(why("BD015", &base("docs/0002")), "`Misspelt`: did you mean /docs/0002.html?");
    assert_eq!(why("BD015", &base("hidden.html")), "`Hidden`: the page is excluded: noindex");
    let value = index(&site);
    assert_eq!(ids(&value["spxi:hasEntity"]), [base("docs/0002.html")]);
    // A page that is not for AI is listed with its name only.
    let surfaces = value["spxi:hasSurface"].as_array().unwrap();
    let silent = surfaces.iter().find(|one| one["@id"] == base("silent.html")).unwrap();
    assert_eq!(*silent, json!({"@type": "WebPage", "@id": base("silent.html"), "name": "Silent"}));
    assert!(!surfaces.iter().any(|one| one["@id"] == base("hidden.html")));
    // Findings that still apply are reported again by a build without changes.
    let (outcome, again) = site.build_with(declares(entities())).unwrap();
    assert!(outcome.is_unchanged());
    assert_eq!(findings_of(&again), findings_of(&events));
    // When the page is removed, so are packet and entity.
    site.remove("docs/0002.html");
    site.build_with(declares(entities())).unwrap();
    // An index without entities is not written, and no file names it.
    let files = site.files();
    assert!(!files.keys().any(|name| name.contains("spxi")));
    for name in ["llms.txt", "robots.txt", "sitemap.xml"] {
        assert!(!String::from_utf8_lossy(&files[name]).contains("spxi"), "{name}");
    }
}

#[test] // SPX-018 SPX-054 D69
fn surfaces_describe_pages_up_to_the_size_limit() {
    let rules = || {
        vec![SurfaceRule {
            path: "/docs/*".to_owned(),
            surface_type: Some("documentation".to_owned()),
            function: Some("definition".to_owned()),
            protects: vec!["Harbour".to_owned()],
        }]
    };
    let mut site = Site::of(4);
    let declare = |plan: &mut BuildPlan| {
        plan.spxi = Some(SpxiSettings { surfaces: rules(), ..spxi(vec![entity("", "Harbour")]) });
    };
    site.build_with(declare).unwrap();
    let value = index(&site);
    let surface =
        value["spxi:hasSurface"].as_array().unwrap().iter().find(|one| one["name"] == "Page 2");
    let wanted = json!({
        "@type": "WebPage", "@id": format!("{BASE}docs/0002.html"), "name": "Page 2",
        "spxi:surfaceType": "documentation", "spxi:semanticFunction": "definition",
        "spxi:protectsEntity": [{"@id": BASE}], "dateModified": site.row("docs/0002.html")[4],
    });
    assert_eq!(surface, Some(&wanted));
    // Beyond 100,000 bytes, all pages are listed by URL only.
    let mut large = Site::of(900);
    let (_, events) = large.build_with(declare).unwrap();
    assert_eq!(findings_of(&events), [(INDEX_FILE, "BD016")]);
    let value = index(&large);
    let surfaces = value["spxi:hasSurface"].as_array().unwrap();
    assert_eq!(surfaces.len(), 901);
    assert!(surfaces.iter().all(|one| one.as_object().unwrap().len() == 2));
}

#[test] // SPX-006 SPX-066 D70
fn markers_are_searched_on_their_page() {
    let mut site = Site::of(2);
    let text =
        "<p>The <b>net</b> loft on Fish\u{a0}Quay.</p><p>Founded\nin 1987</p><p>by fishers</p>";
    let head = "<meta name=\"spxi:sim\" content=\"only in meta\"><script type=\"application/ld+json\">\
        {\"@type\": \"Museum\", \"name\": \"only in data\"}</script>";
    let html = page("Home", "Loft", "Long ago.")
        .replace("<p>Long ago.</p>", text)
        .replace("</head>", &format!("{head}</head>"));
    site.put("loft.html", &html);
    let with = |markers: &[&str]| {
        let mut loft = entity("loft.html", "Loft");
        loft.entity.markers = markers.iter().map(|it| (*it).to_owned()).collect();
        declares(vec![loft])
    };
    let lost = |events: &RecordedEvents| -> Vec<String> {
        let of_rule = events.findings.iter().filter(|it| it.1 == "BD017");
        of_rule.map(|(_, _, detail)| detail.clone()).collect()
    };
    let (_, events) = site
        .build_with(with(&[
            "net loft on Fish Quay",
            "Founded in 1987",
            "FOUNDED in 1987",
            "1987 by fishers",
            "only in meta",
            "only in data",
        ]))
        .unwrap();
    assert_eq!(
        lost(&events),
        [
            "`Loft`: `FOUNDED in 1987` is not visible; the page has `Founded in 1987` instead",
            "`Loft`: `1987 by fishers` is not visible; the page does not have it",
            "`Loft`: `only in meta` is not visible; only a meta element has it",
            "`Loft`: `only in data` is not visible; only JSON-LD has it",
        ]
    );
    // With other markers, the page is checked again but does not change.
    let (outcome, events) = site.build_with(with(&["Founded in 1987", "net loft"])).unwrap();
    assert_eq!((lost(&events), outcome.changed, outcome.judged), (Vec::new(), 0, 1));
    let (outcome, _) = site.build_with(with(&["Founded in 1987", "net loft"])).unwrap();
    assert!(outcome.is_unchanged());
}

#[test] // D81
fn keeps_files_of_the_site_owner() {
    let mut site = Site::of(3);
    site.put(INDEX_FILE, "{}");
    site.put("docs/0002/spxi-packet.jsonld", "{}");
    site.put("blog/0001", "a file where a folder would be");
    let entities = vec![entity("docs/0002.html", "The Loft"), entity("blog/0001.html", "The Mole")];
    let (_, events) = site.build_with(declares(entities)).unwrap();
    let mut taken = findings_of(&events);
    taken.sort_unstable();
    let wanted = ["blog/0001/spxi-packet.jsonld", "docs/0002/spxi-packet.jsonld", INDEX_FILE];
    assert_eq!(taken, wanted.map(|name| (name, "BD003")));
    let files = site.files();
    assert_eq!(files[INDEX_FILE], b"{}");
    // The gzip file would not match the file of the site owner.
    assert!(!files.contains_key("spxi-index.jsonld.gz"));
    assert_eq!(files["docs/0002/spxi-packet.jsonld"], b"{}");
    assert_eq!(files["blog/0001"], b"a file where a folder would be");
}

#[test] // D85
fn index_contains_nothing_of_excluded_pages() {
    let mut site = Site::of(3);
    let silent = "<!doctype html><meta name=\"robots\" content=\"noai\">\
        <p>Text for people that only members may keep.</p>";
    site.put("silent.html", silent);
    site.put("closed/team.html", &page("Home", "Team", &words(60)));
    site.build_with(|plan| {
        plan.restricted = vec!["/closed/".to_owned()];
        let entities = vec![entity("", "Harbour"), entity("closed/team.html", "Team")];
        let surfaces = vec![SurfaceRule {
            path: "/*".to_owned(),
            surface_type: None,
            function: None,
            protects: vec!["Harbour".to_owned(), "Team".to_owned()],
        }];
        plan.spxi = Some(SpxiSettings { surfaces, ..spxi(entities) });
    })
    .unwrap();
    let text = String::from_utf8(site.files()[INDEX_FILE].clone()).unwrap();
    assert!(!text.contains("closed/team") && !text.contains("only members"), "{text}");
    assert!(text.contains("silent.html") && text.contains("spxi:protectsEntity"));
}

#[test] // D94
fn secrets_in_declarations_stop_the_build() {
    let mut site = Site::of(2);
    // Assembled here, so that secret scanners do not report this file.
    let token = ["ghp_", "a8Kd92kLmQ0zXcVbN4rT6yUiOp1sDfGhJk3W"].concat();
    let declare = |acknowledged: Vec<String>| {
        let token = token.clone();
        move |plan: &mut BuildPlan| {
            let mut harbour = entity("", "Harbour");
            harbour.questions = vec![PacketQuestion { question: "Which?".into(), answer: token }];
            plan.privacy.acknowledged = acknowledged;
            plan.spxi = Some(spxi(vec![harbour]));
        }
    };
    assert!(matches!(site.build_with(declare(Vec::new())), Err(BuildError::PrivateData(1))));
    let mut events = RecordedEvents::default();
    let mut plan = site.plan();
    declare(Vec::new())(&mut plan);
    rutter_build::build(&plan, &mut events).unwrap_err();
    let (_, _, detail) = events.findings.iter().find(|it| it.1 == "BD005").unwrap();
    let mark = detail.rsplit(' ').next().unwrap().to_owned();
    site.build_with(declare(vec![mark])).unwrap();
}

#[test] // D92
fn site_below_a_path_has_its_index_there_and_reports_it() {
    let mut site = Site::of(2);
    let (_, events) = site
        .build_with(|plan| {
            plan.base = BaseUrl::parse("https://harbour.example/town/").unwrap();
            plan.spxi = Some(spxi(vec![entity("town/", "Harbour")]));
        })
        .unwrap();
    assert!(events.findings.iter().any(|(place, code, _)| place == INDEX_FILE && *code == "BD007"));
    assert_eq!(index(&site)["@id"], "https://harbour.example/town/spxi-index.jsonld");
    let packet = &index(&site)["spxi:hasEntity"][0]["spxi:packetRef"];
    assert_eq!(packet, "https://harbour.example/town/spxi-packet.jsonld");
}

#[test] // SPX-004 SPX-005
fn sitemap_has_the_same_entries_with_and_without_the_layer() {
    let (mut plain, mut with) = (Site::of(12), Site::of(12));
    plain.build();
    let entities = || vec![entity("docs/0002.html", "The Loft"), entity("", "Harbour")];
    with.build_with(declares(entities())).unwrap();
    // Reading with a finding fails, so both are valid.
    let ((wanted, offers), (entries, other)) = (plain.sitemap(), with.sitemap());
    assert_eq!(wanted.len(), 13);
    let linked = entries.iter().filter(|entry| !entry.alternates.is_empty()).count();
    assert_eq!(linked, 2);
    let without: Vec<_> = entries
        .into_iter()
        .map(|entry| rutter_sitemap::SitemapEntry { alternates: Vec::new(), ..entry })
        .collect();
    assert_eq!(without, wanted);
    assert_eq!(other, offers);
    // The files differ only in the links and their namespace.
    let text = |site: &Site| fs::read_to_string(site.path("out/sitemap.xml")).unwrap();
    let link = "<xhtml:link rel=\"alternate\" type=\"application/ld+json\" hreflang=\"x-spxi\" \
        href=\"https://harbour.example/spxi-index.jsonld\"/>";
    let namespace = " xmlns:xhtml=\"http://www.w3.org/1999/xhtml\"";
    let same = text(&with).replace(link, "").replace(namespace, "");
    assert_eq!(same, text(&plain).replace(namespace, ""));
}

#[test] // SPX-055
fn generated_robots_txt_allows_everything_and_names_the_sitemap() {
    let mut site = Site::of(3);
    site.build_with(declares(vec![entity("docs/0002.html", "The Loft")])).unwrap();
    let text = fs::read_to_string(site.path("out/robots.txt")).unwrap();
    let robots = rutter_robots::RobotsTxt::parse(text.as_bytes());
    for agent in ["AnyBot", "GPTBot", "CCBot"] {
        for path in ["/", "/docs/0002.html", "/spxi-index.jsonld", "/docs/0002/spxi-packet.jsonld"]
        {
            assert!(robots.is_allowed(agent, path), "{agent} {path}\n{text}");
        }
    }
    let sitemap = "Sitemap: https://harbour.example/sitemap.xml";
    assert!(text.lines().any(|line| line == sitemap), "{text}");
    assert!(!text.lines().any(|line| line.starts_with("Disallow: /")), "{text}");
}
