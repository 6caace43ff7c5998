//! Counts personal data in a text: e-mail addresses, telephone numbers, card numbers and bank
//! account numbers.
//!
//! Only unambiguous forms count. A card number must have a known issuer, its length and a valid
//! check digit; an account number a known country, its length and valid check digits; a telephone
//! number must be international, have the North American form, or follow a word such as `Phone`.
//! Published test numbers do not count.

use memchr::{memchr_iter, memmem};

use super::sample::is_sample_host;

pub(super) fn n_addresses(bytes: &[u8]) -> usize {
    let is_local = |byte: &u8| byte.is_ascii_alphanumeric() || b"._%+-".contains(byte);
    let is_host = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    let found = memchr_iter(b'@', bytes).filter(|at| {
        let (before, behind) = bytes.split_at(*at);
        let has_local = before.last().is_some_and(is_local);
        let behind = behind.get(1..).unwrap_or_default();
        let n_behind = behind.iter().take(255).take_while(|byte| is_host(byte)).count();
        let host = behind.get(..n_behind).unwrap_or_default();
        let host = String::from_utf8_lossy(host).trim_end_matches('.').to_ascii_lowercase();
        let (name, ending) = host.rsplit_once('.').unwrap_or(("", ""));
        let is_real = 2 <= ending.len() && ending.bytes().all(|byte| byte.is_ascii_alphabetic());
        let is_sample = ending == "localhost" || is_sample_host(&host);
        has_local && !name.is_empty() && is_real && !is_sample
    });
    found.count()
}

/// A run of digits with separators between them.
struct NumberRun {
    digits: Vec<u8>,
    /// Number of digits in each group.
    groups: Vec<usize>,
    end: usize,
}

/// Maximum number of digits that are read for one number.
const MOST_DIGITS: usize = 20;

fn digits_at(bytes: &[u8], from: usize, separators: &[u8]) -> NumberRun {
    let mut found = NumberRun { digits: Vec::new(), groups: vec![0], end: from };
    let mut n_apart = 0;
    for (at, byte) in bytes.iter().enumerate().skip(from).take(3 * MOST_DIGITS) {
        if byte.is_ascii_digit() && found.digits.len() < MOST_DIGITS {
            if 0 < n_apart && !found.digits.is_empty() {
                found.groups.push(0);
            }
            n_apart = 0;
            found.digits.push(byte - b'0');
            if let Some(last) = found.groups.last_mut() {
                *last += 1;
            }
            found.end = at + 1;
        } else if separators.contains(byte) && n_apart < 2 {
            n_apart += 1;
        } else {
            break;
        }
    }
    found
}

fn byte_before(bytes: &[u8], at: usize) -> Option<u8> {
    at.checked_sub(1).and_then(|at| bytes.get(at)).copied()
}

const APART: &[u8] = b" -()./";

/// Counts telephone numbers in one pass.
pub(super) fn n_numbers(bytes: &[u8]) -> usize {
    let mut n = 0;
    let mut at = 0;
    while let Some(found) = next_digit(bytes, at) {
        // A plus sign or parenthesis before the first digit is part of the number.
        let before = byte_before(bytes, found);
        let start = found - usize::from(matches!(before, Some(b'+' | b'(')));
        let outer = byte_before(bytes, start);
        let is_apart =
            outer.is_none_or(|byte| matches!(byte, b' ' | b'(' | b':' | b'\n' | b'"' | b'\t'));
        let number = digits_at(bytes, found, APART);
        let is_followed = bytes.get(number.end).is_some_and(u8::is_ascii_alphanumeric);
        let is_international = before == Some(b'+')
            && number.digits.first() != Some(&0)
            && (9..=15).contains(&number.digits.len());
        let is_national = before != Some(b'+')
            && !is_followed
            && (is_north_american(&number, bytes.get(start..number.end).unwrap_or_default())
                || (is_announced(bytes, start)
                    && (7..=12).contains(&number.digits.len())
                    && 1 < number.groups.len()));
        n += usize::from(is_apart && (is_international || is_national));
        at = number.end.max(found + 1);
    }
    n
}

fn next_digit(bytes: &[u8], from: usize) -> Option<usize> {
    bytes.get(from..)?.iter().position(u8::is_ascii_digit).map(|n| from + n)
}

