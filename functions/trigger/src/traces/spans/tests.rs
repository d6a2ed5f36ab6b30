use smartspace_domain::{ids::RunId, triggers::Trigger};

use super::*;

const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

fn run(changes: &Value) -> Run {
    let mut run = json!({
        "id": RunId::new(Time::from_millis(1_000), 1),
        "agentId": "ent_01KHRMMJH0000000000000000A",
        "status": "completed",
        "endReason": "done",
        "trigger": {
            "type": "plan", "planId": "pln_01KHRMMJH0000000000000000A", "name": "Daily",
            "instruction": "Look.", "scheduledAt": Time::from_millis(900), "missed": 0,
        },
        "activeSpaceId": null,
        "chainDepth": 2,
        "attempt": 1,
        "stepCount": 1,
        "usage": {
            "inputTokens": 900, "cachedTokens": 600, "cacheWriteTokens": 0, "outputTokens": 40,
            "cost": 0.0125,
        },
        "error": null,
        "createdAt": Time::from_millis(1_000),
        "startedAt": Time::from_millis(1_250),
        "finishedAt": Time::from_millis(4_000),
    });
    for (name, value) in changes.as_object().unwrap() {
        run[name] = value.clone();
    }
    serde_json::from_value(run).unwrap()
}

fn step(call_status: &str) -> Step {
    let step = json!({
        "index": 0,
        "attempt": 1,
        "model": "bedrock/eu.model-x:0",
        "origin": {
            "responseId": "msg_7", "responseModel": "model-x-2026", "server": "models.example",
        },
        "prompt": {
            "system": ["You are Ada."],
            "messages": [{"role": "user", "blocks": ["History.", "Now."]}],
        },
        "systemMessages": [],
        "text": "I look it up.",
        "calls": [{
            "callId": "cal_01JD0000000000000000000001",
            "name": "weather",
            "input": {"city": "Cairo"},
            "output": {"degrees": 31},
            "status": call_status,
            "startedAt": Time::from_millis(2_500),
            "finishedAt": Time::from_millis(3_000),
        }],
        "finishReason": "tool_calls",
        "usage": {
            "inputTokens": 900, "cachedTokens": 600, "cacheWriteTokens": 0, "outputTokens": 40,
            "cost": null,
        },
        "startedAt": Time::from_millis(1_300),
        "firstTokenAt": Time::from_millis(1_800),
        "finishedAt": Time::from_millis(2_400),
    });
    serde_json::from_value(step).unwrap()
}

fn spans(run: &Run, steps: &[Step], trace: &TraceParent, has_content: bool) -> Vec<Value> {
    let space = "spc_01KHRMMJH0000000000000000H".parse().ok();
    let exported = Exported { run, space, steps, agent: None, trace, has_content };
    let request = request("garden", &exported);
    let resource = &request["resourceSpans"][0];
    assert_eq!(resource["resource"]["attributes"][0]["value"]["stringValue"], "garden");
    resource["scopeSpans"][0]["spans"].as_array().unwrap().clone()
}

/// The values of a span's attributes, by name.
fn attributes(span: &Value) -> Map<String, Value> {
    let attributes = span["attributes"].as_array().unwrap().iter().map(|attribute| {
        let value = attribute["value"].as_object().unwrap().values().next().unwrap().clone();
        (attribute["key"].as_str().unwrap().to_owned(), value)
    });
    attributes.collect()
}

#[test]
fn a_run_its_answers_and_its_calls_are_one_tree() {
    let trace = TraceParent::read(TRACE).unwrap();
    let spans = spans(&run(&json!({})), &[step("completed")], &trace, false);
    let names: Vec<_> = spans.iter().map(|span| span["name"].as_str().unwrap()).collect();
    let agent = "invoke_agent ent_01KHRMMJH0000000000000000A";
    assert_eq!(names, [agent, "chat eu.model-x:0", "execute_tool weather"]);
    let root = &spans[0]["spanId"];
    assert_eq!(spans[0]["parentSpanId"], "00f067aa0ba902b7");
    assert!(spans[1..].iter().all(|span| span["parentSpanId"] == *root));
    assert!(spans.iter().all(|span| span["traceId"] == "4bf92f3577b34da6a3ce929d0e0e4736"));
    // A run that this call woke names it as its parent, because it derives the id alike.
    let call = format!("{:016x}", span_of("cal_01JD0000000000000000000001"));
    assert_eq!(spans[2]["spanId"], call.as_str());
    let times = |span: &Value| [span["startTimeUnixNano"].clone(), span["endTimeUnixNano"].clone()];
    assert_eq!(times(&spans[0]), ["1250000000", "4000000000"]);
    assert_eq!(times(&spans[1]), ["1300000000", "2400000000"]);
    assert_eq!(times(&spans[2]), ["2500000000", "3000000000"]);
    assert_eq!([&spans[0]["kind"], &spans[1]["kind"], &spans[2]["kind"]], [1, 3, 1]);
}

