//! Parses dates in the formats that sites use.
//!
//! Input: text. Output: a [`Timestamp`]. A date without a time is midnight; a time without a zone
//! is UTC. The day comes before the month unless a month name or ISO order says otherwise. Rejects
//! ambiguous dates such as `01/02/2024`, and dates that do not exist.

use rutter_page::{CalendarDate, Timestamp};

/// Prefixes of month names in several languages, with the number of the month.
const MONTHS: &[(&str, u8)] = &[
    ("jan", 1),
    ("ene", 1),
    ("gen", 1),
    ("sty", 1),
    ("led", 1),
    ("feb", 2),
    ("fev", 2),
    ("f\u{e9}v", 2),
    ("lut", 2),
    ("\u{fa}no", 2),
    ("mar", 3),
    ("m\u{e4}r", 3),
    ("maa", 3),
    ("b\u{159}e", 3),
    ("mrt", 3),
    ("apr", 4),
    ("abr", 4),
    ("avr", 4),
    ("kwi", 4),
    ("dub", 4),
    ("may", 5),
    ("mai", 5),
    ("maj", 5),
    ("mei", 5),
    ("mag", 5),
    ("kv\u{11b}", 5),
    ("jun", 6),
    ("juin", 6),
    ("giu", 6),
    ("cze", 6),
    ("\u{10d}er", 6),
    ("jul", 7),
    ("juil", 7),
    ("lug", 7),
    ("lip", 7),
    ("aug", 8),
    ("ago", 8),
    ("ao\u{fb}", 8),
    ("aou", 8),
    ("sie", 8),
    ("srp", 8),
    ("sep", 9),
    ("set", 9),
    ("wrz", 9),
    ("z\u{e1}\u{159}", 9),
    ("oct", 10),
    ("okt", 10),
    ("out", 10),
    ("ott", 10),
    ("pa\u{17a}", 10),
    ("\u{159}\u{ed}j", 10),
    ("nov", 11),
    ("lis", 11),
    ("dec", 12),
    ("dez", 12),
    ("dic", 12),
    ("d\u{e9}c", 12),
    ("gru", 12),
    ("pro", 12),
    ("des", 12),
];

/// Parses a date, with or without a time.
pub(crate) fn parse(text: &str) -> Option<Timestamp> {
    let text = text.trim().trim_matches(['"', '\'']);
    if text.len() < 6 || 80 < text.len() {
        return None;
    }
    if let Ok(time) = Timestamp::parse(text) {
        return sane(time);
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return sane(of_digits(text)?);
    }
    let (year, month, day, rest) = date(text)?;
    let (seconds, offset) = time(rest);
    let days = days_of(year, month, day)?;
    let moment = days.checked_mul(86_400)?.checked_add(seconds)?.checked_sub(offset)?;
    sane(Timestamp::from_unix_seconds(moment)?)
}

/// Rejects times before 1990 and after 2099, because no web page is from then.
fn sane(time: Timestamp) -> Option<Timestamp> {
    let seconds = time.unix_seconds();
    (631_152_000..4_102_444_800).contains(&seconds).then_some(time)
}

fn of_digits(text: &str) -> Option<Timestamp> {
    let number: i64 = text.parse().ok()?;
    match text.len() {
        8 => {
            let (year, month, day) = (number / 10_000, number / 100 % 100, number % 100);
            let days = days_of(year, u8::try_from(month).ok()?, u8::try_from(day).ok()?)?;
            Timestamp::from_unix_seconds(days * 86_400)
        }
        14 => {
            let date = parse(text.get(..8)?)?;
            let time = number % 1_000_000;
            Some(date.plus_seconds(time / 10_000 * 3600 + time / 100 % 100 * 60 + time % 100))
        }
        10 => Timestamp::from_unix_seconds(number),
        13 => Timestamp::from_unix_seconds(number / 1000),
        _ => None,
    }
}

