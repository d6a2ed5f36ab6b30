//! Regular expressions.
//!
//! They have the syntax and the meaning of RE2, as CEL says. The library is `regex`: its work is at
//! most the length of the text times the size of the pattern. Its parts are used, so that a pattern
//! is parsed once.

mod re2;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use regex_automata::{
    meta::{self, Regex},
    util::syntax,
};

use self::re2::{Translated, translated};
use super::limits::{Budget, Fault, LONGEST_PATTERN, STEPS, quoted};

/// Sizes of compiled patterns in bytes, and the steps per byte of text that each of them costs. A
/// class of Unicode such as `\pL` takes more than the second one.
const PATTERN_SIZES: [(usize, usize); 3] = [(4 * 1024, 16), (32 * 1024, 64), (256 * 1024, 256)];
/// The memory that a search may take to remember its states. What needs more becomes slower.
const SEARCH_BYTES: usize = 256 * 1024;
/// How deep groups may nest in a pattern.
const MOST_GROUPS: u32 = 100;
/// The steps to compile a pattern, and the further steps per byte of it.
const PATTERN: usize = 2000;
const PATTERN_BYTE: usize = 10;
/// The further steps for a class or a range that may have many characters. To ignore their case
/// each of them is looked up.
const WIDE: usize = 20_000;
const WIDE_IGNORING_CASE: usize = 100_000;
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

    /// The compiled pattern, and the steps per byte of text that it costs.
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
        let pattern = match translated(text) {
            Ok(pattern) => pattern,
            Err(error) => return budget.error(|| unusable(text, &error)),
        };
        let steps = class_steps(&pattern);
        if steps >= STEPS {
            return budget.error(|| unusable(text, "it has too many classes of many characters"));
        }
        budget.spend(steps)?;
        let (regex, steps_per_byte) = match built(&pattern.text) {
            Ok((regex, steps_per_byte)) => (Rc::new(regex), steps_per_byte),
            Err(error) => return budget.error(|| unusable(text, &error)),
        };
        if self.known.len() < MOST_PATTERNS {
            self.known.push(Pattern {
                text: Rc::clone(text),
                regex: Rc::clone(&regex),
                steps_per_byte,
            });
        }
        Ok((regex, steps_per_byte))
    }
}

/// The steps to compile the classes of many characters.
fn class_steps(pattern: &Translated) -> usize {
    if pattern.ignores_case {
        WIDE_IGNORING_CASE * (pattern.wide + pattern.holding_negated)
    } else {
        WIDE * pattern.wide
    }
}

/// Compiles a pattern of the library, and says how many steps per byte of text it costs. The work
/// of a match grows with the compiled size, which the library shows only by refusing a size limit.
/// So the limits are tried in order, but what is slow in classes is done once, by the parser.
fn built(pattern: &str) -> Result<(Regex, usize), String> {
    let config = syntax::Config::new().nest_limit(MOST_GROUPS);
    let parsed =
        syntax::parse_with(pattern, &config).map_err(|wrong| reason(&wrong.to_string()))?;
    for (size, steps_per_byte) in PATTERN_SIZES {
        let config =
            meta::Config::new().nfa_size_limit(Some(size)).hybrid_cache_capacity(SEARCH_BYTES);
        match Regex::builder().configure(config).build_from_hir(&parsed) {
            Ok(regex) => return Ok((regex, steps_per_byte)),
            Err(wrong) if wrong.size_limit().is_some() => {}
            Err(wrong) => return Err(reason(&wrong.to_string())),
        }
    }
    Err("it is too large".to_owned())
}

/// The last part of an error of the library. The lines before show the pattern.
fn reason(error: &str) -> String {
    error.rsplit("error: ").next().unwrap_or_default().to_owned()
}

fn unusable(pattern: &str, error: &str) -> String {
    format!("{} is not a usable regular expression: {error}", quoted(pattern))
}
