//! Recognises files that Rutter wrote when the list of them is lost.
//!
//! Input: a file of the output folder. Text files carry a mark: Markdown twins, llms.txt and
//! sitemaps at their end, robots.txt and host files around the block that is ours. JSON files carry
//! none; they are recognised because a marked file of ours names them, and ours name only what
//! Rutter wrote, or because the state holds deltas of them. Everything else belongs to others.

use std::fs;
use std::io::Read;
use std::path::Path;

use crate::block;
use crate::listing;
use crate::plan::Base;
use crate::site_sitemap;

/// The last line of a Markdown twin.
const TWIN: &str = "<!-- rutter:twin -->";

/// Largest file that is read for what it names.
const MOST_BYTES: u64 = 64 << 20;

/// The bytes of a Markdown twin: the page with its mark.
pub(crate) fn twin(markdown: &[u8]) -> Vec<u8> {
    let mut out = markdown.to_vec();
    out.extend_from_slice(b"\n");
    out.extend_from_slice(TWIN.as_bytes());
    out.extend_from_slice(b"\n");
    out
}

/// Files of ours in a folder, as far as the folder itself shows it.
#[derive(Debug, Clone, Default)]
pub(crate) struct OwnMarks {
    /// Texts of ours that name others.
    named: Vec<String>,
    base: Option<Base>,
    /// Whether the state holds deltas of an ARC sitemap.
    has_deltas: bool,
}

impl OwnMarks {
    /// Looks at the files that name others, and at the deltas in the state.
    pub(crate) fn read(base: &Base, folder: &Path, deltas: &Path) -> Self {
        let mut named = Vec::new();
        let robots = text_of(&folder.join("robots.txt")).unwrap_or_default();
        named.extend(block::within(&robots, &block::HASH).map(str::to_owned));
        let llms = text_of(&folder.join("llms.txt")).unwrap_or_default();
        if llms.contains(listing::WHOLE) {
            named.push(llms);
        } else {
            named.extend(block::within(&llms, &block::MARKDOWN).map(str::to_owned));
        }
        // Packets are named by the index, which is named by one of these.
        let index = folder.join(rutter_spxi::INDEX);
        let has_deltas = fs::read_dir(deltas).is_ok_and(|mut files| files.next().is_some());
        let mut marks = Self { named, base: Some(base.clone()), has_deltas };
        if marks.is_named(rutter_spxi::INDEX) {
            marks.named.extend(text_of(&index));
        }
        marks
    }

    /// Whether nothing shows that Rutter ever wrote to the folder.
    pub(crate) fn is_empty(&self) -> bool {
        self.named.is_empty()
    }

    /// Whether a file is one of ours.
    pub(crate) fn is_ours(&self, folder: &Path, name: &str) -> bool {
        let path = folder.join(name);
        if !fs::symlink_metadata(&path).is_ok_and(|it| it.is_file()) {
            return false;
        }
        // ARC files have compressed forms beside them.
        let name = name.strip_suffix(".gz").unwrap_or(name);
        let ending = Path::new(name).extension().and_then(|ending| ending.to_str());
        match ending.unwrap_or_default() {
            "md" => ends_with(&path, TWIN),
            "xml" => site_sitemap::is_marked(&path),
            "txt" => {
                let text = text_of(&path).unwrap_or_default();
                text.trim_end().ends_with(listing::WHOLE) || is_block_alone(&text)
            }
            "json" | "yaml" | "jsonld" => self.is_named(name) || self.is_of_arc(name),
            // `_headers` has no ending.
            "" => text_of(&path).is_some_and(|text| is_block_alone(&text)),
            _ => false,
        }
    }

    /// Whether a file of ours names this one by its address.
    fn is_named(&self, name: &str) -> bool {
        let Some(base) = &self.base else { return false };
        let address = base.join(name);
        self.named.iter().any(|text| {
            text.match_indices(&address).any(|(at, found)| {
                let next = text.get(at + found.len()..).and_then(|rest| rest.chars().next());
                !next.is_some_and(|c| {
                    c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '/')
                })
            })
        })
    }

    /// Whether it belongs to the ARC sitemap that a file of ours names.
    fn is_of_arc(&self, name: &str) -> bool {
        let file = name.strip_prefix(".well-known/").unwrap_or(name);
        let is_arc = matches!(
            file,
            "arc-sitemap.json" | "arc-sitemap.yaml" | "arc-sitemap.jsonld" | "arc-policy.json"
        ) || name.starts_with("arc-sitemap-deltas/");
        is_arc && (self.has_deltas || self.is_named("arc-sitemap.json"))
    }
}

