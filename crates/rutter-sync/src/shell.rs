//! Recognises shells: pages whose content comes by a script or after a login.
//!
//! Input: the page as it was read, and its bytes. A shell has no text beside
//! its title and a request to turn scripts on, or is a short page whose main
//! content asks for a password.

use rutter_extract::Extraction;

/// Bytes of text beside the title that a shell may have.
const LITTLE: usize = 200;

/// Requests to turn scripts on. A text that only speaks of JavaScript is none.
const REQUESTS: [&str; 12] = [
    "activate javascript",
    "allow javascript",
    "enable javascript",
    "javascript disabled",
    "javascript enabled",
    "javascript is disabled",
    "javascript is not enabled",
    "javascript is required",
    "javascript to be enabled",
    "needs javascript",
    "requires javascript",
    "turn on javascript",
];

/// Whether a page is a shell.
pub(crate) fn is_shell(extraction: &Extraction, bytes: &[u8]) -> bool {
    let title = extraction.page.title.trim();
    let text = extraction.page.to_text();
    let mut lines = text.lines().map(|line| line.trim_start_matches('#').trim());
    let rest = lines.by_ref().filter(|line| !line.is_empty() && *line != title);
    let rest = rest.collect::<Vec<_>>().join(" ").to_ascii_lowercase();
    let asks_for_scripts =
        || rest.len() < LITTLE && REQUESTS.iter().any(|request| rest.contains(request));
    let is_bare = rest.is_empty() || asks_for_scripts();
    let has_scripts = || contains(bytes, b"<script");
    (is_bare && has_scripts()) || (extraction.is_short() && extraction.facts.asks_for_password)
}

/// Whether a text of ASCII stands in bytes, in any case.
fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window.eq_ignore_ascii_case(wanted))
}
