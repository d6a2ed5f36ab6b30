//! Regular expressions.
//!
//! The library is `regex-lite`: its work is at most the length of the text times the size of the
//! pattern, and it has no tables that grow. Its classes such as `\d` are ASCII, as in CEL.

use std::rc::Rc;

use regex_lite::{Regex, RegexBuilder};

use super::limits::{Budget, Fault, LONGEST_PATTERN, quoted};

/// Sizes of compiled patterns in bytes, and the steps per byte of text that each of them costs.
const PATTERN_SIZES: [(usize, usize); 3] = [(1024, 4), (8 * 1024, 32), (32 * 1024, 128)];
/// The steps to compile a pattern, and the further steps per byte of it.
const PATTERN: usize = 2000;
const PATTERN_BYTE: usize = 10;
/// How many compiled patterns an evaluation caches.
const MOST_PATTERNS: usize = 16;

struct Pattern {
    text: Rc<str>,
    regex: Rc<Regex>,
    steps_per_byte: usize,
}

/// The compiled patterns of an evaluation.
#[derive(Default)]
pub(crate) struct Patterns {
    known: Vec<Pattern>,
}

impl Patterns {
    /// Whether a part of the text matches the pattern.
    pub(crate) fn matches(
        &mut self,
        budget: &mut Budget,
        text: &str,
        pattern: &Rc<str>,
    ) -> Result<bool, Fault> {
        let (regex, steps_per_byte) = self.compiled(budget, pattern)?;
        budget.spend(steps_per_byte * (text.len() + 16))?;
        Ok(regex.is_match(text))
    }

    /// The compiled pattern, and the steps per byte of text that it costs. The work of a match
    /// grows with the compiled size, which the library shows only by refusing a size limit. So the
    /// limits are tried in order.
    fn compiled(
        &mut self,
        budget: &mut Budget,
        text: &Rc<str>,
    ) -> Result<(Rc<Regex>, usize), Fault> {
        if text.len() > LONGEST_PATTERN {
            return budget.error(|| {
                format!(
                    "the regular expression is too long; \
                     it may have at most {LONGEST_PATTERN} bytes"
                )
            });
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
                        self.known.push(Pattern {
                            text: Rc::clone(text),
                            regex: Rc::clone(&regex),
                            steps_per_byte,
                        });
                    }
                    return Ok((regex, steps_per_byte));
                }
                Err(wrong) => error = wrong.to_string(),
            }
        }
        budget.error(|| format!("{} is not a usable regular expression: {error}", quoted(text)))
    }
}
