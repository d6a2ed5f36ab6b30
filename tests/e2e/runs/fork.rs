//! `POST /v1/runs/{id}/fork`: a dry run from a step of another run, which changes nothing.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    client::Reply,
    mcp_server::McpServer,
    model::{Answer, ModelRequest, answer, call, http, say, stop, think},
    routes::{id, triggered_run},
    stack::Stack,
    tool_server::ToolServer,
    waiting::{SOON, wait_for},
};

/// Forks a run.
async fn fork(stack: &Stack, run: &str, key: &str, body: Value) -> Reply {
    let request = stack.request(Method::POST, &format!("/v1/runs/{run}/fork"));
    stack.send(request.bearer_auth(&stack.key).header("Idempotency-Key", key).json(&body)).await
}

/// A call as a step shows it: its name, its status and its output.
fn calls(step: &Value) -> Vec<(String, String, Value)> {
    let calls = step["calls"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    calls.map(|call| (text(&call["name"]), text(&call["status"]), call["output"].clone())).collect()
}

#[tokio::test]
async fn a_fork_asks_again_with_another_model_and_other_instructions() {
    let stack = Stack::start().await;
    let get_goals = call("get_goals", json!({}));
    stack.model.plays("ada", [get_goals.into(), say("The answer is 41.").into(), stop()]);
    let (person, agent, space) = stack.pair().await;
    let question = stack.post(&space, &person, "What is 6 times 7?").await;
    let run = triggered_run(&question, &agent).unwrap();
    stack.ended(&run, SOON).await;
    stack.quiet(&space).await;

    stack.model.plays("bea", [say("The answer is 42.").into(), stop()]);
    let change = json!({
        "fromStep": 1,
        "model": {"provider": "openai", "name": stack.model.name("bea")},
        "instructions": "Check your sums.",
    });
    let made = fork(&stack, &run, "one", change.clone()).await;
    let location = made.header("location").to_owned();
    let made = made.must_be(201);
    let forked = id(&made);
    assert_eq!(location, format!("/v1/runs/{forked}"));
    assert_eq!(made["forkOf"], json!({"runId": run, "step": 1}));
    let ended = stack.ended(&forked, SOON).await;
    assert_eq!((&ended["status"], &ended["endReason"]), (&json!("completed"), &json!("done")));
    assert_eq!(id(&fork(&stack, &run, "one", change).await.must_be(201)), forked);
    let other = fork(&stack, &run, "one", json!({"fromStep": 0})).await;
    assert_eq!(other.status, 422, "the key was used with another body");

    // The answers stand side by side: the same step of both runs.
    let [first, second] = [stack.run(&run).await, stack.run(&forked).await];
    let of_fork = second["steps"].as_array().unwrap();
    assert_eq!(of_fork.iter().map(|step| &step["index"]).collect::<Vec<_>>(), [1, 2]);
    let said = |step: &Value| step["calls"][0]["input"]["text"].clone();
    assert_eq!(said(&first["steps"][1]), "The answer is 41.");
    assert_eq!(said(&of_fork[0]), "The answer is 42.");
    assert_eq!(calls(&of_fork[0])[0].2, json!({"dryRun": true}));
    assert!(of_fork[0]["prompt"]["system"][0].as_str().unwrap().starts_with("Check your sums."));
    assert_eq!(second["trigger"], first["trigger"]);
    assert!(of_fork[0]["tools"].as_array().unwrap().contains(&json!("send_message")));

    // The model got the prompt of the first run, with other instructions, and its first step.
    let [asked, forked_asked] = ["ada", "bea"].map(|model| stack.model.requests(model));
    assert_eq!(forked_asked[0].step(), 1);
    let prompt = |request: &ModelRequest| request.messages()[1].clone();
    assert_eq!(prompt(&asked[1]), prompt(&forked_asked[0]));
    assert_eq!(asked[1].results(), forked_asked[0].results());
    assert!(forked_asked[0].body.to_string().contains("Check your sums."));

    // It counts in the usage, and nowhere else.
    assert_eq!(stack.texts(&space).await, ["What is 6 times 7?", "The answer is 41."]);
    let usage = |run: &Value| run["usage"]["outputTokens"].as_u64().unwrap();
    assert!(usage(&second) > 0);
    assert!(second["firstTokenAt"].as_str().unwrap() > first["finishedAt"].as_str().unwrap());
    let runs = stack.runs_of(&space).await;
    let of_space: Vec<_> = runs.iter().map(id).collect();
    assert_eq!(of_space, [&*run], "members do not see it");
    let of_agent = stack.all(&format!("/v1/agents/{agent}/runs")).await;
    assert_eq!(of_agent.iter().map(id).collect::<Vec<_>>(), [forked, run]);
}

/// What the agent of the test does: all that has an effect, and then a question for people.
fn deeds(other: &str) -> [Answer; 4] {
    [
        answer([
            call("get_memories", json!({})),
            say("Working on it."),
            call("note", json!({"text": "card"})),
            call("fetch", json!({"q": "outside"})),
            call("every__get-sum", json!({"a": 2, "b": 40})),
            call("set_memories", json!({"memories": [{"key": "city", "value": "Oslo"}]})),
            call("set_goals", json!({"goals": [{"id": "g", "description": "Finish"}]})),
            call(
                "set_plans",
                json!({"plans": [{"name": "P", "instruction": "Do it.", "cron": "0 9 1 * *"}]}),
            ),
            call("enter_space", json!({"spaceId": other})),
            say("Over here."),
        ]),
        call("ask", json!({"question": "Shall I?"})).into(),
        say("Done.").into(),
        stop(),
    ]
}

/// A run that did all of that: its agent, its spaces and its tools' servers.
struct Doer {
    stack: Stack,
    tools: ToolServer,
    /// Runs as long as it is kept.
    _mcp: McpServer,
    person: String,
    agent: String,
    /// The space of the trigger, and the one that the run entered.
    spaces: [String; 2],
    run: String,
}

impl Doer {
    async fn new() -> Option<Self> {
        let tools = ToolServer::start().await;
        let mcp = McpServer::start().await;
        let hosts = format!("{},{}", tools.allowed(), mcp.allowed());
        let stack = Stack::with_env(&[("SMARTSPACE_TOOL_HOSTS", &hosts)]).await?;
        let person = stack.person("Husam").await;
        let model = json!({"provider": "openai", "name": stack.model.name("ada")});
        let tool = |name: &str, visible: bool, execution: Value| {
            json!({
                "name": name,
                "description": name,
                "inputSchema": {"type": "object"},
                "visible": visible,
                "execution": execution,
            })
        };
        let url = format!("{}/text", tools.url);
        let agent = json!({
            "model": model,
            "tools": [
                tool("note", true, json!({"type": "static", "output": {"noted": true}})),
                tool("fetch", false, json!({"type": "http", "method": "POST", "url": url})),
                tool("ask", true, json!({"type": "space"})),
            ],
            "mcp": {"servers": [{"name": "every", "url": mcp.url()}]},
        });
        let agent = stack.agent_with("Ada", agent).await;
        let space = stack.space("Team", &[&person, &agent]).await;
        let other = stack.space("Annex", &[&person, &agent]).await;
        let elsewhere = other.clone();
        stack.model.answers("ada", move |request| deeds(&elsewhere)[request.step()].clone());
        let question = stack.post(&space, &person, "Please do everything.").await;
        let run = triggered_run(&question, &agent).unwrap();
        let spaces = [space, other];
        let doer = Self { stack, tools, _mcp: mcp, person, agent, spaces, run };
        doer.answer_the_form().await;
        assert_eq!(doer.stack.ended(&doer.run, SOON).await["status"], "completed");
        doer.stack.quiet(&doer.spaces[0]).await;
        Some(doer)
    }

    async fn answer_the_form(&self) {
        let Self { stack, run, .. } = self;
        let form = wait_for("the form", SOON, async || {
            let messages = stack.messages(&self.spaces[1]).await;
            let mut parts = messages.iter().map(|message| &message["parts"][0]);
            parts.find(|part| part["name"] == "ask").map(|part| part["callId"].clone())
        });
        let form = form.await;
        let form = form.as_str().unwrap();
        let route = format!("/v1/runs/{run}/toolCalls/{form}/result");
        stack.create(&route, json!({"output": "yes"})).await.must_be(202);
    }

    /// All that the run may have changed, as the API shows it.
    async fn everything(&self) -> Value {
        let Self { stack, agent, .. } = self;
        let mut all = Vec::new();
        for list in ["memories", "goals", "plans", "deliveries"] {
            all.push(json!(stack.all(&format!("/v1/agents/{agent}/{list}")).await));
        }
        for space in &self.spaces {
            all.push(json!(stack.messages(space).await));
            all.push(stack.get(&format!("/v1/spaces/{space}")).await.must_be(200));
            all.push(json!(stack.runs_of(space).await));
        }
        json!(all)
    }
}

#[tokio::test]
async fn a_fork_sends_calls_asks_and_stores_nothing() {
    let Some(doer) = Doer::new().await else { return };
    let Doer { stack, tools, person, spaces: [space, other], run, .. } = &doer;
    let socket = stack.socket_of(person).await;
    socket.subscribe(space, None).await;
    socket.subscribe(other, None).await;
    let before = doer.everything().await;
    let called = tools.requests().len();
    assert_eq!(called, 1);
    let original = stack.run(run).await;
    let changed = json!({"fromStep": 0, "instructions": "Be quick."});
    for (key, body) in [("same", json!({"fromStep": 0})), ("changed", changed)] {
        let forked = id(&fork(stack, run, key, body).await.must_be(201));
        assert_eq!(stack.ended(&forked, SOON).await["status"], "completed");
        let forked = stack.run(&forked).await;
        assert_eq!(forked["steps"].as_array().unwrap().len(), 4);
        // The same calls have the results of the first run, without being made.
        for step in 0..3 {
            let [once, again] = [&original, &forked].map(|run| {
                let mut calls = calls(&run["steps"][step]);
                // What only reads the table reads it as it is now.
                calls.retain(|call| !["get_memories", "enter_space"].contains(&&*call.0));
                calls
            });
            assert_eq!(once, again);
        }
        assert_eq!(calls(&forked["steps"][0])[0].2, "MEMORIES:\n- [city] \"Oslo\"");
    }
    // Another text is answered with nothing.
    let sum = call("every__get-sum", json!({"a": 3, "b": 40}));
    stack.model.plays("ada", [answer([say("Something else."), sum]), stop()]);
    let forked = id(&fork(stack, run, "other", json!({"fromStep": 0})).await.must_be(201));
    stack.ended(&forked, SOON).await;
    let dry = |name: &str| (name.to_owned(), "completed".to_owned(), json!({"dryRun": true}));
    let made = calls(&stack.run(&forked).await["steps"][0]);
    assert_eq!(made, [dry("send_message"), dry("every__get-sum")]);

    assert_eq!(tools.requests().len(), called, "nothing is called");
    assert_eq!(doer.everything().await, before);
    // Frames come in order, so those of a fork would be here by now.
    stack.model.plays("ada", [stop()]);
    let last = stack.post(space, person, "The end.").await;
    socket.frame("message.created", SOON, |frame| frame["message"]["id"] == last["id"]).await;
    let names_it = |frame: &Value| frame.to_string().contains(&forked);
    assert!(!socket.frames().iter().any(|frame| names_it(&frame.body)), "nobody is notified");
}

#[tokio::test]
async fn a_failed_run_is_forked_where_it_failed_and_may_skip() {
    let stack = Stack::start().await;
    let skip = call("skip_response", json!({"reason": "Not for me."}));
    stack.model.plays("ada", [call("get_goals", json!({})).into(), http(400), skip.into()]);
    let (person, agent, space) = stack.pair().await;
    let question = stack.post(&space, &person, "Hello there.").await;
    let run = triggered_run(&question, &agent).unwrap();
    assert_eq!(stack.ended(&run, SOON).await["status"], "failed");
    let forked = id(&fork(&stack, &run, "k", json!({"fromStep": 1})).await.must_be(201));
    let ended = stack.ended(&forked, SOON).await;
    assert_eq!((&ended["endReason"], &ended["reason"]), (&json!("skipped"), &json!("Not for me.")));
}

#[tokio::test]
async fn bad_forks_are_refused() {
    let stack = Stack::start().await;
    stack.model.plays("ada", [say("Hi.").into(), stop(), stop()]);
    let (person, agent, space) = stack.pair().await;
    let question = stack.post(&space, &person, "Hello").await;
    let run = triggered_run(&question, &agent).unwrap();
    stack.ended(&run, SOON).await;
    let route = format!("/v1/runs/{run}/fork");
    let without = stack.create(&route, json!({"fromStep": 0})).await.must_be(400);
    assert!(without["detail"].as_str().unwrap().starts_with("Idempotency-Key: required"));
    for (body, pointer, expected) in [
        (
            json!({"fromStep": 9}),
            "/fromStep",
            "expected at most 1, the last step that the run began",
        ),
        (
            json!({"fromStep": 2}),
            "/fromStep",
            "expected at most 1, the last step that the run began",
        ),
        (json!({"fromStep": -1}), "/fromStep", ""),
        (json!({}), "", "missing field `fromStep`"),
        (json!({"fromStep": 0, "mode": "wet"}), "/mode", ""),
        (json!({"fromStep": 0, "model": {"provider": "openai", "name": ""}}), "/model/name", ""),
    ] {
        let refused = fork(&stack, &run, &body.to_string(), body.clone()).await.must_be(422);
        let error = &refused["errors"][0];
        assert_eq!(error["pointer"], pointer, "{body}: {refused}");
        assert!(error["detail"].as_str().unwrap().starts_with(expected), "{refused}");
    }
    let forked = id(&fork(&stack, &run, "fine", json!({"fromStep": 1})).await.must_be(201));
    stack.ended(&forked, SOON).await;
    let twice = fork(&stack, &forked, "twice", json!({"fromStep": 0})).await.must_be(409);
    assert_eq!(twice["detail"], "this run is a fork; fork the run in its forkOf");
    let retried = stack.retry(&forked).await.must_be(409);
    assert!(retried["detail"].as_str().unwrap().contains("it completed"), "{retried}");
    assert_eq!(
        fork(&stack, "run_01ARZ3NDEKTSV4RRFFQ69G5FAV", "no", json!({"fromStep": 0})).await.status,
        404
    );
}

#[tokio::test]
async fn a_fork_reads_messages_and_is_reminded_like_the_run() {
    let stack = Stack::start().await;
    let text = || answer([think("The answer is 42.")]);
    stack.model.plays("ada", [text(), say("42").into(), stop()]);
    let (person, agent, space) = stack.pair().await;
    let question = stack.post(&space, &person, "What is 6 times 7?").await;
    let run = triggered_run(&question, &agent).unwrap();
    stack.ended(&run, SOON).await;
    stack.quiet(&space).await;
    assert_eq!(stack.run(&run).await["stepCount"], 3, "it was reminded that nobody saw its text");

    let read = call("read_messages", json!({}));
    stack.model.plays("ada", [text(), answer([read, say("42")]), stop()]);
    let forked = id(&fork(&stack, &run, "again", json!({"fromStep": 0})).await.must_be(201));
    stack.ended(&forked, SOON).await;
    let forked = stack.run(&forked).await;
    let steps = forked["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 3, "{forked}");
    assert_eq!(steps[1]["systemMessages"][0]["watcher"], "unsaid");
    let read = calls(&steps[1])[0].2.as_str().unwrap().to_owned();
    assert!(read.contains("What is 6 times 7?") && read.contains("You: \"42\""), "{read}");
}
