//! Tests of build plans for settings.

use std::fs;

use rutter_arc::policy::{AccessDefault, ApprovedConsumer, PartnerEndpoint};
use rutter_build::{
    ChecksumScope, EntityDeclaration, HostKind, OversizePolicy, SpxiSettings, SurfaceRule,
    TwinPolicy,
};
use rutter_extract::{LinkBlocks, PathExtractSettings};
use rutter_scp::advert::UpdateFrequency;
use rutter_spxi::{Entity, Kernel, Party, SemanticIndex, VerificationLevel};

use super::*;
use crate::config::key::keys;
use crate::config::tests::from_file;

/// Creates a folder with a site in `public` that does not state its base URL.
fn stage() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("public")).unwrap();
    fs::write(folder.path().join("public/index.html"), "<title>Selk</title><p>Hello</p>").unwrap();
    folder
}

fn settled(folder: &Path, text: &str) -> anyhow::Result<PlannedBuild> {
    let config = Config { settings: from_file(FILE, text)?, file: Some(folder.join(FILE)) };
    make_plan(config, &BuildOptions::default(), Timestamp::from_unix_seconds(0).unwrap())
}

fn error(folder: &Path, text: &str) -> String {
    settled(folder, text).unwrap_err().to_string().replace(&folder.display().to_string(), "~")
}

const SITE: &str = "site = \"public\"\nbase-url = \"https://harbour.example\"\n";

#[test]
fn default_settings_give_default_plan() {
    let folder = stage();
    let root = folder.path();
    let PlannedBuild { plan, remarks, .. } = settled(root, SITE).unwrap();
    let site = root.join("public");
    let usual = BuildPlan::new(site, root.join(".rutter"), plan.base.clone(), plan.now);
    let usual = BuildPlan { kept_out: vec![root.join("entities"), root.join("drown")], ..usual };
    assert_eq!(format!("{plan:?}"), format!("{usual:?}"));
    assert!(remarks.is_empty());
}

#[test]
fn documented_defaults_match_the_plan() {
    let folder = stage();
    fs::create_dir(folder.path().join("entities")).unwrap();
    fs::write(folder.path().join("entities/museum.toml"), MUSEUM).unwrap();
    let text = format!("{SITE}[spxi]\nkernel = \"A harbour.\"\n");
    let plan = settled(folder.path(), &text).unwrap().plan;
    let mut shown = format!("{plan:?}");
    for (debug, settings) in [
        ("Weekly", "weekly"),
        ("Auto", "auto"),
        ("privacy: PrivacySettings { strict", "privacy_strict"),
        ("robots_line", "arc_robots_line"),
        ("checksum: Content", "arc_checksum: content"),
        ("unlisted", "arc_unlisted"),
        ("lists_restricted", "arc_list_restricted"),
        ("approved: ", "arc_approved: "),
        ("days: ", "arc_days: "),
        ("private: ", "arc_private: "),
        ("packets: ", "spxi_packets: "),
        ("robots_group: ", "spxi_robots_group: "),
        ("agents: ", "spxi_agents: "),
    ] {
        shown = shown.replace(debug, settings);
    }
    let exact = ["update", "twins", "exclude", "restricted"];
    for key in keys().filter(|key| !key.default.is_empty()) {
        let field = key.flag.replace('-', "_");
        let is_exact = exact.contains(&key.flag) || key.table == "arc";
        if is_exact || key.shape().name() == "true or false" {
            assert!(shown.contains(&format!("{field}: {}", key.default)), "{field}");
        }
    }
}