/// Whether a file without a mark may be one that an earlier version wrote: twins, lists and sitemaps
/// of those have a shape of their own. Files that never carry a mark may always be.
pub(crate) fn may_be_unmarked(folder: &Path, name: &str) -> bool {
    let path = folder.join(name);
    let ending = Path::new(name).extension().and_then(|ending| ending.to_str());
    match ending.unwrap_or_default() {
        "md" => text_of(&path).is_none_or(|text| {
            let head = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
            head.is_some_and(|(head, _)| head.lines().any(|line| line.starts_with("url: \"")))
        }),
        "xml" => site_sitemap::may_be_ours(&path),
        "txt" => text_of(&path).is_none_or(|text| text.contains(listing::INDEXES)),
        "" => text_of(&path).is_none_or(|text| block::within(&text, &block::HASH).is_some()),
        _ => true,
    }
}

/// Whether a file is a Markdown twin, by its name and its last line.
pub(crate) fn is_twin(folder: &Path, name: &str) -> bool {
    let path = folder.join(name);
    path.extension().is_some_and(|ending| ending == "md")
        && fs::symlink_metadata(&path).is_ok_and(|it| it.is_file())
        && ends_with(&path, TWIN)
}

/// The Markdown twins below a folder. Links, hidden folders and those that are
/// `skipped`, by their names below the folder or their paths, are not entered.
pub(crate) fn twins(folder: &Path, is_skipped: &dyn Fn(&str, &Path) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(inside) = folders.pop() {
        let Ok(entries) = fs::read_dir(folder.join(&inside)) else { continue };
        for entry in entries.filter_map(Result::ok) {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let path = format!("{inside}{name}");
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if name.starts_with('.') || is_skipped(&path, &entry.path()) {
                continue;
            }
            if is_folder {
                folders.push(format!("{path}/"));
            } else if is_twin(folder, &path) {
                found.push(path);
            }
        }
    }
    found.sort_unstable();
    found
}

/// Whether a file holds nothing but our block.
fn is_block_alone(text: &str) -> bool {
    block::within(text, &block::HASH).is_some()
        && block::without(text, &block::HASH).trim().is_empty()
}

fn ends_with(path: &Path, mark: &str) -> bool {
    text_of(path).is_some_and(|text| text.trim_end().ends_with(mark))
}

fn text_of(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_marked_files_and_what_they_name() {
        let folder = tempfile::tempdir().unwrap();
        let base = Base::parse("https://h.example/").unwrap();
        let whole = listing::WHOLE;
        for (name, text) in [
            ("a.md", String::from_utf8(twin(b"# A\n")).unwrap()),
            ("b.md", "# B\n".to_owned()),
            ("arc-sitemap.json.gz", "x".to_owned()),
            ("quote.md", format!("The mark is `{TWIN}`.\n\nMore.\n")),
            ("llms.txt", format!("# H\n\nhttps://h.example/spxi-index.jsonld\n\n{whole}\n")),
            (
                "robots.txt",
                "# rutter:begin\nSitemap: https://h.example/arc-sitemap.json\n# rutter:end\n"
                    .to_owned(),
            ),
            ("mine.txt", "User-agent: *\n# rutter:begin\n# rutter:end\n".to_owned()),
            ("sitemap.xml", format!("<urlset></urlset>\n{}\n", site_sitemap::MARK)),
            ("other.xml", "<urlset></urlset>\n".to_owned()),
            ("arc-sitemap.json", "{}".to_owned()),
            ("arc-policy.json", "{}".to_owned()),
            ("spxi-index.jsonld", "{\"ref\": \"https://h.example/a/packet.jsonld\"}".to_owned()),
            ("a/packet.jsonld", "{}".to_owned()),
            ("data.json", "{}".to_owned()),
        ] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let marks = OwnMarks::read(&base, folder.path(), &folder.path().join("deltas"));
        for (name, wanted) in [
            ("a.md", true),
            ("b.md", false),
            ("quote.md", false),
            ("llms.txt", true),
            ("robots.txt", true),
            ("mine.txt", false),
            ("sitemap.xml", true),
            ("other.xml", false),
            ("arc-sitemap.json", true),
            ("arc-policy.json", true),
            ("arc-sitemap.json.gz", true),
            ("spxi-index.jsonld", true),
            ("a/packet.jsonld", true),
            ("data.json", false),
            ("gone.md", false),
        ] {
            assert_eq!(marks.is_ours(folder.path(), name), wanted, "{name}");
        }
    }
}