/// Returns whether a number has the North American form: `(212) 555-2368`, `212-555-2368`. Numbers
/// with 555-01 are reserved for fiction.
fn is_north_american(number: &NumberRun, written: &[u8]) -> bool {
    let is_written = written.first() == Some(&b'(')
        || memchr_iter(b'-', written).count() == 2
        || memchr_iter(b'.', written).count() == 2;
    let [area, _, _, exchange, _, _, line, ..] = number.digits.as_slice() else { return false };
    let is_fictional = number.digits.get(3..8) == Some(&[5, 5, 5, 0, 1]);
    number.groups == [3, 3, 4]
        && is_written
        && !written.contains(&b'/')
        && (2..=9).contains(area)
        && (2..=9).contains(exchange)
        && *line <= 9
        && !is_fictional
}

/// Returns whether a word such as `Phone` precedes the number.
fn is_announced(bytes: &[u8], at: usize) -> bool {
    const WORDS: [&str; 15] = [
        "tel",
        "tel.",
        "telephone",
        "phone",
        "telefon",
        "telefono",
        "tel\u{e9}fono",
        "t\u{e9}l",
        "t\u{e9}l.",
        "t\u{e9}l\u{e9}phone",
        "fax",
        "mobile",
        "mobil",
        "handy",
        "whatsapp",
    ];
    let before = bytes.get(at.saturating_sub(24)..at).unwrap_or_default();
    let before = String::from_utf8_lossy(before).to_lowercase();
    let before = before.trim_end_matches([' ', ':', '\t', '\u{a0}', '(']);
    let word = before.rsplit(|c: char| c.is_whitespace() || "(,;:>\"".contains(c)).next();
    word.is_some_and(|word| WORDS.contains(&word))
}

/// Test numbers that card issuers and payment services publish.
const TEST_CARDS: [&str; 14] = [
    "4242424242424242",
    "4111111111111111",
    "4012888888881881",
    "4000056655665556",
    "4000000000000002",
    "5555555555554444",
    "5105105105105100",
    "5200828282828210",
    "2223003122003222",
    "378282246310005",
    "371449635398431",
    "6011111111111117",
    "6011000990139424",
    "3530111333300000",
];

/// Counts card numbers, written without separators or in their usual groups.
pub(super) fn n_cards(bytes: &[u8]) -> usize {
    let mut n = 0;
    let mut at = 0;
    while let Some(found) = next_digit(bytes, at) {
        let number = digits_at(bytes, found, b" -");
        let is_inside = byte_before(bytes, found)
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || b"._-+/#=%".contains(&byte))
            || bytes.get(number.end).is_some_and(|byte| {
                byte.is_ascii_alphanumeric()
                    || (b"._-/%".contains(byte)
                        && bytes.get(number.end + 1).is_some_and(u8::is_ascii_alphanumeric))
            });
        let is_grouped = matches!(number.groups.as_slice(), [_] | [4, 4, 4, 4] | [4, 6, 5 | 4]);
        let written: String = number.digits.iter().map(|digit| char::from(b'0' + digit)).collect();
        let is_card = is_grouped && is_issued(&written) && has_check_digit(&number.digits);
        let is_test = TEST_CARDS.contains(&written.as_str()) || super::sample::is_sample(&written);
        n += usize::from(!is_inside && is_card && !is_test);
        at = number.end.max(found + 1);
    }
    n
}

/// Returns whether an issuer uses this prefix with this length.
fn is_issued(number: &str) -> bool {
    let begins =
        |n: usize| number.get(..n).and_then(|start| start.parse::<u32>().ok()).unwrap_or(0);
    match number.len() {
        14 => matches!(begins(2), 36 | 38 | 39) || (300..=305).contains(&begins(3)),
        15 => matches!(begins(2), 34 | 37),
        16 => {
            begins(1) == 4
                || (51..=55).contains(&begins(2))
                || (2221..=2720).contains(&begins(4))
                || begins(4) == 6011
                || begins(2) == 65
                || (644..=649).contains(&begins(3))
                || (3528..=3589).contains(&begins(4))
        }
        _ => false,
    }
}

