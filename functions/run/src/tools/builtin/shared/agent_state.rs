//! Inputs and outputs of the tools for memories, goals and plans, and the transaction in which they
//! change these: the change, the result of the call and the check of the lease.

use std::{collections::BTreeSet, future::Future};

use serde_json::{Value, json};
use smartspace_domain::{
    Error, InvalidText, Result, limits,
    memories::{MemoryKey, MemoryValue},
};
use smartspace_store::agents::state::{ByCall, ChangedBy};

use crate::{
    prompt::{lists::write_placed_list, placed::Placed},
    tools::{
        calling::{Calling, Outcome},
        input::text_of,
        output::{MAX_OUTPUT_BYTES, count_that_fit},
    },
};

/// The mark and the end of a line of a list, in bytes.
const LINE_MARK_BYTES: usize = 3;

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
    let items: Vec<Value> = items.into_iter().collect();
    let fit = count_that_fit(&items, MAX_OUTPUT_BYTES);
    let mut list = json!({name: items[..fit]});
    if fit < items.len() {
        list["more"] = json!(items.len() - fit);
    }
    list
}

/// A list as text: the lines that fit, and the number of the others. Also returns how many fit.
pub(crate) fn list_text(title: &str, lines: &[String], max_bytes: usize) -> (String, usize) {
    let lines: Vec<_> = lines.iter().map(Placed::plain).collect();
    let (list, fit) = placed_list(title, &lines, max_bytes);
    (list.text, fit)
}

/// The same for lines that repeat messages.
fn placed_list(title: &str, lines: &[Placed], max_bytes: usize) -> (Placed, usize) {
    let mut bytes = 0;
    let fits = |line: &&Placed| {
        bytes += line.len() + LINE_MARK_BYTES;
        bytes <= max_bytes
    };
    let fit = lines.iter().take_while(fits).count();
    if lines.is_empty() {
        return (Placed::plain(format!("{title}: none")), 0);
    }
    let list = write_placed_list(title, "", lines[..fit].iter().cloned(), lines.len() - fit);
    (list.trimmed_end(), fit)
}

/// The output of a tool that lists what repeats messages.
pub(crate) fn listed_with_places(title: &str, lines: &[Placed]) -> Outcome {
    Outcome::lines(placed_list(title, lines, MAX_OUTPUT_BYTES).0)
}

/// The output of a tool that lists what the agent has stored.
pub(crate) fn listed_as_text(title: &str, lines: &[String]) -> Outcome {
    Outcome::completed(Value::String(list_text(title, lines, MAX_OUTPUT_BYTES).0))
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