/// All keys except `site` and `base-url`, with values other than the defaults.
const EVERYTHING: &str = r##"
source = "markdown"
out = "whole"
state = "memory"
name = "Selk"
summary = "A harbour"
language = "en"
exclude = ["drafts/"]
restricted = ["/members/"]
oversize = "stop"
update = "daily"
git-dates = true
git-sources = ["texts/{path}.md"]
trust-mtime = true
purge = true
allow-mass-delete = true
replace = ["robots.txt"]
threads = 3
[[sections]]
name = "docs"
prefix = "/docs/"
[extract]
main = "main"
keep = ["aside", ".terms"]
drop = ".promo"
links = "off"
[[extract.path]]
match = "/docs/**"
main = "#text"
drop = ["#toc"]
[layers]
sitemap = false
collections = false
separate-sitemap = true
schema-location = true
gzip = false
all = false
chain = false
robots = false
crawl-delay = 2
llms = false
llms-full = true
llms-full-bytes = 1000
arc = false
spxi = true
twins = "off"
inject = true
headers = "nginx"
[arc]
robots-line = false
checksum = "html"
crawl-rate = "1/s"
contact = "office@harbour.example"
unlisted = ["/internal/"]
list-restricted = true
approved = ["/join/"]
priorities = [{ prefix = "/docs/", priority = 0.8 }, { prefix = "/", priority = 1 }]
private = true
days = 7
[[entities]]
page = "/#town"
type = "City"
name = "Selk"
negative-tags = ["NOT the river"]
markers = ["one phrase", "another phrase"]
[spxi]
kernel = "Selk is a harbour."
kernel-doi = "10.5555/1234"
protocol-doi = "10.5555/5678"
publisher = "Harbour Office"
publisher-url = "https://harbour.example/"
author = "Ada Marsk"
author-id = "https://orcid.org/0000-0002-1825-0097"
license = "https://creativecommons.org/licenses/by/4.0/"
entities = "things"
packets = false
robots-group = false
agents = ["ClaudeBot"]
[[spxi.surfaces]]
path = "/docs/*"
type = "documentation"
function = "definition"
protects = ["Selk", "Museum"]
[policy]
retention-days = 90
delete-on-removal = true
retention-notes = "Copies follow the site."
access = "deny"
access-rate = "30/min"
[[policy.endpoints]]
url = "https://harbour.example/api/pages"
auth = "bearer"
rate = "10/m"
[[policy.consumers]]
name = "Selk Search"
user-agent = "SelkBot"
purposes = ["search", "answers"]
access = "full"
[privacy]
strict = true
no-authors = true
acknowledged = "seen.txt"
"##;

const MUSEUM: &str = r#"
page = "/museum/"
type = "Museum"
name = "Museum"
negative-tags = ["NOT the river"]
markers = ["one phrase", "another phrase"]
"#;

/// The plan for [`EVERYTHING`].
fn everything(root: &Path, now: Timestamp) -> BuildPlan {
    BuildPlan {
        site: root.join("public"),
        source: SourceKind::Markdown,
        out: Some(root.join("whole")),
        state: root.join("memory"),
        previous: Some("old".into()),
        generator: None,
        base: BaseUrl::parse("https://harbour.example/").unwrap(),
        now,
        name: Some("Selk".to_owned()),
        summary: Some("A harbour".to_owned()),
        language: rutter_page::LanguageTag::parse("en"),
        kept_out: vec![root.join("things"), root.join("drown")],
        exclude: vec![Glob::new("drafts/")],
        restricted: vec!["/members/".to_owned()],
        sections: vec![SectionRule { name: "docs".to_owned(), prefix: "/docs/".to_owned() }],
        oversize: OversizePolicy::Stop,
        update: UpdateFrequency::Daily,
        layers: Layers {
            sitemap: false,
            collections: false,
            separate_sitemap: true,
            schema_location: true,
            gzip: false,
            all: false,
            chain: false,
            robots: false,
            crawl_delay: Some(2.0),
            llms: false,
            llms_full: true,
            llms_full_bytes: 1000,
            arc: false,
            spxi: true,
            twins: TwinPolicy::Off,
            inject: true,
            headers: Some(HostKind::Nginx),
        },
        arc: everything_of_arc(),
        spxi: Some(everything_of_spxi()),
        privacy: PrivacySettings {
            strict: true,
            no_authors: true,
            acknowledged: vec!["HT001 /a#b".to_owned(), "key in /c".to_owned()],
        },
        extract: SiteExtractSettings {
            all: control(&["main"], &["aside", ".terms"], &[".promo"]),
            paths: vec![PathExtractSettings::new("/docs/**", control(&["#text"], &[], &["#toc"]))],
            links: LinkBlocks::Lone,
        },
        git_dates: true,
        git_root: Some(root.to_owned()),
        git_sources: vec!["texts/{path}.md".to_owned()],
        reread: true,
        trust_mtime: true,
        redate: true,
        purge: true,
        allow_mass_delete: true,
        force: true,
        replace: vec!["robots.txt".to_owned()],
        changed_list: Some("list".into()),
        threads: 3,
    }
}

