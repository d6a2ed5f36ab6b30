//! Remote agents: a signed webhook wakes them, and they answer with the token that it carries.

mod files;
mod forgotten;
mod refused;
mod replies;
mod scene;
mod tokens;

use futures::future::join_all;
use serde_json::{Value, json};

use self::scene::{RemoteScene, Woken};
use crate::{
    support::{
        routes::{id, seq, text, triggered_run},
        waiting::{SOON, wait_for},
        webhook_senders::{SECRET, signatures::Scheme},
    },
    tools::forms::scene::form_tool,
};

/// The webhook is signed, and has the run, its trigger and its context.
fn check_webhook(woken: &Woken<'_>, question: &Value, run: &str) {
    let request = &woken.request;
    let sent_at = request.header("webhook-timestamp").parse().unwrap();
    let signed = Scheme::Standard.signed_with(SECRET, run, &request.body, sent_at);
    for (name, value) in &signed.headers {
        assert_eq!(request.header(name), value, "{name}");
    }
    assert_eq!(request.header("content-type"), "application/json");
    assert!(request.header("traceparent").starts_with("00-"));
    let body = request.json();
    assert_eq!(
        (&body["run"]["id"], &body["run"]["status"], &body["run"]["remote"]),
        (&json!(run), &json!("running"), &json!(true))
    );
    assert_eq!(body["trigger"]["text"], "What is \"six\" times 7?");
    assert_eq!(body["trigger"], body["run"]["trigger"]);
    let shown = &body["context"]["messages"].as_array().unwrap()[..];
    assert_eq!(shown.iter().map(text).collect::<Vec<_>>(), ["What is \"six\" times 7?"]);
    assert_eq!((id(&shown[0]), seq(&shown[0])), (id(question), seq(question)));
    let prompt = body["context"]["text"].as_str().unwrap();
    assert!(prompt.contains(r#""What is \"six\" times 7?""#) && prompt.contains("TRIGGER"));
    assert!(!prompt.contains("send_message"), "it has no such tool: {prompt}");
}

/// Posts two messages. Each key and each stream belongs to one of them.
async fn post_once(woken: &Woken<'_>, run: &str, streamed: &Value) {
    let body = json!({"text": "It is 42.", "streamKey": "answer"});
    let posted = woken.post("first", body.clone()).await.must_be(201);
    assert_eq!(posted["streamId"], streamed["streamId"]);
    assert_eq!((text(&posted), &posted["runId"]), ("It is 42.", &json!(run)));
    assert_eq!(posted["chainDepth"], 1);
    let again = woken.post("first", body).await.must_be(201);
    assert_eq!(id(&again), id(&posted), "repeated with its key, it is posted once");
    let other = woken.post("first", json!({"text": "Other."})).await.must_be(422);
    assert!(other["detail"].as_str().unwrap().contains("another body"), "{other}");
    let body = json!({"text": "Once more.", "streamKey": "answer"});
    let taken = woken.post("other", body).await.must_be(422);
    assert_eq!(taken["errors"][0]["pointer"], "/streamKey", "{taken}");
    woken.stream("answer", 0, "It was", false).await.must_be(422);
    woken.post("second", json!({"text": "Anything else?"})).await.must_be(201);
}

/// The run has one step with the messages as its calls.
fn check_steps(shown: &Value) {
    let steps = shown["steps"].as_array().unwrap();
    assert_eq!((steps.len(), &steps[0]["model"]), (1, &json!("webhook")));
    let said: Vec<_> = steps[0]["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| (call["name"].as_str().unwrap(), call["input"]["text"].as_str().unwrap()))
        .collect();
    assert_eq!(said, [("send_message", "It is 42."), ("send_message", "Anything else?")]);
    assert!(steps[0]["prompt"].to_string().contains("TRIGGER"), "what it was sent is stored");
}

#[tokio::test]
async fn a_remote_agent_is_woken_streams_posts_and_completes() {
    let Some(scene) = RemoteScene::start("/echo").await else { return };
    let stack = &scene.stack;
    let socket = stack.socket_of(&scene.person).await;
    socket.subscribe(&scene.space, None).await;
    let (question, run) = scene.ask("What is \"six\" times 7?").await;
    let woken = scene.woken(&run).await;

    check_webhook(&woken, &question, &run);
    socket.frame("run.started", SOON, |frame| frame["run"]["id"] == run.as_str()).await;

    // Frames may overtake each other, so the last one says the whole text again.
    woken.stream("answer", 0, "It is ", false).await.must_be(202);
    woken.stream("answer", 6, "4", false).await.must_be(202);
    let streamed = woken.stream("answer", 0, "It is 42", true).await.must_be(202);
    let started = socket
        .frame("stream.started", SOON, |frame| frame["streamId"] == streamed["streamId"])
        .await;
    assert_eq!(started.body["sender"]["name"], "Ada");
    assert_eq!(started.body["runId"], run.as_str());
    socket
        .shows(&scene.space, "the streamed text", SOON, |view| {
            view.streams.values().any(|stream| stream.text() == "It is 42").then_some(())
        })
        .await;

    post_once(&woken, &run, &streamed).await;

    let usage = json!({"inputTokens": 12, "outputTokens": 7, "cost": 0.5});
    let end = json!({"status": "completed", "usage": usage});
    let completed = woken.complete(end.clone()).await.must_be(200);
    assert_eq!(
        (&completed["status"], &completed["endReason"], &completed["reportedUsage"]),
        (&json!("completed"), &json!("done"), &usage)
    );
    assert_eq!(completed["usage"]["inputTokens"], 0, "it settles nothing");
    assert_eq!(woken.complete(end).await.must_be(200), completed, "repeated, it answers the same");
    socket.frame("run.completed", SOON, |frame| frame["run"]["id"] == run.as_str()).await;
    let texts = ["What is \"six\" times 7?", "It is 42.", "Anything else?"];
    assert_eq!(stack.texts(&scene.space).await, texts);

    check_steps(&stack.run(&run).await);

    // What it has read and said is not new to it.
    let (_, next) = scene.ask("And times 8?").await;
    let next = scene.woken(&next).await.request.json();
    let prompt = next["context"]["text"].as_str().unwrap();
    let new: Vec<_> = prompt.lines().filter(|line| line.starts_with("[NEW] #")).collect();
    assert_eq!(new.len(), 1, "{prompt}");
    assert!(new[0].contains("And times 8?"));
}

#[tokio::test]
async fn what_a_remote_agent_does_at_the_same_moment_happens_in_some_order() {
    let Some(scene) = RemoteScene::start("/echo").await else { return };
    let (_, run) = scene.ask("Go on.").await;
    let woken = scene.woken(&run).await;
    let posts = (0..12).map(|number| {
        let key = format!("key {}", number % 6);
        let body = json!({"text": format!("message {}", number % 6)});
        let woken = &woken;
        async move { woken.post_patiently(&key, body).await.must_be(201) }
    });
    let posted = join_all(posts).await;
    let mut ids: Vec<_> = posted.iter().map(id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 6, "each key posts once");
    let ends = join_all((0..3).map(|_| woken.complete(json!({"status": "completed"})))).await;
    for end in ends {
        assert_eq!(end.must_be(200)["status"], "completed");
    }
    assert_eq!(scene.stack.texts(&scene.space).await.len(), 7);
    let run = scene.stack.run(&run).await;
    assert_eq!(run["stepCount"], 6, "{run:.500}");
}

#[tokio::test]
async fn a_run_without_a_message_says_why_and_one_that_failed_too() {
    let Some(scene) = RemoteScene::start("/echo").await else { return };
    let (_, run) = scene.ask("Hello.").await;
    let silent = json!({"status": "completed", "reason": "nobody asked me"});
    let ended = scene.woken(&run).await.complete(silent).await.must_be(200);
    assert_eq!(
        (&ended["endReason"], &ended["reason"]),
        (&json!("skipped"), &json!("nobody asked me"))
    );

    let (_, run) = scene.ask("Hello again.").await;
    let woken = scene.woken(&run).await;
    let failed = json!({"status": "failed", "reason": "the graph is broken"});
    let ended = woken.complete(failed).await.must_be(200);
    assert_eq!(ended["error"], json!({"code": "remote", "message": "the graph is broken"}));
    let late = woken.complete(json!({"status": "completed"})).await.must_be(409);
    assert!(late["detail"].as_str().unwrap().contains("it is failed"), "{late}");
    scene.stack.as_entity(&scene.person).retry(&run).await.must_be(202);
}

#[tokio::test]
async fn a_remote_agent_that_has_reacted_is_not_silent() {
    let Some(scene) = RemoteScene::start("/echo").await else { return };
    let (question, run) = scene.ask("The report is done.").await;
    let woken = scene.woken(&run).await;
    let reaction = json!({"seq": seq(&question), "emoji": "👍"});
    for _ in 0..2 {
        let shown = woken.react(reaction.clone()).await.must_be(200);
        assert_eq!(shown["reactions"][0]["entityIds"], json!([scene.agent]));
        assert_eq!(shown["reactionsRev"], 1);
    }
    woken.react(json!({"seq": 99, "emoji": "👍"})).await.must_be(404);
    woken.react(json!({"seq": 1, "emoji": "no"})).await.must_be(422);
    let end = json!({"status": "completed", "reason": "a thumb says it"});
    let ended = woken.complete(end).await.must_be(200);
    assert_eq!(ended["endReason"], "done");
    woken.react(reaction).await.must_be(409);
}

#[tokio::test]
async fn messages_of_remote_agents_wake_others_at_their_depth_and_no_deeper() {
    let Some(scene) = RemoteScene::start("/echo").await else { return };
    let stack = &scene.stack;
    let second = scene.remote_agent("Bea", json!({})).await;
    let members = format!("/v1/spaces/{}/members/{second}", scene.space);
    stack.put(&members, json!({})).await.must_be(200);
    let (question, run) = scene.ask("@Ada begin.").await;
    assert_eq!(question["dispatch"].as_array().unwrap().len(), 2);
    let woken = scene.woken(&run).await;
    let mut woken_by = woken.post("1", json!({"text": "@Bea go on."})).await.must_be(201);
    woken.complete(json!({"status": "completed"})).await.must_be(200);
    for depth in 1..=5 {
        let dispatch = woken_by["dispatch"].as_array().unwrap().clone();
        let next = dispatch.iter().find_map(|entry| entry["runId"].as_str());
        assert_eq!(woken_by["chainDepth"], depth);
        let Some(next) = next else {
            assert!(depth == 5, "depth {depth}: {dispatch:?}");
            break;
        };
        let other = if depth % 2 == 0 { "@Bea" } else { "@Ada" };
        let body = json!({"text": format!("{other} go on.")});
        let woken = scene.woken(next).await;
        woken_by = woken.post("1", body).await.must_be(201);
        woken.complete(json!({"status": "completed"})).await.must_be(200);
    }
    assert_eq!(woken_by["chainDepth"], 5);
}

#[tokio::test]
async fn a_plan_wakes_a_remote_agent_which_chooses_its_space() {
    let Some(scene) = RemoteScene::start("/echo").await else { return };
    let stack = &scene.stack;
    let plan = json!({"name": "Digest", "instruction": "Write it.", "cron": "0 9 1 1 *"});
    let path = format!("/v1/agents/{}/plans", scene.agent);
    let plan = id(&stack.create(&path, plan).await.must_be(201));
    stack.create(&format!("{path}/{plan}/run"), json!({})).await;
    let run = wait_for("a run of the plan", SOON, async || {
        let runs = stack.all(&format!("/v1/agents/{}/runs", scene.agent)).await;
        runs.iter().find(|run| run["trigger"]["type"] == "plan").map(id)
    })
    .await;
    let woken = scene.woken(&run).await;
    assert_eq!(woken.request.json()["trigger"]["instruction"], "Write it.");
    let context = woken.request.json()["context"].clone();
    assert_eq!(context["messages"], json!([]));
    assert_eq!(context["spaces"], json!([{"id": scene.space, "name": "Team"}]));
    let where_to = woken.post("1", json!({"text": "Digest."})).await.must_be(422);
    assert_eq!(where_to["errors"][0]["pointer"], "/spaceId", "{where_to}");
    let nowhere = stack.space("Elsewhere", &[&scene.person]).await;
    let body = |space: &str| json!({"text": "Digest.", "spaceId": space});
    woken.post("2", body(&nowhere)).await.must_be(404);
    woken.stream("s", 0, "Dig", false).await.must_be(422);
    let begun = json!({"streamKey": "d", "offset": 0, "text": "Dig", "spaceId": scene.space});
    woken.stream_body(begun).await.must_be(202);
    let posted = woken.post("3", body(&scene.space)).await.must_be(201);
    assert_eq!(posted["spaceId"], scene.space.as_str());
    let active = stack.runs_of(&scene.space).await;
    assert!(active.is_empty(), "no message of the space triggered it: {active:?}");
    woken.stream("s", 0, "More", false).await.must_be(202);
    woken.complete(json!({"status": "completed"})).await.must_be(200);
    let texts = stack.texts(&scene.space).await;
    assert_eq!(texts, ["Digest."]);
}

#[tokio::test]
async fn a_member_who_cancels_the_run_stops_the_remote_agent() {
    let Some(scene) = RemoteScene::start("/echo").await else { return };
    let stack = &scene.stack;
    let (_, run) = scene.ask("Begin.").await;
    let woken = scene.woken(&run).await;
    let first = woken.post("1", json!({"text": "One."})).await.must_be(201);
    stack.as_entity(&scene.person).cancel(&run).await.must_be(202);
    for (reply, what) in [
        (woken.post("2", json!({"text": "Two."})).await, "a message"),
        (woken.stream("s", 0, "Two", false).await, "a text"),
        (woken.complete(json!({"status": "completed"})).await, "the end"),
    ] {
        let refused = reply.must_be(409);
        assert!(refused["detail"].as_str().unwrap().contains("canceled"), "{what}: {refused}");
    }
    let again = woken.post("1", json!({"text": "One."})).await.must_be(201);
    assert_eq!(id(&again), id(&first), "a repeated message gets its answer after the end, too");
    assert_eq!(stack.texts(&scene.space).await, ["Begin.", "One."]);
}

#[tokio::test]
async fn what_a_model_used_before_its_agent_became_remote_is_kept() {
    let Some(scene) = RemoteScene::start("/echo").await else { return };
    let stack = &scene.stack;
    let ask = json!({"calls": [{"tool": "ask", "input": {}}]});
    let script = json!({"rules": [{"steps": [ask]}]});
    let model = json!({"provider": "scripted", "name": "demo", "script": script});
    let form = form_tool("ask", json!({"answerBy": "humans"}));
    let cyd = stack.agent_with("Cyd", json!({"model": model, "tools": [form]})).await;
    let space = stack.space("Desk", &[&scene.person, &cyd]).await;
    let question = stack.post(&space, &scene.person, "Hello.").await;
    let run = triggered_run(&question, &cyd).unwrap();
    let waiting = wait_for("a form", SOON, async || {
        Some(stack.run(&run).await).filter(|run| run["status"] == "waiting_tool")
    })
    .await;
    let remote = json!({"agent": {"model": null, "tools": [], "runtime": scene.runtime()}});
    stack.patch(&format!("/v1/entities/{cyd}"), remote).await.must_be(200);
    let call = waiting["steps"][0]["calls"][0]["callId"].as_str().unwrap();
    let path = format!("/v1/runs/{run}/toolCalls/{call}/result");
    stack.as_entity(&scene.person).create(&path, json!({"output": {}})).await.must_be(202);
    let woken = scene.woken(&run).await;
    let silent = json!({"status": "completed", "reason": "nothing to add"});
    let ended = woken.complete(silent).await.must_be(200);
    assert_eq!(ended["endReason"], "skipped", "it has posted nothing: {ended}");
    assert_eq!(ended["usage"], waiting["usage"]);
    let used = stack.get(&format!("/v1/agents/{cyd}/usage")).await.must_be(200);
    assert_eq!(used["total"]["inputTokens"], waiting["usage"]["inputTokens"], "{used}");
    assert!(used["total"]["inputTokens"].as_u64().unwrap() > 0);
    let shown = stack.run(&run).await;
    assert_eq!(shown["steps"][0]["prompt"], waiting["steps"][0]["prompt"]);
    assert_eq!(shown["steps"][1]["model"], "webhook", "{shown:.2000}");
}

/// The text of a problem.
fn detail(problem: &Value) -> &str {
    problem["detail"].as_str().unwrap_or_default()
}
