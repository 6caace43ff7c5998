//! The seeded corpus as a website: HTML pages with menus, lists of pages that
//! link to all of them, and the same pages as JSON Lines.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use serde_json::Value;

use crate::corpus::{Language, Rng, page};

/// Where the corpus says its pages are.
const ORIGIN: &str = "https://docs.example";

/// Links in the menu of a page.
const MENU: u64 = 60;

/// Pages that can be written in any version.
pub(crate) struct Docs {
    language: Language,
}

impl Docs {
    pub(crate) fn new() -> Self {
        Self { language: Language::new(&mut Rng::new(42)) }
    }

    /// Writes pages as HTML, and the lists that link to them. Gives how many
    /// files a site has then.
    pub(crate) fn write_html(&self, folder: &Path, n_pages: u64) -> anyhow::Result<u64> {
        let mut home = String::new();
        let n_lists = n_pages.div_ceil(1000);
        for list in 0..n_lists {
            let name = format!("reference/{list:03}/index.html");
            writeln!(home, "<li><a href=\"/{name}\">Part {list} of the reference</a></li>")?;
            let mut links = String::new();
            for n in list * 1000..n_pages.min((list + 1) * 1000) {
                writeln!(links, "<li><a href=\"/{}\">Entry {n}</a></li>", path_of(n))?;
            }
            put(folder, &name, &shell(&format!("Part {list}"), &format!("<ul>{links}</ul>"), ""))?;
        }
        put(folder, "index.html", &shell("Reference", &format!("<ul>{home}</ul>"), ""))?;
        for n in 0..n_pages {
            self.write_page(folder, n, 0)?;
        }
        Ok(n_pages + n_lists + 1)
    }

    /// Writes one page as HTML.
    pub(crate) fn write_page(&self, folder: &Path, n: u64, version: u64) -> anyhow::Result<()> {
        let mut line = String::new();
        page(&self.language, n, version, &mut line);
        let value: Value = serde_json::from_str(&line)?;
        let title = escaped(value["title"].as_str().unwrap_or_default());
        let mut main = format!("<h1>{title}</h1>\n");
        for block in value["content"].as_array().context("no content")? {
            push_block(block, &mut main)?;
        }
        // What stands beside the text of a manual: links to the entries around.
        let first = n.saturating_sub(MENU / 2);
        let mut menu = String::from("<aside><nav><ul>\n");
        for other in first..=n {
            writeln!(menu, "<li><a href=\"/{}\">Entry {other}</a></li>", path_of(other))?;
        }
        menu.push_str("</ul></nav></aside>");
        put(folder, &path_of(n), &shell(&title, &main, &menu))
    }

    /// Writes pages as JSON Lines of a site at `origin`; some in version 1.
    pub(crate) fn write_lines(
        &self,
        file: &Path,
        origin: &str,
        n_pages: u64,
        is_changed: impl Fn(u64) -> bool,
    ) -> anyhow::Result<()> {
        let mut out = BufWriter::new(File::create(file)?);
        let mut line = String::new();
        for n in 0..n_pages {
            page(&self.language, n, u64::from(is_changed(n)), &mut line);
            writeln!(out, "{}", line.replace(ORIGIN, origin))?;
        }
        Ok(out.flush()?)
    }
}

fn path_of(n: u64) -> String {
    format!("reference/{:03}/{n:07}.html", n / 1000)
}

fn put(folder: &Path, name: &str, text: &str) -> anyhow::Result<()> {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().context("no folder")?)?;
    Ok(fs::write(path, text)?)
}

/// What stands around the content of every page.
fn shell(title: &str, main: &str, menu: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <meta name=\"description\" content=\"{title}\"></head>\n<body><header><nav><ul>\
         <li><a href=\"/index.html\">Home</a></li><li><a href=\"/reference/000/index.html\">\
         Reference</a></li></ul></nav></header>\n{menu}<main>{main}</main>\n\
         <footer><p>Docs of the example</p></footer></body></html>\n"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn push_block(block: &Value, out: &mut String) -> anyhow::Result<()> {
    let text = |name: &str| escaped(block[name].as_str().unwrap_or_default());
    match block["type"].as_str().unwrap_or_default() {
        "heading" => {
            // One page, one first heading.
            let level = block["level"].as_u64().unwrap_or(2).max(2);
            writeln!(out, "<h{level}>{}</h{level}>", text("text"))?;
        }
        "code" => {
            writeln!(out, "<pre><code class=\"language-python\">{}</code></pre>", text("code"))?;
        }
        "list" => {
            out.push_str("<ul>");
            for item in block["items"].as_array().into_iter().flatten() {
                write!(out, "<li>{}</li>", escaped(item.as_str().unwrap_or_default()))?;
            }
            out.push_str("</ul>\n");
        }
        "table" => {
            out.push_str("<table>");
            for row in block["rows"].as_array().into_iter().flatten() {
                out.push_str("<tr>");
                for cell in row.as_array().into_iter().flatten() {
                    write!(out, "<td>{}</td>", escaped(cell.as_str().unwrap_or_default()))?;
                }
                out.push_str("</tr>");
            }
            out.push_str("</table>\n");
        }
        // A picture would be one more request for a mirror.
        "image" => writeln!(out, "<p>{}</p>", text("alt"))?,
        _ => writeln!(out, "<p>{}</p>", text("text"))?,
    }
    Ok(())
}
