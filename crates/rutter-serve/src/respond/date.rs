//! HTTP dates (RFC 9110, section 5.6.7): writes one format, parses three.
//!
//! A date is a number of seconds since 1970. An invalid date is `None`, and a condition with such a
//! date is ignored.

use crate::clock::LATEST;

use rutter_page::CalendarDate;

const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAY: i64 = 86_400;

/// Formats a date; dates outside of the years 1970 to 9999 are clamped.
pub(crate) fn write(seconds: i64) -> String {
    let seconds = seconds.clamp(0, LATEST);
    let (days, rest) = (seconds / DAY, seconds % DAY);
    let date = CalendarDate::from_days_since_epoch(days).expect("years from 1970 to 9999 only");
    let CalendarDate { year, month, day } = date;
    let name = |names: &[&'static str], at: i64| {
        usize::try_from(at).ok().and_then(|at| names.get(at).copied()).unwrap_or_default()
    };
    format!(
        "{}, {day:02} {} {year:04} {:02}:{:02}:{:02} GMT",
        name(&DAYS, days % 7),
        name(&MONTHS, month - 1),
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}

/// Parses a date in any of the three formats.
pub(crate) fn read(text: &str, now: i64) -> Option<i64> {
    let text = text.trim();
    if !text.is_ascii() {
        return None;
    }
    if let Some((_, rest)) = text.split_once(", ") {
        let mut words = rest.split(' ').filter(|word| !word.is_empty());
        let first = words.next()?;
        let (day, month, year) = if first.contains('-') {
            // Sunday, 06-Nov-94 08:49:37 GMT
            let mut parts = first.split('-');
            let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
            if parts.next().is_some() {
                return None;
            }
            (number(day, 2)?, month_of(month)?, near(number(year, 2)?, now))
        } else {
            // Sun, 06 Nov 1994 08:49:37 GMT
            (number(first, 2)?, month_of(words.next()?)?, number(words.next()?, 4)?)
        };
        let time = time_of(words.next()?)?;
        let is_whole = words.next() == Some("GMT") && words.next().is_none();
        return if is_whole { seconds(year, month, day, time) } else { None };
    }
    // Sun Nov  6 08:49:37 1994
    let mut words = text.split(' ').filter(|word| !word.is_empty());
    let weekday = words.next()?;
    if !DAYS.contains(&weekday) {
        return None;
    }
    let month = month_of(words.next()?)?;
    let day: i64 = number(words.next()?, 0)?;
    let time = time_of(words.next()?)?;
    let year = number(words.next()?, 4)?;
    if words.next().is_none() { seconds(year, month, day, time) } else { None }
}

/// Parses a number with exactly this many digits; one or two if `digits` is 0.
fn number(text: &str, digits: usize) -> Option<i64> {
    let is_long = if digits == 0 { (1..=2).contains(&text.len()) } else { text.len() == digits };
    (is_long && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

fn month_of(text: &str) -> Option<i64> {
    (1..).zip(MONTHS).find(|(_, name)| *name == text).map(|(month, _)| month)
}

fn time_of(text: &str) -> Option<i64> {
    let mut parts = text.split(':');
    let mut next = || number(parts.next()?, 2);
    let (hours, minutes, seconds) = (next()?, next()?, next()?);
    let is_time = hours < 24 && minutes < 60 && seconds <= 60 && parts.next().is_none();
    is_time.then_some(hours * 3600 + minutes * 60 + seconds)
}

/// Expands a year of two digits; the result is at most 50 years in the future (RFC 9110).
fn near(year: i64, now: i64) -> i64 {
    let today = CalendarDate::from_days_since_epoch(now.clamp(0, LATEST) / DAY);
    let this = today.expect("years from 1970 to 9999 only").year;
    let year = this / 100 * 100 + year;
    if this + 50 < year { year - 100 } else { year }
}

fn seconds(year: i64, month: i64, day: i64, time: i64) -> Option<i64> {
    Some(CalendarDate { year, month, day }.days_since_epoch()? * DAY + time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_one_form_and_parses_three() {
        let now = 1_800_000_000;
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
        ] {
            assert_eq!(read(text, now), Some(784_111_777), "{text}");
        }
        assert_eq!(write(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT");
        for days in (0..200_000).step_by(37) {
            let seconds = days * DAY + days % DAY;
            assert_eq!(read(&write(seconds), now), Some(seconds), "{}", write(seconds));
        }
        for bad in [
            "",
            "yesterday",
            "Sun, 06 Nov 1994 08:49:37",
            "Sun, 31 Feb 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 25:49:37 GMT",
            "Sun, 06 nov 1994 08:49:37 GMT",
            "784111777",
            "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 006 Nov 1994 08:49:37 GMT",
            "Sün, 1",
            "Sun, 06 Nov 1994 08:49:37 GMT GMT",
            "Sunday, 06-Nov-94-1 08:49:37 GMT",
        ] {
            assert_eq!(read(bad, now), None, "{bad}");
        }
        // 1990, because 2090 would be more than 50 years in the future.
        assert_eq!(read("Monday, 01-Jan-90 00:00:00 GMT", now), Some(631_152_000));
    }
}
