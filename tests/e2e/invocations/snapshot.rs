//! The form of answers and calls in a snapshot, with placeholders for what differs between runs.

use std::collections::BTreeMap;

use regex_lite::{Captures, Regex};
use serde_json::{Value, json};
use smartspace_tests::{services::Call, world};

/// The trace id in the samples of queues.
const SAMPLES_TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// The answer with its body parsed, if the body is JSON.
pub(crate) fn with_parsed_body(mut answer: Value) -> Value {
    if let Some(body) =
        answer.get("body").and_then(Value::as_str).and_then(|body| serde_json::from_str(body).ok())
    {
        answer["body"] = body;
    }
    answer
}

/// The calls of each service. For the table, only the number of calls by operation: its contents
/// show in answers and in later calls.
pub(crate) fn by_service(function: &str, calls: Vec<Call>) -> Value {
    let mut services: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    let mut table: BTreeMap<String, usize> = BTreeMap::new();
    for call in calls {
        match call.service {
            "dynamodb" => *table.entry(call.operation).or_default() += 1,
            "sqs" => services.entry("sqs").or_default().extend(queue_entries(&call)),
            "scheduler" => services.entry("scheduler").or_default().push(schedule(call)),
            service => services
                .entry(service)
                .or_default()
                .push(json!({"operation": call.operation, "request": call.request})),
        }
    }
    let mut services = json!(services);
    for calls in services.as_object_mut().into_iter().flat_map(|services| services.values_mut()) {
        // A function makes some calls concurrently.
        calls.as_array_mut().unwrap().sort_by_key(|call| stable(call).to_string());
    }
    // The number of reads of a run depends on the speed of the machine.
    services["dynamodb"] =
        if function == "run" { json!(table.keys().collect::<Vec<_>>()) } else { json!(table) };
    services
}

/// The entries of a call to a queue.
fn queue_entries(call: &Call) -> Vec<Value> {
    let url = call.request["QueueUrl"].as_str();
    let queue = url.and_then(|url| url.rsplit('/').next()).unwrap_or_default();
    let one = |request: &Value| {
        let mut request = request.clone();
        let entry = request.as_object_mut().unwrap();
        entry.remove("QueueUrl");
        entry.remove("Id");
        if let Some(body) = entry.get_mut("MessageBody") {
            *body = serde_json::from_str(body.as_str().unwrap()).unwrap();
        }
        // Round the delay, because a second may have begun.
        if let Some(seconds) = entry.get_mut("DelaySeconds") {
            *seconds = json!(format!("about {}", (seconds.as_u64().unwrap() + 5) / 10 * 10));
        }
        json!({"operation": call.operation, "queue": queue, "request": request})
    };
    match call.request["Entries"].as_array() {
        Some(entries) => entries.iter().map(one).collect(),
        None => vec![one(&call.request)],
    }
}

/// A schedule without its name, which is a hash that includes the current time.
fn schedule(mut call: Call) -> Value {
    let name = call.request["Name"].take();
    let token = call.request["ClientToken"].take();
    assert_eq!(name, token, "a repeated call makes the same schedule");
    json!({"operation": call.operation, "request": call.request})
}

/// The value with placeholders for everything that differs between runs: traces, and ids and times
/// that are not those of the prepared world.
pub(crate) fn stable(value: &Value) -> Value {
    let is_prepared = |id: &str| id.starts_with(world::AFTERNOON);
    let text = value.to_string();
    let text = replace_all(&text, "\\b((?:rsp_)?[a-z]{3}_)([0-9A-Z]{26})\\b", |it| {
        if is_prepared(&it[2]) { it[0].into() } else { format!("{}(new)", &it[1]) }
    });
    let text = replace_all(&text, "(2[0-9]{3}-[0-9]{2}-[0-9]{2})T[0-9:.]+Z?", |it| {
        if &it[1] == "2026-02-18" { it[0].into() } else { "(now)".into() }
    });
    let text = replace_all(&text, "00-([0-9a-f]{32})-[0-9a-f]{16}-01", |it| {
        if &it[1] == SAMPLES_TRACE {
            "(a step on in the sample's trace)".into()
        } else {
            "(a trace of its own)".into()
        }
    });
    let text = replace_all(&text, "\\b[0-9a-f]{32}\\b", |_| "(random)".into());
    // The tokens of a scripted model depend on the prompt, which contains relative times and the
    // day of the week. So does their price.
    let counted = |it: &Captures<'_>| format!("\"{}\":\"(counted)\"", &it[1]);
    let text = replace_all(&text, "\"(inputTokens|cost)\":[0-9][0-9.e-]*", counted);
    let text = replace_all(&text, "\"(cachedTokens)\":[1-9][0-9]*", counted);
    serde_json::from_str(&text).unwrap()
}

fn replace_all(text: &str, pattern: &str, replacement: impl Fn(&Captures<'_>) -> String) -> String {
    Regex::new(pattern).unwrap().replace_all(text, replacement).into_owned()
}
