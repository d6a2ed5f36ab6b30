//! The five fields of cron, checked before the cron library parses them.
//!
//! The library accepts much more than the usual forms (seconds, years, `@daily`, `L`, `W`, `#`,
//! `?`, `+`), it replaces names by numbers in every field, and its errors do not say what is
//! expected.

use crate::schedules::got;

/// The longest expression, in bytes.
const LONGEST: usize = 200;

/// Fields that have passed the checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fields {
    /// The fields with numbers instead of names, for the library.
    pub(super) in_numbers: String,
    /// Minutes or hours start with `*`: the plan follows real time instead of fixed times of day.
    pub(super) is_real_time: bool,
    /// Both the day of the month and the day of the week must match. Otherwise one of them is
    /// enough.
    pub(super) both_days: bool,
}

/// What a field may contain.
struct Field {
    name: &'static str,
    first: u8,
    last: u8,
    /// The names of the numbers from `first` on.
    names: &'static [&'static str],
    forms: &'static str,
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const FIELDS: [Field; 5] = [
    Field {
        name: "minute",
        first: 0,
        last: 59,
        names: &[],
        forms: "0 to 59, a list (0,30), an ascending range (10-20) or a step (*/15, 10-40/5)",
    },
    Field {
        name: "hour",
        first: 0,
        last: 23,
        names: &[],
        forms: "0 to 23, a list (9,17), an ascending range (9-17) or a step (*/2, 8-18/2)",
    },
    Field {
        name: "day of month",
        first: 1,
        last: 31,
        names: &[],
        forms: "1 to 31, a list (1,15), an ascending range (1-7) or a step (*/2, 1-15/7)",
    },
    Field {
        name: "month",
        first: 1,
        last: 12,
        names: &MONTHS,
        forms: "1 to 12 or jan to dec, a list (3,sep), an ascending range (6-8) or a step (*/3)",
    },
    Field {
        name: "day of week",
        first: 0,
        last: 7,
        names: &WEEKDAYS,
        forms: "0 to 7 (0 and 7 are Sunday) or sun to sat, a list (mon,thu), \
                an ascending range (1-5) or a step (*/2)",
    },
];

/// Checks a whole expression, which has no blanks at its ends.
pub(super) fn checked(text: &str) -> Result<Fields, String> {
    if text.len() > LONGEST {
        return Err(format!("expected at most {LONGEST} bytes, got {}", text.len()));
    }
    let written = text.split([' ', '\t']).filter(|field| !field.is_empty()).collect::<Vec<_>>();
    let [minute, hour, day, _, weekday] = written[..] else {
        let expected = "expected the five fields minute, hour, day of month, month and \
                        day of week, like \"0 9 * * 1-5\"";
        return Err(format!("{expected}, got {}", got(text)));
    };
    let numbers = FIELDS.iter().zip(&written).map(|(field, written)| {
        field.in_numbers(written).ok_or_else(|| {
            format!("expected for the {}: *, {}, got {}", field.name, field.forms, got(written))
        })
    });
    Ok(Fields {
        in_numbers: numbers.collect::<Result<Vec<_>, _>>()?.join(" "),
        is_real_time: minute.starts_with('*') || hour.starts_with('*'),
        both_days: day.starts_with('*') || weekday.starts_with('*'),
    })
}

impl Field {
    /// The field with numbers instead of names. `None` if it is not valid.
    fn in_numbers(&self, written: &str) -> Option<String> {
        if written == "*" {
            return Some(written.to_owned());
        }
        let items = written.split(',').map(|item| self.item(item));
        Some(items.collect::<Option<Vec<_>>>()?.join(","))
    }

    /// An item of a list.
    fn item(&self, item: &str) -> Option<String> {
        let Some((range, step)) = item.split_once('/') else {
            return self.range(item).or_else(|| self.value(item).map(|value| value.to_string()));
        };
        let range = if range == "*" { range.to_owned() } else { self.range(range)? };
        // A step larger than the field would match only its first value, which no author means.
        let step = number(step).filter(|step| (1..=self.last).contains(step))?;
        Some(format!("{range}/{step}"))
    }

    fn range(&self, range: &str) -> Option<String> {
        let (start, end) = range.split_once('-')?;
        let start = self.value(start)?;
        // A range that ends with the name of Sunday means the Sunday at the end of the week.
        let end = if start > 0 && end.eq_ignore_ascii_case(WEEKDAYS[0]) {
            self.value(end).map(|_| self.last)
        } else {
            self.value(end)
        }?;
        (start <= end).then(|| format!("{start}-{end}"))
    }

    /// A number or a name.
    fn value(&self, value: &str) -> Option<u8> {
        let named = self
            .names
            .iter()
            .zip(self.first..)
            .find(|(name, _)| name.eq_ignore_ascii_case(value))
            .map(|(_, number)| number);
        named.or_else(|| number(value)).filter(|number| (self.first..=self.last).contains(number))
    }
}

/// One or two digits.
fn number(digits: &str) -> Option<u8> {
    let fine = digits.len() <= 2 && digits.bytes().all(|digit| digit.is_ascii_digit());
    digits.parse().ok().filter(|_| fine)
}
