//! Exclusion of pages: which layers show them (D85, D94).

use std::fs;

use rutter_build::{BuildError, OversizePolicy};

use crate::site::{BASE, Site, page, words};

fn listed(site: &Site, path: &str) -> (bool, bool, bool) {
    let url = format!("{BASE}{path}");
    let in_sitemap = site.sitemap().0.iter().any(|entry| entry.loc == url);
    let (_, lines) = site.newest("all", "snapshot").unwrap();
    let in_collection = lines.iter().any(|line| line.contains(&format!("\"url\":\"{url}\"")));
    let llms = fs::read_to_string(site.path("out/llms.txt")).unwrap();
    let stem = path.strip_suffix(".html").unwrap_or(path);
    (in_sitemap, in_collection, llms.contains(&format!("{BASE}{stem}.md")))
}

#[test] // D85
fn publishes_short_page_and_reports_the_length_of_a_shell() {
    let mut site = Site::of(2);
    let body = |text: &str| {
        format!(
            "<html lang=en><title>Office</title><body><div>{text}</div><div id=app></div>\
             <script src=/map.js></script></body></html>"
        )
    };
    let address = "Harbour Office, Quay 4, 26382 Wilhelmshaven, open from 8 to 16, channel 11";
    site.put("office.html", &body(address));
    site.put("app.html", &body("Skip to content"));
    let (_, events) = site.build_with(|_| {}).unwrap();
    let excluded: Vec<_> =
        events.excluded.iter().map(|(name, why, by)| (name.as_str(), *why, by.as_str())).collect();
    let shown = "15 characters of text, an empty element for scripts to fill";
    assert_eq!(excluded, [("app.html", "needs scripts", shown)]);
    assert_eq!(listed(&site, "office.html"), (true, true, true));
}

#[test] // SCP-170 SCP-174 D85
fn each_reason_has_its_visibility() {
    let mut site = Site::of(6);
    let with =
        |head: &str| page("Home", "Odd", &words(99)).replace("</head>", &format!("{head}</head>"));
    site.put("public.html", &with(""));
    site.put("noindex.html", &with("<meta name=\"robots\" content=\"noindex\">"));
    site.put("noai.html", &with("<meta name=\"robots\" content=\"noai\">"));
    site.put(
        "later.html",
        &with("<meta property=\"article:published_time\" content=\"2030-01-01T00:00:00Z\">"),
    );
    site.put("moved.html", "<html><head><meta http-equiv=\"refresh\" content=\"0; url=/\"></head><body>Moved.</body></html>");
    site.put("login.html", "<html lang=en><title>Sign in</title><body><h1>Sign in</h1><form><input type=\"password\"></form></body></html>");
    site.put(
        "app.html",
        "<html lang=en><title>App</title><meta name=description content=\"A harbour in your browser.\">\
         <body><div id=root></div><script src=/app.js></script></body></html>",
    );
    site.put("members/list.html", &with(""));
    site.put("für/uns.html", &with(""));
    site.put("private/a.html", &with(""));
    site.put("robots.txt", "User-agent: *\nDisallow: /private/\n");
    let (outcome, _) =
        site.build_with(|plan| plan.restricted = vec!["/members/".into(), "/für/".into()]).unwrap();
    assert_eq!(outcome.pages, 8);
    for (path, expected, sight) in [
        ("public.html", (true, true, true), "public"),
        ("noai.html", (true, false, false), "listed"),
        ("app.html", (true, false, false), "listed"),
        ("noindex.html", (false, false, false), "bare"),
        ("login.html", (false, false, false), "bare"),
        ("members/list.html", (false, false, false), "bare"),
        ("private/a.html", (false, false, false), "bare"),
        ("f%C3%BCr/uns.html", (false, false, false), "bare"),
        ("later.html", (false, false, false), "hidden"),
        ("moved.html", (false, false, false), "hidden"),
    ] {
        assert_eq!(listed(&site, path), expected, "{path}");
        assert_eq!(site.row(path)[1], sight, "{path}");
    }
    let mut reasons: Vec<_> = outcome.excluded.iter().map(|why| why.reason).collect();
    reasons.sort_unstable();
    assert_eq!(
        reasons,
        [
            "asks for a password",
            "disallowed by robots.txt",
            "needs scripts",
            "noindex",
            "not for AI",
            "published later",
            "redirect",
            "restricted"
        ]
    );
    // Excluded pages have no Markdown twin.
    assert!(!site.files().contains_key("noindex.md"));
    // A page that becomes excluded is a removal; one that becomes public is new, with its old date.
    site.put("public.html", &with("<meta name=\"robots\" content=\"noindex\">"));
    site.put("noindex.html", &with(""));
    let (outcome, _) =
        site.build_with(|plan| plan.restricted = vec!["/members/".into(), "/für/".into()]).unwrap();
    assert_eq!((outcome.new, outcome.changed, outcome.removed), (1, 0, 1));
    let (delta, lines) = site.newest("all", "delta").unwrap();
    assert_eq!(lines.len(), 1);
    assert_eq!(delta.chain.unwrap().removed, [format!("{BASE}public.html")]);
    // A scheduled page becomes public on its date.
    site.now = rutter_page::Timestamp::parse("2030-01-02T00:00:00Z").unwrap();
    let (outcome, _) =
        site.build_with(|plan| plan.restricted = vec!["/members/".into(), "/für/".into()]).unwrap();
    assert_eq!(outcome.new, 1);
    assert_eq!(site.row("later.html")[1], "public");
}