/// Parses year, month and day; also returns the text after them.
fn date(text: &str) -> Option<(i64, u8, u8, &str)> {
    let mut numbers: Vec<(i64, usize, char)> = Vec::new();
    let mut month = None;
    let mut at = 0;
    let bytes = text.as_bytes();
    while at < text.len() && numbers.len() + usize::from(month.is_some()) < 3 {
        let rest = text.get(at..)?;
        let first = rest.chars().next()?;
        if first.is_ascii_digit() {
            let n_digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            if 4 < n_digits {
                return None;
            }
            // A number before a colon is a time, which may be before the date; it is skipped.
            let after = bytes.get(at + n_digits).copied().map_or(' ', char::from);
            if after == ':' {
                at += rest.find([' ', ',']).unwrap_or(rest.len());
                continue;
            }
            numbers.push((rest.get(..n_digits)?.parse().ok()?, n_digits, after));
            at += n_digits;
        } else if first.is_alphabetic() {
            let word: String = rest.chars().take_while(|c| c.is_alphabetic()).collect();
            if 3 <= word.len() && month.is_none() {
                month = month_of(&word);
            }
            at += word.len();
        } else {
            at += first.len_utf8();
        }
    }
    let rest = text.get(at..).unwrap_or("");
    let year_of = |(year, n_digits, _): (i64, usize, char)| match n_digits {
        4 => Some(year),
        2 => Some(if year < 70 { 2000 + year } else { 1900 + year }),
        _ => None,
    };
    let small = |(number, n_digits, _): (i64, usize, char)| {
        if n_digits <= 2 { u8::try_from(number).ok() } else { None }
    };
    match (numbers.as_slice(), month) {
        // Forms: 2 January 2006, January 2, 2006, 2006 January 2
        (&[a, b], Some(month)) if a.1 == 4 => Some((year_of(a)?, month, small(b)?, rest)),
        (&[a, b], Some(month)) => Some((year_of(b)?, month, small(a)?, rest)),
        // Forms: 2006-01-02, 2006/01/02
        (&[a, b, c], None) if a.1 == 4 => Some((year_of(a)?, small(b)?, small(c)?, rest)),
        // Form: 02.01.2006
        (&[a, b, c], None) if c.1 == 4 || a.2 == '.' => {
            let (first, second) = (small(a)?, small(b)?);
            let is_american = a.2 == '/' && 12 < second;
            let is_unclear = a.2 == '/' && first <= 12 && second <= 12 && first != second;
            if is_unclear {
                return None;
            }
            let (day, month) = if is_american { (second, first) } else { (first, second) };
            Some((year_of(c)?, month, day, rest))
        }
        _ => None,
    }
}

/// Returns the month that a word names, in full or by its first letters.
pub(crate) fn month_of(word: &str) -> Option<u8> {
    // Stems with which other words begin, too, and the continuations that make them months.
    const LONGER: &[(&str, &[&str])] = &[
        ("pro", &["prosin"]),
        ("des", &["desem"]),
        ("set", &["sette", "setem"]),
        ("gen", &["genna"]),
        ("led", &["leden", "ledna"]),
        ("dub", &["duben", "dubna"]),
        ("lis", &["listop"]),
        ("lip", &["lipi", "lipc"]),
        ("out", &["outub"]),
        ("mag", &["maggi"]),
        ("pa\u{17a}", &["pa\u{17a}d"]),
        ("mar", &["march", "marzo", "mars", "marca", "marzec", "mar\u{e7}o", "marts"]),
        ("maa", &["maart"]),
        ("sie", &["sierp"]),
        ("gru", &["grud"]),
        ("cze", &["czerw"]),
        ("sty", &["stycz"]),
        ("lut", &["lut"]),
    ];
    let lower = word.to_lowercase();
    if let Some((stem, longer)) = LONGER.iter().find(|(stem, _)| lower.starts_with(stem))
        && lower != *stem
        && !longer.iter().any(|start| lower.starts_with(start))
    {
        return None;
    }
    let found = MONTHS.iter().filter(|(start, _)| lower.starts_with(start));
    found.max_by_key(|(start, _)| start.len()).map(|(_, month)| *month)
}

