//! The page of the client: the tools that it runs itself, what it shows, and the results of calls.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use smartspace_domain::{
    client_pages::{ClientPage, PageTool},
    json,
    limits::{ANSWER_BYTES, PAGE_CONTEXT_BYTES},
};

/// The fields of the state that we send. A client sends them back with its own ones.
const OWN_STATE: [&str; 2] = ["space", "members"];

/// Stands behind a text that is cut.
const CUT: &str = " …";

/// A tool that the client declares.
#[derive(Debug, Deserialize)]
pub(super) struct DeclaredTool {
    pub(super) name: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    parameters: Option<Value>,
}

/// Something that the client says of its page.
#[derive(Debug, Deserialize)]
pub(super) struct ContextEntry {
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    value: Value,
}

/// The page, as the API takes it. `None` if the client says nothing of it.
pub(super) fn page(
    tools: &[DeclaredTool],
    context: &[ContextEntry],
    state: &Value,
) -> Option<ClientPage> {
    let tools = tools.iter().map(|tool| PageTool {
        name: tool.name.clone(),
        description: tool.description.clone().unwrap_or_default(),
        input_schema: tool.parameters.clone().unwrap_or_else(|| json!({})),
    });
    let page = ClientPage { tools: tools.collect(), context: context_text(context, state) };
    (!page.is_empty()).then_some(page)
}

/// What the page shows, cut to the length that the API takes.
fn context_text(context: &[ContextEntry], state: &Value) -> String {
    let entries = context.iter().map(|entry| {
        let value = text_of(&entry.value);
        match entry.description.as_deref().filter(|description| !description.is_empty()) {
            Some(description) => format!("{description}: {value}"),
            None => value,
        }
    });
    let state = state_of_client(state).map(|state| format!("state: {state}"));
    let lines: Vec<_> = entries.chain(state).filter(|line| !line.is_empty()).collect();
    let mut text = lines.join("\n").replace('\0', "\u{fffd}");
    if text.len() > PAGE_CONTEXT_BYTES {
        text.truncate(text.floor_char_boundary(PAGE_CONTEXT_BYTES - CUT.len()));
        text.push_str(CUT);
    }
    text
}

/// The client's state without our fields. `None` if nothing is left.
fn state_of_client(state: &Value) -> Option<Value> {
    let Value::Object(fields) = state else {
        return Some(state.clone()).filter(|state| !state.is_null());
    };
    let fields: Map<_, _> = fields
        .iter()
        .filter(|(name, _)| !OWN_STATE.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    (!fields.is_empty()).then_some(Value::Object(fields))
}

/// The state after a snapshot: the client's fields, and ours in place of older ones.
pub(super) fn with_client_state(own: Value, state: &Value) -> Value {
    let Some(Value::Object(mut fields)) = state_of_client(state) else { return own };
    if let Value::Object(own) = own {
        fields.extend(own);
    }
    Value::Object(fields)
}

/// The result of a call, as the API takes it: an object or a list that the client wrote as a text
/// is one for the agent, too.
pub(super) fn result(content: &Value, error: Option<&str>) -> Value {
    let result = match (error, content) {
        (Some(error), _) => json!({"error": error}),
        (None, Value::String(text)) => match json::parse(text) {
            Ok(value @ (Value::Object(_) | Value::Array(_))) => value,
            _ => content.clone(),
        },
        (None, content) => content.clone(),
    };
    let bytes = result.to_string().len();
    if bytes <= ANSWER_BYTES {
        return result;
    }
    let detail = format!("the page's result is too long: {bytes} bytes of {ANSWER_BYTES}");
    json!({"error": detail})
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(entries: Value) -> Vec<ContextEntry> {
        serde_json::from_value(entries).unwrap()
    }

    #[test]
    fn a_page_says_what_it_shows_without_our_own_state() {
        let context = entries(json!([
            {"description": "the open tab", "value": "Roses"},
            {"value": {"count": 3}},
            {"description": "", "value": null},
        ]));
        let state = json!({"color": "red", "space": {"id": "spc_1"}, "members": []});
        let page = page(&[], &context, &state).unwrap();
        assert_eq!(page.context, "the open tab: Roses\n{\"count\":3}\nstate: {\"color\":\"red\"}");
        for ours in [json!({"space": 1, "members": []}), json!({}), Value::Null] {
            assert_eq!(super::page(&[], &[], &ours), None, "{ours}");
        }
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let context = entries(json!([{"value": "ü\0".repeat(8_000)}]));
        let text = page(&[], &context, &Value::Null).unwrap().context;
        assert!(text.ends_with(CUT) && text.len() <= PAGE_CONTEXT_BYTES, "{}", text.len());
        assert!(text.len() > PAGE_CONTEXT_BYTES - 8 && !text.contains('\0'));
    }

    #[test]
    fn a_snapshot_keeps_the_fields_of_the_client() {
        let own = json!({"space": {"name": "New"}, "members": []});
        let state = json!({"space": {"name": "Old"}, "color": "red"});
        let expected = json!({"color": "red", "space": {"name": "New"}, "members": []});
        assert_eq!(with_client_state(own.clone(), &state), expected);
        for state in [Value::Null, json!({}), json!([1])] {
            assert_eq!(with_client_state(own.clone(), &state), own, "{state}");
        }
    }

    #[test]
    fn a_result_is_what_the_page_returned() {
        for (content, error, expected) in [
            (json!("done"), None, json!("done")),
            (json!("{\"color\":\"red\"}"), None, json!({"color": "red"})),
            (json!("[1]"), None, json!([1])),
            (json!("42"), None, json!("42")),
            (json!("{"), None, json!("{")),
            (Value::Null, None, Value::Null),
            (json!("half"), Some("no such color"), json!({"error": "no such color"})),
        ] {
            assert_eq!(result(&content, error), expected, "{content}");
        }
        let long = result(&json!("x".repeat(ANSWER_BYTES)), None);
        assert_eq!(long, json!({"error": "the page's result is too long: 32770 bytes of 32768"}));
    }
}