#[test]
fn attributes_have_the_names_of_the_conventions() {
    let trace = TraceParent::read(TRACE).unwrap();
    let spans = spans(&run(&json!({})), &[step("completed")], &trace, false);
    let run = attributes(&spans[0]);
    assert_eq!(run["gen_ai.operation.name"], "invoke_agent");
    assert_eq!(run["gen_ai.conversation.id"], "spc_01KHRMMJH0000000000000000H");
    assert_eq!(run["gen_ai.usage.input_tokens"], "900");
    assert_eq!(run["gen_ai.usage.cache_read.input_tokens"], "600");
    assert_eq!(run["smartspace.usage.cost"], 0.0125);
    assert_eq!(run["smartspace.run.queued_ms"], "250");
    assert_eq!(run["smartspace.run.trigger"], "plan");
    let chat = attributes(&spans[1]);
    assert_eq!(chat["gen_ai.provider.name"], "aws.bedrock");
    assert_eq!(chat["gen_ai.request.model"], "eu.model-x:0");
    assert_eq!(chat["gen_ai.response.id"], "msg_7");
    assert_eq!(chat["gen_ai.response.model"], "model-x-2026");
    assert_eq!(chat["server.address"], "models.example");
    let reasons = json!([{"stringValue": "tool_calls"}]);
    assert_eq!(chat["gen_ai.response.finish_reasons"]["values"], reasons);
    assert_eq!(chat["smartspace.first_token_ms"], "500");
    assert!(!chat.contains_key("smartspace.usage.cost"), "the model has no price");
    let tool = attributes(&spans[2]);
    assert_eq!(tool["gen_ai.tool.name"], "weather");
    assert_eq!(tool["gen_ai.tool.call.id"], "cal_01JD0000000000000000000001");
    assert!(!tool.contains_key("gen_ai.tool.description"), "the agent is gone");
    let texts = ["Ada", "History", "Cairo", "degrees", "look it up"];
    let all = json!(spans).to_string();
    assert!(texts.iter().all(|text| !all.contains(text)), "texts are exported only if asked for");
}

#[test]
fn texts_are_exported_if_asked_for() {
    let trace = TraceParent::read(TRACE).unwrap();
    let spans = spans(&run(&json!({})), &[step("completed")], &trace, true);
    let parsed = |value: &Value| serde_json::from_str::<Value>(value.as_str().unwrap()).unwrap();
    let chat = attributes(&spans[1]);
    let text = |text: &str| json!({"type": "text", "content": text});
    assert_eq!(parsed(&chat["gen_ai.system_instructions"]), json!([text("You are Ada.")]));
    let input = json!([{"role": "user", "parts": [text("History."), text("Now.")]}]);
    assert_eq!(parsed(&chat["gen_ai.input.messages"]), input);
    let call = json!({
        "type": "tool_call", "id": "cal_01JD0000000000000000000001", "name": "weather",
        "arguments": {"city": "Cairo"},
    });
    let output = json!([{
        "role": "assistant",
        "parts": [text("I look it up."), call],
        "finish_reason": "tool_calls",
    }]);
    assert_eq!(parsed(&chat["gen_ai.output.messages"]), output);
    let tool = attributes(&spans[2]);
    assert_eq!(parsed(&tool["gen_ai.tool.call.arguments"]), json!({"city": "Cairo"}));
    assert_eq!(parsed(&tool["gen_ai.tool.call.result"]), json!({"degrees": 31}));
}

#[test]
fn errors_are_marked_and_a_trace_that_began_here_has_a_root() {
    let failed = run(&json!({
        "status": "failed",
        "endReason": null,
        "error": {"code": "rate_limited", "message": "the provider refuses"},
    }));
    let trace = TraceParent::begin();
    let spans = spans(&failed, &[step("unknown")], &trace, false);
    assert_eq!(spans[0].get("parentSpanId"), None);
    assert_eq!(spans[0]["status"], json!({"code": 2}));
    let with_content = super::tests::spans(&failed, &[step("unknown")], &trace, true);
    assert_eq!(with_content[0]["status"], json!({"code": 2, "message": "the provider refuses"}));
    assert_eq!(attributes(&spans[0])["error.type"], "rate_limited");
    assert_eq!(spans[1]["status"], json!({}));
    assert_eq!(
        (&spans[2]["status"], &attributes(&spans[2])["error.type"]),
        (&json!({"code": 2}), &json!("unknown"))
    );
    assert!(matches!(failed.trigger, Trigger::Plan { .. }));
}

#[test]
fn a_tool_that_the_model_made_up_has_no_name() {
    let trace = TraceParent::begin();
    let step = Step { tools: vec!["send_message".into()], ..step("failed") };
    let spans = spans(&run(&json!({})), &[step], &trace, false);
    assert_eq!(spans[2]["name"], "execute_tool unknown");
    assert!(!json!(spans).to_string().contains("weather"));
}

#[test]
fn a_configured_tool_has_its_description() {
    let agent: Entity = serde_json::from_value(json!({
        "id": "ent_01KHRMMJH0000000000000000A", "type": "agent", "name": "Ada",
        "createdAt": Time::from_millis(1),
        "agent": {
            "model": {"provider": "scripted", "name": "m"},
            "tools": [{
                "name": "weather", "description": "Says how warm it is.",
                "execution": {"type": "static", "output": 31},
            }],
        },
    }))
    .unwrap();
    let (run, trace) = (run(&json!({})), TraceParent::begin());
    let exported = Exported {
        run: &run,
        space: None,
        steps: &[step("completed")],
        agent: Some(&agent),
        trace: &trace,
        has_content: false,
    };
    let tool = Value::Array(exported.spans())[2].clone();
    assert_eq!(attributes(&tool)["gen_ai.tool.description"], "Says how warm it is.");
}
