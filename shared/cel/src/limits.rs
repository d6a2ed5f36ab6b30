//! What an evaluation may cost.

/// Bytes of an expression.
pub(crate) const LONGEST_EXPRESSION: usize = 8 * 1024;
/// Brackets within brackets of an expression.
pub(crate) const MOST_BRACKETS: usize = 32;
/// Operations within operations of an expression.
pub(crate) const DEEPEST_EXPRESSION: usize = 200;
/// Lists and maps within each other: as many as `serde_json` reads.
pub(crate) const DEEPEST_VALUE: usize = 127;
/// Bytes of a value, written out as JSON values.
pub(crate) const LARGEST_VALUE: usize = 8 * 1024 * 1024;
/// Bytes of a pattern.
pub(crate) const LONGEST_PATTERN: usize = 1000;

const STEPS: usize = 2_000_000;
const BYTES: usize = 8 * 1024 * 1024;
const FAULT: usize = 60;
const LONGEST_TEXT: usize = 300;
const LONGEST_QUOTE: usize = 60;

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// An error in CEL's sense: `false && error` is false.
    Error(String),
    /// A limit was reached, which nothing makes good.
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

/// What is left to spend.
#[derive(Debug)]
pub(crate) struct Budget {
    steps: usize,
    bytes: usize,
}

impl Budget {
    pub(crate) fn new() -> Self {
        Self { steps: STEPS, bytes: BYTES }
    }

    /// Takes steps, each some tens of nanoseconds of work.
    pub(crate) fn spend(&mut self, steps: usize) -> Result<(), Fault> {
        self.steps =
            self.steps.checked_sub(steps).ok_or(Fault::Limit("the expression takes too long over this input; give it a smaller input"))?;
        Ok(())
    }

    /// Takes the steps of work on so many bytes that lie together.
    pub(crate) fn read(&mut self, bytes: usize) -> Result<(), Fault> {
        self.spend(bytes / 32)
    }

    /// An error, which takes steps too: it may come to nothing, as in `error || true`.
    pub(crate) fn error<T>(&mut self, text: impl FnOnce() -> String) -> Result<T, Fault> {
        self.spend(FAULT)?;
        Err(Fault::Error(text()))
    }

    /// Takes memory, which is never given back: a sum bounds the time, too.
    pub(crate) fn allocate(&mut self, bytes: usize) -> Result<(), Fault> {
        self.bytes = self
            .bytes
            .checked_sub(bytes)
            .ok_or(Fault::Limit("the expression takes too much memory over this input; give it a smaller input"))?;
        self.read(bytes)
    }
}

/// A part of the input or of the expression, as an error quotes it.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", cut(text, LONGEST_QUOTE))
}

/// A text that is no longer than any error may be.
pub(crate) fn shortened(text: &str) -> String {
    cut(text, LONGEST_TEXT)
}

fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest - 1) {
        Some((end, _)) if text[end..].chars().nth(1).is_some() => format!("{}…", &text[..end]),
        _ => text.to_owned(),
    }
}
