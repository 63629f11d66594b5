//! Formatting of times with `strftime` in the C locale, for chat templates.

use std::time::Duration;

use mind_jinja::Error;

/// A UTC time in the Gregorian calendar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Moment {
    year: i64,
    /// From 1.
    month: usize,
    /// From 1.
    day: usize,
    /// From 1.
    day_of_year: usize,
    /// From 0 (Sunday).
    weekday: usize,
    second_of_day: usize,
}

const DAY: u64 = 86_400;

const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_of_month(year: i64, month: usize) -> usize {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl Moment {
    /// Returns the time `since` 1970-01-01; times after the year 9999 are clamped to its end.
    fn after_1970(since: Duration) -> Moment {
        const LAST: u64 = 253_402_300_799;
        let seconds = since.as_secs().min(LAST);
        let (mut days, second_of_day) = ((seconds / DAY) as usize, (seconds % DAY) as usize);
        // 1970-01-01 was a Thursday.
        let weekday = (days + 4) % 7;
        let mut year = 1970;
        let length = |year: i64| if is_leap(year) { 366 } else { 365 };
        while days >= length(year) {
            days -= length(year);
            year += 1;
        }
        let day_of_year = days + 1;
        let mut month = 1;
        while days >= days_of_month(year, month) {
            days -= days_of_month(year, month);
            month += 1;
        }
        Moment {
            year,
            month,
            day: days + 1,
            day_of_year,
            weekday,
            second_of_day,
        }
    }

    /// Returns the text of a conversion specifier; `None` if it is unknown.
    fn word(self, letter: char) -> Option<String> {
        let Moment {
            year,
            month,
            day,
            day_of_year,
            weekday,
            second_of_day,
        } = self;
        let (hour, minute, second) = (
            second_of_day / 3600,
            second_of_day / 60 % 60,
            second_of_day % 60,
        );
        let (day_name, month_name) = (DAYS[weekday], MONTHS[month - 1]);
        let half = if hour < 12 { "AM" } else { "PM" };
        let of_twelve = (hour + 11) % 12 + 1;
        Some(match letter {
            'a' => day_name[..3].to_owned(),
            'A' => day_name.to_owned(),
            'b' | 'h' => month_name[..3].to_owned(),
            'B' => month_name.to_owned(),
            'c' => format!(
                "{} {} {day:2} {hour:02}:{minute:02}:{second:02} {year}",
                &day_name[..3],
                &month_name[..3]
            ),
            'd' => format!("{day:02}"),
            'D' | 'x' => format!("{month:02}/{day:02}/{:02}", year % 100),
            'e' => format!("{day:2}"),
            'F' => format!("{year}-{month:02}-{day:02}"),
            'H' => format!("{hour:02}"),
            'I' => format!("{of_twelve:02}"),
            'j' => format!("{day_of_year:03}"),
            'm' => format!("{month:02}"),
            'M' => format!("{minute:02}"),
            'n' => "\n".to_owned(),
            'p' => half.to_owned(),
            'R' => format!("{hour:02}:{minute:02}"),
            'S' => format!("{second:02}"),
            't' => "\t".to_owned(),
            'T' | 'X' => format!("{hour:02}:{minute:02}:{second:02}"),
            'u' => ((weekday + 6) % 7 + 1).to_string(),
            'w' => weekday.to_string(),
            'y' => format!("{:02}", year % 100),
            'Y' => year.to_string(),
            'z' => "+0000".to_owned(),
            'Z' => "UTC".to_owned(),
            '%' => "%".to_owned(),
            _ => return None,
        })
    }
}

/// Formats the time `since` 1970-01-01 UTC.
///
/// # Errors
///
/// A conversion specifier is unknown.
pub(crate) fn strftime(since: Duration, format: &str) -> Result<String, Error> {
    let moment = Moment::after_1970(since);
    let mut text = String::new();
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            text.push(letter);
            continue;
        }
        let mut own = letters.next();
        let is_short = own == Some('-');
        if is_short {
            own = letters.next();
        }
        let word = own.and_then(|own| moment.word(own)).ok_or_else(|| {
            let own = own.map_or(String::new(), String::from);
            Error::new(format!("strftime_now has no `%{own}`"))
        })?;
        if !is_short {
            text.push_str(&word);
            continue;
        }
        let short = word.trim_start_matches(['0', ' ']);
        text.push_str(if short.is_empty() { "0" } else { short });
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64, format: &str) -> String {
        strftime(Duration::from_secs(seconds), format).unwrap_or_else(|why| panic!("{why}"))
    }

    #[test]
    fn moments_are_written_as_their_format_says() {
        assert_eq!(at(0, "%A %F %T %p"), "Thursday 1970-01-01 00:00:00 AM");
        // 2024-02-29 13:05:09, a Thursday.
        let leap = 1_709_211_909;
        assert_eq!(at(leap, "%d %b %Y"), "29 Feb 2024");
        assert_eq!(
            at(leap, "%-d %B %y, %I:%M %p, %-H h"),
            "29 February 24, 01:05 PM, 13 h"
        );
        assert_eq!(at(leap, "%j %u %w %a %e|%%"), "060 4 4 Thu 29|%");
        assert_eq!(
            at(leap + 86_400, "%c%n%-j %-S"),
            "Fri Mar  1 13:05:09 2024\n61 9"
        );
        assert_eq!(at(4_107_542_399, "%D %Z"), "02/28/00 UTC");
        assert_eq!(at(u64::MAX, "%x %X"), "12/31/99 23:59:59");
        assert_eq!(at(0, "%-M"), "0");
    }

    #[test]
    fn letters_that_stand_for_nothing_are_refused() {
        for format in ["%", "%-", "%Q", "a %-"] {
            assert!(strftime(Duration::ZERO, format).is_err(), "{format}");
        }
    }
}
