//! The limits of an evaluation.

/// The longest expression, in bytes.
pub(crate) const LONGEST_EXPRESSION: usize = 8 * 1024;
/// How deep brackets may nest in an expression.
pub(crate) const MOST_BRACKETS: usize = 32;
/// How deep operations may nest in an expression.
pub(crate) const DEEPEST_EXPRESSION: usize = 200;
/// How deep lists and maps may nest: as deep as `serde_json` parses them.
pub(crate) const DEEPEST_VALUE: usize = 127;
/// The largest value, in bytes of the JSON values that it becomes.
pub(crate) const LARGEST_VALUE: usize = 8 * 1024 * 1024;
/// The longest regular expression, in bytes.
pub(crate) const LONGEST_PATTERN: usize = 1000;

/// The steps of one evaluation.
pub(crate) const STEPS: usize = 2_000_000;
/// The bytes that one evaluation may allocate.
const BYTES: usize = 8 * 1024 * 1024;
/// The steps of an error.
const FAULT: usize = 60;
/// The longest error, in characters.
const LONGEST_TEXT: usize = 300;
/// The longest quote in an error, in characters.
const LONGEST_QUOTE: usize = 60;

/// Why an evaluation gives no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// An error in the sense of CEL: `false && error` is false.
    Error(String),
    /// A limit was reached. Unlike an error, it always ends the evaluation.
    Limit(&'static str),
}

impl Fault {
    pub(crate) fn error(text: impl Into<String>) -> Self {
        Self::Error(text.into())
    }

    pub(crate) fn text(self) -> String {
        match self {
            Self::Error(text) => text,
            Self::Limit(text) => text.to_owned(),
        }
    }
}

/// The steps and bytes that an evaluation has left.
#[derive(Debug)]
pub(crate) struct Budget {
    steps: usize,
    bytes: usize,
}

impl Budget {
    pub(crate) fn new() -> Self {
        Self { steps: STEPS, bytes: BYTES }
    }

    /// Spends steps, each of which stands for some tens of nanoseconds.
    pub(crate) fn spend(&mut self, steps: usize) -> Result<(), Fault> {
        self.steps = self.steps.checked_sub(steps).ok_or(Fault::Limit(
            "the expression takes too long over this input; give it a smaller input",
        ))?;
        Ok(())
    }

    /// Spends the steps for reading contiguous bytes.
    pub(crate) fn read(&mut self, bytes: usize) -> Result<(), Fault> {
        self.spend(bytes / 32)
    }

    /// Returns an error. It costs steps too, because the evaluation may go on, as in `error ||
    /// true`.
    pub(crate) fn error<T>(&mut self, text: impl FnOnce() -> String) -> Result<T, Fault> {
        self.spend(FAULT)?;
        Err(Fault::Error(text()))
    }

    /// Spends memory. It is never given back, so the limit also bounds the time.
    pub(crate) fn allocate(&mut self, bytes: usize) -> Result<(), Fault> {
        self.bytes = self.bytes.checked_sub(bytes).ok_or(Fault::Limit(
            "the expression takes too much memory over this input; give it a smaller input",
        ))?;
        self.read(bytes)
    }
}

/// A part of the input or of the expression, quoted for an error.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", cut(text, LONGEST_QUOTE))
}

/// An error cut to the longest length.
pub(crate) fn shortened(text: &str) -> String {
    cut(text, LONGEST_TEXT)
}

fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest - 1) {
        Some((end, _)) if text[end..].chars().nth(1).is_some() => format!("{}…", &text[..end]),
        _ => text.to_owned(),
    }
}
