//! Detects shells: pages whose content is loaded by a script or after a login.
//!
//! Input: the extracted page. A shell needs scripts to show its text
//! ([`Extraction::needs_scripts`]), or is a short page whose main content asks for a
//! password.

use rutter_extract::Extraction;

/// Returns whether a page is a shell.
pub(crate) fn is_shell(extraction: &Extraction) -> bool {
    extraction.needs_scripts || (extraction.is_short() && extraction.facts.asks_for_password)
}
