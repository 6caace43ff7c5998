//! Recognises the files that Rutter wrote, for builds that have lost the manifest.
//!
//! Input: a file of the output folder. Output: whether Rutter wrote the file. Markdown twins,
//! llms.txt and sitemaps have a mark at their end, robots.txt and header files have marker lines
//! around Rutter's block. JSON and YAML files have no mark; they are recognised because a marked
//! file names them, or because the state contains ARC deltas. All other files belong to the site
//! owner.

use std::fs;
use std::io::Read;
use std::path::Path;

pub use crate::marked_block::WHOLE_FILE;
use crate::{marked_block, sitemaps};

/// Heading of the section of llms.txt that links to other artifacts.
pub const INDEXES_HEADING: &str = "Machine-readable indexes";

/// Last line of a Markdown twin.
const TWIN: &str = "<!-- rutter:twin -->";

/// Maximum number of bytes that are read from a file.
const MOST_BYTES: u64 = 64 << 20;

/// Returns the bytes of a Markdown twin: the Markdown of the page and the mark of Rutter.
pub fn marked_twin(markdown: &[u8]) -> Vec<u8> {
    let mut out = markdown.to_vec();
    out.extend_from_slice(b"\n");
    out.extend_from_slice(TWIN.as_bytes());
    out.extend_from_slice(b"\n");
    out
}

/// Evidence in the output folder and the state that shows which files Rutter wrote.
#[derive(Debug, Clone, Default)]
pub struct FileMarks {
    /// Texts of marked files that contain URLs of other artifacts.
    named: Vec<String>,
    base: Option<String>,
    /// Whether the state contains ARC deltas.
    has_deltas: bool,
}

impl FileMarks {
    /// Reads the marked files that contain URLs of other artifacts, and looks for ARC deltas in the
    /// state.
    pub fn read(base: &str, folder: &Path, deltas: &Path) -> Self {
        let mut named = Vec::new();
        let robots = text_of(&folder.join("robots.txt")).unwrap_or_default();
        named.extend(marked_block::block_of(&robots, &marked_block::HASH).map(str::to_owned));
        let llms = text_of(&folder.join("llms.txt")).unwrap_or_default();
        if llms.contains(WHOLE_FILE) {
            named.push(llms);
        } else {
            named.extend(marked_block::block_of(&llms, &marked_block::MARKDOWN).map(str::to_owned));
        }
        // The SPXI index names the packets. It counts as evidence only if one of the texts above
        // names it.
        let index = folder.join(rutter_spxi::INDEX_FILE);
        let has_deltas = fs::read_dir(deltas).is_ok_and(|mut files| files.next().is_some());
        let mut marks = Self { named, base: Some(base.to_owned()), has_deltas };
        if marks.is_named(rutter_spxi::INDEX_FILE) {
            marks.named.extend(text_of(&index));
        }
        marks
    }

    /// Returns whether there is no evidence that Rutter wrote to the folder.
    pub fn is_empty(&self) -> bool {
        self.named.is_empty()
    }

    /// Returns whether Rutter wrote a file, according to its mark or to a marked file that names
    /// it.
    pub fn is_own_file(&self, folder: &Path, name: &str) -> bool {
        let path = folder.join(name);
        if !fs::symlink_metadata(&path).is_ok_and(|it| it.is_file()) {
            return false;
        }
        // A compressed ARC file is recognised by the name of the uncompressed file next to it.
        let name = name.strip_suffix(".gz").unwrap_or(name);
        let ending = Path::new(name).extension().and_then(|ending| ending.to_str());
        match ending.unwrap_or_default() {
            "md" => ends_with(&path, TWIN),
            "xml" => sitemaps::is_marked_sitemap(&path),
            "txt" => {
                let text = text_of(&path).unwrap_or_default();
                text.trim_end().ends_with(WHOLE_FILE) || is_only_block(&text)
            }
            "json" | "yaml" | "jsonld" => self.is_named(name) || self.is_arc_file(name),
            // The header file `_headers` has no extension.
            "" => text_of(&path).is_some_and(|text| is_only_block(&text)),
            _ => false,
        }
    }

    /// Returns whether a marked file contains the URL of this file.
    fn is_named(&self, name: &str) -> bool {
        let Some(base) = &self.base else { return false };
        let address = format!("{base}{name}");
        self.named.iter().any(|text| {
            text.match_indices(&address).any(|(at, found)| {
                let next = text.get(at + found.len()..).and_then(|rest| rest.chars().next());
                !next.is_some_and(|c| {
                    c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '/')
                })
            })
        })
    }

    /// Returns whether a file has the name of an ARC file and Rutter wrote an ARC sitemap.
    fn is_arc_file(&self, name: &str) -> bool {
        let file = name.strip_prefix(".well-known/").unwrap_or(name);
        let is_arc = matches!(
            file,
            "arc-sitemap.json" | "arc-sitemap.yaml" | "arc-sitemap.jsonld" | "arc-policy.json"
        ) || name.starts_with("arc-sitemap-deltas/");
        is_arc && (self.has_deltas || self.is_named("arc-sitemap.json"))
    }
}

/// Returns whether an earlier version of Rutter, which wrote no marks, may have written a file.
/// Markdown twins, llms.txt, sitemaps and header files are recognised by their structure; any other
/// file may be one of Rutter's files.
pub fn may_be_unmarked(folder: &Path, name: &str) -> bool {
    let path = folder.join(name);
    let ending = Path::new(name).extension().and_then(|ending| ending.to_str());
    match ending.unwrap_or_default() {
        "md" => text_of(&path).is_none_or(|text| {
            let head = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
            head.is_some_and(|(head, _)| head.lines().any(|line| line.starts_with("url: \"")))
        }),
        "xml" => sitemaps::may_be_own_sitemap(&path),
        "txt" => text_of(&path).is_none_or(|text| text.contains(INDEXES_HEADING)),
        "" => text_of(&path)
            .is_none_or(|text| marked_block::block_of(&text, &marked_block::HASH).is_some()),
        _ => true,
    }
}

/// Returns whether a file is a Markdown twin, by its extension and its last line.
pub fn is_twin(folder: &Path, name: &str) -> bool {
    let path = folder.join(name);
    path.extension().is_some_and(|ending| ending == "md")
        && fs::symlink_metadata(&path).is_ok_and(|it| it.is_file())
        && ends_with(&path, TWIN)
}

/// Lists the Markdown twins below a folder. Symbolic links, hidden folders and folders for which
/// `is_skipped` returns true are not searched. `is_skipped` receives the path relative to `folder`
/// and the full path.
pub fn find_twins(folder: &Path, is_skipped: &dyn Fn(&str, &Path) -> bool) -> Vec<String> {
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

/// Returns whether the text of a file consists only of Rutter's block.
fn is_only_block(text: &str) -> bool {
    marked_block::block_of(text, &marked_block::HASH).is_some()
        && marked_block::without_block(text, &marked_block::HASH).trim().is_empty()
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
    fn recognises_marked_files_and_files_they_name() {
        let folder = tempfile::tempdir().unwrap();
        let whole = WHOLE_FILE;
        for (name, text) in [
            ("a.md", String::from_utf8(marked_twin(b"# A\n")).unwrap()),
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
            ("sitemap.xml", format!("<urlset></urlset>\n{WHOLE_FILE}\n")),
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
        let marks =
            FileMarks::read("https://h.example/", folder.path(), &folder.path().join("deltas"));
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
            assert_eq!(marks.is_own_file(folder.path(), name), wanted, "{name}");
        }
    }
}
