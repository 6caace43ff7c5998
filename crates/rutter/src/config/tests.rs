//! Tests of all keys of the settings in all sources, and of the precedence of the sources.

use std::ffi::OsString;
use std::fs;

use clap::{Args, Command, FromArgMatches};

use rutter_extract::LinkBlocks;

use super::file::upwards;
use super::key::{Key, keys};
use super::value::ValueType;
use super::*;

/// Reads the text of a settings file.
pub(crate) fn from_file(name: &str, text: &str) -> Result<SiteSettings, SettingsError> {
    let mut settings = SiteSettings::default();
    file::read_file(&mut settings, name, text).map(|()| settings)
}

fn from_flags(flags: &Flags) -> Result<SiteSettings, SettingsError> {
    let mut settings = SiteSettings::default();
    flags::read_flags(&mut settings, flags).map(|()| settings)
}

fn from_environment(get: &dyn Fn(&str) -> Option<OsString>) -> Result<SiteSettings, SettingsError> {
    let mut settings = SiteSettings::default();
    environment::read_environment(&mut settings, get).map(|()| settings)
}

/// Returns a valid value of a key, as text for the settings file, and as text for a variable or a
/// flag.
fn sample(key: &Key) -> (String, String) {
    let text = match key.shape() {
        ValueType::Text | ValueType::Path => "something".to_owned(),
        ValueType::TextOrTexts => "main article, .text".to_owned(),
        ValueType::Url => "https://harbour.example/docs".to_owned(),
        ValueType::Language => "pt-BR".to_owned(),
        ValueType::Switch => return ("true".to_owned(), "true".to_owned()),
        ValueType::Number => return ("2.5".to_owned(), "2.5".to_owned()),
        ValueType::Rate => "30/min".to_owned(),
        ValueType::Count | ValueType::Whole | ValueType::Days => {
            return ("3".to_owned(), "3".to_owned());
        }
        ValueType::Choice(names) => names().last().unwrap().to_string(),
        ValueType::Texts => return (r#"["/some/**"]"#.to_owned(), "/some/**".to_owned()),
        ValueType::Tables(form) => {
            let (table, text) = form.example;
            return (format!("[{table}]"), text.to_owned());
        }
    };
    (format!("{text:?}"), text)
}

fn file_with(key: &Key) -> String {
    let table = if key.table.is_empty() { String::new() } else { format!("[{}]\n", key.table) };
    format!("{table}{} = {}\n", key.name, sample(key).0)
}

fn flags(texts: &[&str]) -> Result<Flags, clap::Error> {
    let command = Flags::augment_args(Command::new("build"));
    let texts = ["build"].iter().chain(texts);
    Flags::from_arg_matches(&command.try_get_matches_from(texts)?)
}

fn flag_with(key: &Key) -> Flags {
    let text = sample(key).1;
    let typed = if key.is_positional() { text } else { format!("--{}={text}", key.flag) };
    flags(&[&typed]).unwrap()
}

fn variable_with(key: &Key) -> impl Fn(&str) -> Option<OsString> {
    let (name, text) = (key.variable(), sample(key).1);
    move |asked| (asked == name).then(|| text.clone().into())
}

fn nothing(_: &str) -> Option<OsString> {
    None
}

/// Formats settings without their sources.
fn values(settings: &SiteSettings) -> String {
    let shown = format!("{settings:?}");
    let parts: Vec<&str> = shown.split(", by: ").collect();
    let cut =
        |part: &&str| part.split_once("\") }").map_or((*part).to_owned(), |it| it.1.to_owned());
    parts.iter().map(cut).collect()
}

fn fault(text: &str) -> (String, Option<String>) {
    let fault = from_file(FILE, text).unwrap_err();
    (fault.to_string(), fault.hint)
}

#[test]
fn reads_all_keys_from_file_environment_and_flags() {
    for key in keys().filter(|key| !key.is_of_file()) {
        let by_file = from_file(FILE, &file_with(key)).unwrap();
        let by_variable = from_environment(&variable_with(key)).unwrap();
        let by_flag = from_flags(&flag_with(key)).unwrap();
        assert_ne!(values(&by_file), values(&SiteSettings::default()), "{}", key.name);
        assert_eq!(values(&by_file), values(&by_variable), "{}", key.name);
        assert_eq!(values(&by_file), values(&by_flag), "{}", key.name);
    }
}

#[test]
fn flags_override_variables_and_variables_override_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(FILE);
    for key in keys().filter(|key| !key.is_of_file()) {
        fs::write(&file, file_with(key)).unwrap();
        let variable = variable_with(key);
        let file = Some(file.as_path());
        let by = |config: Config| format!("{:?}", config.settings);
        let all = by(load(&flag_with(key), file, &variable).unwrap());
        assert!(all.contains("by: Flag(") && !all.contains("by: Variable("), "{all}");
        let two = by(load(&Flags::default(), file, &variable).unwrap());
        assert!(two.contains("by: Variable(") && !two.contains("by: File("), "{two}");
        let one = by(load(&Flags::default(), file, &nothing).unwrap());
        assert!(one.contains("by: File("), "{one}");
    }
}

