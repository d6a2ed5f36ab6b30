//! Checks a request for faults that Anthropic would refuse, or that no agent should send.

use std::collections::HashSet;

use serde_json::Value;

use crate::support::model::{check::Faults, request::ModelRequest};

/// The most cache points that a request may have.
const MARKS: usize = 4;

/// All faults of a request.
pub(crate) fn faults(request: &ModelRequest, key: Option<&str>) -> Vec<String> {
    let mut faults = Faults::default();
    let authorized = key.map_or(!request.key().is_empty(), |key| request.key() == key);
    faults.unless(authorized, || format!("wrong x-api-key: {:?}", request.key()));
    faults.unless(request.version == "2023-06-01", || {
        format!("wrong anthropic-version: {:?}", request.version)
    });
    let streams = request.body["stream"] == true;
    faults.unless(streams, || "the request does not ask for a stream".into());
    let max_tokens = request.body["max_tokens"].as_u64();
    faults.unless(max_tokens.is_some_and(|most| most > 0), || "max_tokens is missing".into());
    let temperature = &request.body["temperature"];
    let hot = temperature.as_f64().is_some_and(|degrees| !(0.0..=1.0).contains(&degrees));
    faults.unless(!hot, || format!("the temperature is out of range: {temperature}"));
    let marks = request.body.to_string().matches("\"cache_control\"").count();
    faults.unless(marks <= MARKS, || format!("{marks} marks, at most {MARKS} are allowed"));
    check_tools(request, &mut faults);
    check_turns(request, &mut faults);
    check_calls(request, &mut faults);
    faults.0
}

fn check_tools(request: &ModelRequest, faults: &mut Faults) {
    let names = request.tools();
    faults.unless(names.is_sorted(), || format!("tools are not sorted by name: {names:?}"));
    let distinct: HashSet<_> = names.iter().collect();
    faults.unless(distinct.len() == names.len(), || format!("a tool is listed twice: {names:?}"));
    for tool in request.body["tools"].as_array().into_iter().flatten() {
        let fine = is_name(&tool["name"])
            && tool["description"].is_string()
            && tool["input_schema"]["type"] == "object";
        faults.unless(fine, || format!("not a tool: {tool}"));
    }
}

fn check_turns(request: &ModelRequest, faults: &mut Faults) {
    for block in request.body["system"].as_array().into_iter().flatten() {
        faults.unless(is_text(block), || format!("not a part of the system text: {block}"));
    }
    let roles: Vec<&str> =
        request.messages().iter().map(|message| message["role"].as_str().unwrap_or("")).collect();
    faults.unless(roles.first() == Some(&"user"), || {
        format!("the conversation does not begin with the user: {roles:?}")
    });
    faults.unless(roles.last() == Some(&"user"), || {
        format!("the conversation does not end with the user: {roles:?}")
    });
    let known = roles.iter().all(|role| ["user", "assistant"].contains(role));
    faults.unless(known, || format!("unknown roles: {roles:?}"));
    let turns = roles.windows(2).all(|pair| pair[0] != pair[1]);
    faults.unless(turns, || format!("the roles do not take turns: {roles:?}"));
    for (role, message) in roles.iter().zip(request.messages()) {
        let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
        faults.unless(!blocks.is_empty(), || format!("a message without content: {message}"));
        for block in blocks {
            let fine = match (*role, block["type"].as_str()) {
                (_, Some("text")) => is_text(block),
                ("user", Some("tool_result")) => block["content"].is_string(),
                ("assistant", Some("tool_use")) => {
                    is_name(&block["id"]) && is_name(&block["name"]) && block["input"].is_object()
                }
                _ => false,
            };
            faults.unless(fine, || format!("not a block of the {role}: {block}"));
        }
    }
}

