//! Checks a request for faults that Bedrock would refuse, or that no agent should send.

use std::collections::HashSet;

use serde_json::Value;

use crate::support::model::{check::Faults, request::ModelRequest};

/// The most cache points that a request may have.
const MARKS: usize = 4;

/// All faults of a request.
pub(crate) fn faults(request: &ModelRequest, key: Option<&str>) -> Vec<String> {
    let mut faults = Faults::default();
    let authorized = key.map_or(!request.key().is_empty(), |key| request.key() == key);
    faults.unless(authorized, || format!("wrong access key: {:?}", request.key()));
    let inference = &request.body["inferenceConfig"];
    faults.unless(inference["maxTokens"].as_u64().is_some_and(|most| most > 0), || {
        "maxTokens is missing".into()
    });
    let hot = inference["temperature"]
        .as_f64()
        .is_some_and(|temperature| !(0.0..=1.0).contains(&temperature));
    faults
        .unless(!hot, || format!("the temperature is out of range: {}", inference["temperature"]));
    let marks = request.body.to_string().matches("\"cachePoint\"").count();
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
    let config = &request.body["toolConfig"];
    faults.unless(config.is_null() || !names.is_empty(), || "an empty list of tools".into());
    for tool in config["tools"].as_array().into_iter().flatten() {
        let spec = &tool["toolSpec"];
        let described =
            spec["description"].as_str().is_none_or(|description| !description.is_empty());
        let fine =
            is_name(&spec["name"]) && described && spec["inputSchema"]["json"]["type"] == "object";
        faults.unless(fine, || format!("not a tool: {tool}"));
    }
}

fn check_turns(request: &ModelRequest, faults: &mut Faults) {
    for block in request.body["system"].as_array().into_iter().flatten() {
        faults.unless(is_text(block) || is_mark(block), || {
            format!("not a part of the system text: {block}")
        });
    }
    let roles: Vec<&str> =
        request.messages().iter().map(|message| message["role"].as_str().unwrap_or("")).collect();
    let ends = [roles.first(), roles.last()];
    faults.unless(ends == [Some(&"user"); 2], || {
        format!("the conversation does not begin and end with the user: {roles:?}")
    });
    let turns = roles.iter().all(|role| ["user", "assistant"].contains(role))
        && roles.windows(2).all(|pair| pair[0] != pair[1]);
    faults.unless(turns, || format!("the roles do not take turns: {roles:?}"));
    for (role, message) in roles.iter().zip(request.messages()) {
        let blocks = blocks(message);
        faults.unless(blocks.first().is_some_and(|block| !is_mark(block)), || {
            format!("a message without content: {message}")
        });
        for block in blocks {
            let call = &block["toolUse"];
            let result = &block["toolResult"];
            let one = block.as_object().is_some_and(|fields| fields.len() == 1);
            let fine = is_text(block)
                || is_mark(block)
                || *role == "assistant"
                    && is_name(&call["toolUseId"])
                    && is_name(&call["name"])
                    && call["input"].is_object()
                || *role == "user"
                    && is_name(&result["toolUseId"])
                    && result["content"].as_array().is_some_and(|said| said.iter().all(is_text));
            faults.unless(one && fine, || format!("not a block of the {role}: {block}"));
        }
    }
}

/// Each call must have its result at the beginning of the next message, and each result its call.
fn check_calls(request: &ModelRequest, faults: &mut Faults) {
    let mut open: Vec<&str> = Vec::new();
    let mut known = HashSet::new();
    for message in request.messages() {
        let blocks: Vec<&Value> = blocks(message).iter().filter(|block| !is_mark(block)).collect();
        let results = blocks.iter().take_while(|block| block["toolResult"].is_object()).count();
        for block in &blocks[..results] {
            let before = open.len();
            open.retain(|open| block["toolResult"]["toolUseId"] != *open);
            faults
                .unless(open.len() + 1 == before, || format!("a result without its call: {block}"));
        }
        faults.unless(open.is_empty(), || {
            format!("calls without results before {message}: {open:?}")
        });
        let late = blocks[results..].iter().any(|block| block["toolResult"].is_object());
        faults.unless(!late, || format!("a result after something else: {message}"));
        open = blocks.iter().filter_map(|block| block["toolUse"]["toolUseId"].as_str()).collect();
        for id in &open {
            faults.unless(known.insert(*id), || format!("a call's id is repeated: {id:?}"));
        }
    }
    faults.unless(open.is_empty(), || format!("calls without results at the end: {open:?}"));
    let tools = known.is_empty() || !request.body["toolConfig"].is_null();
    faults.unless(tools, || "the conversation has calls, but the request has no tools".into());
}

fn blocks(message: &Value) -> &[Value] {
    message["content"].as_array().map_or(&[][..], Vec::as_slice)
}

fn is_text(block: &Value) -> bool {
    block["text"].as_str().is_some_and(|text| !text.trim().is_empty())
}

fn is_mark(block: &Value) -> bool {
    block["cachePoint"]["type"] == "default"
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
        let body = json!({
            "messages": messages,
            "toolConfig": { "tools": tools },
            "inferenceConfig": { "maxTokens": 9 },
            "system": [{ "text": "s" }, { "cachePoint": { "type": "default" } }],
        });
        let request = ModelRequest::of(Api::Bedrock, "m", body);
        faults(&ModelRequest { key: "key".into(), ..request }, Some("key"))
    }

    #[test]
    fn a_conversation_that_bedrock_would_refuse_is_found() {
        let schema = json!({ "json": { "type": "object" } });
        let tool = |name: &str| json!({ "toolSpec": { "name": name, "inputSchema": schema } });
        let text = |text: &str| json!({ "text": text });
        let mark = || json!({ "cachePoint": { "type": "default" } });
        let call = |id: &str| json!({ "toolUse": { "toolUseId": id, "name": "a", "input": {} } });
        let result =
            |id: &str| json!({ "toolResult": { "toolUseId": id, "content": [{ "text": "r" }] } });
        let user = |blocks: &[Value]| json!({ "role": "user", "content": blocks });
        let assistant = |blocks: &[Value]| json!({ "role": "assistant", "content": blocks });
        let says = user(&[text("u"), mark()]);
        let tools = json!([tool("a"), tool("b")]);
        let marked: Vec<Value> = ["a", "b", "c", "d"].map(|part| [text(part), mark()]).concat();
        let fine = json!([
            says,
            assistant(&[text("t"), call("1"), call("2")]),
            user(&[result("1"), result("2"), mark(), text("SYSTEM: s")])
        ]);
        assert_eq!(found(fine, tools.clone()), [""; 0]);
        for (wrong, word) in [
            (json!([]), "begin"),
            (json!([assistant(&[text("t")]), says]), "begin"),
            (json!([says, assistant(&[text("t")])]), "begin and end"),
            (json!([says, says]), "turns"),
            (json!([user(&[])]), "without content"),
            (json!([user(&[mark()])]), "without content"),
            (json!([user(&[text(" ")])]), "not a block"),
            (json!([user(&[call("1")])]), "not a block"),
            (
                json!([user(&[json!({ "text": "a", "cachePoint": { "type": "default" } })])]),
                "not a block",
            ),
            (json!([user(&marked)]), "5 marks"),
            (json!([says, assistant(&[call("1")])]), "without results at the end"),
            (json!([says, assistant(&[call("1")]), says]), "without results before"),
            (json!([user(&[result("1")])]), "without its call"),
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
        assert!(found(json!([says]), json!([])).join("").contains("an empty list"));
    }
}
