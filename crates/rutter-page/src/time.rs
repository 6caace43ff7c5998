//! Timestamps: instants with nanoseconds, read from and written as RFC 3339 (D22).

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::calendar::CalendarDate;
use crate::text::CowStr;
use crate::wire::impl_into_owned_copy;

/// An instant with nanosecond precision.
///
/// Displayed as `YYYY-MM-DDTHH:MM:SSZ`, with a fraction if it is not zero, because two versions of
/// a page may differ only in the fraction. Years range from 0 to 9999, the range of four digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    /// Whole seconds since 1970, rounded down.
    seconds: i64,
    nanos: u32,
}

/// An error of [`Timestamp::parse`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TimeError {
    /// The text does not have the form of RFC 3339.
    #[error("not an RFC 3339 date-time")]
    Form,
    /// The form is right, but the date or time does not exist.
    #[error("no such date or time")]
    Range,
}

impl Timestamp {
    /// Parses an RFC 3339 date-time with any offset; `t` and `z` may be lower case.
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
        let (civil, rest) = parse_civil(text)?;
        to_timestamp(civil, parse_offset(rest)?)
    }

    /// Parses a date-time leniently: a date without a time and a time without a zone are accepted
    /// and taken as UTC.
    ///
    /// The returned flag is `true` if the text is an RFC 3339 date-time.
    pub fn parse_lenient(text: &str) -> Result<(Self, bool), TimeError> {
        if let Ok(time) = Self::parse(text) {
            return Ok((time, true));
        }
        let text = text.trim().replacen(' ', "T", 1);
        let text = text.as_str();
        let (civil, rest) = match text.len() {
            10 => parse_civil(&format!("{text}T00:00:00")).map(|(civil, _)| (civil, ""))?,
            _ => parse_civil(text)?,
        };
        let minutes = if rest.is_empty() { 0 } else { parse_offset(rest)? };
        Ok((to_timestamp(civil, minutes)?, false))
    }

    /// The first instant of the year 0.
    const FIRST: Self = Self { seconds: -62_167_219_200, nanos: 0 };
    /// The last instant of the year 9999.
    const LAST: Self = Self { seconds: 253_402_300_799, nanos: 999_999_999 };

    fn new(seconds: i64, nanos: u32) -> Option<Self> {
        let time = Self { seconds, nanos };
        (Self::FIRST..=Self::LAST).contains(&time).then_some(time)
    }

    /// Returns the whole seconds since 1970, rounded down.
    pub fn unix_seconds(self) -> i64 {
        self.seconds
    }

    /// Creates an instant from seconds since 1970; returns `None` outside the years 0 to 9999.
    pub fn from_unix_seconds(seconds: i64) -> Option<Self> {
        Self::new(seconds, 0)
    }

    /// Returns the nanoseconds since 1970.
    pub fn as_nanos(self) -> i128 {
        i128::from(self.seconds) * 1_000_000_000 + i128::from(self.nanos)
    }

    /// Creates an instant from nanoseconds since 1970; returns `None` outside the years 0 to 9999.
    pub fn from_nanos(nanos: i128) -> Option<Self> {
        let seconds = i64::try_from(nanos.div_euclid(1_000_000_000)).ok()?;
        Self::new(seconds, u32::try_from(nanos.rem_euclid(1_000_000_000)).ok()?)
    }

    /// Returns this instant shifted by whole seconds, clamped to the years 0 to 9999.
    #[must_use]
    pub fn plus_seconds(self, seconds: i64) -> Self {
        let shifted = Self { seconds: self.seconds.saturating_add(seconds), nanos: self.nanos };
        shifted.clamp(Self::FIRST, Self::LAST)
    }

    /// Returns the seconds from `earlier` to `self`; negative if `earlier` is later.
    pub fn seconds_since(self, earlier: Self) -> i64 {
        self.seconds - earlier.seconds
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, second) = (self.seconds.div_euclid(86_400), self.seconds.rem_euclid(86_400));
        let date = CalendarDate::from_days_since_epoch(days).expect("years from 0 to 9999 only");
        let CalendarDate { year, month, day } = date;
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if self.nanos != 0 {
            let fraction = format!("{:09}", self.nanos);
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
        let text = CowStr::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

impl_into_owned_copy!(Timestamp);

/// A date and time without a zone, as seconds since 1970 in UTC.
#[derive(Clone, Copy)]
struct CivilTime {
    seconds: i64,
    nanos: u32,
}

/// Parses `YYYY-MM-DDTHH:MM:SS[.fraction]`; returns the rest of the text too.
fn parse_civil(text: &str) -> Result<(CivilTime, &str), TimeError> {
    let Some((fixed, mut rest)) = text.split_at_checked(19) else { return Err(TimeError::Form) };
    let shape = b"0000-00-00T00:00:00";
    for (&byte, &wanted) in fixed.as_bytes().iter().zip(shape) {
        let fits = match wanted {
            b'0' => byte.is_ascii_digit(),
            b'T' => matches!(byte, b'T' | b't'),
            _ => byte == wanted,
        };
        if !fits {
            return Err(TimeError::Form);
        }
    }
    let number = |start: usize, end: usize| -> i64 {
        fixed.get(start..end).and_then(|digits| digits.parse().ok()).unwrap_or(0)
    };
    let mut nanos = 0;
    if let Some(fraction) = rest.strip_prefix('.') {
        let n_digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
        if n_digits == 0 {
            return Err(TimeError::Form);
        }
        let (digits, after) = fraction.split_at(n_digits);
        for position in 0..9 {
            let digit = digits.as_bytes().get(position).map_or(0, |byte| u32::from(byte - b'0'));
            nanos = nanos * 10 + digit;
        }
        rest = after;
    }
    let (year, month, day) = (number(0, 4), number(5, 7), number(8, 10));
    let (hour, minute, mut second) = (number(11, 13), number(14, 16), number(17, 19));
    if second == 60 {
        (second, nanos) = (59, 999_999_999);
    }
    let days = CalendarDate { year, month, day }.days_since_epoch().ok_or(TimeError::Range)?;
    if 23 < hour || 59 < minute || 59 < second {
        return Err(TimeError::Range);
    }
    Ok((CivilTime { seconds: ((days * 24 + hour) * 60 + minute) * 60 + second, nanos }, rest))
}

/// Parses `Z` or `±HH:MM`; returns the offset in minutes.
fn parse_offset(text: &str) -> Result<i64, TimeError> {
    if matches!(text, "Z" | "z") {
        return Ok(0);
    }
    let &[sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] = text.as_bytes() else {
        return Err(TimeError::Form);
    };
    if ![h1, h2, m1, m2].iter().all(u8::is_ascii_digit) {
        return Err(TimeError::Form);
    }
    let pair = |tens: u8, ones: u8| i64::from(tens - b'0') * 10 + i64::from(ones - b'0');
    let (hours, minutes) = (pair(h1, h2), pair(m1, m2));
    if 23 < hours || 59 < minutes {
        return Err(TimeError::Range);
    }
    let total = hours * 60 + minutes;
    Ok(if sign == b'-' { -total } else { total })
}

fn to_timestamp(civil: CivilTime, offset_minutes: i64) -> Result<Timestamp, TimeError> {
    // The offset may shift the time out of the years 0 to 9999.
    Timestamp::new(civil.seconds - offset_minutes * 60, civil.nanos).ok_or(TimeError::Range)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SCP-078 SCP-087
    fn parses_rfc_3339_date_times() {
        for (text, wanted) in [
            ("2025-01-15T09:00:00Z", "2025-01-15T09:00:00Z"),
            ("2025-01-15t09:00:00z", "2025-01-15T09:00:00Z"),
            ("2025-01-15T09:00:00.250Z", "2025-01-15T09:00:00.25Z"),
            ("2025-01-15T09:00:00+02:00", "2025-01-15T07:00:00Z"),
            ("2024-02-29T23:59:60Z", "2024-02-29T23:59:59.999999999Z"),
            ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
            ("9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999999999Z"),
            ("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.5Z"),
        ] {
            assert_eq!(Timestamp::parse(text).unwrap().to_string(), wanted, "{text}");
        }
    }

    #[test] // SCP-078
    fn rejects_other_forms() {
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
            "0000-01-01T00:00:00+01:00",
            "２０２５-01-15T09:00:00Z",
        ] {
            assert!(Timestamp::parse(text).is_err(), "{text}");
        }
    }

    #[test] // D22
    fn lenient_parsing_takes_dates_and_zoneless_times_as_utc() {
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
    fn arithmetic_is_clamped_to_the_calendar() {
        let late = Timestamp::parse("9999-12-30T00:00:00Z").unwrap();
        assert!(late < late.plus_seconds(i64::MAX));
        assert_eq!(late.plus_seconds(5).seconds_since(late), 5);
        assert_eq!(Timestamp::from_unix_seconds(1).unwrap().unix_seconds(), 1);
        // `date -u -d @1793491200`
        let date = Timestamp::from_unix_seconds(1_793_491_200).unwrap();
        assert_eq!(date.to_string(), "2026-11-01T00:00:00Z");
    }
}
