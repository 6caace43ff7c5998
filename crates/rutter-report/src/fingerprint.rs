//! Fingerprints of findings, which stay the same when lines or entries move.
//!
//! A fingerprint is a hash of the rule code, the file, the JSON pointer without
//! array indices, and the detail without line numbers. Several findings may have
//! the same fingerprint.

use rutter_finding::Finding;

/// Returns the JSON pointer with `#` in place of each array index.
pub fn pointer(pointer: &str) -> String {
    let is_number = |token: &str| !token.is_empty() && token.bytes().all(|b| b.is_ascii_digit());
    let tokens: Vec<&str> =
        pointer.split('/').map(|token| if is_number(token) { "#" } else { token }).collect();
    tokens.join("/")
}

/// Returns the detail of a finding with `#` in place of each line number.
pub fn detail(detail: &str) -> String {
    let mut text = String::with_capacity(detail.len());
    let mut rest = detail;
    while let Some(at) = rest.find("line ") {
        let (before, after) = rest.split_at(at + 5);
        text.push_str(before);
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        if 0 < digits {
            text.push('#');
        }
        rest = after.get(digits..).unwrap_or_default();
    }
    text.push_str(rest);
    text
}

/// Returns the fingerprint of a finding as sixteen hexadecimal digits (FNV-1a).
pub fn of(file: &str, finding: &Finding) -> String {
    let parts =
        [finding.rule.code, file, &pointer(&finding.place.pointer), &detail(&finding.detail)];
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in parts.into_iter().flat_map(|part| part.bytes().chain([0])) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::{detail, pointer};

    #[test]
    fn ignores_indices_and_line_numbers() {
        assert_eq!(pointer("/pages/17/ai_tags/0"), "/pages/#/ai_tags/#");
        assert_eq!(pointer(""), "");
        assert_eq!(
            detail("`https://a.example/7`, also in line 12"),
            "`https://a.example/7`, also in line #"
        );
        assert_eq!(detail("line 3 and line x"), "line # and line x");
    }
}
