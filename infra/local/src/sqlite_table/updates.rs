//! Update expressions. All of their values come from the item as it was before.

use std::borrow::Cow;

use serde_dynamo::AttributeValue;
use smartspace_store::table::write::Item;

use crate::sqlite_table::{
    expressions::{Scope, Words, index},
    values,
};

const CLAUSES: [&str; 4] = ["SET", "REMOVE", "ADD", "DELETE"];

/// Changes `item` by `expression`, which reads `scope`.
pub(super) fn update(mut item: Item, expression: &str, scope: Scope<'_>) -> Result<Item, String> {
    for (path, value) in changes(expression, scope)? {
        let (last, parents) = path.split_last().ok_or("an update has an empty path")?;
        let map = map_at(&mut item, parents)?;
        match value {
            Some(value) => map.insert((*last).to_owned(), value),
            None => map.remove(*last),
        };
    }
    Ok(item)
}

/// A path, and the value that comes there; `None` removes the attribute.
type Change<'a> = (Vec<&'a str>, Option<AttributeValue>);

fn changes<'a>(expression: &'a str, scope: Scope<'a>) -> Result<Vec<Change<'a>>, String> {
    let mut reader = Reader { words: Words::of(expression), scope };
    let mut changes = Vec::new();
    while reader.words.peek().is_some() {
        let clause = reader.words.next()?;
        if !CLAUSES.contains(&clause) {
            return Err(format!("expected SET, REMOVE, ADD or DELETE in place of {clause:?}"));
        }
        loop {
            let place = reader.words.next()?;
            let value = match clause {
                "SET" => Some(reader.set()?),
                "REMOVE" => None,
                "ADD" => Some(values::plus(scope.attribute(place)?, reader.value()?)?),
                _ => values::without(scope.attribute(place)?, reader.value()?)?,
            };
            changes.push((scope.path(place)?, value));
            if !reader.words.take(",") {
                break;
            }
        }
    }
    Ok(changes)
}

struct Reader<'a> {
    words: Words<'a>,
    scope: Scope<'a>,
}

impl<'a> Reader<'a> {
    /// `= value`, or a sum or difference of two values.
    fn set(&mut self) -> Result<AttributeValue, String> {
        self.words.expect("=")?;
        let value = self.operand()?;
        if self.words.take("+") {
            values::sum(&value, &*self.operand()?)
        } else if self.words.take("-") {
            values::difference(&value, &*self.operand()?)
        } else {
            Ok(value.into_owned())
        }
    }

    fn operand(&mut self) -> Result<Cow<'a, AttributeValue>, String> {
        let word = self.words.next()?;
        if word.starts_with(':') {
            return self.scope.value(word).map(Cow::Borrowed);
        }
        if word == "if_not_exists" {
            self.words.expect("(")?;
            let place = self.words.next()?;
            self.words.expect(",")?;
            let otherwise = self.operand()?;
            self.words.expect(")")?;
            return Ok(self.scope.attribute(place)?.map_or(otherwise, Cow::Borrowed));
        }
        if word == "list_append" {
            self.words.expect("(")?;
            let first = self.operand()?;
            self.words.expect(",")?;
            let last = self.operand()?;
            self.words.expect(")")?;
            return values::joined(first.into_owned(), last.into_owned()).map(Cow::Owned);
        }
        let attribute = self.scope.attribute(word)?;
        attribute
            .map(Cow::Borrowed)
            .ok_or_else(|| format!("the item has no {word}, which an update reads"))
    }

    fn value(&mut self) -> Result<&'a AttributeValue, String> {
        let word = self.words.next()?;
        self.scope.value(word)
    }
}

fn map_at<'a>(item: &'a mut Item, path: &[&str]) -> Result<&'a mut Item, String> {
    let Some((first, inner)) = path.split_first() else { return Ok(item) };
    let found = inner.iter().fold(item.get_mut(*first), |found, part| match found {
        Some(AttributeValue::M(map)) => map.get_mut(*part),
        Some(AttributeValue::L(list)) => index(part).and_then(|index| list.get_mut(index)),
        _ => None,
    });
    match found {
        Some(AttributeValue::M(map)) => Ok(map),
        _ => Err(format!("the item has no map {}, which an update writes to", path.join("."))),
    }
}