#[test]
fn flag_names_are_unique() {
    for key in keys() {
        assert_eq!(keys().filter(|other| other.flag == key.flag).count(), 1, "{}", key.flag);
    }
    let strict = keys().find(|key| key.table == "privacy" && key.name == "strict").unwrap();
    assert_eq!(strict.variable(), "RUTTER_PRIVACY_STRICT");
    assert_eq!(keys().nth(1).unwrap().variable(), "RUTTER_BASE_URL");
}

#[test]
fn unknown_key_is_reported_with_line_and_suggestion() {
    for (text, what, hint) in [
        (
            "site = \"a\"\nbase_url = \"b\"",
            "2:1: unknown key `base_url`",
            "did you mean `base-url`?",
        ),
        (
            "[layers]\n\n  site-map = true",
            "3:3: unknown key `site-map` in [layers]",
            "did you mean `sitemap`?",
        ),
        ("layers.gzipp = true", "1:8: unknown key `gzipp` in [layers]", "did you mean `gzip`?"),
        ("gzip = true", "1:1: unknown key `gzip`", "`gzip` is a key of [layers]"),
        (
            "[privacy]\nexclude = []",
            "2:1: unknown key `exclude` in [privacy]",
            "`exclude` is a key at the top of the file, before the first table",
        ),
        ("[layer]\ngzip = true", "1:2: unknown key `layer`", "did you mean `layers`?"),
        (
            "[[sections]]\nname = \"a\"\npath = \"/a/\"",
            "3:1: sections: unknown key `path` of a section",
            "",
        ),
        (
            "[arc]\ncrawlrate = \"1/s\"",
            "2:1: unknown key `crawlrate` in [arc]",
            "did you mean `crawl-rate`?",
        ),
        (
            "[arc]\naccess = \"deny\"",
            "2:1: unknown key `access` in [arc]",
            "`access` is a key of [policy]",
        ),
        (
            "[[policy.consumers]]\nname = \"a\"\nuser_agent = \"b\"",
            "3:1: consumers: unknown key `user_agent` of a consumer",
            "did you mean `user-agent`?",
        ),
        ("colour = 1\nbase-url = 3", "1:1: unknown key `colour`", ""),
    ] {
        let hint = Some(hint.to_owned()).filter(|hint| !hint.is_empty());
        assert_eq!(fault(text), (format!("{FILE}:{what}"), hint));
    }
}

