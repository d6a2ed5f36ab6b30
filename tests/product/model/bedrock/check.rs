//! What Bedrock would refuse, or what no agent should send.

use std::collections::HashSet;

use serde_json::Value;

use crate::model::{asked::Asked, check::Faults};

/// No more parts of a request may be marked to be kept.
const MARKS: usize = 4;

/// Everything that is wrong with a request.
pub(in crate::model) fn faults(asked: &Asked, key: Option<&str>) -> Vec<String> {
    let mut faults = Faults::default();
    let authorized = key.map_or(!asked.key().is_empty(), |key| asked.key() == key);
    faults.unless(authorized, || format!("wrong access key: {:?}", asked.key()));
    let inference = &asked.body["inferenceConfig"];
    faults.unless(inference["maxTokens"].as_u64().is_some_and(|most| most > 0), || "maxTokens is missing".into());
    let hot = inference["temperature"].as_f64().is_some_and(|temperature| !(0.0..=1.0).contains(&temperature));
    faults.unless(!hot, || format!("the temperature is out of range: {}", inference["temperature"]));
    let marks = asked.body.to_string().matches("\"cachePoint\"").count();
    faults.unless(marks <= MARKS, || format!("{marks} marks"));
    check_tools(asked, &mut faults);
    check_turns(asked, &mut faults);
    check_calls(asked, &mut faults);
    faults.0
}

fn check_tools(asked: &Asked, faults: &mut Faults) {
    let names = asked.tools();
    faults.unless(names.is_sorted(), || format!("tools are not sorted by name: {names:?}"));
    let distinct: HashSet<_> = names.iter().collect();
    faults.unless(distinct.len() == names.len(), || format!("a tool stands twice: {names:?}"));
    let config = &asked.body["toolConfig"];
    faults.unless(config.is_null() || !names.is_empty(), || "an empty list of tools".into());
    for tool in config["tools"].as_array().into_iter().flatten() {
        let spec = &tool["toolSpec"];
        let described = spec["description"].as_str().is_none_or(|description| !description.is_empty());
        let fine = is_name(&spec["name"]) && described && spec["inputSchema"]["json"]["type"] == "object";
        faults.unless(fine, || format!("not a tool: {tool}"));
    }
}

fn check_turns(asked: &Asked, faults: &mut Faults) {
    for block in asked.body["system"].as_array().into_iter().flatten() {
        faults.unless(is_text(block) || is_mark(block), || format!("not a part of the system's text: {block}"));
    }
    let roles: Vec<&str> = asked.messages().iter().map(|message| message["role"].as_str().unwrap_or("")).collect();
    let ends = [roles.first(), roles.last()];
    faults.unless(ends == [Some(&"user"); 2], || format!("it does not begin and end with the user: {roles:?}"));
    let turns = roles.iter().all(|role| ["user", "assistant"].contains(role)) && roles.windows(2).all(|pair| pair[0] != pair[1]);
    faults.unless(turns, || format!("they do not take turns: {roles:?}"));
    for (role, message) in roles.iter().zip(asked.messages()) {
        let blocks = blocks(message);
        faults.unless(blocks.first().is_some_and(|block| !is_mark(block)), || format!("a message without content: {message}"));
        for block in blocks {
            let (call, result) = (&block["toolUse"], &block["toolResult"]);
            let one = block.as_object().is_some_and(|fields| fields.len() == 1);
            let fine = is_text(block)
                || is_mark(block)
                || *role == "assistant" && is_name(&call["toolUseId"]) && is_name(&call["name"]) && call["input"].is_object()
                || *role == "user"
                    && is_name(&result["toolUseId"])
                    && result["content"].as_array().is_some_and(|said| said.iter().all(is_text));
            faults.unless(one && fine, || format!("not a block of the {role}: {block}"));
        }
    }
}

