//! Timestamps: instants, not strings (D22).

use std::fmt;

use jiff::civil::DateTime;
use jiff::tz::Offset;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::text::Str;
use crate::wire::own_copy;

/// An instant, to the nanosecond.
///
/// Written as `YYYY-MM-DDTHH:MM:SSZ`; a fraction only where there is one,
/// because cutting it could make two versions of a page look equally old.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(jiff::Timestamp);

/// Why a text is not a timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TimeError {
    /// Not the form RFC 3339 asks for.
    #[error("not an RFC 3339 date-time")]
    Form,
    /// The form is right, but there is no such moment.
    #[error("no such date or time")]
    Range,
}

impl Timestamp {
    /// Reads an RFC 3339 date-time, any offset, lower-case `t` and `z` too.
    ///
    /// A leap second (`:60`) is read as the last nanosecond before it.
    ///
    /// ```
    /// # use rutter_page::Timestamp;
    /// let noon = Timestamp::parse("2026-05-01T14:00:00+02:00").unwrap();
    /// assert_eq!(noon, Timestamp::parse("2026-05-01T12:00:00Z").unwrap());
    /// assert_eq!(noon.to_string(), "2026-05-01T12:00:00Z");
    /// ```
    pub fn parse(text: &str) -> Result<Self, TimeError> {
        let (civil, rest) = civil(text)?;
        instant(civil, offset(rest)?)
    }

    /// Reads what readers may meet: also a date alone, or no zone, as UTC.
    ///
    /// The flag tells whether the form was a proper RFC 3339 date-time.
    pub fn parse_lenient(text: &str) -> Result<(Self, bool), TimeError> {
        if let Ok(time) = Self::parse(text) {
            return Ok((time, true));
        }
        let text = text.trim().replacen(' ', "T", 1);
        let text = text.as_str();
        let (civil, rest) = match text.len() {
            10 => civil(&format!("{text}T00:00:00")).map(|(civil, _)| (civil, ""))?,
            _ => civil(text)?,
        };
        let minutes = if rest.is_empty() { 0 } else { offset(rest)? };
        Ok((instant(civil, minutes)?, false))
    }

    /// Whole seconds since 1970, rounded down.
    pub fn unix_seconds(self) -> i64 {
        let nanos = self.0.as_nanosecond();
        i64::try_from(nanos.div_euclid(1_000_000_000)).unwrap_or(i64::MAX)
    }

    /// The instant that many seconds after 1970; `None` outside the calendar.
    pub fn from_unix_seconds(seconds: i64) -> Option<Self> {
        jiff::Timestamp::from_second(seconds).ok().map(Self)
    }

    /// Nanoseconds since 1970.
    pub fn as_nanos(self) -> i128 {
        self.0.as_nanosecond()
    }

    /// The instant that many nanoseconds after 1970; `None` outside the calendar.
    pub fn from_nanos(nanos: i128) -> Option<Self> {
        jiff::Timestamp::from_nanosecond(nanos).ok().map(Self)
    }

    /// This instant shifted by whole seconds, held inside the calendar.
    #[must_use]
    pub fn plus_seconds(self, seconds: i64) -> Self {
        let span = jiff::SignedDuration::from_secs(seconds);
        let end = if seconds < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
        Self(self.0.checked_add(span).unwrap_or(end))
    }

