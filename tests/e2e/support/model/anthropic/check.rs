//! Checks a request for faults that Anthropic would refuse, or that no agent should send.

use serde_json::Value;

use crate::support::model::{
    check::{
        Faults,
        blocks::{CallIds, blocks_of, is_name, roles},
        files::FileLimits,
    },
    files::SentFile,
    request::{Api, ModelRequest},
};

const IDS: CallIds = CallIds {
    call: |block| (block["type"] == "tool_use").then(|| &block["id"]),
    result: |block| (block["type"] == "tool_result").then(|| &block["tool_use_id"]),
};

/// <https://docs.claude.com/en/api/overview#request-size-limits>. The 5 MiB of an image are those
/// of its base64. A document is limited by the request.
const FILES: FileLimits =
    FileLimits { image: 5 * 1024 * 1024 / 4 * 3, document: usize::MAX, request: 32 * 1024 * 1024 };

/// All faults of a request.
pub(crate) fn faults(request: &ModelRequest, key: Option<&str>) -> Vec<String> {
    let mut faults = Faults::default();
    faults.check_key(request, key, "x-api-key");
    faults.unless(request.version == "2023-06-01", || {
        format!("wrong anthropic-version: {:?}", request.version)
    });
    let streams = request.body["stream"] == true;
    faults.unless(streams, || "the request does not ask for a stream".into());
    let max_tokens = request.body["max_tokens"].as_u64();
    faults.unless(max_tokens.is_some_and(|most| most > 0), || "max_tokens is missing".into());
    faults.check_temperature(&request.body["temperature"]);
    faults.check_marks(request, "cache_control");
    faults.check_tools(request, &request.body["tools"], is_tool);
    faults.check_files(request, &FILES);
    check_content(request, &mut faults);
    faults.check_block_calls(request, |message| blocks_of(message).iter().collect(), &IDS);
    faults.0
}

fn is_tool(tool: &Value) -> bool {
    is_name(&tool["name"])
        && tool["description"].is_string()
        && tool["input_schema"]["type"] == "object"
}

fn check_content(request: &ModelRequest, faults: &mut Faults) {
    for block in request.body["system"].as_array().into_iter().flatten() {
        faults.unless(is_text(block), || format!("not a part of the system text: {block}"));
    }
    let roles = roles(request);
    faults.check_roles(&roles);
    for (role, message) in roles.iter().zip(request.messages()) {
        let blocks = blocks_of(message);
        faults.unless(!blocks.is_empty(), || format!("a message without content: {message}"));
        for block in blocks {
            let fine = match (*role, block["type"].as_str()) {
                (_, Some("text")) => is_text(block),
                ("user", Some("image")) => SentFile::of(Api::Anthropic, block).is_some(),
                // An empty title is refused, but a missing one is not.
                ("user", Some("document")) => block["title"] != "",
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

fn is_text(block: &Value) -> bool {
    block["type"] == "text" && block["text"].as_str().is_some_and(|text| !text.trim().is_empty())
}

mod tests;