#[test] // SCP-201 D94
fn secret_stops_the_build_until_it_is_acknowledged() {
    let mut site = Site::of(3);
    // Assembled here, so that secret scanners do not report this file.
    let secret = ["AKIA", "Q3EGRT7WZ5KLM2NP"].concat();
    site.put("key.html", &page("Home", "Key", &format!("Use {secret} to get in.")));
    let mut mark = String::new();
    match site.build_with(|_| {}) {
        Err(BuildError::PrivateData(1)) => {}
        other => panic!("{:?}", other.map(|(outcome, _)| outcome)),
    }
    assert!(!site.path("out/sitemap.xml").exists());
    for n in 0..2 {
        let acknowledged = vec![mark.clone()];
        let result = site.build_with(|plan| plan.privacy.acknowledged = acknowledged);
        if n == 0 {
            // The finding contains the mark.
            let plan = site.plan();
            let mut events = crate::site::RecordedEvents::default();
            drop(rutter_build::build(&plan, &mut events));
            let secret_found = events.findings.iter().find(|found| found.1 == "BD005");
            let (place, _, detail) = secret_found.unwrap();
            assert_eq!(place, "key.html");
            assert!(!detail.contains(&secret));
            mark = detail.rsplit(' ').next().unwrap().to_owned();
        } else {
            assert_eq!(result.unwrap().0.pages, 5);
        }
    }
}

#[test] // SCP-171 SCP-172
fn comments_and_private_data_are_not_published() {
    let mut site = Site::of(3);
    let schema = r#"<script type="application/ld+json">{"@type":"Article","headline":"Dredging","dateModified":"2031-01-01T00:00:00Z","author":{"@type":"Person","name":"Ada","email":"ada@harbour.org","telephone":"+44 20 7946 0958"}}</script>"#;
    let text = page("Home", "Dredging", &words(5))
        .replace("</head>", &format!("{schema}</head>"))
        .replace("</main>", "</main><section id=\"comments\" class=\"comments\"><h2>Comments</h2><p>Bob wrote: I saw it on Sunday, and it was really something to see.</p></section>");
    site.put("article.html", &text);
    site.put(
        "contact.html",
        &page(
            "Home",
            "Contact",
            "Write to office@harbour.org, and the office answers within two days.",
        ),
    );
    let (outcome, events) = site.build_with(|_| {}).unwrap();
    assert_eq!(outcome.pages, 6);
    let (_, lines) = site.newest("all", "snapshot").unwrap();
    let line = lines.iter().find(|line| line.contains("article.html")).unwrap();
    assert!(line.contains("Ada") && !line.contains("ada@harbour.org") && !line.contains("7946"));
    assert!(!line.contains("Bob wrote"));
    // The schema has the date of the ledger, never a build time.
    assert!(line.contains(&format!("\"dateModified\":\"{}\"", site.row("article.html")[4])));
    assert_eq!(events.codes("contact.html"), ["BD006"]);
    let strict = site.build_with(|plan| {
        plan.privacy.strict = true;
        plan.reread = true;
    });
    assert!(matches!(strict, Err(BuildError::PrivateData(1))));
}

