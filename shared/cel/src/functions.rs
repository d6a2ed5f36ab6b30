//! The operators and functions, and what each of them takes.

use std::ops::RangeInclusive;

use super::limits::quoted;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Negate,
    Not,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    Index,
    Size,
    Contains,
    StartsWith,
    EndsWith,
    Matches,
    Int,
    Uint,
    Double,
    String,
    Bool,
    Bytes,
    Dyn,
    Type,
    Timestamp,
    Duration,
    GetFullYear,
    GetMonth,
    GetDate,
    GetDayOfMonth,
    GetDayOfWeek,
    GetDayOfYear,
    GetHours,
    GetMinutes,
    GetSeconds,
    GetMilliseconds,
}

/// Whether a function is written before or after its first argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// `size(text)`, and operators.
    Before,
    /// `text.contains(part)`.
    After,
    Either,
}

/// How a function is called.
#[derive(Debug)]
struct Signature {
    /// The name that the parser uses.
    name: &'static str,
    function: Function,
    style: Style,
    /// The number of arguments, including one that the function is written after.
    arguments: RangeInclusive<usize>,
    takes: &'static str,
}

const fn signature(
    name: &'static str,
    function: Function,
    style: Style,
    arguments: RangeInclusive<usize>,
    takes: &'static str,
) -> Signature {
    Signature { name, function, style, arguments, takes }
}

const ONE: RangeInclusive<usize> = 1..=1;
const TWO: RangeInclusive<usize> = 2..=2;
const ONE_OR_TWO: RangeInclusive<usize> = 1..=2;

const COMPARABLE: &str = "two numbers, two strings, two bools, two timestamps or two durations";
const TIME: &str = "a timestamp and optionally a time zone such as 'Europe/Berlin' or '+02:00'";
const TIME_OR_DURATION: &str = "a duration, or a timestamp and optionally a time zone such as \
                                'Europe/Berlin' or '+02:00'";
const ADDABLE: &str = "two numbers of one type, two strings, two lists, \
                       or a timestamp or duration and a duration";
const SUBTRACTABLE: &str =
    "two numbers of one type, two timestamps, or a timestamp or duration and a duration";
const WRITABLE: &str = "a number, a bool, a string, bytes, a timestamp or a duration";
const TIMES: &str = "a string, an int of seconds, or a timestamp";

#[rustfmt::skip]
const SIGNATURES: &[Signature] = {
    use Function as F;
    use Style::{After, Before, Either};
    &[
        signature("_+_", F::Add, Before, TWO, ADDABLE),
        signature("_-_", F::Subtract, Before, TWO, SUBTRACTABLE),
        signature("_*_", F::Multiply, Before, TWO, "two numbers of one type"),
        signature("_/_", F::Divide, Before, TWO, "two numbers of one type"),
        signature("_%_", F::Modulo, Before, TWO, "two ints or two uints"),
        signature("-_", F::Negate, Before, ONE, "an int or a double"),
        signature("!_", F::Not, Before, ONE, "a bool"),
        signature("_==_", F::Equal, Before, TWO, "two values"),
        signature("_!=_", F::NotEqual, Before, TWO, "two values"),
        signature("_<_", F::Less, Before, TWO, COMPARABLE),
        signature("_<=_", F::LessOrEqual, Before, TWO, COMPARABLE),
        signature("_>_", F::Greater, Before, TWO, COMPARABLE),
        signature("_>=_", F::GreaterOrEqual, Before, TWO, COMPARABLE),
        signature("@in", F::In, Before, TWO, "a value and a list, or a key and a map"),
        signature("_[_]", F::Index, Before, TWO, "a list and a whole number, or a map and a key"),
        signature("size", F::Size, Either, ONE, "a string, bytes, a list or a map"),
        signature("contains", F::Contains, After, TWO, "two strings"),
        signature("startsWith", F::StartsWith, After, TWO, "two strings"),
        signature("endsWith", F::EndsWith, After, TWO, "two strings"),
        signature("matches", F::Matches, Either, TWO, "a string and a regular expression"),
        signature("int", F::Int, Before, ONE, "a number, a string or a timestamp"),
        signature("uint", F::Uint, Before, ONE, "a number or a string"),
        signature("double", F::Double, Before, ONE, "a number or a string"),
        signature("string", F::String, Before, ONE, WRITABLE),
        signature("bool", F::Bool, Before, ONE, "a bool or a string"),
        signature("bytes", F::Bytes, Before, ONE, "a string or bytes"),
        signature("dyn", F::Dyn, Before, ONE, "a value"),
        signature("type", F::Type, Before, ONE, "a value"),
        signature("timestamp", F::Timestamp, Before, ONE, TIMES),
        signature("duration", F::Duration, Before, ONE, "a string or a duration"),
        signature("getFullYear", F::GetFullYear, After, ONE_OR_TWO, TIME),
        signature("getMonth", F::GetMonth, After, ONE_OR_TWO, TIME),
        signature("getDate", F::GetDate, After, ONE_OR_TWO, TIME),
        signature("getDayOfMonth", F::GetDayOfMonth, After, ONE_OR_TWO, TIME),
        signature("getDayOfWeek", F::GetDayOfWeek, After, ONE_OR_TWO, TIME),
        signature("getDayOfYear", F::GetDayOfYear, After, ONE_OR_TWO, TIME),
        signature("getHours", F::GetHours, After, ONE_OR_TWO, TIME_OR_DURATION),
        signature("getMinutes", F::GetMinutes, After, ONE_OR_TWO, TIME_OR_DURATION),
        signature("getSeconds", F::GetSeconds, After, ONE_OR_TWO, TIME_OR_DURATION),
        signature("getMilliseconds", F::GetMilliseconds, After, ONE_OR_TWO, TIME_OR_DURATION),
    ]
};

/// The function of a call. `after` says whether it is written after a value, as in `value.name(…)`;
/// `arguments` counts that value too.
///
/// # Errors
/// What is wrong with the call.
pub(crate) fn find(name: &str, after: bool, arguments: usize) -> Result<Function, String> {
    let Some(signature) = SIGNATURES.iter().find(|signature| signature.name == name) else {
        return Err(format!("there is no function {}", quoted(name)));
    };
    let usual = || match signature.style {
        Style::Before | Style::Either => format!("{name}(…)"),
        Style::After => format!("value.{name}(…)"),
    };
    match signature.style {
        Style::Before if after => Err(format!("call '{name}' as {}", usual())),
        Style::After if !after => Err(format!("call '{name}' as {}", usual())),
        _ if !signature.arguments.contains(&arguments) => {
            Err(format!("'{name}' takes {}; it got {arguments} arguments", signature.takes))
        }
        _ => Ok(signature.function),
    }
}

impl Function {
    /// The function's name or sign, and what it takes.
    pub(crate) fn description(self) -> (&'static str, &'static str) {
        let signature = SIGNATURES.iter().find(|signature| signature.function == self);
        signature.map_or(("", ""), |signature| {
            (signature.name.trim_matches(['_', '@']), signature.takes)
        })
    }
}
