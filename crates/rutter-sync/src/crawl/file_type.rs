//! Recognizes URLs of files that are not pages.

use rutter_fetch::Url;

/// Returns whether the path of a URL has the extension of a file that is not a page, such
/// as `.pdf`.
pub(crate) fn is_file(url: &Url) -> bool {
    const FILES: [&str; 28] = [
        "png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "ico", "css", "js", "mjs", "json",
        "xml", "pdf", "zip", "gz", "tar", "zst", "mp3", "mp4", "webm", "ogg", "woff", "woff2",
        "ttf", "scp", "jsonld", "rss",
    ];
    let name = url.path().rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').is_some_and(|(_, end)| FILES.contains(&end.to_ascii_lowercase().as_str()))
}
