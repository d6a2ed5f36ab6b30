//! Conditional writes: DynamoDB's expressions, with names and values filled in.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{
    AttributeValue, ConditionCheck, Delete, Put, ReturnValuesOnConditionCheckFailure::AllOld,
    TransactWriteItem, Update,
};
use serde::Serialize;

use crate::{Error, Result, table::keys::Key};

/// The version of the stored forms. Each item carries in `v` the version that created it; items
/// without `v` are older. No reader looks at it: it is raised with a change that readers have to
/// tell apart, and such a change is made in two releases.
const SCHEMA_VERSION: u32 = 1;

/// An item, as the SDK represents it.
pub type Item = HashMap<String, AttributeValue>;

/// One write, alone or in a transaction. In its expressions, `#name` is an attribute and `:name` is
/// a value given with [`Write::value`].
#[derive(Clone, Debug)]
pub struct Write {
    pub(crate) action: Action,
    pub(crate) key: Key,
    pub(crate) condition: Option<String>,
    pub(crate) values: Item,
}

#[derive(Clone, Debug)]
pub(crate) enum Action {
    Put(Item),
    Update(String),
    Delete,
    Check,
}

/// A write, in the parts that a call of the SDK takes.
pub(crate) struct Parts {
    pub(crate) action: Action,
    pub(crate) key: Item,
    pub(crate) expressions: Expressions,
}

/// A condition, and the names and values of all expressions.
pub(crate) struct Expressions {
    pub(crate) condition: Option<String>,
    pub(crate) names: Option<HashMap<String, String>>,
    pub(crate) values: Option<Item>,
}

impl Write {
    /// Puts `value` at `key`.
    pub fn put(key: Key, value: &impl Serialize) -> Result<Self> {
        let mut item = attributes(value)?;
        item.insert("PK".into(), AttributeValue::S(key.pk.clone()));
        item.insert("SK".into(), AttributeValue::S(key.sk.clone()));
        item.insert("v".into(), schema_version());
        Ok(Self { action: Action::Put(item), key, condition: None, values: Item::new() })
    }

    /// Updates the item at `key` by an update expression. The item must exist: unlike DynamoDB's
    /// own update, this one creates nothing.
    pub fn update(key: Key, expression: impl Into<String>) -> Self {
        let condition = Some("attribute_exists(PK)".to_owned());
        Self { action: Action::Update(expression.into()), key, condition, values: Item::new() }
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

    /// The value of `:name`.
    pub fn value(mut self, name: &str, value: impl Serialize) -> Result<Self> {
        let value = serde_dynamo::to_attribute_value(value)
            .map_err(|error| Error::Internal(format!("a value could not be written: {error}")))?;
        self.values.insert(name.to_owned(), value);
        Ok(self)
    }

    fn names(&self) -> Option<HashMap<String, String>> {
        let update =
            if let Action::Update(expression) = &self.action { expression.as_str() } else { "" };
        names(&[update, self.condition.as_deref().unwrap_or("")])
    }

    fn values(&self) -> Option<Item> {
        (!self.values.is_empty()).then(|| self.values.clone())
    }

    /// This write as a part of a transaction on `table`. If its condition fails, DynamoDB returns
    /// the existing item.
    pub(crate) fn into_transact(self, table: &str) -> Result<TransactWriteItem> {
        let names = self.names();
        let values = self.values();
        let key = key_item(&self.key);
        let part = TransactWriteItem::builder();
        // Four builders of the SDK that differ only in their types.
        macro_rules! complete {
            ($builder:expr) => {
                $builder
                    .table_name(table)
                    .set_condition_expression(self.condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .return_values_on_condition_check_failure(AllOld)
                    .build()
                    .map_err(|error| Error::Internal(error.to_string()))?
            };
        }
        let part = match self.action {
            Action::Put(item) => part.put(complete!(Put::builder().set_item(Some(item)))),
            Action::Update(expression) => part.update(complete!(
                Update::builder().set_key(Some(key)).update_expression(expression)
            )),
            Action::Delete => part.delete(complete!(Delete::builder().set_key(Some(key)))),
            Action::Check => {
                part.condition_check(complete!(ConditionCheck::builder().set_key(Some(key))))
            }
        };
        Ok(part.build())
    }

    /// The parts of a write outside a transaction.
    pub(crate) fn into_parts(self) -> Parts {
        let expressions =
            Expressions { names: self.names(), values: self.values(), condition: self.condition };
        Parts { action: self.action, key: key_item(&self.key), expressions }
    }
}

fn schema_version() -> AttributeValue {
    AttributeValue::N(SCHEMA_VERSION.to_string())
}

/// The attributes of a value.
pub(super) fn attributes(value: &impl Serialize) -> Result<Item> {
    let mut item: Item = serde_dynamo::to_item(value)
        .map_err(|error| Error::Internal(format!("an item could not be written: {error}")))?;
    // Absent and null mean the same. Absent is smaller, and index keys must not be null.
    item.retain(|_, value| !value.is_null());
    Ok(item)
}

/// A key, as the SDK represents it.
pub(crate) fn key_item(key: &Key) -> Item {
    Item::from([
        ("PK".to_owned(), AttributeValue::S(key.pk.clone())),
        ("SK".to_owned(), AttributeValue::S(key.sk.clone())),
    ])
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