fn control(main: &[&str], keep: &[&str], drop: &[&str]) -> OwnerSelectors {
    let [main, keep, drop] =
        [main, keep, drop].map(|texts| texts.iter().map(|text| text.parse().unwrap()).collect());
    OwnerSelectors { main, keep, drop }
}

fn everything_of_spxi() -> SpxiSettings {
    let text = |text: &str| Some(text.to_owned());
    let entity = |id: &str, name: &str| EntityDeclaration {
        entity: Entity {
            id: text(id),
            entity_type: text(if name == "Selk" { "City" } else { "Museum" }),
            name: text(name),
            negative_tags: vec!["NOT the river".to_owned()],
            markers: vec!["one phrase".to_owned(), "another phrase".to_owned()],
            verification: Some(VerificationLevel::SelfAttested),
            ..Entity::default()
        },
        has_packet: true,
        ..EntityDeclaration::default()
    };
    let party =
        |kind: &str, name: &str| Party { kind: text(kind), name: text(name), ..Party::default() };
    let publisher = party("Organization", "Harbour Office");
    let author = party("Person", "Ada Marsk");
    SpxiSettings {
        index: SemanticIndex {
            protocol_doi: text("10.5555/5678"),
            publisher: Some(Party { url: text("https://harbour.example/"), ..publisher }),
            author: Some(Party {
                identifier: text("https://orcid.org/0000-0002-1825-0097"),
                ..author
            }),
            license: text("https://creativecommons.org/licenses/by/4.0/"),
            kernel: Some(Kernel {
                summary: text("Selk is a harbour."),
                specification: text("10.5555/1234"),
            }),
            ..SemanticIndex::default()
        },
        // Entities of rutter.toml precede those of files.
        entities: vec![
            entity("https://harbour.example/#town", "Selk"),
            entity("https://harbour.example/museum/", "Museum"),
        ],
        surfaces: vec![SurfaceRule {
            path: "/docs/*".to_owned(),
            surface_type: text("documentation"),
            function: text("definition"),
            protects: vec!["Selk".to_owned(), "Museum".to_owned()],
        }],
        packets: false,
        robots_group: false,
        agents: vec!["ClaudeBot".to_owned()],
    }
}

fn everything_of_arc() -> ArcSettings {
    let endpoint = PartnerEndpoint {
        url: "https://harbour.example/api/pages".to_owned(),
        auth: Some("bearer".to_owned()),
        rate: Some("10/m".to_owned()),
    };
    let consumer = ApprovedConsumer {
        name: "Selk Search".to_owned(),
        user_agent: Some("SelkBot".to_owned()),
        purposes: vec!["search".to_owned(), "answers".to_owned()],
        access: Some("full".to_owned()),
    };
    ArcSettings {
        robots_line: false,
        checksum: ChecksumScope::Html,
        crawl_rate: Some("1/s".to_owned()),
        contact: Some("office@harbour.example".to_owned()),
        unlisted: vec!["/internal/".to_owned()],
        lists_restricted: true,
        approved: vec!["/join/".to_owned()],
        priorities: vec![("/docs/".to_owned(), 0.8), ("/".to_owned(), 1.0)],
        private: true,
        days: 7,
        policy: ArcPolicy {
            retention: Some(RetentionRules {
                max_days: Some(90),
                delete_on_removal: Some(true),
                notes: Some("Copies follow the site.".to_owned()),
            }),
            access: Some(AccessRules {
                default: Some(AccessDefault::Deny),
                endpoints: vec![endpoint],
                rate: Some("30/min".to_owned()),
            }),
            approved_consumers: Some(vec![consumer]),
            ..ArcPolicy::default()
        },
    }
}

