//! Reads and writes dates of the W3C profile of ISO 8601 without allocating memory.

use rutter_page::{CalendarDate, Timestamp};

/// A parsed `lastmod`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ParsedDate {
    pub(super) time: Timestamp,
    /// Whether the text is a date without a time of day.
    pub(super) is_day: bool,
    /// Whether the text has a time of day without zone; UTC is assumed.
    pub(super) is_local: bool,
}

/// Parses `YYYY`, `YYYY-MM`, `YYYY-MM-DD`, or a full date with a time (minutes,
/// optional seconds and fraction) and a zone.
pub(super) fn read(text: &str) -> Option<ParsedDate> {
    let mut rest = text.as_bytes();
    let year = parse_digits::<4>(&mut rest)?;
    let (mut month, mut day) = (1, 1);
    if skip(&mut rest, b'-') {
        month = parse_digits::<2>(&mut rest)?;
        if skip(&mut rest, b'-') {
            day = parse_digits::<2>(&mut rest)?;
        }
    }
    let midnight = CalendarDate { year, month, day }.days_since_epoch()? * 86_400;
    if rest.is_empty() {
        return build_date(midnight, 0, true, false);
    }
    if text.len() - rest.len() != 10 || !(skip(&mut rest, b'T') || skip(&mut rest, b't')) {
        return None;
    }
    let hour = parse_digits::<2>(&mut rest)?;
    skip(&mut rest, b':').then_some(())?;
    let minute = parse_digits::<2>(&mut rest)?;
    let (mut second, mut nanos) = (0, 0);
    if skip(&mut rest, b':') {
        second = parse_digits::<2>(&mut rest)?;
        if skip(&mut rest, b'.') {
            nanos = parse_fraction(&mut rest)?;
        }
    }
    // A leap second counts as the second before the leap second.
    second = if second == 60 { 59 } else { second };
    if 23 < hour || 59 < minute || 59 < second {
        return None;
    }
    let (offset, is_local) = match rest {
        [] => (0, true),
        b"Z" | b"z" => (0, false),
        [sign @ (b'+' | b'-'), zone @ ..] => {
            let mut zone = zone;
            let hours = parse_digits::<2>(&mut zone)?;
            skip(&mut zone, b':').then_some(())?;
            let minutes = parse_digits::<2>(&mut zone)?;
            if !zone.is_empty() || 23 < hours || 59 < minutes {
                return None;
            }
            let offset = hours * 3600 + minutes * 60;
            (if *sign == b'-' { -offset } else { offset }, false)
        }
        _ => return None,
    };
    build_date(midnight + hour * 3600 + minute * 60 + second - offset, nanos, false, is_local)
}

fn build_date(seconds: i64, nanos: u32, is_day: bool, is_local: bool) -> Option<ParsedDate> {
    let time = match nanos {
        0 => Timestamp::from_unix_seconds(seconds)?,
        _ => Timestamp::from_nanos(i128::from(seconds) * 1_000_000_000 + i128::from(nanos))?,
    };
    Some(ParsedDate { time, is_day, is_local })
}

fn parse_digits<const N: usize>(rest: &mut &[u8]) -> Option<i64> {
    let (digits, after) = rest.split_first_chunk::<N>()?;
    let mut number = 0;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        number = number * 10 + i64::from(digit - b'0');
    }
    *rest = after;
    Some(number)
}

fn skip(rest: &mut &[u8], byte: u8) -> bool {
    match rest {
        [first, after @ ..] if *first == byte => {
            *rest = after;
            true
        }
        _ => false,
    }
}

/// Parses a fraction of a second; digits after the ninth are ignored.
fn parse_fraction(rest: &mut &[u8]) -> Option<u32> {
    let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, after) = rest.split_at_checked(length).filter(|_| 0 < length)?;
    *rest = after;
    let digit = |at: usize| digits.get(at).map_or(0, |byte| u32::from(byte - b'0'));
    Some((0..9).fold(0, |nanos, at| nanos * 10 + digit(at)))
}

/// Writes a date or, if `is_day` is false, a date-time in UTC; a fraction of zero is omitted.
pub(super) fn write(time: Timestamp, is_day: bool, out: &mut Vec<u8>) {
    let seconds = time.unix_seconds();
    let date = CalendarDate::from_days_since_epoch(seconds.div_euclid(86_400));
    let CalendarDate { year, month, day } = date.expect("a timestamp has a year from 0 to 9999");
    let [y1, y2] = two_digits(year / 100);
    let [y3, y4] = two_digits(year % 100);
    let ([m1, m2], [d1, d2]) = (two_digits(month), two_digits(day));
    out.extend([y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2]);
    if is_day {
        return;
    }
    let second = seconds.rem_euclid(86_400);
    let ([h1, h2], [n1, n2]) = (two_digits(second / 3600), two_digits(second / 60 % 60));
    let [s1, s2] = two_digits(second % 60);
    out.extend([b'T', h1, h2, b':', n1, n2, b':', s1, s2]);
    let mut nanos = time.as_nanos().rem_euclid(1_000_000_000);
    if nanos != 0 {
        out.push(b'.');
        while nanos != 0 {
            out.push(digit(i64::try_from(nanos / 100_000_000).unwrap_or(0)));
            nanos = nanos % 100_000_000 * 10;
        }
    }
    out.push(b'Z');
}

fn two_digits(number: i64) -> [u8; 2] {
    [digit(number / 10 % 10), digit(number % 10)]
}

fn digit(number: i64) -> u8 {
    b'0' + u8::try_from(number).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(time: Timestamp, is_day: bool) -> String {
        let mut out = Vec::new();
        write(time, is_day, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test] // D91
    fn reads_all_forms_of_the_w3c_profile() {
        for (text, wanted, is_day, is_local) in [
            ("2005", "2005-01-01", true, false),
            ("2005-02", "2005-02-01", true, false),
            ("2004-02-29", "2004-02-29", true, false),
            ("2005-01-02T03:04Z", "2005-01-02T03:04:00Z", false, false),
            ("2005-01-02T03:04+02:00", "2005-01-02T01:04:00Z", false, false),
            ("2005-01-02T03:04:05-01:30", "2005-01-02T04:34:05Z", false, false),
            ("2005-01-02T03:04:05.250Z", "2005-01-02T03:04:05.25Z", false, false),
            ("2005-01-02T03:04:05.1234567891Z", "2005-01-02T03:04:05.123456789Z", false, false),
            ("2005-01-02T03:04:05", "2005-01-02T03:04:05Z", false, true),
        ] {
            let read = read(text).unwrap();
            assert_eq!((read.is_day, read.is_local), (is_day, is_local), "{text}");
            assert_eq!(written(read.time, read.is_day), wanted, "{text}");
        }
    }

    #[test]
    fn rejects_other_forms() {
        for text in [
            "",
            "yesterday",
            "2024-13-45",
            "2023-02-29",
            "2026-04-28T25:00",
            "2026-04-28T12",
            "2026-04-28T12:00:61Z",
            "2026-04-28T12:00:00.Z",
            "2026-04-28T12:00:00+2",
            "2026-04-28 12:00",
            "2026-04-28TZ",
            "2026T12:00Z",
            "28.04.2026",
            "２０２６",
            "0000-01-01T00:00+23:00",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn reads_back_every_written_day() {
        for days in (-719_528..=2_932_896).step_by(17) {
            let time = Timestamp::from_unix_seconds(days * 86_400 + 86_399).unwrap();
            let text = written(time, false);
            assert_eq!(text, time.to_string());
            assert_eq!(read(&text).unwrap().time, time);
        }
    }
}
