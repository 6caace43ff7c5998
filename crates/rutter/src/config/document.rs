//! The schema, the table of keys and the commented file, made from the table.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use crate::config::entity;
use crate::config::value::Shape;
use crate::config::{KEYS, Key, tables};

/// A JSON Schema of `rutter.toml`, for editors.
pub(crate) fn schema() -> String {
    let mut top = properties("");
    for table in tables() {
        let inner = json!({
            "type": "object",
            "properties": properties(table),
            "additionalProperties": false,
        });
        top.insert(table.to_owned(), inner);
    }
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "rutter.toml",
        "description": "Settings of rutter build. Written by `cargo xtask docs`.",
        "type": "object",
        "properties": top,
        "additionalProperties": false,
    });
    format!("{schema:#}\n")
}

fn properties(table: &str) -> Map<String, Value> {
    let mut properties = Map::new();
    for key in of(table) {
        let mut schema = key.shape.schema();
        schema["description"] = about(key).into();
        properties.insert(key.name.to_owned(), schema);
    }
    properties
}

fn of(table: &str) -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(move |key| key.table == table)
}

fn about(key: &Key) -> String {
    match key.default {
        "" => key.about.to_owned(),
        default => format!("{} (default: {default})", key.about),
    }
}

/// `docs/config.md`.
pub(crate) fn page() -> String {
    let mut text = String::from(TOP);
    for table in [""].into_iter().chain(tables()) {
        if !table.is_empty() {
            let _ = write!(text, "\n## `[{table}]`\n");
        }
        text.push_str("\n| key | value | default | variable | command line | what it is |\n");
        text.push_str("|---|---|---|---|---|---|\n");
        for key in of(table) {
            let default = match (key.default, key.shape) {
                ("", _) => "none".to_owned(),
                (default, Shape::Switch | Shape::Choice(_) | Shape::Texts)
                    if !default.contains(' ') =>
                {
                    format!("`{default}`")
                }
                (default, _) => default.to_owned(),
            };
            let about = key.about.replace('*', "\\*");
            let (name, shape) = (key.name, key.shape.name());
            let _ = if key.table == "check" {
                let typed = format!("`rutter check --{name}`");
                writeln!(text, "| `{name}` | {shape} | {default} | none | {typed} | {about} |")
            } else if key.is_of_file() {
                let shape = "tables, see below";
                writeln!(text, "| `{name}` | {shape} | {default} | none | none | {about} |")
            } else {
                let (variable, typed) = (key.variable(), key.typed());
                writeln!(
                    text,
                    "| `{name}` | {shape} | {default} | `{variable}` | `{typed}` | {about} |"
                )
            };
        }
    }
    text.push_str(ENTITIES);
    text.push_str(&entity::table());
    text.push_str(EXAMPLE);
    text
}

const ENTITIES: &str = "
## Entities

An entity is a table `[[entities]]` of `rutter.toml`, or a file of the folder `entities` beside it with the same keys at its top; `rutter spxi new NAME` writes such a file, [entity.schema.json](schemas/entity.schema.json) is its schema.
With at least one entity and `kernel` in `[spxi]`, `rutter build` writes `spxi-index.jsonld`; see [spxi.md](spxi.md).

";

const TOP: &str = "# Settings

Written by `cargo xtask docs`.

`rutter build` needs no settings where it can find the site's address.
What is set stands in `rutter.toml` at the root of the repository, in `RUTTER_*` variables, or on the command line; the command line is stronger than a variable, a variable than the file, the file than the default.

- The file is looked for beside the site and above, then in the current folder and above, as far as the repository reaches. `--config FILE` names another.
- Every key is optional. A key that is not known is an error, with its line and the key that was probably meant.
- Relative paths in the file start from the file, others from the current folder.
- A switch on the command line may stand alone: `--inject` is `--inject=true`; `--llms=false` turns off.
- A list on the command line is given by repeating the flag; in a variable, its parts stand between commas. A list replaces the weaker one, it does not add to it.
- A table of a list is a text there: `docs=/docs/` is a section, `/docs/=0.8` a priority, `https://www.example.org/api;auth=bearer;rate=10/m` an endpoint, `Example Search;user-agent=ExampleBot;purposes=search+answers` a consumer.
- A variable that is set to nothing does not count.
- Editors that know JSON Schema find one in [rutter.schema.json](schemas/rutter.schema.json).

## Top of the file
";

