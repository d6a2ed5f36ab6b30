//! Conditional writes: DynamoDB's expressions, with names and values filled in.

use std::collections::HashMap;

use serde::Serialize;
use serde_dynamo::AttributeValue;

use crate::{Error, Result, table::keys::Key};

/// The version of the stored forms. Each item carries in `v` the version that created it. No reader
/// looks at it: it is raised with a change that readers have to tell apart, and such a change is
/// made in two releases.
const SCHEMA_VERSION: u32 = 1;

pub type Item = HashMap<String, AttributeValue>;

/// One write, alone or in a transaction. In its expressions, `#name` is an attribute and `:name` is
/// a value given with [`Write::value`].
#[derive(Clone, Debug)]
pub struct Write {
    pub(crate) key: Key,
    action: Action,
    condition: Option<String>,
    pub(super) values: Item,
}

/// A write, as a database takes it.
#[derive(Clone, Debug)]
pub struct WriteCall {
    /// The item that is written, or that the condition is about.
    pub key: Key,
    pub action: Action,
    /// It is done only if this condition holds.
    pub condition: Option<String>,
    /// The attributes that the expressions name with `#`.
    pub names: Option<HashMap<String, String>>,
    /// The values that the expressions name with `:`.
    pub values: Option<Item>,
}

#[derive(Clone, Debug)]
pub enum Action {
    /// Writes the item, in place of one with the same key, which it has too.
    Put(Item),
    /// Changes the item by an update expression, or creates it.
    Update(String),
    /// Deletes the item.
    Delete,
    /// Changes nothing. Only possible in a transaction.
    Check,
}

impl Write {
    /// Puts `value` at `key`.
    pub fn put(key: Key, value: &impl Serialize) -> Result<Self> {
        let mut item = attributes(value)?;
        item.extend(key_item(&key));
        item.insert("v".into(), schema_version());
        Ok(Self { action: Action::Put(item), key, condition: None, values: Item::new() })
    }

    /// Updates the item at `key` by an update expression. The item must exist: unlike DynamoDB's
    /// own update, this one creates nothing.
    pub fn update(key: Key, expression: impl Into<String>) -> Self {
        let condition = Some("attribute_exists(PK)".to_owned());
        let action = Action::Update(expression.into());
        Self { action, key, condition, values: Item::new() }
    }

    /// Updates the counters at `key`, and creates the item if it does not exist.
    pub fn count(key: Key, expression: impl Into<String>) -> Self {
        Self::upsert(key, expression.into())
    }

    /// Updates the item at `key`, or creates it.
    pub(super) fn upsert(key: Key, expression: String) -> Self {
        const CREATED: &str = "SET #v = if_not_exists(#v, :v)";
        let expression = match expression.split_once("SET ") {
            Some((before, after)) => format!("{before}{CREATED}, {after}"),
            None => format!("{CREATED} {expression}"),
        };
        let values = Item::from([(":v".to_owned(), schema_version())]);
        Self { action: Action::Update(expression), key, condition: None, values }
    }

    /// Deletes the item at `key`, if it exists.
    pub fn delete(key: Key) -> Self {
        Self { action: Action::Delete, key, condition: None, values: Item::new() }
    }

    /// Writes nothing, but refuses the transaction if its condition does not hold.
    pub fn check(key: Key) -> Self {
        Self { action: Action::Check, key, condition: None, values: Item::new() }
    }

    /// Sets one more attribute in an update that sets some.
    #[must_use]
    pub(crate) fn also_set(mut self, set: &str) -> Self {
        if let Action::Update(expression) = &mut self.action {
            *expression = expression.replacen("SET ", &format!("SET {set}, "), 1);
        }
        self
    }

    /// Writes only if `condition` holds too.
    #[must_use]
    pub fn when(mut self, condition: &str) -> Self {
        self.condition = Some(match self.condition {
            Some(before) => format!("{before} AND ({condition})"),
            None => format!("({condition})"),
        });
        self
    }

    /// Writes only if the item does not exist.
    #[must_use]
    pub fn if_absent(self) -> Self {
        self.when("attribute_not_exists(PK)")
    }

    pub fn value(mut self, name: &str, value: impl Serialize) -> Result<Self> {
        let value = serde_dynamo::to_attribute_value(value)
            .map_err(|error| Error::Internal(format!("a value could not be written: {error}")))?;
        self.values.insert(name.to_owned(), value);
        Ok(self)
    }

    fn names(&self) -> Option<HashMap<String, String>> {
        let update = match &self.action {
            Action::Update(expression) => expression.as_str(),
            _ => "",
        };
        names(&[update, self.condition.as_deref().unwrap_or("")])
    }

    fn values(&self) -> Option<Item> {
        (!self.values.is_empty()).then(|| self.values.clone())
    }

    pub(crate) fn call(&self) -> WriteCall {
        WriteCall {
            key: self.key.clone(),
            action: self.action.clone(),
            condition: self.condition.clone(),
            names: self.names(),
            values: self.values(),
        }
    }
}

fn schema_version() -> AttributeValue {
    AttributeValue::N(SCHEMA_VERSION.to_string())
}

/// The attributes of a value.
pub(super) fn attributes(value: &impl Serialize) -> Result<Item> {
    let item: serde_dynamo::Item = serde_dynamo::to_item(value)
        .map_err(|error| Error::Internal(format!("an item could not be written: {error}")))?;
    let mut item = item.into_inner();
    // Absent and null mean the same. Absent is smaller, and index keys must not be null.
    item.retain(|_, value| !matches!(value, AttributeValue::Null(_)));
    Ok(item)
}

/// The attributes of a key.
pub fn key_item(key: &Key) -> Item {
    [("PK", &key.pk), ("SK", &key.sk)]
        .map(|(name, text)| (name.to_owned(), AttributeValue::S(text.clone())))
        .into()
}

/// The text of an attribute.
pub fn text<'a>(item: &'a Item, name: &str) -> Option<&'a str> {
    match item.get(name)? {
        AttributeValue::S(text) => Some(text),
        _ => None,
    }
}

/// The attributes that expressions name with `#`.
fn names(expressions: &[&str]) -> Option<HashMap<String, String>> {
    let mut names = HashMap::new();
    for expression in expressions {
        for (at, _) in expression.match_indices('#') {
            let rest = &expression[at + 1..];
            let end = rest
                .find(|char: char| !char.is_ascii_alphanumeric() && char != '_')
                .unwrap_or(rest.len());
            names.insert(format!("#{}", &rest[..end]), rest[..end].to_owned());
        }
    }
    (!names.is_empty()).then_some(names)
}