#[test]
fn all_settings_are_in_the_plan() {
    let folder = stage();
    let root = folder.path();
    let seen = "# looked at\n\nHT001 /a#b\n  key in /c  \n";
    fs::write(root.join("seen.txt"), seen).unwrap();
    fs::create_dir(root.join("things")).unwrap();
    fs::write(root.join("things/museum.toml"), MUSEUM).unwrap();
    fs::write(root.join("things/read.me"), "not an entity").unwrap();
    let text = format!("{SITE}{EVERYTHING}");
    let config = Config { settings: from_file(FILE, &text).unwrap(), file: Some(root.join(FILE)) };
    let asked = BuildOptions {
        previous: Some("old".into()),
        changed_list: Some("list".into()),
        force: true,
        redate: true,
        reread: true,
    };
    let now = Timestamp::from_unix_seconds(7).unwrap();
    let plan = make_plan(config, &asked, now).unwrap().plan;
    let wanted = everything(root, now);
    assert_eq!(format!("{plan:?}"), format!("{wanted:?}"));
}

#[test] // SPX-016, SPX-017, SPX-032
fn index_requires_a_kernel_and_an_entity_of_this_site() {
    let folder = stage();
    let root = folder.path();
    fs::create_dir(root.join("entities")).unwrap();
    let file = root.join("entities/museum.toml");
    let kernel = "[spxi]\nkernel = \"A harbour.\"\n";
    let long = format!("[spxi]\nkernel = \"{}\"\n", "word ".repeat(101));
    let surface = "[[spxi.surfaces]]\npath = \"/\"\nprotects = [\"Mseum\"]\n";
    let other = MUSEUM.replace("/museum/", "https://elsewhere.example/museum/");
    // If the SPXI layer is off, entity files are not read.
    fs::write(&file, "broken").unwrap();
    let off = format!("{SITE}[layers]\nspxi = false\n");
    assert!(settled(root, &off).unwrap().plan.spxi.is_none());
    // A draft is skipped with a message.
    fs::write(&file, MUSEUM.replace("[\"NOT the river\"]", "[]")).unwrap();
    let draft = settled(root, SITE).unwrap();
    assert!(draft.plan.spxi.is_none());
    let remark = &draft.remarks[0];
    assert!(remark.starts_with("skipping draft ") && remark.ends_with("; empty: negative-tags"));
    for (settings, entity, wanted) in [
        ("", MUSEUM, "~/entities/museum.toml: an entity is declared, but `kernel` is missing"),
        (kernel, "", "rutter.toml:4:1: `kernel` is set, but no entity is declared"),
        (&long, MUSEUM, "rutter.toml:4:1: kernel: has 101 words, at most 100 are allowed"),
        (
            &format!("{kernel}{surface}"),
            MUSEUM,
            "rutter.toml:5:8: surfaces: no entity has the name `Mseum`",
        ),
        (
            kernel,
            &other,
            "~/entities/museum.toml: entity `Museum`: page https://elsewhere.example/museum/ is not below https://harbour.example/",
        ),
        (
            &format!("{kernel}entities = \"nowhere\"\n"),
            MUSEUM,
            "rutter.toml:5:1: entities: folder ~/nowhere does not exist",
        ),
    ] {
        match entity {
            "" => drop(fs::remove_file(&file)),
            entity => fs::write(&file, entity).unwrap(),
        }
        assert_eq!(error(root, &format!("{SITE}{settings}")), wanted);
    }
    fs::write(&file, MUSEUM).unwrap();
    fs::write(root.join("entities/twin.toml"), MUSEUM).unwrap();
    let failed = error(root, &format!("{SITE}{kernel}"));
    assert!(
        failed.contains("museum.toml and ~/entities/twin.toml: entities `Museum` and"),
        "{failed}"
    );
}

#[test] // D57
fn rejects_private_state_inside_the_published_folder() {
    let folder = stage();
    let text = format!("{SITE}state = \"public/.rutter\"\n[arc]\nprivate = true\n");
    let wanted = "rutter.toml:5:1: private: the state folder ~/public/.rutter is inside the \
                  published folder";
    assert_eq!(error(folder.path(), &text), wanted);
}

