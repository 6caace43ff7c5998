//! Syntax of `ai_checksum` (D51): an algorithm, a colon, hexadecimal digits.

/// Number of hexadecimal digits of a checksum per algorithm.
const LENGTHS: [(&str, usize); 5] =
    [("sha256", 64), ("sha512", 128), ("sha384", 96), ("sha1", 40), ("md5", 32)];

/// Returns whether `text` is a checksum: a known algorithm and the right number of digits.
///
/// ```
/// # use rutter_arc::is_checksum;
/// assert!(is_checksum(&format!("sha256:{}", "af".repeat(32))));
/// assert!(!is_checksum("sha256:af3c..."));
/// ```
pub fn is_checksum(text: &str) -> bool {
    let Some((name, digits)) = text.split_once(':') else { return false };
    let length = LENGTHS.iter().find(|(known, _)| *known == name);
    length.is_some_and(|(_, length)| digits.len() == *length)
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}