#[test] // D36
fn page_with_too_many_blocks_is_merged_or_stops_the_build() {
    let mut site = Site::of(6);
    site.build();
    let before = site.files();
    let code: Vec<String> = (0..1100).map(|n| format!("<pre>{n}: {}</pre>", words(n))).collect();
    let code = code.concat();
    site.put("steps.html", &page("Home", "Steps", &format!("{}</p>{code}<p>", words(1))));
    let stop = |plan: &mut rutter_build::BuildPlan| plan.oversize = OversizePolicy::Stop;
    let stopped = site.build_with(stop).err();
    assert!(matches!(stopped, Some(BuildError::Oversize(1))), "{stopped:?}");
    assert_eq!(site.files(), before);
    let mut plan = site.plan();
    stop(&mut plan);
    let mut events = crate::site::RecordedEvents::default();
    assert!(rutter_build::build(&plan, &mut events).is_err());
    assert!(events.codes("steps.html").contains(&"BD008"), "{:?}", events.findings);
    // The same without changes.
    for _ in 0..2 {
        let (outcome, events) = site.build_with(|_| {}).unwrap();
        assert_eq!(outcome.pages, 8);
        assert!(!events.codes("steps.html").contains(&"BD008"), "{:?}", events.findings);
        let (in_sitemap, _, in_llms) = listed(&site, "steps.html");
        assert!(in_sitemap && in_llms);
    }
    let (_, lines) = site.newest("all", "delta").unwrap();
    let line = lines.iter().find(|line| line.contains("steps.html")).unwrap();
    assert!((0..1100).all(|n| line.contains(&format!("{n}: "))), "no text is lost");
    // The same for a cached page.
    let stopped = site.build_with(stop).err();
    assert!(matches!(stopped, Some(BuildError::Oversize(1))), "{stopped:?}");
}