#[test]
fn value_of_wrong_type_is_reported_with_expected_type() {
    for (text, what) in [
        ("base-url = 3", "1:12: base-url: expected URL"),
        (
            "base-url = \"harbour.example\"",
            "1:12: base-url: `harbour.example` is not an absolute http or https URL",
        ),
        ("threads = 0", "1:11: threads: expected whole number of 1 or more"),
        ("git-dates = \"yes\"", "1:13: git-dates: expected true or false"),
        ("exclude = [\"a\",\n 3]", "2:2: exclude: expected text"),
        ("exclude = \"a\"", "1:11: exclude: expected list of texts"),
        (
            "language = \"no language\"",
            "1:12: language: expected language tag, such as en or pt-BR",
        ),
        ("layers = 3", "1:1: layers: expected a table, [layers]"),
        ("[layers]\ntwins = \"maybe\"", "2:9: twins: expected `auto`, `on` or `off`"),
        ("[layers]\ncrawl-delay = -1", "2:15: crawl-delay: expected number of 0 or more"),
        ("[layers]\ncrawl-delay = inf", "2:15: crawl-delay: expected number of 0 or more"),
        (
            "[[sections]]\nname = \"a b\"\nprefix = \"/\"",
            "1:1: sections: section `a b`: expected letters, digits, hyphens and underscores",
        ),
        (
            "[arc]\ncrawl-rate = \"fast\"",
            "2:14: crawl-rate: expected a number per s, m, h or d, such as 1/s",
        ),
        ("[arc]\ndays = 367", "2:8: days: expected whole number from 1 to 366"),
        ("[arc]\nchecksum = \"md5\"", "2:12: checksum: expected `content` or `html`"),
        (
            "[arc]\npriorities = [{ prefix = \"/a/\",\n priority = 1.5 }]",
            "3:13: priorities: priority: expected number from 0 to 1",
        ),
        (
            "[arc]\npriorities = [{ prefix = \"a\", priority = 1 }]",
            "2:15: priorities: `a`: a prefix must start with a slash, such as /docs/",
        ),
        (
            "[policy]\nretention-days = -1",
            "2:18: retention-days: expected whole number of 0 or more",
        ),
        ("[policy]\naccess = \"some\"", "2:10: access: expected `allow` or `deny`"),
        (
            "[policy]\nendpoints = [{ auth = \"bearer\" }]",
            "2:14: endpoints: an endpoint needs a `url`",
        ),
        (
            "[policy]\nendpoints = [{ url = \"/api\" }]",
            "2:14: endpoints: `/api` is not an absolute http or https URL",
        ),
        (
            "[[policy.endpoints]]\nurl = \"https://a.example/\"\nrate = \"often\"",
            "1:1: endpoints: expected a number per s, m, h or d, such as 1/s",
        ),
        (
            "[[policy.consumers]]\nname = \"a\"\npurposes = \"search\"",
            "3:12: consumers: purposes: expected list of texts",
        ),
        ("[[sections]]\nname = \"a\"", "1:1: sections: a section needs a `name` and a `prefix`"),
    ] {
        assert_eq!(fault(text), (format!("{FILE}:{what}"), None));
    }
    let (what, _) = fault("site = \"a\"\nexclude = [");
    assert!(what.starts_with("rutter.toml:2:"), "{what}");
    let (what, _) = fault("site = \"a\"\nsite = \"b\"");
    assert!(what.starts_with("rutter.toml:2:1: "), "{what}");
    let wrong = |name: &str| (name == "RUTTER_THREADS").then(|| "many".into());
    let what = from_environment(&wrong).unwrap_err().to_string();
    assert_eq!(what, "RUTTER_THREADS: expected whole number of 1 or more");
    let what = from_flags(&flags(&["--sections", "docs"]).unwrap()).unwrap_err().to_string();
    assert_eq!(what, "--sections: expected NAME=PREFIX, such as docs=/docs/");
    for (typed, wanted) in [
        (["--arc-priorities", "/docs/"], "expected PREFIX=NUMBER, such as /docs/=0.8"),
        (["--arc-priorities", "/docs/=2"], "expected number from 0 to 1"),
        (["--policy-consumers", "a;agent=b"], "unknown key `agent` of a consumer"),
        (["--policy-endpoints", "https://a.example/;bearer"], "expected URL;auth=TEXT;rate=RATE"),
    ] {
        let what = from_flags(&flags(&typed).unwrap()).unwrap_err().to_string();
        assert_eq!(what, format!("{}: {wanted}", typed[0]));
    }
    assert!(flags(&["--twins", "maybe"]).is_err());
}

#[test]
fn reads_switches_lists_and_empty_variables() {
    let settings = from_flags(&flags(&["--inject", "site", "--llms=false"]).unwrap()).unwrap();
    assert!(settings.layers.inject.unwrap().value);
    assert!(!settings.layers.llms.unwrap().value);
    assert_eq!(settings.top.site.unwrap().value, PathBuf::from("site"));
    let two = flags(&["--exclude", "a,b", "--exclude", "c"]).unwrap();
    assert_eq!(from_flags(&two).unwrap().top.exclude.unwrap().value, ["a,b", "c"]);
    let variable = |name: &str| match name {
        "RUTTER_EXCLUDE" => Some("a, b".into()),
        "RUTTER_NAME" => Some(OsString::new()),
        _ => None,
    };
    let settings = from_environment(&variable).unwrap();
    assert_eq!(settings.top.exclude.unwrap().value, ["a", "b"]);
    assert!(settings.top.name.is_none());
}

#[test]
fn reports_variables_that_are_not_settings() {
    let names = ["RUTTER_BASEURL", "PATH", "RUTTER_URL", "RUTTER_OUT", "RUTTER_COLOUR"];
    assert_eq!(
        misspelt(names.into_iter().map(OsString::from)),
        [
            "ignoring RUTTER_BASEURL: not a setting; did you mean RUTTER_BASE_URL?",
            "ignoring RUTTER_COLOUR: not a setting",
        ]
    );
    let all = keys().filter(|key| !key.is_of_file());
    let all = all.map(|key| OsString::from(key.variable()));
    assert_eq!(misspelt(all), Vec::<String>::new());
}

#[test]
fn searches_settings_file_up_to_the_root_of_the_repository() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let deep = root.join("repository/docs/public");
    fs::create_dir_all(&deep).unwrap();
    fs::write(root.join(FILE), "").unwrap();
    assert_eq!(upwards(&deep), Some(root.join(FILE)));
    fs::create_dir(root.join("repository/.git")).unwrap();
    assert_eq!(upwards(&deep), None);
    fs::write(root.join("repository").join(FILE), "").unwrap();
    assert_eq!(upwards(&deep), Some(root.join("repository").join(FILE)));
    let found = find(Some(&deep)).unwrap();
    assert_eq!(found, Some(root.canonicalize().unwrap().join("repository").join(FILE)));
}

