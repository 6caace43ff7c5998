//! Gregorian calendar: converts dates to days since 1970-01-01, and back.
//!
//! All crates use this module, so that a date has one meaning everywhere. Rejects dates that do not
//! exist and years outside 0 to 9999.

use jiff::SignedDuration;
use jiff::civil::{Date, date};

const SECONDS_PER_DAY: i64 = 86_400;

/// A day of the Gregorian calendar, with a year from 0 to 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CalendarDate {
    /// The year, from 0 to 9999.
    pub year: i64,
    /// The month, from 1 to 12.
    pub month: i64,
    /// The day of the month, from 1 to 31.
    pub day: i64,
}

impl CalendarDate {
    const EPOCH: Date = date(1970, 1, 1);

    /// Returns the days from 1970-01-01 to this date; `None` if the date does not exist.
    ///
    /// ```
    /// # use rutter_page::CalendarDate;
    /// let leap_day = CalendarDate { year: 2024, month: 2, day: 29 };
    /// assert_eq!(leap_day.days_since_epoch(), Some(19_782));
    /// assert_eq!(CalendarDate { year: 2023, ..leap_day }.days_since_epoch(), None);
    /// ```
    #[inline]
    pub fn days_since_epoch(self) -> Option<i64> {
        let year = i16::try_from(self.year).ok().filter(|year| (0..=9999).contains(year))?;
        let (month, day) = (i8::try_from(self.month).ok()?, i8::try_from(self.day).ok()?);
        let date = Date::new(year, month, day).ok()?;
        Some(date.duration_since(Self::EPOCH).as_secs() / SECONDS_PER_DAY)
    }

    /// Returns the date that is `days` days after 1970-01-01; `None` outside the years 0 to 9999.
    #[inline]
    pub fn from_days_since_epoch(days: i64) -> Option<Self> {
        let duration = SignedDuration::from_secs(days.checked_mul(SECONDS_PER_DAY)?);
        let date = Self::EPOCH.checked_add(duration).ok().filter(|date| 0 <= date.year())?;
        Some(Self { year: date.year().into(), month: date.month().into(), day: date.day().into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days_in(year: i64, month: i64) -> i64 {
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        match month {
            2 if is_leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }

    #[test]
    fn converts_every_day_of_the_calendar() {
        let mut date = CalendarDate { year: 0, month: 1, day: 1 };
        for days in -719_528..=2_932_896 {
            assert_eq!(CalendarDate::from_days_since_epoch(days), Some(date));
            assert_eq!(date.days_since_epoch(), Some(days));
            date.day += 1;
            if days_in(date.year, date.month) < date.day {
                (date.month, date.day) = (date.month + 1, 1);
            }
            if 12 < date.month {
                (date.year, date.month) = (date.year + 1, 1);
            }
        }
        assert_eq!(date, CalendarDate { year: 10_000, month: 1, day: 1 });
    }

    #[test]
    fn rejects_dates_that_do_not_exist() {
        for (year, month, day) in
            [(2023, 2, 29), (1900, 2, 29), (2024, 0, 1), (2024, 13, 1), (2024, 4, 31), (-1, 1, 1)]
        {
            assert_eq!(CalendarDate { year, month, day }.days_since_epoch(), None);
        }
        for days in [-719_529, 2_932_897, i64::MAX, i64::MIN] {
            assert_eq!(CalendarDate::from_days_since_epoch(days), None);
        }
    }
}