const EXAMPLE: &str = r#"
## Example

```toml
site = "public"
base-url = "https://harbour.example/"
exclude = ["drafts/", "*.print.html"]
restricted = ["/members/"]

[[sections]]
name = "docs"
prefix = "/docs/"

[layers]
headers = "netlify"

[arc]
crawl-rate = "1/s"
priorities = [{ prefix = "/docs/", priority = 0.8 }]

[policy]
access = "allow"
retention-days = 90
```
"#;

/// `rutter.toml` with everything that can be set, as remarks below what is.
pub(crate) fn commented(site: &str, base_url: Option<&str>) -> String {
    let mut text = String::from("# What `rutter build` does with this site.\n");
    for table in [""].into_iter().chain(tables()) {
        if !table.is_empty() {
            let _ = write!(text, "\n[{table}]\n");
        }
        for key in of(table).filter(|key| !is_sections(key)) {
            let value = match key.name {
                "site" => Some(site),
                "base-url" => base_url,
                _ => None,
            };
            let _ = write!(text, "\n# {}\n", about(key));
            let _ = match value {
                Some(value) => writeln!(text, "{} = {}", key.name, toml_string(value)),
                None => writeln!(text, "# {} = {}", key.name, example(key)),
            };
        }
    }
    let sections = of("").filter(|key| is_sections(key));
    for key in sections.filter(|key| !key.is_of_file()) {
        let _ = write!(text, "\n# {}\n", about(key));
        let _ = write!(text, "# [[{}]]\n# name = \"docs\"\n# prefix = \"/docs/\"\n", key.name);
    }
    text
}

/// Tables of the top stand after everything else.
fn is_sections(key: &Key) -> bool {
    key.table.is_empty() && matches!(key.shape, Shape::Tables(_))
}

/// A value that the key takes, for whoever takes away the `#`.
fn example(key: &Key) -> String {
    let text = match (key.name, key.shape) {
        ("exclude", _) => return r#"["drafts/", "*.print.html"]"#.to_owned(),
        ("restricted", _) => return r#"["/members/"]"#.to_owned(),
        ("git-sources", _) => return r#"["content/{path}.md"]"#.to_owned(),
        ("replace", _) => return r#"["sitemap.xml"]"#.to_owned(),
        ("unlisted", _) => return r#"["/internal/"]"#.to_owned(),
        ("approved", _) => return r#"["/join/"]"#.to_owned(),
        ("select", _) => return r#"["SC", "AR"]"#.to_owned(),
        ("retention-days", _) => return "90".to_owned(),
        ("delete-on-removal", _) => return "true".to_owned(),
        ("crawl-delay", _) => return "1".to_owned(),
        ("llms-full-bytes", _) => return "4000000".to_owned(),
        ("threads", _) => return "4".to_owned(),
        (_, Shape::Switch | Shape::Days) => return key.default.to_owned(),
        (_, Shape::Tables(form)) => return format!("[{}]", form.example.0),
        (_, Shape::Choice(names)) => {
            let names = names();
            let default = names.iter().find(|name| **name == key.default);
            default.or(names.first()).copied().unwrap_or_default()
        }
        ("base-url", _) => "https://www.example.org/",
        ("out", _) => "public-with-layers",
        ("state", _) => ".rutter",
        ("name", _) => "Name of the site",
        ("summary", _) => "What it is about.",
        ("language", _) => "en",
        ("contact", _) => "crawling@example.org",
        ("kernel", _) => "Who you are, what you do, and what you are not.",
        ("kernel-doi" | "protocol-doi", _) => "10.5555/12345678",
        ("publisher", _) => "Name of the publisher",
        ("publisher-url", _) => "https://www.example.org/",
        ("author", _) => "Name of the author",
        ("author-id", _) => "https://orcid.org/0000-0000-0000-0000",
        ("license", _) => "https://creativecommons.org/licenses/by/4.0/",
        ("entities", _) => "entities",
        ("agents", _) => return r#"["ClaudeBot", "OAI-SearchBot"]"#.to_owned(),
        ("retention-notes", _) => "Copies follow the site.",
        (_, Shape::Rate) => "1/s",
        ("baseline", _) => "rutter-baseline.json",
        ("acknowledged", _) => "rutter-acknowledged.txt",
        _ => "",
    };
    toml_string(text)
}

/// A string of JSON is a string of TOML.
fn toml_string(text: &str) -> String {
    Value::from(text).to_string()
}