#[test] // ARC-026 D57
fn partner_pages_are_only_in_the_state() {
    let mut site = Site::of(4);
    let text = "Only members know that the lamp is lit by hand on Fridays.";
    site.put("members/lamp.html", &page("Home", "The lamp", text));
    let noai = page("Home", "The rope", &words(61))
        .replace("<title>", "<meta name=\"robots\" content=\"noai\"><title>");
    site.put("members/rope.html", &noai);
    let restrict = |is_kept: bool| {
        move |plan: &mut rutter_build::BuildPlan| {
            plan.restricted = vec!["/members/".to_owned()];
            plan.arc.private = is_kept;
        }
    };
    let store = site.path("state/private/pages.jsonl");
    site.build_with(restrict(false)).unwrap();
    assert!(!store.exists());
    site.build_with(restrict(true)).unwrap();
    let lines = fs::read_to_string(&store).unwrap();
    let lines: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let urls: Vec<&str> = lines.iter().map(|line| line["url"].as_str().unwrap()).collect();
    let base = BASE;
    assert_eq!(urls, [format!("{base}members/lamp.html"), format!("{base}members/rope.html")]);
    let entry = &lines[0]["entry"];
    assert_eq!((&entry["auth_required"], &entry["ai_indexable"]), (&true.into(), &true.into()));
    assert_eq!(entry["ai_summary"], "About The lamp.");
    assert!(lines[0]["page"]["content"].to_string().contains(text));
    assert_eq!(lines[1]["entry"]["ai_indexable"], false);
    // The public entry has only the URL, and the server list restricts the page.
    for (name, bytes) in site.files().iter().filter(|(name, _)| !name.starts_with("members/")) {
        let text = String::from_utf8_lossy(bytes);
        assert!(!text.contains("lit by hand") && !text.contains("About The lamp"), "{name}");
    }
    let served = fs::read_to_string(site.path("state/served.json")).unwrap();
    let served: serde_json::Value = serde_json::from_str(&served).unwrap();
    let lamp = served["files"].as_array().unwrap().iter();
    let lamp: Vec<_> = lamp.filter(|file| file["path"] == "members/lamp.html").collect();
    assert_eq!(lamp.len(), 1);
    assert_eq!(lamp[0]["access"], "token");
    assert_eq!(
        lamp[0]["digest"],
        rutter_page::Digest::of(&site.files()["members/lamp.html"]).to_string()
    );
    let head = ["version", "output", "update", "closed"].map(|key| served[key].clone());
    assert_eq!(
        serde_json::Value::from(head.to_vec()),
        serde_json::json!([3, "../out", 604_800, ["members/"]])
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&store).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert!(site.build_with(restrict(true)).unwrap().0.is_unchanged());
    // The file is written again when it is lost or changed.
    let served = site.path("state/served.json");
    let before = fs::read(&served).unwrap();
    fs::remove_file(&served).unwrap();
    site.build_with(restrict(true)).unwrap();
    assert_eq!(fs::read(&served).unwrap(), before);
    site.put("pictures/map.txt", "A map.");
    site.build_with(|plan| {
        restrict(true)(plan);
        plan.restricted.push("/pictures/".to_owned());
    })
    .unwrap();
    assert!(fs::read_to_string(&served).unwrap().contains("\"members/\",\"pictures/\""));
    site.build_with(restrict(false)).unwrap();
    assert!(!store.exists());
}

/// A login form in the header, as on every page of many sites.
const LOGIN_BOX: &str = "<header><form><input type=\"password\"></form></header>";

#[test] // D85
fn login_form_in_the_header_excludes_no_page() {
    let mut site = Site::of(3);
    for n in 0..4 {
        let short = page("Home", "Short", "Open from nine to five.");
        site.put(
            &format!("short{n}.html"),
            &short.replace("<main>", &format!("{LOGIN_BOX}<main>")),
        );
    }
    site.put("code.html", &page("Home", "Forms", "Use <code>&lt;input type=\"password\"></code>."));
    site.put("login.html", "<html lang=en><title>Sign in</title><body><h1>Sign in</h1><form><input type=\"password\"></form></body></html>");
    let (outcome, events) = site.build_with(|_| {}).unwrap();
    let login = (
        "login.html".to_owned(),
        "asks for a password",
        "the main content is a password form".to_owned(),
    );
    assert_eq!(events.excluded, [login]);
    assert_eq!(outcome.password_pages, ["login.html"]);
    // The site owner publishes it with a meta element or a setting.
    let (outcome, events) =
        site.build_with(|plan| plan.arc.approved = vec!["/login".into()]).unwrap();
    assert_eq!((events.excluded.len(), outcome.password_pages.len()), (0, 0));
    site.put("login.html", "<html lang=en data-ai-auth-required=false><title>Sign in</title><body><h1>Sign in</h1><form><input type=\"password\"></form></body></html>");
    let (_, events) = site.build_with(|_| {}).unwrap();
    assert_eq!(events.excluded, []);
}