/// Every call has its result in the next message, before all else, and every result its call.
fn check_calls(asked: &Asked, faults: &mut Faults) {
    let mut open: Vec<&str> = Vec::new();
    let mut known = HashSet::new();
    for message in asked.messages() {
        let blocks: Vec<&Value> = blocks(message).iter().filter(|block| !is_mark(block)).collect();
        let results = blocks.iter().take_while(|block| block["toolResult"].is_object()).count();
        for block in &blocks[..results] {
            let before = open.len();
            open.retain(|open| block["toolResult"]["toolUseId"] != *open);
            faults.unless(open.len() + 1 == before, || format!("a result without its call: {block}"));
        }
        faults.unless(open.is_empty(), || format!("calls without results before {message}: {open:?}"));
        let late = blocks[results..].iter().any(|block| block["toolResult"].is_object());
        faults.unless(!late, || format!("a result behind something else: {message}"));
        open = blocks.iter().filter_map(|block| block["toolUse"]["toolUseId"].as_str()).collect();
        for id in &open {
            faults.unless(known.insert(*id), || format!("a call's id is repeated: {id:?}"));
        }
    }
    faults.unless(open.is_empty(), || format!("calls without results at the end: {open:?}"));
    let tools = known.is_empty() || !asked.body["toolConfig"].is_null();
    faults.unless(tools, || "calls, and no tools".into());
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

/// Ids and names are of the same make.
fn is_name(name: &Value) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    name.as_str().is_some_and(|name| (1..=64).contains(&name.len()) && name.chars().all(plain))
}

mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::asked::Api;

    fn found(messages: Value, tools: Value) -> Vec<String> {
        let body = json!({ "messages": messages, "toolConfig": { "tools": tools }, "inferenceConfig": { "maxTokens": 9 },
            "system": [{ "text": "s" }, { "cachePoint": { "type": "default" } }] });
        faults(&Asked { key: "key".into(), ..Asked::of(Api::Bedrock, "m", body) }, Some("key"))
    }

    #[test]
    fn a_conversation_that_bedrock_would_refuse_is_found() {
        let tool = |name: &str| json!({ "toolSpec": { "name": name, "inputSchema": { "json": { "type": "object" } } } });
        let text = |text: &str| json!({ "text": text });
        let mark = || json!({ "cachePoint": { "type": "default" } });
        let call = |id: &str| json!({ "toolUse": { "toolUseId": id, "name": "a", "input": {} } });
        let result = |id: &str| json!({ "toolResult": { "toolUseId": id, "content": [{ "text": "r" }] } });
        let user = |blocks: &[Value]| json!({ "role": "user", "content": blocks });
        let assistant = |blocks: &[Value]| json!({ "role": "assistant", "content": blocks });
        let (says, tools) = (user(&[text("u"), mark()]), json!([tool("a"), tool("b")]));
        let fine =
            json!([says, assistant(&[text("t"), call("1"), call("2")]), user(&[result("1"), result("2"), mark(), text("SYSTEM: s")])]);
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
            (json!([user(&[json!({ "text": "a", "cachePoint": { "type": "default" } })])]), "not a block"),
            (json!([user(&[text("a"), mark(), text("b"), mark(), text("c"), mark(), text("d"), mark()])]), "5 marks"),
            (json!([says, assistant(&[call("1")])]), "without results at the end"),
            (json!([says, assistant(&[call("1")]), says]), "without results before"),
            (json!([user(&[result("1")])]), "without its call"),
            (json!([says, assistant(&[call("1")]), user(&[text("x"), result("1")])]), "behind"),
            (json!([says, assistant(&[call("1"), call("1")]), user(&[result("1")])]), "repeated"),
            (json!([says, assistant(&[call("a.b")]), user(&[result("a.b")])]), "not a block"),
        ] {
            let found = found(wrong.clone(), tools.clone()).join("; ");
            assert!(found.contains(word), "{word:?} in {found:?} of {wrong}");
        }
        assert!(found(json!([says]), json!([tool("b"), tool("a")])).join("").contains("not sorted"));
        assert!(found(json!([says]), json!([])).join("").contains("an empty list"));
    }
}
