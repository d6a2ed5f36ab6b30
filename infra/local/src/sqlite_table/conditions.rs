//! Conditions of writes. They are short, so they are read anew for each write.

use std::borrow::Cow;

use serde_dynamo::AttributeValue;

use crate::sqlite_table::{
    expressions::{Scope, Words},
    values,
};

/// Whether `condition` holds for the item of `scope`.
pub(super) fn holds(condition: &str, scope: Scope<'_>) -> Result<bool, String> {
    let mut reader = Reader { words: Words::of(condition), scope };
    let holds = reader.any()?;
    match reader.words.peek() {
        None => Ok(holds),
        Some(word) => Err(format!("expected the end of a condition before {word:?}")),
    }
}

struct Reader<'a> {
    words: Words<'a>,
    scope: Scope<'a>,
}

impl<'a> Reader<'a> {
    fn any(&mut self) -> Result<bool, String> {
        let mut holds = self.all()?;
        while self.words.take("OR") {
            holds |= self.all()?;
        }
        Ok(holds)
    }

    fn all(&mut self) -> Result<bool, String> {
        let mut holds = self.one()?;
        while self.words.take("AND") {
            holds &= self.one()?;
        }
        Ok(holds)
    }

    fn one(&mut self) -> Result<bool, String> {
        if self.words.take("NOT") {
            return Ok(!self.one()?);
        }
        if self.words.take("(") {
            let holds = self.any()?;
            self.words.expect(")")?;
            return Ok(holds);
        }
        if self.words.take("attribute_exists") {
            return Ok(self.attribute()?.is_some());
        }
        if self.words.take("attribute_not_exists") {
            return Ok(self.attribute()?.is_none());
        }
        let left = self.operand()?;
        if self.words.take("IN") {
            return self.is_among(left.as_deref());
        }
        let comparison = self.words.next()?;
        let right = self.operand()?;
        values::compare(left.as_deref(), comparison, right.as_deref())
    }

    fn is_among(&mut self, value: Option<&AttributeValue>) -> Result<bool, String> {
        self.words.expect("(")?;
        let mut is_among = false;
        loop {
            let candidate = self.operand()?;
            is_among |= values::compare(value, "=", candidate.as_deref())?;
            if !self.words.take(",") {
                self.words.expect(")")?;
                return Ok(is_among);
            }
        }
    }

    /// Parses an attribute path in parentheses.
    fn attribute(&mut self) -> Result<Option<&'a AttributeValue>, String> {
        self.words.expect("(")?;
        let attribute = self.scope.attribute(self.words.next()?)?;
        self.words.expect(")")?;
        Ok(attribute)
    }

    fn operand(&mut self) -> Result<Option<Cow<'a, AttributeValue>>, String> {
        let word = self.words.next()?;
        if word == "size" {
            let size = self.attribute()?.map(values::size).transpose()?;
            return Ok(size.map(|size| Cow::Owned(AttributeValue::N(size.to_string()))));
        }
        if word.starts_with(':') {
            return self.scope.value(word).map(|value| Some(Cow::Borrowed(value)));
        }
        Ok(self.scope.attribute(word)?.map(Cow::Borrowed))
    }
}