#[test] // D85
fn time_in_the_text_excludes_no_page() {
    let mut site = Site::of(3);
    let event =
        "The regatta starts on <time datetime=\"2031-06-01\">1 June 2031</time> at the pier.";
    site.put("event.html", &page("Home", "Regatta", event));
    let meta = "<meta property=\"article:published_time\" content=\"2030-01-01T00:00:00Z\"></head>";
    site.put("later.html", &page("Home", "Later", &words(50)).replace("</head>", meta));
    let (_, events) = site.build_with(|_| {}).unwrap();
    let by = "meta article:published_time 2030-01-01T00:00:00Z".to_owned();
    assert_eq!(events.excluded, [("later.html".to_owned(), "published later", by)]);
    // The same for a cached page.
    site.put("other.html", &page("Home", "Other", &words(60)));
    let (_, again) = site.build_with(|_| {}).unwrap();
    assert_eq!(again.excluded, events.excluded);
}

#[test] // D57
fn restricted_prefixes_match_decoded_and_in_any_case() {
    let mut site = Site::of(3);
    for path in ["Members/a.html", "caf\u{e9}/b.html", "open/c.html"] {
        site.put(path, &page("Home", path, &words(40)));
    }
    for written in ["/members/", "/MEMBERS/", "/Caf%c3%a9/", "/CAF\u{c9}/"] {
        let (_, events) = site.build_with(|plan| plan.restricted = vec![written.into()]).unwrap();
        assert_eq!(events.excluded.len(), 1, "{written}: {:?}", events.excluded);
        assert_eq!(events.excluded[0].2, "setting `restricted`");
    }
    let missing = site.build_with(|plan| plan.restricted = vec!["/memmbers/".into()]);
    match missing {
        Err(BuildError::UnusedRestriction(written)) => assert_eq!(written, "/memmbers/"),
        other => panic!("{:?}", other.map(|(outcome, _)| outcome)),
    }
}

#[test] // SCP-172 D94
fn strict_mode_counts_links_cards_and_accounts() {
    let mut site = Site::of(3);
    site.put(
        "links.html",
        &page("Home", "Links", "Write to <a href=\"mailto:ada@harbour.org\">Ada</a>."),
    );
    site.put("card.html", &page("Home", "Card", "Pay with 4539 1488 0343 6467."));
    let (_, events) = site.build_with(|_| {}).unwrap();
    assert!(!events.codes("links.html").contains(&"BD006"));
    assert!(events.codes("card.html").contains(&"BD006"));
    let strict = site.build_with(|plan| plan.privacy.strict = true);
    assert!(matches!(strict, Err(BuildError::PrivateData(2))));
}

#[test] // D57
fn restricted_folder_covers_its_index_page_without_a_slash() {
    for (file, address) in [("members/index.html", "members"), ("members.html", "members")] {
        let mut site = Site::of(4);
        site.put(file, &page("Home", "Members", &words(40)));
        site.put("members2.html", &page("Home", "Open", &words(41)));
        let urls = ["", address, "members2", "docs/0000", "docs/0002", "blog/0001", "blog/0003"];
        let urls = urls.map(|path| format!("<url><loc>{BASE}{path}</loc></url>")).concat();
        let head = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">";
        site.put("sitemap.xml", &format!("{head}{urls}</urlset>"));
        site.build_with(|plan| plan.restricted = vec!["/members/".into()]).unwrap();
        assert_eq!(site.row(address)[1], "bare", "{file}");
        assert_eq!(site.row("members2")[1], "public");
        assert!(!site.files().contains_key(&file.replace(".html", ".md")), "{file}");
    }
}

#[test] // D57
fn restricted_folder_covers_the_page_beside_it() {
    let mut site = Site::of(4);
    site.put("members.html", &page("Home", "Members", &words(40)));
    site.build_with(|plan| plan.restricted = vec!["/members/".into()]).unwrap();
    assert_eq!(site.row("members.html")[1], "bare");
}

#[test]
fn expired_page_is_excluded_with_its_date_as_source() {
    let mut site = Site::of(3);
    let expired = "<meta name=\"robots\" content=\"unavailable_after: 2020-01-01\"></head>";
    site.put("old.html", &page("Home", "Old", &words(40)).replace("</head>", expired));
    let (_, events) = site.build_with(|_| {}).unwrap();
    let source = &events.excluded[0].2;
    assert!(source.starts_with("unavailable_after 2020-01-01T"), "{source}");
}