/// Returns whether the check digit is valid by the Luhn formula (ISO/IEC 7812-1).
fn has_check_digit(digits: &[u8]) -> bool {
    let doubled = |digit: u32| if 4 < digit { 2 * digit - 9 } else { 2 * digit };
    let sum: u32 = (0_u32..)
        .zip(digits.iter().rev())
        .map(|(n, digit)| if n % 2 == 1 { doubled(u32::from(*digit)) } else { u32::from(*digit) })
        .sum();
    sum.is_multiple_of(10)
}

/// Country codes and the length of their account numbers (IBAN registry).
const ACCOUNTS: &str = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 \
    DE22 DK18 DO28 EE20 EG29 ES24 FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 \
    IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 MC27 MD24 ME22 MK19 MR27 MT31 MU30 \
    NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 ST25 SV28 TL23 TN24 \
    TR26 UA29 VA22 VG24 XK20";

/// Account numbers that are used as examples.
const TEST_ACCOUNTS: [&str; 10] = [
    "GB82WEST12345698765432",
    "GB29NWBK60161331926819",
    "GB33BUKB20201555555555",
    "DE89370400440532013000",
    "DE75512108001245126199",
    "FR1420041010050500013M02606",
    "NL91ABNA0417164300",
    "CH9300762011623852957",
    "AT611904300234573201",
    "BE68539007547034",
];

/// Counts bank account numbers (IBAN, ISO 13616), written without separators or in groups of four.
pub(super) fn n_accounts(bytes: &[u8]) -> usize {
    let mut n = 0;
    for (at, four) in bytes.windows(4).enumerate() {
        let (letters, digits) = four.split_at(2);
        let is_start =
            letters.iter().all(u8::is_ascii_uppercase) && digits.iter().all(u8::is_ascii_digit);
        if !is_start || byte_before(bytes, at).is_some_and(|byte| byte.is_ascii_alphanumeric()) {
            continue;
        }
        n += usize::from(account_at(bytes.get(at..).unwrap_or_default()));
    }
    n
}

fn account_at(rest: &[u8]) -> bool {
    let country = rest.get(..2).unwrap_or_default();
    let known =
        ACCOUNTS.split_ascii_whitespace().find(|known| known.as_bytes().starts_with(country));
    let Some(length) = known.and_then(|known| known.get(2..)?.parse::<usize>().ok()) else {
        return false;
    };
    let mut account = String::new();
    let mut end = 0;
    let mut is_gap = false;
    for (at, byte) in rest.iter().enumerate() {
        match byte {
            b'A'..=b'Z' | b'0'..=b'9' if account.len() < length => account.push(char::from(*byte)),
            b' ' if !is_gap && account.len().is_multiple_of(4) && account.len() < length => {
                is_gap = true;
                continue;
            }
            _ => break,
        }
        is_gap = false;
        end = at + 1;
    }
    let is_followed = rest.get(end).is_some_and(u8::is_ascii_alphanumeric);
    // For the check, the first four characters move to the end and letters count from 10 on.
    let (start, behind) = account.split_at_checked(4).unwrap_or_default();
    let digits = behind.chars().chain(start.chars()).filter_map(|c| c.to_digit(36));
    let rest = digits.fold(0_u64, |sum, digit| {
        (sum * if digit < 10 { 10 } else { 100 } + u64::from(digit)) % 97
    });
    account.len() == length
        && !is_followed
        && rest == 1
        && !TEST_ACCOUNTS.contains(&account.as_str())
}

