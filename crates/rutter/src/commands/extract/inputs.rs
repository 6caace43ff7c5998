//! Finds the pages that `rutter extract` reads: files, folders and standard input.

use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context;
use rutter_page::{PageUrl, Timestamp};

use super::{ExtractArgs, InputFormat, MAX_PAGE_BYTES};
use crate::commands::now;
use crate::input::InputFile;

/// A page to extract.
pub(super) struct InputPage {
    pub(super) path: PathBuf,
    pub(super) url: PageUrl<'static>,
    pub(super) from: InputFormat,
}

impl InputPage {
    /// Returns the name of the page in messages.
    pub(super) fn name(&self) -> String {
        if self.path.as_os_str() == "-" {
            "<stdin>".to_owned()
        } else {
            self.path.display().to_string()
        }
    }
}

/// Returns all pages that the arguments name; the files of a folder are sorted by name.
pub(super) fn jobs(args: &ExtractArgs) -> anyhow::Result<Vec<InputPage>> {
    let is_one_file = args.files.len() == 1 && args.files.iter().all(|path| !path.is_dir());
    let url = args.base();
    let base = PageUrl::parse(url.to_owned()).with_context(|| format!("--url {url}"))?;
    if let ([path], true) = (args.files.as_slice(), is_one_file) {
        return Ok(vec![InputPage { path: path.clone(), url: base, from: from(args, path) }]);
    }
    anyhow::ensure!(
        !url.contains(['?', '#']),
        "--url {url}: for several pages, give the URL of their folder, without ? and #",
    );
    // The URL of a page has the path of its file below the given folder, or below the common folder
    // of all arguments.
    let shared = match args.files.as_slice() {
        [folder] => folder.clone(),
        several => shared_folder(several),
    };
    let mut jobs = Vec::new();
    for path in &args.files {
        let mut files = vec![path.clone()];
        if path.is_dir() {
            files.clear();
            walk(path, &mut files)?;
            files.sort();
            let name = path.display();
            anyhow::ensure!(!files.is_empty(), "folder {name} has no .html or .md files");
        }
        for file in files {
            let inside = file.strip_prefix(&shared).unwrap_or(&file);
            jobs.push(InputPage {
                url: address(url, inside)?,
                from: from(args, &file),
                path: file,
            });
        }
    }
    Ok(jobs)
}

/// Returns the deepest folder that contains all paths.
pub(super) fn shared_folder(paths: &[PathBuf]) -> PathBuf {
    let mut parents = paths.iter().filter_map(|path| path.parent());
    let mut shared = parents.next().map(Path::to_owned).unwrap_or_default();
    for parent in parents {
        while !parent.starts_with(&shared) {
            if !shared.pop() {
                break;
            }
        }
    }
    shared
}

pub(super) fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    for entry in entries {
        let entry = entry.with_context(|| folder.display().to_string())?;
        let path = entry.path();
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        let kind = entry.file_type().with_context(|| path.display().to_string())?;
        if kind.is_dir() && !is_hidden {
            walk(&path, files)?;
        } else if (kind.is_file() || (kind.is_symlink() && path.is_file())) && is_page(&path) {
            files.push(path);
        }
    }
    Ok(())
}

pub(super) fn is_page(path: &Path) -> bool {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    matches!(ending.as_deref(), Some("html" | "htm" | "xhtml" | "md" | "markdown"))
}

pub(super) fn from(args: &ExtractArgs, path: &Path) -> InputFormat {
    args.from.unwrap_or_else(|| {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        match ending.as_deref() {
            Some("md" | "markdown") => InputFormat::Markdown,
            _ => InputFormat::Html,
        }
    })
}

/// Returns the URL of a file below the URL of a folder. The URL of an index file is that of its
/// folder.
pub(super) fn address(base: &str, inside: &Path) -> anyhow::Result<PageUrl<'static>> {
    let mut url = base.to_owned();
    if !url.ends_with('/') {
        url.push('/');
    }
    let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
    for (idx, part) in parts.iter().enumerate() {
        let is_last = idx + 1 == parts.len();
        if is_last && matches!(part.as_ref(), "index.html" | "index.htm") {
            break;
        }
        for byte in part.bytes() {
            let is_plain = byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte);
            if is_plain {
                url.push(char::from(byte));
            } else {
                write!(url, "%{byte:02X}").expect("writing to a string does not fail");
            }
        }
        if !is_last {
            url.push('/');
        }
    }
    PageUrl::parse(url.clone()).with_context(|| format!("--url {base}"))
}

pub(super) fn read(path: &Path) -> anyhow::Result<(Vec<u8>, Timestamp)> {
    let source = InputFile::new(path)?;
    let mut bytes = Vec::new();
    let (input, _) = source.open().with_context(|| source.name().to_owned())?;
    input
        .take(MAX_PAGE_BYTES + 1)
        .read_to_end(&mut bytes)
        .with_context(|| source.name().to_owned())?;
    anyhow::ensure!(
        bytes.len() as u64 <= MAX_PAGE_BYTES,
        "{} has more than {MAX_PAGE_BYTES} bytes",
        source.name()
    );
    let changed = path.metadata().and_then(|metadata| metadata.modified()).ok();
    let seconds = changed.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    let seconds = seconds.and_then(|since| i64::try_from(since.as_secs()).ok());
    let seen = match seconds.and_then(Timestamp::from_unix_seconds) {
        Some(seen) if path.as_os_str() != "-" => seen,
        _ => now()?,
    };
    Ok((bytes, seen))
}
