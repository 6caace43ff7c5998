//! Every key in every place, and who wins.

use std::ffi::OsString;
use std::fs;

use clap::{Args, Command, FromArgMatches};

use super::*;

/// A value the key takes, as a file writes it and as a variable or flag does.
fn sample(key: &Key) -> (String, String) {
    let text = match key.shape {
        Shape::Text | Shape::Path => "something".to_owned(),
        Shape::Url => "https://harbour.example/docs".to_owned(),
        Shape::Language => "pt-BR".to_owned(),
        Shape::Switch => return ("true".to_owned(), "true".to_owned()),
        Shape::Number => return ("2.5".to_owned(), "2.5".to_owned()),
        Shape::Rate => "30/min".to_owned(),
        Shape::Count | Shape::Whole | Shape::Days => return ("3".to_owned(), "3".to_owned()),
        Shape::Choice(names) => names().last().unwrap().to_string(),
        Shape::Texts => return (r#"["/some/**"]"#.to_owned(), "/some/**".to_owned()),
        Shape::Tables(form) => {
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

/// What was written, without who wrote it.
fn values(written: &Written) -> String {
    let shown = format!("{written:?}");
    let parts: Vec<&str> = shown.split(", by: ").collect();
    let cut =
        |part: &&str| part.split_once("\") }").map_or((*part).to_owned(), |it| it.1.to_owned());
    parts.iter().map(cut).collect()
}

fn fault(text: &str) -> (String, Option<String>) {
    let fault = of_file(FILE, text).unwrap_err();
    (fault.to_string(), fault.hint)
}

#[test]
fn ours_every_key_is_taken_from_file_environment_and_flags() {
    for key in KEYS.iter().filter(|key| !key.is_of_file()) {
        let by_file = of_file(FILE, &file_with(key)).unwrap();
        let by_variable = of_environment(&variable_with(key)).unwrap();
        let by_flag = of_flags(&flag_with(key)).unwrap();
        assert_ne!(values(&by_file), values(&Written::default()), "{}", key.name);
        assert_eq!(values(&by_file), values(&by_variable), "{}", key.name);
        assert_eq!(values(&by_file), values(&by_flag), "{}", key.name);
    }
}

#[test]
fn ours_flag_then_variable_then_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(FILE);
    for key in KEYS.iter().filter(|key| !key.is_of_file()) {
        fs::write(&file, file_with(key)).unwrap();
        let variable = variable_with(key);
        let file = Some(file.as_path());
        let by = |config: Config| format!("{:?}", config.written);
        let all = by(load(&flag_with(key), file, &variable).unwrap());
        assert!(all.contains("by: Flag(") && !all.contains("by: Variable("), "{all}");
        let two = by(load(&Flags::default(), file, &variable).unwrap());
        assert!(two.contains("by: Variable(") && !two.contains("by: File("), "{two}");
        let one = by(load(&Flags::default(), file, &nothing).unwrap());
        assert!(one.contains("by: File("), "{one}");
    }
}

#[test]
fn ours_names_are_told_apart() {
    for key in KEYS {
        assert_eq!(KEYS.iter().filter(|other| other.flag == key.flag).count(), 1, "{}", key.flag);
    }
    let strict = KEYS.iter().find(|key| key.table == "privacy" && key.name == "strict").unwrap();
    assert_eq!(strict.variable(), "RUTTER_PRIVACY_STRICT");
    assert_eq!(KEYS[1].variable(), "RUTTER_BASE_URL");
}

#[test]
fn ours_an_unknown_key_names_its_line_and_the_key_that_was_meant() {
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
        ("gzip = true", "1:1: unknown key `gzip`", "`gzip` stands in [layers]"),
        (
            "[privacy]\nexclude = []",
            "2:1: unknown key `exclude` in [privacy]",
            "`exclude` stands at the top, before the first table",
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
            "`access` stands in [policy]",
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
fn ours_a_value_of_another_kind_names_what_is_wanted() {
    for (text, what) in [
        ("base-url = 3", "1:12: base-url: wanted URL"),
        (
            "base-url = \"harbour.example\"",
            "1:12: base-url: `harbour.example` is not an absolute http or https URL",
        ),
        ("threads = 0", "1:11: threads: wanted whole number of 1 or more"),
        ("git-dates = \"yes\"", "1:13: git-dates: wanted true or false"),
        ("exclude = [\"a\",\n 3]", "2:2: exclude: wanted text"),
        ("exclude = \"a\"", "1:11: exclude: wanted list of texts"),
        (
            "language = \"no language\"",
            "1:12: language: wanted language tag, for instance en or pt-BR",
        ),
        ("layers = 3", "1:1: layers: wanted a table, [layers]"),
        ("[layers]\ntwins = \"maybe\"", "2:9: twins: wanted `auto`, `on` or `off`"),
        ("[layers]\ncrawl-delay = -1", "2:15: crawl-delay: wanted number of 0 or more"),
        ("[layers]\ncrawl-delay = inf", "2:15: crawl-delay: wanted number of 0 or more"),
        (
            "[[sections]]\nname = \"a b\"\nprefix = \"/\"",
            "1:1: sections: section `a b`: wanted letters, digits, hyphen and underscore",
        ),
        (
            "[arc]\ncrawl-rate = \"fast\"",
            "2:14: crawl-rate: wanted a number per s, m, h or d, as in 1/s",
        ),
        ("[arc]\ndays = 367", "2:8: days: wanted whole number from 1 to 366"),
        ("[arc]\nchecksum = \"md5\"", "2:12: checksum: wanted `content` or `html`"),
        (
            "[arc]\npriorities = [{ prefix = \"/a/\",\n priority = 1.5 }]",
            "3:13: priorities: priority: wanted number from 0 to 1",
        ),
        (
            "[arc]\npriorities = [{ prefix = \"a\", priority = 1 }]",
            "2:15: priorities: `a`: a prefix begins with a slash, as in /docs/",
        ),
        ("[policy]\nretention-days = -1", "2:18: retention-days: wanted whole number of 0 or more"),
        ("[policy]\naccess = \"some\"", "2:10: access: wanted `allow` or `deny`"),
        (
            "[policy]\nendpoints = [{ auth = \"bearer\" }]",
            "2:14: endpoints: an endpoint has a `url`",
        ),
        (
            "[policy]\nendpoints = [{ url = \"/api\" }]",
            "2:14: endpoints: `/api` is not an absolute http or https URL",
        ),
        (
            "[[policy.endpoints]]\nurl = \"https://a.example/\"\nrate = \"often\"",
            "1:1: endpoints: wanted a number per s, m, h or d, as in 1/s",
        ),
        (
            "[[policy.consumers]]\nname = \"a\"\npurposes = \"search\"",
            "3:12: consumers: purposes: wanted list of texts",
        ),
        ("[[sections]]\nname = \"a\"", "1:1: sections: a section has a `name` and a `prefix`"),
    ] {
        assert_eq!(fault(text), (format!("{FILE}:{what}"), None));
    }
    let (what, _) = fault("site = \"a\"\nexclude = [");
    assert!(what.starts_with("rutter.toml:2:"), "{what}");
    let (what, _) = fault("site = \"a\"\nsite = \"b\"");
    assert!(what.starts_with("rutter.toml:2:1: "), "{what}");
    let wrong = |name: &str| (name == "RUTTER_THREADS").then(|| "many".into());
    let what = of_environment(&wrong).unwrap_err().to_string();
    assert_eq!(what, "RUTTER_THREADS: wanted whole number of 1 or more");
    let what = of_flags(&flags(&["--sections", "docs"]).unwrap()).unwrap_err().to_string();
    assert_eq!(what, "--sections: wanted NAME=PREFIX, as in docs=/docs/");
    for (typed, wanted) in [
        (["--arc-priorities", "/docs/"], "wanted PREFIX=NUMBER, as in /docs/=0.8"),
        (["--arc-priorities", "/docs/=2"], "wanted number from 0 to 1"),
        (["--policy-consumers", "a;agent=b"], "unknown key `agent` of a consumer"),
        (["--policy-endpoints", "https://a.example/;bearer"], "wanted URL;auth=TEXT;rate=RATE"),
    ] {
        let what = of_flags(&flags(&typed).unwrap()).unwrap_err().to_string();
        assert_eq!(what, format!("{}: {wanted}", typed[0]));
    }
    assert!(flags(&["--twins", "maybe"]).is_err());
}

#[test]
fn ours_switches_lists_and_empty_variables() {
    let written = of_flags(&flags(&["--inject", "site", "--llms=false"]).unwrap()).unwrap();
    assert!(written.inject.unwrap().value);
    assert!(!written.llms.unwrap().value);
    assert_eq!(written.site.unwrap().value, PathBuf::from("site"));
    let two = flags(&["--exclude", "a,b", "--exclude", "c"]).unwrap();
    assert_eq!(of_flags(&two).unwrap().exclude.unwrap().value, ["a,b", "c"]);
    let variable = |name: &str| match name {
        "RUTTER_EXCLUDE" => Some("a, b".into()),
        "RUTTER_NAME" => Some(OsString::new()),
        _ => None,
    };
    let written = of_environment(&variable).unwrap();
    assert_eq!(written.exclude.unwrap().value, ["a", "b"]);
    assert!(written.name.is_none());
}

#[test]
fn ours_variables_that_are_no_settings_are_spoken_of() {
    let names = ["RUTTER_BASEURL", "PATH", "RUTTER_URL", "RUTTER_OUT", "RUTTER_COLOUR"];
    assert_eq!(
        misspelt(names.into_iter().map(OsString::from)),
        [
            "RUTTER_BASEURL is not a setting and is ignored; did you mean RUTTER_BASE_URL?",
            "RUTTER_COLOUR is not a setting and is ignored",
        ]
    );
    let all = KEYS.iter().filter(|key| !key.is_of_file());
    let all = all.map(|key| OsString::from(key.variable()));
    assert_eq!(misspelt(all), Vec::<String>::new());
}

#[test]
fn ours_the_file_is_found_as_far_as_the_repository_reaches() {
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
fn ours_the_written_file_loads_also_without_its_remarks() {
    let text = document::commented("docs \"new\"/public", Some("https://harbour.example/"));
    let written = of_file(FILE, &text).unwrap();
    assert_eq!(written.site.unwrap().value, PathBuf::from("docs \"new\"/public"));
    assert_eq!(written.base_url.unwrap().value.as_str(), "https://harbour.example/");
    let bare: Vec<&str> = text
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(rest) if rest.contains(" = ") || rest.starts_with("[[") => rest,
            _ => line,
        })
        .collect();
    let entity = "[[entities]]\npage = \"/\"\ntype = \"Place\"\nname = \"Selk\"\n\
        negative-tags = [\"NOT a river\"]\nmarkers = [\"one\", \"two\"]\n";
    let mut written = of_file(FILE, &format!("{}\n{entity}", bare.join("\n"))).unwrap();
    assert_eq!(written.entities.take().unwrap().value.len(), 1);
    written.entities = Some(Given { value: Vec::new(), by: By::File(String::new()) });
    assert!(!format!("{written:?}").contains("None"), "{written:?}");
}

#[test]
fn ours_the_schema_knows_every_key() {
    let schema: serde_json::Value = serde_json::from_str(&document::schema()).unwrap();
    for key in KEYS {
        let place = match key.table {
            "" => &schema["properties"],
            table => &schema["properties"][table]["properties"],
        };
        assert!(place[key.name]["description"].is_string(), "{}", key.name);
    }
    assert_eq!(schema["properties"]["layers"]["additionalProperties"], false);
}
