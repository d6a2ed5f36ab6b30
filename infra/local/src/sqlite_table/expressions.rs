//! The words of DynamoDB's expressions, and what names and values in them stand for.

use std::collections::HashMap;

use serde_dynamo::AttributeValue;
use smartspace_store::table::write::Item;

/// The words of an expression: names, values and keywords, and signs such as `(` and `<=`.
#[derive(Clone, Debug)]
pub(super) struct Words<'a> {
    rest: &'a str,
}

impl<'a> Words<'a> {
    pub(super) fn of(expression: &'a str) -> Self {
        Self { rest: expression.trim_start() }
    }

    /// The next word, which stays.
    pub(super) fn peek(&self) -> Option<&'a str> {
        let first = self.rest.chars().next()?;
        let length = if is_part_of_name(first) {
            self.rest.find(|char| !is_part_of_name(char)).unwrap_or(self.rest.len())
        } else if ["<=", ">=", "<>"].iter().any(|sign| self.rest.starts_with(sign)) {
            2
        } else {
            first.len_utf8()
        };
        Some(&self.rest[..length])
    }

    pub(super) fn next(&mut self) -> Result<&'a str, String> {
        let word = self.peek().ok_or("an expression ends too early")?;
        self.rest = self.rest[word.len()..].trim_start();
        Ok(word)
    }

    /// Takes the next word if it is `word`. Keywords may be in any case.
    pub(super) fn take(&mut self, word: &str) -> bool {
        let is_next = self.peek().is_some_and(|next| next.eq_ignore_ascii_case(word));
        if is_next {
            self.rest = self.rest[word.len()..].trim_start();
        }
        is_next
    }

    pub(super) fn expect(&mut self, word: &str) -> Result<(), String> {
        if self.take(word) {
            return Ok(());
        }
        Err(format!("expected {word:?} in an expression before {:?}", self.rest))
    }
}

fn is_part_of_name(char: char) -> bool {
    char.is_ascii_alphanumeric() || "_#:.[]".contains(char)
}

/// The parts of a path: names, and numbers of places in lists.
fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split(['.', '[']).map(|part| part.trim_end_matches(']'))
}

/// The place in a list that a part of a path names.
pub(super) fn index(part: &str) -> Option<usize> {
    part.parse().ok()
}

/// What an expression reads: its names, its values, and the item as it is before the write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope<'a> {
    pub(super) names: Option<&'a HashMap<String, String>>,
    pub(super) values: Option<&'a Item>,
    pub(super) item: Option<&'a Item>,
}

impl<'a> Scope<'a> {
    /// Resolves the placeholder `:name`.
    pub(super) fn value(&self, name: &str) -> Result<&'a AttributeValue, String> {
        let value = self.values.and_then(|values| values.get(name));
        value.ok_or_else(|| format!("an expression has no value for {name}"))
    }

    /// The attributes and places in lists that a path such as `#runs[0].#runId` leads through.
    pub(super) fn path<'p>(&self, path: &'p str) -> Result<Vec<&'p str>, String>
    where
        'a: 'p,
    {
        parts(path).map(|part| self.name(part)).collect()
    }

    fn name<'p>(&self, part: &'p str) -> Result<&'p str, String>
    where
        'a: 'p,
    {
        if !part.starts_with('#') {
            return Ok(part);
        }
        let name = self.names.and_then(|names| names.get(part));
        name.map(String::as_str).ok_or_else(|| format!("an expression has no name for {part}"))
    }

    /// The attribute at a path, if the item has it.
    pub(super) fn attribute(&self, path: &str) -> Result<Option<&'a AttributeValue>, String> {
        let Some(item) = self.item else { return Ok(None) };
        let mut parts = parts(path);
        let mut found = item.get(self.name(parts.next().unwrap_or_default())?);
        for part in parts {
            found = match found {
                Some(AttributeValue::M(map)) => map.get(self.name(part)?),
                Some(AttributeValue::L(list)) => index(part).and_then(|index| list.get(index)),
                _ => None,
            };
        }
        Ok(found)
    }
}
