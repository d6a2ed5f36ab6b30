//! `compute` tools, and the errors and limits of configured tools.

use serde_json::json;

use crate::{
    support::{
        model::{answer, call, raw_call, stop},
        stack::{Stack, Team},
    },
    tools::cards::{tool, with_tools},
};

#[tokio::test]
async fn a_compute_tool_evaluates_its_expression() {
    let stack = Stack::start().await;
    let compute = |name: &str, expression: &str, visible: bool| {
        tool(name, json!({"type": "compute", "expression": expression}), visible)
    };
    let tools = json!([
        compute(
            "gross",
            "{'gross': double(input.net) * 1.5, 'items': input.items.map(item, item.upper)}",
            true
        ),
        compute("fails", "input.a / input.b", false),
        compute("endless", "input.l.map(a, input.l.map(b, input.l.map(c, a + b + c)))", false),
    ]);
    let list: Vec<u32> = (0..1_000).collect();
    let calls = answer([
        call("gross", json!({"net": 100, "items": [{"upper": "A"}]})),
        call("fails", json!({"a": 1, "b": 0})),
        call("fails", json!({"a": 7, "b": 2})),
        call("endless", json!({"l": list})),
        call("gross", json!({"items": []})),
    ]);
    stack.model.plays("ada", [calls, stop()]);
    let Team { person, space, .. } = with_tools(&stack, tools).await;
    stack.post(&space, &person, "go").await;
    stack.quiet(&space).await;
    let results = stack.model.requests("ada")[1].results();
    assert_eq!((&results[0], &results[2]), (&json!({"gross": 150.0, "items": ["A"]}), &json!(3)));
    let error = |index: usize| results[index]["error"].as_str().unwrap_or_default().to_owned();
    assert!(
        error(1).contains("zero") && error(3).contains("takes too") && error(4).contains("net"),
        "{results:?}"
    );
    let cards: Vec<_> = stack
        .messages(&space)
        .await
        .iter()
        .skip(1)
        .map(|card| card["parts"][0]["status"].clone())
        .collect();
    assert_eq!(cards, ["completed", "failed"], "a visible call has a card even if it fails");

    let model = json!({"provider": "openai", "name": "m"});
    let agent = json!({"model": model, "tools": [compute("x", "input.a +", false)]});
    let bad = json!({"type": "agent", "name": "Bad", "agent": agent});
    let problem = stack.create("/v1/entities", bad).await.must_be(422);
    assert_eq!(problem["errors"][0]["pointer"], "/agent/tools/0/execution/expression", "{problem}");
}

#[tokio::test]
async fn an_output_over_32_kib_is_truncated_for_the_model_with_a_note() {
    let stack = Stack::start().await;
    let hidden = tool("book", json!({"type": "static", "output": "z".repeat(40_000)}), false);
    stack.model.plays("ada", [answer([call("book", json!({}))]), stop()]);
    let Team { person, space, .. } = with_tools(&stack, json!([hidden])).await;
    stack.post(&space, &person, "go").await;
    stack.quiet(&space).await;
    let result = stack.model.requests("ada")[1].results()[0].as_str().unwrap().to_owned();
    assert!(
        result.len() < 33_000 && result.ends_with(" … (7234 more bytes)"),
        "{}",
        &result[result.len() - 60..]
    );
}

#[tokio::test]
async fn bad_input_of_a_configured_tool_is_reported_with_the_schema() {
    let stack = Stack::start().await;
    let schema = json!({
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": false,
    });
    let mut shown = tool("fetchWeather", json!({"type": "static", "output": 1}), true);
    shown["inputSchema"] = schema;
    let bad = [
        call("fetchWeather", json!({})),
        call("fetchWeather", json!({"city": 1})),
        raw_call("fetchWeather", "{\"city\": "),
        call("fetchWeather", json!({"city": "Oslo", "x": 1})),
    ];
    stack.model.plays("ada", [answer(bad), stop()]);
    let Team { person, space, .. } = with_tools(&stack, json!([shown])).await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;
    stack.post(&space, &person, "go").await;
    stack.quiet(&space).await;
    let results = stack.model.requests("ada")[1].results();
    assert!(
        results.iter().all(|result| result["error"].as_str().unwrap().contains("expected {")),
        "{results:?}"
    );
    assert_eq!(stack.messages(&space).await.len(), 1);
    let view = socket.view(&space);
    assert!(view.live().is_empty(), "streams of refused calls are still open: {:?}", view.live());
}
