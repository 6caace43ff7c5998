//! What of a finding stays the same when lines and entries move.
//!
//! The code, the file, the pointer without numbers of items, and the detail
//! without numbers of lines. Two findings may have the same; they are counted.

use rutter_finding::Finding;

/// The pointer with `#` for each number of an item.
pub fn pointer(pointer: &str) -> String {
    let is_number = |token: &str| !token.is_empty() && token.bytes().all(|b| b.is_ascii_digit());
    let tokens: Vec<&str> =
        pointer.split('/').map(|token| if is_number(token) { "#" } else { token }).collect();
    tokens.join("/")
}

/// The detail with `#` for each number of a line.
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

/// All of it as sixteen hexadecimal digits (FNV-1a).
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
    fn ours_numbers_of_places_do_not_count() {
        assert_eq!(pointer("/pages/17/ai_tags/0"), "/pages/#/ai_tags/#");
        assert_eq!(pointer(""), "");
        assert_eq!(
            detail("`https://a.example/7`, also in line 12"),
            "`https://a.example/7`, also in line #"
        );
        assert_eq!(detail("line 3 and line x"), "line # and line x");
    }
}
