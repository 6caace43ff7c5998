//! Detects shells: pages whose content is made by a script or behind a login.
//!
//! Input: the extracted page. A page is a shell if it needs scripts to show its text
//! ([`Extraction::needs_scripts`]), or if it is short and its main content asks for a
//! password.

use rutter_extract::Extraction;

/// Returns whether a page is a shell.
pub(crate) fn is_shell(extraction: &Extraction) -> bool {
    extraction.needs_scripts || (extraction.is_short() && extraction.facts.asks_for_password)
}