/// Each call must have its result at the beginning of the next message, and each result its call.
fn check_calls(request: &ModelRequest, faults: &mut Faults) {
    let mut open: Vec<&str> = Vec::new();
    let mut known = HashSet::new();
    for message in request.messages() {
        let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
        let results = blocks.iter().take_while(|block| block["type"] == "tool_result").count();
        for block in &blocks[..results] {
            let before = open.len();
            open.retain(|open| block["tool_use_id"] != *open);
            faults
                .unless(open.len() + 1 == before, || format!("a result without its call: {block}"));
        }
        faults.unless(open.is_empty(), || {
            format!("calls without results before {message}: {open:?}")
        });
        let late = blocks[results..].iter().any(|block| block["type"] == "tool_result");
        faults.unless(!late, || format!("a result after something else: {message}"));
        open = blocks
            .iter()
            .filter(|block| block["type"] == "tool_use")
            .filter_map(|block| block["id"].as_str())
            .collect();
        for id in &open {
            faults.unless(known.insert(*id), || format!("a call's id is repeated: {id:?}"));
        }
    }
    faults.unless(open.is_empty(), || format!("calls without results at the end: {open:?}"));
}

fn is_text(block: &Value) -> bool {
    block["type"] == "text" && block["text"].as_str().is_some_and(|text| !text.trim().is_empty())
}

/// Ids and names follow the same rules.
fn is_name(name: &Value) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    name.as_str().is_some_and(|name| (1..=64).contains(&name.len()) && name.chars().all(plain))
}

mod tests {
    use serde_json::json;

    use super::*;
    use crate::support::model::request::Api;

    fn found(messages: Value, tools: Value) -> Vec<String> {
        let cache = json!({ "type": "ephemeral" });
        let system = json!({ "type": "text", "text": "s", "cache_control": cache });
        let body = json!({
            "model": "m",
            "max_tokens": 9,
            "stream": true,
            "messages": messages,
            "tools": tools,
            "system": [system],
        });
        let request = ModelRequest {
            key: "key".into(),
            version: "2023-06-01".into(),
            ..ModelRequest::of(Api::Anthropic, "m", body)
        };
        faults(&request, Some("key"))
    }

    #[test]
    fn a_conversation_that_anthropic_would_refuse_is_found() {
        let schema = json!({ "type": "object" });
        let tool = |name: &str| json!({ "name": name, "description": "", "input_schema": schema });
        let text = |text: &str| json!({ "type": "text", "text": text });
        let call = |id: &str| json!({ "type": "tool_use", "id": id, "name": "a", "input": {} });
        let result = |id: &str| json!({ "type": "tool_result", "tool_use_id": id, "content": "r" });
        let user = |blocks: &[Value]| json!({ "role": "user", "content": blocks });
        let assistant = |blocks: &[Value]| json!({ "role": "assistant", "content": blocks });
        let says = user(&[text("u")]);
        let tools = json!([tool("a"), tool("b")]);
        let fine = json!([
            says,
            assistant(&[text("t"), call("1"), call("2")]),
            user(&[result("1"), result("2"), text("SYSTEM: s")])
        ]);
        assert_eq!(found(fine, tools.clone()), [""; 0]);
        for (wrong, word) in [
            (json!([]), "begin"),
            (json!([assistant(&[text("t")]), says]), "begin"),
            (json!([says, assistant(&[text("t")])]), "does not end"),
            (json!([says, says]), "turns"),
            (json!([user(&[])]), "without content"),
            (json!([user(&[text(" ")])]), "not a block"),
            (json!([user(&[call("1")])]), "not a block"),
            (json!([says, assistant(&[call("1")])]), "without results at the end"),
            (json!([says, assistant(&[call("1")]), says]), "without results before"),
            (json!([user(&[result("1")])]), "without its call"),
            (
                json!([says, assistant(&[call("1")]), user(&[result("1"), result("1")])]),
                "without its call",
            ),
            (
                json!([says, assistant(&[call("1")]), user(&[text("x"), result("1")])]),
                "after something",
            ),
            (json!([says, assistant(&[call("1"), call("1")]), user(&[result("1")])]), "repeated"),
            (json!([says, assistant(&[call("a.b")]), user(&[result("a.b")])]), "not a block"),
        ] {
            let found = found(wrong.clone(), tools.clone()).join("; ");
            assert!(found.contains(word), "{word:?} in {found:?} of {wrong}");
        }
        assert!(
            found(json!([says]), json!([tool("b"), tool("a")])).join("").contains("not sorted")
        );
    }
}
