use serde_json::json;

use super::*;
use crate::support::model::{
    check::blocks::{Blocks, assistant, user},
    request::Api,
};

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
    let blocks = Blocks {
        text: |text| json!({ "type": "text", "text": text }),
        call: |id| json!({ "type": "tool_use", "id": id, "name": "a", "input": {} }),
        result: |id| json!({ "type": "tool_result", "tool_use_id": id, "content": "r" }),
    };
    let Blocks { text, call, result } = blocks;
    let says = user(&[text("u")]);
    let tools = json!([tool("a"), tool("b")]);
    let fine = json!([
        says,
        assistant(&[text("t"), call("1"), call("2")]),
        user(&[result("1"), result("2"), text("u")])
    ]);
    assert_eq!(found(fine, tools.clone()), [""; 0]);
    for (wrong, word) in blocks.refused() {
        let found = found(json!(wrong), tools.clone()).join("; ");
        assert!(found.contains(word), "{word:?} in {found:?} of {wrong:?}");
    }
    assert!(found(json!([says]), json!([tool("b"), tool("a")])).join("").contains("not sorted"));
}
