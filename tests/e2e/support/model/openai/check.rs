//! Checks a request for faults that `OpenAI` or a compatible server would refuse, or that no agent
//! should send.

use std::collections::HashSet;

use serde_json::Value;

use crate::support::model::{
    check::{Faults, files::FileLimits},
    files::{SentFile, files_of},
    request::{Api, ModelRequest, text_of},
};

/// <https://platform.openai.com/docs/guides/images-vision> and `…/pdf-files`: only all files
/// together are limited.
const FILES: FileLimits =
    FileLimits { image: usize::MAX, document: usize::MAX, request: 50 * 1024 * 1024 };

/// All faults of a request.
pub(crate) fn faults(request: &ModelRequest, key: Option<&str>) -> Vec<String> {
    let mut faults = Faults::default();
    faults.check_key(request, key, "Authorization");
    let streams = request.body["stream"] == true;
    faults.unless(streams, || "the request does not ask for a stream".into());
    faults.check_tools(request, &request.body["tools"], is_tool);
    faults.check_files(request, &FILES);
    check_roles(request, &mut faults);
    check_calls(request, &mut faults);
    faults.0
}

fn is_tool(tool: &Value) -> bool {
    let function = &tool["function"];
    tool["type"] == "function"
        && function["name"].as_str().is_some_and(|name| !name.is_empty())
        && function["description"].is_string()
        && function["parameters"]["type"] == "object"
}

fn check_roles(request: &ModelRequest, faults: &mut Faults) {
    let roles: Vec<&str> =
        request.messages().iter().map(|message| message["role"].as_str().unwrap_or("")).collect();
    faults.unless(roles.first() == Some(&"system"), || {
        format!("the conversation does not begin with the system message: {roles:?}")
    });
    let user = roles.iter().position(|role| *role == "user");
    faults.unless(user.is_some(), || format!("there is no user message: {roles:?}"));
    let assistant = roles.iter().position(|role| *role == "assistant");
    faults.unless(assistant.is_none() || user < assistant, || {
        format!("the assistant speaks before the user: {roles:?}")
    });
    faults.unless(roles.last() != Some(&"assistant"), || {
        format!("the assistant has the last word: {roles:?}")
    });
    let twice = roles.windows(2).any(|pair| pair == ["assistant", "assistant"]);
    faults.unless(!twice, || format!("the assistant speaks twice in a row: {roles:?}"));
    // Templates of Qwen and Gemma refuse both, and Mistral refuses the user after a result.
    let later = roles.iter().skip(1).any(|role| *role == "system");
    faults.unless(!later, || format!("a system message that is not the first: {roles:?}"));
    let users = roles.windows(2).any(|pair| pair == ["user", "user"]);
    faults.unless(!users, || format!("the user speaks twice in a row: {roles:?}"));
    for pair in request.messages().windows(2) {
        let follows = pair[0]["role"] == "tool" && pair[1]["role"] == "user";
        let shows = !files_of(Api::OpenAi, &pair[1]).is_empty();
        faults.unless(!follows || shows, || format!("a user after a result: {}", pair[1]));
    }
    for (role, message) in roles.iter().zip(request.messages()) {
        let known = ["system", "user", "assistant", "tool"].contains(role);
        faults.unless(known, || format!("unknown role {role:?}"));
        let says =
            !text_of(&message["content"]).trim().is_empty() || message["tool_calls"].is_array();
        faults.unless(says, || format!("a message without content: {message}"));
        let is_plain = match message.get("content") {
            None => message["tool_calls"].is_array(),
            Some(Value::String(text)) => !text.is_empty(),
            Some(content) => content.is_array() && !files_of(Api::OpenAi, message).is_empty(),
        };
        faults.unless(is_plain, || format!("neither a text nor parts beside a file: {message}"));
        for part in message["content"].as_array().into_iter().flatten() {
            faults.unless(is_part(role, part), || format!("not a part of the {role}: {part}"));
        }
    }
}

/// Whether a message of this role may have this part.
fn is_part(role: &str, part: &Value) -> bool {
    match SentFile::of(Api::OpenAi, part) {
        // The type of a document is read from the extension of its name.
        Some(file) => {
            let named = file.name.is_none_or(|name| name.to_lowercase().ends_with(".pdf"));
            role == "user" && named
        }
        None => part["type"] == "text" && part["text"].is_string(),
    }
}