#[test]
fn commented_file_loads_with_all_comments_removed() {
    let text = document::commented("docs \"new\"/public", Some("https://harbour.example/"));
    let settings = from_file(FILE, &text).unwrap();
    assert_eq!(settings.top.site.unwrap().value, PathBuf::from("docs \"new\"/public"));
    assert_eq!(settings.top.base_url.unwrap().value.as_str(), "https://harbour.example/");
    let bare: Vec<&str> = text
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(rest) if rest.contains(" = ") || rest.starts_with("[[") => rest,
            _ => line,
        })
        .collect();
    let entity = "[[entities]]\npage = \"/\"\ntype = \"Place\"\nname = \"Selk\"\n\
        negative-tags = [\"NOT a river\"]\nmarkers = [\"one\", \"two\"]\n";
    let mut settings = from_file(FILE, &format!("{}\n{entity}", bare.join("\n"))).unwrap();
    assert_eq!(settings.top.entities.take().unwrap().value.len(), 1);
    settings.top.entities =
        Some(Setting { value: Vec::new(), by: SettingSource::File(String::new()) });
    assert!(!format!("{settings:?}").contains("None"), "{settings:?}");
}

#[test]
fn schema_describes_all_keys() {
    let schema: serde_json::Value = serde_json::from_str(&document::schema()).unwrap();
    for key in keys() {
        let place = match key.table {
            "" => &schema["properties"],
            table => &schema["properties"][table]["properties"],
        };
        assert!(place[key.name]["description"].is_string(), "{}", key.name);
    }
    assert_eq!(schema["properties"]["layers"]["additionalProperties"], false);
}

#[test]
fn reads_selectors_for_all_pages_and_by_path() {
    let text = "[extract]\nmain = \"main article\"\ndrop = [\".promo\", \"#ad\"]\nlinks = \"off\"\n\
        [[extract.path]]\nmatch = \"/guides/**\"\nmain = [\".guide\"]\nkeep = \"aside\"\n";
    let settings = from_file(FILE, text).unwrap();
    let control = crate::plan::site_control(&settings);
    assert_eq!(control.links, LinkBlocks::Lone);
    let shown = |path: &str| {
        let control = control.of_path(path);
        let shown = |all: &[rutter_extract::Selector]| {
            all.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | ")
        };
        [shown(&control.main), shown(&control.keep), shown(&control.drop)]
    };
    assert_eq!(shown("blog/a.html"), ["main article", "", ".promo | #ad"]);
    assert_eq!(shown("guides/a.html"), [".guide", "aside", ".promo | #ad"]);
    let nothing = from_file(FILE, "").unwrap();
    assert_eq!(crate::plan::site_control(&nothing), rutter_extract::SiteExtractSettings::default());
}

#[test]
fn invalid_selector_is_reported_with_place_and_syntax() {
    let (what, hint) = fault("[extract]\ndrop = [\".promo\", \"div > p\"]\n");
    assert_eq!(
        what,
        "rutter.toml:2:19: drop: `div > p` is not a selector: cannot read it from `> p` on"
    );
    assert_eq!(
        hint.unwrap(),
        "supported: HTML elements, `.class`, `#id`, `[attribute]` and `[attribute=value]`; a \
         space for descendants, a comma for alternatives"
    );
    let (what, hint) = fault("[[extract.path]]\nmatch = \"/a/**\"\nmain = \"a:hover\"\n");
    assert_eq!(
        what,
        "rutter.toml:3:8: path: `a:hover` is not a selector: cannot read it from `:hover` on"
    );
    assert!(hint.is_some());
    let (what, _) = fault("[[extract.path]]\nmain = \"main\"\n");
    assert_eq!(what, "rutter.toml:1:1: path: a path needs a `match`");
    let (what, _) = fault("[[extract.path]]\nmatch = \"/a/**\"\n");
    assert_eq!(what, "rutter.toml:1:1: path: a path needs `main`, `keep` or `drop`");
    let (what, _) = fault("[extract]\nlinks = \"some\"\n");
    assert_eq!(what, "rutter.toml:2:9: links: expected `on` or `off`");
    let flags = Flags::of([("extract-drop", OsString::from("a >"))].into_iter());
    let what = from_flags(&flags).unwrap_err().to_string();
    assert!(what.starts_with("--extract-drop: `a >` is not a selector"), "{what}");
    assert!(what.contains("; supported: HTML elements"), "{what}");
}