    /// Seconds from `earlier` to `self`; negative where it is later.
    pub fn seconds_since(self, earlier: Self) -> i64 {
        self.0.duration_since(earlier.0).as_secs()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let civil = Offset::UTC.to_datetime(self.0);
        write!(
            f,
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
            civil.year(),
            civil.month(),
            civil.day(),
            civil.hour(),
            civil.minute(),
            civil.second()
        )?;
        let nanos = civil.subsec_nanosecond();
        if nanos != 0 {
            let fraction = format!("{nanos:09}");
            write!(f, ".{}", fraction.trim_end_matches('0'))?;
        }
        f.write_str("Z")
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Str::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

own_copy!(Timestamp);

/// Reads `YYYY-MM-DDTHH:MM:SS[.fraction]` and gives what follows it.
fn civil(text: &str) -> Result<(DateTime, &str), TimeError> {
    let Some((fixed, mut rest)) = text.split_at_checked(19) else { return Err(TimeError::Form) };
    let bytes = fixed.as_bytes();
    let shape = b"0000-00-00T00:00:00";
    for (&byte, &wanted) in bytes.iter().zip(shape) {
        let fits = match wanted {
            b'0' => byte.is_ascii_digit(),
            b'T' => matches!(byte, b'T' | b't'),
            _ => byte == wanted,
        };
        if !fits {
            return Err(TimeError::Form);
        }
    }
    let number = |range: std::ops::Range<usize>| -> i16 {
        fixed.get(range).and_then(|digits| digits.parse().ok()).unwrap_or(0)
    };
    let small = |start: usize| i8::try_from(number(start..start + 2)).unwrap_or(0);
    let mut nanos = 0_i32;
    if let Some(fraction) = rest.strip_prefix('.') {
        let n_digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
        if n_digits == 0 {
            return Err(TimeError::Form);
        }
        let (digits, after) = fraction.split_at(n_digits);
        for position in 0..9 {
            let digit = digits.as_bytes().get(position).map_or(0, |byte| i32::from(byte - b'0'));
            nanos = nanos * 10 + digit;
        }
        rest = after;
    }
    let (mut second, is_leap) = (small(17), small(17) == 60);
    if is_leap {
        (second, nanos) = (59, 999_999_999);
    }
    let civil =
        DateTime::new(number(0..4), small(5), small(8), small(11), small(14), second, nanos)
            .map_err(|_| TimeError::Range)?;
    Ok((civil, rest))
}

/// Reads `Z` or `±HH:MM` and gives it in minutes.
fn offset(text: &str) -> Result<i32, TimeError> {
    if matches!(text, "Z" | "z") {
        return Ok(0);
    }
    let &[sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] = text.as_bytes() else {
        return Err(TimeError::Form);
    };
    if ![h1, h2, m1, m2].iter().all(u8::is_ascii_digit) {
        return Err(TimeError::Form);
    }
    let pair = |tens: u8, ones: u8| i32::from(tens - b'0') * 10 + i32::from(ones - b'0');
    let (hours, minutes) = (pair(h1, h2), pair(m1, m2));
    if 23 < hours || 59 < minutes {
        return Err(TimeError::Range);
    }
    let total = hours * 60 + minutes;
    Ok(if sign == b'-' { -total } else { total })
}

fn instant(civil: DateTime, offset_minutes: i32) -> Result<Timestamp, TimeError> {
    let offset = Offset::from_seconds(offset_minutes * 60).map_err(|_| TimeError::Range)?;
    offset.to_timestamp(civil).map(Timestamp).map_err(|_| TimeError::Range)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SCP-078 SCP-087
    fn spec_rfc_3339_forms() {
        for (text, wanted) in [
            ("2025-01-15T09:00:00Z", "2025-01-15T09:00:00Z"),
            ("2025-01-15t09:00:00z", "2025-01-15T09:00:00Z"),
            ("2025-01-15T09:00:00.250Z", "2025-01-15T09:00:00.25Z"),
            ("2025-01-15T09:00:00+02:00", "2025-01-15T07:00:00Z"),
            ("2024-02-29T23:59:60Z", "2024-02-29T23:59:59.999999999Z"),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ] {
            assert_eq!(Timestamp::parse(text).unwrap().to_string(), wanted, "{text}");
        }
    }

    #[test] // SCP-078
    fn spec_other_forms_are_refused() {
        for text in [
            "",
            "2025-01-15",
            "2025-01-15T09:00:00",
            "2025-13-15T09:00:00Z",
            "2025-02-30T09:00:00Z",
            "2025-01-15T24:00:00Z",
            "2025-01-15T09:00:61Z",
            "2025-01-15T09:00:00.Z",
            "2025-01-15T09:00:00+2",
            "2025-01-15T09:00:00+24:00",
            "2025-01-15T09:00:00Z ",
            "yesterday",
            "２０２５-01-15T09:00:00Z",
        ] {
            assert!(Timestamp::parse(text).is_err(), "{text}");
        }
    }

    #[test] // D22
    fn ours_lenient_takes_dates_and_zoneless_times_as_utc() {
        for text in
            ["2025-01-15", "2025-01-15T00:00:00", " 2025-01-15T00:00:00.0 ", "2025-01-15 00:00:00Z"]
        {
            let (time, is_proper) = Timestamp::parse_lenient(text).unwrap();
            assert_eq!(time.to_string(), "2025-01-15T00:00:00Z", "{text}");
            assert!(!is_proper, "{text}");
        }
        assert!(Timestamp::parse_lenient("soon").is_err());
    }

    #[test]
    fn ours_arithmetic_stays_inside_the_calendar() {
        let late = Timestamp::parse("9999-12-30T00:00:00Z").unwrap();
        assert!(late < late.plus_seconds(i64::MAX));
        assert_eq!(late.plus_seconds(5).seconds_since(late), 5);
        assert_eq!(Timestamp::from_unix_seconds(1).unwrap().unix_seconds(), 1);
    }
}