/// Parses a time of day; returns its seconds and the offset of its time zone in seconds.
fn time(text: &str) -> (i64, i64) {
    let Some(colon) = text.find(':') else { return (0, 0) };
    let before = text.get(..colon).unwrap_or("");
    let n_digits = before.bytes().rev().take_while(u8::is_ascii_digit).count();
    let number = |text: &str| -> i64 {
        let digits: String = text.chars().take_while(char::is_ascii_digit).take(2).collect();
        digits.parse().unwrap_or(0)
    };
    let mut hours = number(before.get(before.len() - n_digits..).unwrap_or(""));
    let rest = text.get(colon + 1..).unwrap_or("");
    let minutes = number(rest);
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let (seconds, rest) = match rest.strip_prefix(':') {
        Some(rest) => {
            (number(rest), rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.'))
        }
        None => (0, rest),
    };
    let rest = rest.trim();
    let lower = rest.to_ascii_lowercase();
    if lower.starts_with("pm") || lower.starts_with("p.m") {
        hours = if hours < 12 { hours + 12 } else { hours };
    } else if lower.starts_with("am") || lower.starts_with("a.m") {
        hours %= 12;
    }
    let seconds = hours.min(23) * 3600 + minutes.min(59) * 60 + seconds.min(59);
    let offset = match rest.find(['+', '-', '\u{2212}']) {
        Some(at) if at <= 5 => {
            let sign =
                if rest.get(at..).is_some_and(|rest| rest.starts_with('+')) { 1 } else { -1 };
            let digits: String = rest.chars().filter(char::is_ascii_digit).take(4).collect();
            let number: i64 = digits.parse().unwrap_or(0);
            let (hours, minutes) =
                if digits.len() <= 2 { (number, 0) } else { (number / 100, number % 100) };
            if hours <= 14 { sign * (hours * 3600 + minutes.min(59) * 60) } else { 0 }
        }
        _ => 0,
    };
    (seconds, offset)
}

/// Returns the number of days since 1970-01-01; the year 0 is a mistake on a page.
fn days_of(year: i64, month: u8, day: u8) -> Option<i64> {
    let date = CalendarDate { year, month: month.into(), day: day.into() };
    date.days_since_epoch().filter(|_| 1 <= year)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_date_formats_of_sites() {
        for (text, wanted) in [
            ("2020-01-27", "2020-01-27T00:00:00Z"),
            ("2020-01-27T15:04:05+01:00", "2020-01-27T14:04:05Z"),
            ("2020-01-27T15:04:05+0100", "2020-01-27T14:04:05Z"),
            ("2020-01-27 15:04", "2020-01-27T15:04:00Z"),
            ("2020/01/27", "2020-01-27T00:00:00Z"),
            ("Mon, 27 Jan 2020 15:04:05 GMT", "2020-01-27T15:04:05Z"),
            ("January 27, 2020", "2020-01-27T00:00:00Z"),
            ("January 27, 2020 3:04 pm", "2020-01-27T15:04:00Z"),
            ("27. Januar 2020", "2020-01-27T00:00:00Z"),
            ("27 de enero de 2020", "2020-01-27T00:00:00Z"),
            ("27 janvier 2020", "2020-01-27T00:00:00Z"),
            ("27 stycznia 2020", "2020-01-27T00:00:00Z"),
            ("mardi 9 juin 2020", "2020-06-09T00:00:00Z"),
            ("martes 9 de junio de 2020", "2020-06-09T00:00:00Z"),
            ("Designed 5 June 2020", "2020-06-05T00:00:00Z"),
            ("27.01.2020, 15:04 Uhr", "2020-01-27T15:04:00Z"),
            ("27.1.20", "2020-01-27T00:00:00Z"),
            ("01/27/2020", "2020-01-27T00:00:00Z"),
            ("27/01/2020", "2020-01-27T00:00:00Z"),
            ("20200127", "2020-01-27T00:00:00Z"),
            ("1580137445", "2020-01-27T15:04:05Z"),
            ("1580137445000", "2020-01-27T15:04:05Z"),
        ] {
            assert_eq!(parse(text).map(|time| time.to_string()).as_deref(), Some(wanted), "{text}");
        }
    }

    #[test]
    fn rejects_ambiguous_and_invalid_dates() {
        for text in [
            "",
            "today",
            "3 February",
            "01/02/2020",
            "2020-13-01",
            "2020-02-30",
            "1 2 3",
            "99999999",
            "0000-00-00",
            "Version 2.3.1",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