/// Each call must have its result directly after it, and each result its call.
fn check_calls(request: &ModelRequest, faults: &mut Faults) {
    let mut open: Vec<String> = Vec::new();
    let mut known = HashSet::new();
    for message in request.messages() {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or("");
            let before = open.len();
            open.retain(|open| open != id);
            faults.unless(open.len() + 1 == before, || {
                format!("a result without its call: {message}")
            });
            continue;
        }
        faults.unless(open.is_empty(), || {
            format!("calls without results before {}: {open:?}", message["role"])
        });
        open.clear();
        let Some(calls) = message["tool_calls"].as_array() else { continue };
        let role = &message["role"];
        faults.unless(role == "assistant", || format!("a message of {role} has calls"));
        faults.unless(!calls.is_empty(), || "an empty list of calls".into());
        for call in calls {
            check_call(call, faults);
            let id = call["id"].as_str().unwrap_or("").to_owned();
            faults.unless(known.insert(id.clone()), || format!("a call's id is repeated: {id:?}"));
            open.push(id);
        }
    }
    faults.unless(open.is_empty(), || format!("calls without results at the end: {open:?}"));
}

fn check_call(call: &Value, faults: &mut Faults) {
    let id = call["id"].as_str().unwrap_or("");
    // Providers refuse longer ids.
    faults.unless((1..=40).contains(&id.len()), || {
        format!("a call's id is empty or too long: {call}")
    });
    let fine = call["type"] == "function"
        && call["function"]["name"].is_string()
        && call["function"]["arguments"].is_string();
    faults.unless(fine, || format!("not a call: {call}"));
}

mod tests {
    use serde_json::json;

    use super::*;
    use crate::support::model::request::Api;

    fn found(messages: Value, tools: Value) -> Vec<String> {
        let body = json!({ "model": "m", "stream": true, "messages": messages, "tools": tools });
        let request = ModelRequest::of(Api::OpenAi, "m", body);
        faults(&ModelRequest { key: "key".into(), ..request }, Some("key"))
    }

    #[test]
    fn a_conversation_that_a_provider_would_refuse_is_found() {
        let parameters = json!({ "type": "object" });
        let tool = |name: &str| {
            let function = json!({ "name": name, "description": "", "parameters": parameters });
            json!({ "type": "function", "function": function })
        };
        let system = json!({ "role": "system", "content": "s" });
        let user = json!({ "role": "user", "content": "u" });
        let function = json!({ "name": "a", "arguments": "{}" });
        let call = |id: &str| json!({ "id": id, "type": "function", "function": function });
        let calls = |ids: &[&str]| {
            let calls: Vec<_> = ids.iter().map(|id| call(id)).collect();
            json!({ "role": "assistant", "tool_calls": calls })
        };
        let result = |id: &str| json!({ "role": "tool", "tool_call_id": id, "content": "r" });
        let tools = json!([tool("a"), tool("b")]);
        let fine = json!([
            system,
            user,
            calls(&["1", "2"]),
            result("1"),
            result("2"),
            calls(&["3"]),
            result("3")
        ]);
        assert_eq!(found(fine, tools.clone()), [""; 0]);
        for (wrong, word) in [
            (json!([system]), "no user"),
            (json!([user, system]), "begin"),
            (json!([system, user, calls(&["1"])]), "without results at the end"),
            (json!([system, user, calls(&["1"]), user]), "without results before"),
            (json!([system, user, result("1")]), "without its call"),
            (json!([system, user, calls(&["1"]), result("1"), result("1")]), "without its call"),
            (
                json!([system, user, calls(&["1"]), result("1"), calls(&["1"]), result("1")]),
                "repeated",
            ),
            (json!([system, user, calls(&[""]), result("")]), "empty"),
            (json!([system, user, calls(&[]), user]), "empty list"),
            (
                json!([system, user, { "role": "assistant", "content": "" }, user]),
                "without content",
            ),
        ] {
            let found = found(wrong.clone(), tools.clone()).join("; ");
            assert!(found.contains(word), "{word:?} in {found:?} of {wrong}");
        }
        assert!(
            found(json!([system, user]), json!([tool("b"), tool("a")]))
                .join("")
                .contains("not sorted")
        );
    }

    #[test]
    fn a_conversation_that_a_compatible_server_would_refuse_is_found() {
        let system = json!({ "role": "system", "content": "s" });
        let user = json!({ "role": "user", "content": "u" });
        let function = json!({ "name": "a", "arguments": "{}" });
        let call = json!({ "id": "1", "type": "function", "function": function });
        let answer = json!({ "role": "assistant", "tool_calls": [call] });
        let empty = json!({ "role": "assistant", "content": null, "tool_calls": [call] });
        let result = json!({ "role": "tool", "tool_call_id": "1", "content": "r" });
        let part = json!({ "type": "text", "text": "u" });
        for (wrong, word) in [
            (json!([system, user, system]), "not the first"),
            (json!([system, user, user]), "twice in a row"),
            (json!([system, user, answer, result, user]), "after a result"),
            (json!([system, { "role": "user", "content": [part] }]), "neither a text"),
            (json!([system, user, empty, result]), "neither a text"),
        ] {
            let found = found(wrong.clone(), json!([])).join("; ");
            assert!(found.contains(word), "{word:?} in {found:?} of {wrong}");
        }
    }
}