#[test]
fn base_url_is_read_from_the_site_or_required() {
    let folder = stage();
    let root = folder.path();
    let failed = settled(root, "site = \"public\"").unwrap_err();
    let hint = failed.downcast_ref::<SettingsError>().unwrap().hint.clone().unwrap();
    for way in ["--base-url", "RUTTER_BASE_URL", "`base-url` in rutter.toml"] {
        assert!(hint.contains(way), "{hint}");
    }
    fs::write(root.join("public/CNAME"), "harbour.example\n").unwrap();
    let found = settled(root, "site = \"public\"").unwrap();
    assert_eq!(found.plan.base.as_str(), "https://harbour.example/");
    assert_eq!(found.remarks, ["using base URL https://harbour.example/ from CNAME"]);
}

#[test] // SCP-196
fn warns_about_a_base_url_that_is_not_https_unless_it_is_loopback() {
    let folder = stage();
    let warnings = |base: &str| {
        let text = format!("site = \"public\"\nbase-url = \"{base}\"\n");
        settled(folder.path(), &text).unwrap().warnings
    };
    let wanted = "base URL http://harbour.example/ is not https: readers reject its sitemaps and \
                  collections (SCP-196)";
    assert_eq!(warnings("http://harbour.example"), [wanted]);
    for base in ["https://harbour.example", "http://127.0.0.1:8080", "http://docs.localhost"] {
        assert!(warnings(base).is_empty(), "{base}");
    }
}

#[test]
fn rejects_invalid_combinations() {
    let folder = stage();
    let root = folder.path();
    fs::write(root.join("pages.jsonl"), "").unwrap();
    fs::write(root.join("pages.txt"), "").unwrap();
    let address = "base-url = \"https://harbour.example\"";
    for (text, wanted) in [
        (String::new(), "no site folder is given"),
        ("site = \"dist\"".to_owned(), "~/dist does not exist"),
        ("site = \"pages.txt\"".to_owned(), "~/pages.txt is a file, expected a folder"),
        (
            format!("site = \"pages.jsonl\"\n{address}"),
            "~/pages.jsonl is a file; the layers need an output folder",
        ),
        (format!("{SITE}source = \"lines\""), "~/public is a folder, expected a JSON Lines file"),
        (
            format!("{SITE}out = \"public/out\""),
            "rutter.toml:3:1: the output folder ~/public/out is inside the site",
        ),
        (format!("{SITE}out = \"pages.txt\""), "rutter.toml:3:1: ~/pages.txt is not a folder"),
        (
            format!("{SITE}restricted = [\"members\"]"),
            "rutter.toml:3:1: restricted: `members` does not start with a slash",
        ),
        (
            format!("{SITE}restricted = [\"/members/*\"]"),
            "rutter.toml:3:1: restricted: `/members/*` contains `*`; a prefix includes all paths below it",
        ),
        (
            format!("{SITE}[arc]\nunlisted = [\"/a/\", \"internal\"]"),
            "rutter.toml:4:1: unlisted: `internal` does not start with a slash",
        ),
        (
            format!("{SITE}[arc]\napproved = [\"join/\"]"),
            "rutter.toml:4:1: approved: `join/` does not start with a slash",
        ),
        (
            format!(
                "{SITE}[[sections]]\nname=\"a\"\nprefix=\"/a\"\n[[sections]]\nname=\"b\"\n\
                 prefix=\"/a\""
            ),
            "rutter.toml:3:3: sections `a` and `b` have the same prefix /a",
        ),
        (format!("{SITE}[privacy]\nacknowledged = \"none\""), "rutter.toml:4:1: ~/none"),
    ] {
        assert_eq!(error(root, &text), wanted);
    }
}

#[test]
fn reports_state_inside_the_site_and_accepts_the_site_as_output() {
    let folder = stage();
    let text = format!("{SITE}state = \"public/.rutter\"\nout = \"./public\"");
    let settled = settled(folder.path(), &text).unwrap();
    assert_eq!(settled.plan.out, None);
    assert_eq!(settled.remarks.len(), 1);
    assert!(settled.remarks[0].contains("--state"));
}
