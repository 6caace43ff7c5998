//! Types of which each value is one table of a list.

pub(crate) mod partner;
pub(crate) mod priority;
pub(crate) mod section;
pub(crate) mod surface;

fn check_prefix(whose: &str, prefix: &str) -> Result<(), String> {
    if prefix.starts_with('/') {
        return Ok(());
    }
    Err(format!("{whose}: a prefix must start with a slash, such as /docs/"))
}
