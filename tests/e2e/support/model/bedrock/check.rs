//! Checks a request for faults that Bedrock would refuse, or that no agent should send.

use std::collections::HashSet;

use serde_json::Value;

use crate::support::model::{
    check::{
        Faults,
        blocks::{CallIds, blocks_of, is_name, roles},
        files::FileLimits,
    },
    files::{SentFile, all_files, files_of},
    request::{Api, ModelRequest},
};

const IDS: CallIds = CallIds {
    call: |block| block["toolUse"].get("toolUseId"),
    result: |block| block["toolResult"].is_object().then(|| &block["toolResult"]["toolUseId"]),
};

/// <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html>. The limit of
/// the request is that of the body of `InvokeModel`.
const FILES: FileLimits = FileLimits { image: 3_750_000, document: 4_500_000, request: 25_000_000 };
/// The most images and documents of a message.
const MOST_IMAGES: usize = 20;
const MOST_DOCUMENTS: usize = 5;

/// All faults of a request.
pub(crate) fn faults(request: &ModelRequest, key: Option<&str>) -> Vec<String> {
    let mut faults = Faults::default();
    faults.check_key(request, key, "access key");
    let inference = &request.body["inferenceConfig"];
    faults.unless(inference["maxTokens"].as_u64().is_some_and(|most| most > 0), || {
        "maxTokens is missing".into()
    });
    faults.check_temperature(&inference["temperature"]);
    faults.check_marks(request, "cachePoint");
    let config = &request.body["toolConfig"];
    let some = !request.tools().is_empty();
    faults.unless(config.is_null() || some, || "an empty list of tools".into());
    faults.check_tools(request, &config["tools"], is_tool);
    faults.check_files(request, &FILES);
    check_documents(request, &mut faults);
    check_content(request, &mut faults);
    let calls = faults.check_block_calls(request, unmarked_blocks, &IDS);
    faults.unless(!calls || !config.is_null(), || {
        "the conversation has calls, but the request has no tools".into()
    });
    faults.0
}

fn is_tool(tool: &Value) -> bool {
    let spec = &tool["toolSpec"];
    let described = spec["description"].as_str().is_none_or(|description| !description.is_empty());
    is_name(&spec["name"]) && described && spec["inputSchema"]["json"]["type"] == "object"
}

/// Checks the names of the documents and the number of files in each message.
fn check_documents(request: &ModelRequest, faults: &mut Faults) {
    let mut names = HashSet::new();
    for name in all_files(request).into_iter().filter_map(|file| file.name) {
        let plain = |c: char| c.is_ascii_alphanumeric() || " -()[]".contains(c);
        let fine = (1..=200).contains(&name.len()) && name.chars().all(plain);
        faults
            .unless(fine && !name.contains("  "), || format!("not a name of a document: {name:?}"));
        faults.unless(names.insert(name), || format!("two documents have the name {name:?}"));
    }
    for message in request.messages() {
        let files = files_of(request.api, message);
        let images = files.iter().filter(|file| file.is_image()).count();
        let documents = files.len() - images;
        faults.unless(images <= MOST_IMAGES && documents <= MOST_DOCUMENTS, || {
            format!("{images} images and {documents} documents in one message")
        });
        faults.unless(documents == 0 || blocks_of(message).iter().any(is_text), || {
            "a document in a message without a text".into()
        });
    }
}

fn check_content(request: &ModelRequest, faults: &mut Faults) {
    for block in request.body["system"].as_array().into_iter().flatten() {
        faults.unless(is_text(block) || is_mark(block), || {
            format!("not a part of the system text: {block}")
        });
    }
    let roles = roles(request);
    faults.check_roles(&roles);
    for (role, message) in roles.iter().zip(request.messages()) {
        let blocks = blocks_of(message);
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
                || *role == "user" && SentFile::of(Api::Bedrock, block).is_some()
                || *role == "user"
                    && is_name(&result["toolUseId"])
                    && result["content"].as_array().is_some_and(|said| {
                        said.iter().all(|block| is_text(block) || is_image(request, block))
                    });
            faults.unless(one && fine, || format!("not a block of the {role}: {block}"));
        }
    }
}

fn unmarked_blocks(message: &Value) -> Vec<&Value> {
    blocks_of(message).iter().filter(|block| !is_mark(block)).collect()
}

fn is_text(block: &Value) -> bool {
    block["text"].as_str().is_some_and(|text| !text.trim().is_empty())
}

/// Whether this is an image that the model takes in a tool result.
fn is_image(request: &ModelRequest, block: &Value) -> bool {
    block["image"].is_object()
        && ["nova", "claude"].iter().any(|family| request.model.contains(family))
}

fn is_mark(block: &Value) -> bool {
    block["cachePoint"]["type"] == "default"
}

mod tests {
    use serde_json::json;

    use super::*;
    use crate::support::model::{
        check::blocks::{Blocks, assistant, user},
        request::Api,
    };

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
        let blocks = Blocks {
            text: |text| json!({ "text": text }),
            call: |id| json!({ "toolUse": { "toolUseId": id, "name": "a", "input": {} } }),
            result: |id| json!({ "toolResult": { "toolUseId": id, "content": [{ "text": "r" }] } }),
        };
        let Blocks { text, call, result } = blocks;
        let mark = || json!({ "cachePoint": { "type": "default" } });
        let says = user(&[text("u"), mark()]);
        let tools = json!([tool("a"), tool("b")]);
        let marked: Vec<Value> = ["a", "b", "c", "d"].map(|part| [text(part), mark()]).concat();
        let fine = json!([
            says,
            assistant(&[text("t"), call("1"), call("2")]),
            user(&[result("1"), result("2"), mark(), text("u")])
        ]);
        assert_eq!(found(fine, tools.clone()), [""; 0]);
        let mut refused = blocks.refused();
        let two_fields = json!({ "text": "a", "cachePoint": { "type": "default" } });
        refused.push((vec![user(&[mark()])], "without content"));
        refused.push((vec![user(&[two_fields])], "not a block"));
        refused.push((vec![user(&marked)], "5 marks"));
        for (wrong, word) in refused {
            let found = found(json!(wrong), tools.clone()).join("; ");
            assert!(found.contains(word), "{word:?} in {found:?} of {wrong:?}");
        }
        assert!(
            found(json!([says]), json!([tool("b"), tool("a")])).join("").contains("not sorted")
        );
        assert!(found(json!([says]), json!([])).join("").contains("an empty list"));
    }
}
