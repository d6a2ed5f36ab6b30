//! Inputs and outputs of the tools for memories, goals and plans, and the transaction in which they
//! change these: the change, the result of the call and the check of the lease.

use std::{collections::BTreeSet, future::Future};

use serde_json::{Value, json};
use smartspace_domain::{
    Error, InvalidText, Result, limits,
    memories::{MemoryKey, MemoryValue},
};
use smartspace_store::agents::state::{ByCall, ChangedBy};

use crate::tools::{
    calling::{Calling, Outcome},
    input::text_of,
    output::{MAX_OUTPUT_BYTES, count_that_fit},
};

/// Makes a change and returns the `output` of its result. A mistake of the model becomes an error
/// output.
pub(crate) async fn store_change<T, F: Future<Output = Result<Vec<T>>>>(
    calling: &Calling<'_>,
    output: fn(&[T]) -> Value,
    change: impl FnOnce(ChangedBy<T>) -> F,
) -> Result<Outcome> {
    let context = calling.context;
    let call = context.with_expiry(calling.record());
    let by = ChangedBy::Run(Box::new(ByCall {
        run: context.run.id,
        lease: context.lease.clone(),
        call,
        output,
    }));
    let result = {
        let _writing = context.writing.lock().await;
        change(by).await
    };
    match result {
        Ok(items) => Ok(Outcome { is_stored: true, ..Outcome::completed(output(&items)) }),
        Err(error @ (Error::Invalid(_) | Error::Conflict(_) | Error::NotFound(_))) => {
            Ok(Outcome::error(error.to_string()))
        }
        Err(error) => Err(error),
    }
}

/// A list as an output: the first items that fit, and in `more` the number of the others.
pub(crate) fn listed(name: &str, items: impl IntoIterator<Item = Value>) -> Value {
    listed_in(MAX_OUTPUT_BYTES, name, items)
}

/// The same as [`listed`], in at most `max_bytes`.
pub(crate) fn listed_in(
    max_bytes: usize,
    name: &str,
    items: impl IntoIterator<Item = Value>,
) -> Value {
    let items: Vec<Value> = items.into_iter().collect();
    let fit = count_that_fit(&items, max_bytes);
    let mut list = json!({name: items[..fit]});
    if fit < items.len() {
        list["more"] = json!(items.len() - fit);
    }
    list
}

/// The output of a tool that has deleted these keys or ids.
pub(crate) fn deleted(keys: &[String]) -> Value {
    listed("deleted", keys.iter().map(|key| json!(key)))
}

/// The keys or ids of an input, each once.
pub(crate) fn keys_of(input: &Value, field: &str) -> Result<BTreeSet<MemoryKey>> {
    let given =
        input.get(field).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    given
        .enumerate()
        .map(|(index, key)| {
            key.parse::<MemoryKey>().map_err(|error| error.at(format!("/{field}/{index}")))
        })
        .collect()
}

/// A memory of an input.
pub(crate) fn memory_of(memory: &Value, index: usize) -> Result<(MemoryKey, MemoryValue)> {
    let at = |field: &str| {
        let pointer = format!("/memories/{index}/{field}");
        move |error: InvalidText| error.at(pointer)
    };
    let key: MemoryKey = text_of(memory, "key").parse().map_err(at("key"))?;
    let value: MemoryValue = text_of(memory, "value").parse().map_err(at("value"))?;
    Ok((key, value))
}

/// The schema of a list of keys or ids.
pub(crate) fn keys_schema() -> Value {
    let key = json!({"type": "string", "minLength": 1, "maxLength": limits::MEMORY_KEY_CHARS});
    json!({
        "type": "array",
        "items": key,
        "minItems": 1,
        "maxItems": limits::CHANGES_AT_ONCE
    })
}

#[cfg(test)]
mod tests;