/// Counts `mailto:` and `tel:` links in HTML.
pub(super) fn n_links(html: &[u8]) -> usize {
    let is_link = |at: usize| {
        let before = html.get(at.saturating_sub(8)..at).unwrap_or_default();
        let before = before.trim_ascii_end();
        let before = before.strip_suffix(b"\"").or(before.strip_suffix(b"'")).unwrap_or(before);
        let before = before.trim_ascii_end().strip_suffix(b"=").map(<[u8]>::trim_ascii_end);
        before.is_some_and(|before| {
            let start = before.len().saturating_sub(4);
            before.get(start..).is_some_and(|name| name.eq_ignore_ascii_case(b"href"))
        })
    };
    let is_sample = |at: usize| {
        let rest = html.get(at..).unwrap_or_default();
        let rest = rest.get(..rest.len().min(320)).unwrap_or_default();
        let end = memchr::memchr3(b'"', b'\'', b'>', rest).unwrap_or(rest.len());
        let to = String::from_utf8_lossy(rest.get(..end).unwrap_or_default()).into_owned();
        let to = to.split('?').next().unwrap_or_default();
        let host = to.rsplit_once('@').map_or("", |(_, host)| host);
        let n_digits = to.bytes().filter(u8::is_ascii_digit).count();
        // `mailto:?subject=…` has no recipient.
        host.is_empty() && n_digits < 6 || is_sample_host(host) && !host.is_empty()
    };
    let schemes = ["mailto:", "tel:"];
    let found = schemes
        .iter()
        .flat_map(|scheme| memmem::find_iter(html, scheme).map(move |at| (at, at + scheme.len())));
    found.filter(|(at, behind)| is_link(*at) && !is_sample(*behind)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SCP-172 D94
    fn counts_cards_by_issuer_length_and_check_digit() {
        // Fictitious numbers; the last digit is the check digit.
        for card in ["4539 1488 0343 6467", "5424180279791732", "3714-496353-98437"] {
            let n = n_cards(format!("Pay with {card}, please.").as_bytes());
            let digits: Vec<u8> =
                card.bytes().filter(u8::is_ascii_digit).map(|it| it - b'0').collect();
            assert_eq!(n, usize::from(has_check_digit(&digits)), "{card}");
        }
        assert_eq!(n_cards(b"4539 1488 0343 6467"), 1);
        for other in [
            "4539148803436468",
            "4242 4242 4242 4242",
            "1234567890123456",
            "x4539148803436467",
            "45391488034364671",
            "4539-14880343-6467",
            "0.4539148803436467",
        ] {
            assert_eq!(n_cards(other.as_bytes()), 0, "{other}");
        }
    }

    #[test] // SCP-172 D94
    fn counts_accounts_by_country_length_and_check_digits() {
        let account = |start: &str, rest: &str| {
            let check = (2..=98).map(|n| format!("{start}{n:02}{rest}"));
            check.into_iter().find(|it| account_at(it.as_bytes())).unwrap()
        };
        let german = account("DE", "500105175407324931");
        assert_eq!(n_accounts(format!("IBAN: {german}.").as_bytes()), 1);
        let grouped: Vec<&str> =
            (0..6).filter_map(|n| german.get(4 * n..(4 * n + 4).min(22))).collect();
        assert_eq!(n_accounts(grouped.join(" ").as_bytes()), 1, "{grouped:?}");
        for other in [
            "DE89 3704 0044 0532 0130 00",
            "DE88370400440532013000",
            "RFC2119",
            "ZZ82WEST12345698765432",
        ] {
            assert_eq!(n_accounts(other.as_bytes()), 0, "{other}");
        }
    }

    #[test] // SCP-172 D94
    fn counts_national_numbers_by_form_or_preceding_word() {
        for (n, text) in [
            (1, "Tel. 030 9018 20"),
            (1, "Phone: 020 7219 3000"),
            (1, "Call (212) 736-5000 now"),
            (1, "212-736-5000"),
            (1, "Fax: 0221/4710-200"),
            (1, "T\u{e9}l : 01 40 20 50 50"),
            (0, "(212) 555-0123"),
            (0, "030 9018 20"),
            (0, "2026-11-18"),
            (0, "192.168.100.1"),
            (0, "3.40.1 2023-01-01"),
            (0, "page 123-456-789"),
            (0, "Phone 12"),
            (0, "version 212.736.5000.1"),
        ] {
            assert_eq!(n_numbers(text.as_bytes()), n, "{text}");
        }
    }

    #[test] // SCP-172 D94
    fn counts_mailto_and_tel_links() {
        let html = b"<a href=\"mailto:ada@harbour.org\">Ada</a> <a HREF = 'tel:+44123456789'>x</a> \
            <a href=mailto:bob@harbour.org?subject=Hi>Bob</a> <a href='mailto:?body=x'>share</a> \
            <a href='mailto:a@b.example'>no</a> mailto:in-text@harbour.org <p title=\"tel:123456789\">";
        assert_eq!(n_links(html), 3);
    }
}
