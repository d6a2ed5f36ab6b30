//! Regular expressions.
//!
//! Of `regex-lite`, whose work is a text times a pattern at most, with no tables that grow. Its classes such as `\d` are those of
//! ASCII, as CEL has them.

use std::rc::Rc;

use regex_lite::{Regex, RegexBuilder};

use super::limits::{Budget, Fault, LONGEST_PATTERN, quoted};

/// Bytes of a pattern when compiled, and the steps that one byte of a text costs it.
const PATTERN_SIZES: [(usize, usize); 3] = [(1024, 4), (8 * 1024, 32), (32 * 1024, 128)];
/// Steps to compile a pattern, and what each of its bytes adds to them.
const PATTERN: usize = 2000;
const PATTERN_BYTE: usize = 10;
/// Patterns that are kept compiled.
const MOST_PATTERNS: usize = 16;

/// A compiled regular expression.
struct Pattern {
    text: Rc<str>,
    regex: Rc<Regex>,
    steps_per_byte: usize,
}

/// The patterns that have been compiled.
#[derive(Default)]
pub(crate) struct Patterns {
    known: Vec<Pattern>,
}

impl Patterns {
    /// Whether a part of a text matches a pattern.
    pub(crate) fn matches(&mut self, budget: &mut Budget, text: &str, pattern: &Rc<str>) -> Result<bool, Fault> {
        let (regex, steps_per_byte) = self.compiled(budget, pattern)?;
        budget.spend(steps_per_byte * (text.len() + 16))?;
        Ok(regex.is_match(text))
    }

    /// The work of a match grows with what a pattern takes when compiled, which only the sizes that it fits tell.
    fn compiled(&mut self, budget: &mut Budget, text: &Rc<str>) -> Result<(Rc<Regex>, usize), Fault> {
        if text.len() > LONGEST_PATTERN {
            return budget.error(|| format!("a regular expression is too long; it may have {LONGEST_PATTERN} bytes"));
        }
        budget.read(text.len() * self.known.len())?;
        if let Some(known) = self.known.iter().find(|known| known.text == *text) {
            return Ok((Rc::clone(&known.regex), known.steps_per_byte));
        }
        budget.spend(PATTERN + PATTERN_BYTE * text.len())?;
        let mut error = String::new();
        for (size, steps_per_byte) in PATTERN_SIZES {
            match RegexBuilder::new(text).size_limit(size).build() {
                Ok(regex) => {
                    let regex = Rc::new(regex);
                    if self.known.len() < MOST_PATTERNS {
                        self.known.push(Pattern { text: Rc::clone(text), regex: Rc::clone(&regex), steps_per_byte });
                    }
                    return Ok((regex, steps_per_byte));
                }
                Err(wrong) => error = wrong.to_string(),
            }
        }
        budget.error(|| format!("{} is no regular expression that is fit for use here: {error}", quoted(text)))
    }
}
