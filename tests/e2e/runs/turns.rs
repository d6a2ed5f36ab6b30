//! How many runs of an agent work at the same time: `concurrency.mode` and `concurrency.maxRuns`.

use serde_json::{Value, json};

use crate::support::{
    model::{Gate, answer, say, wait},
    routes::{seq, triggered_run},
    socket::Socket,
    stack::Stack,
    waiting::{SOON, wait_for},
};

/// A person and an agent in a space. The model of the agent waits at the gate in each run.
struct Burst {
    person: String,
    agent: String,
    space: String,
    gate: Gate,
}

impl Burst {
    async fn new(stack: &Stack, concurrency: Value) -> Self {
        let gate = Gate::closed();
        let held = gate.clone();
        stack.model.replies("ada", move |request| {
            answer([wait(&held), say(&format!("About {}", request.trigger_text()))])
        });
        let person = stack.person("Husam").await;
        let agent = agent(stack, concurrency).await;
        let space = stack.space("Team", &[&person, &agent]).await;
        Self { person, agent, space, gate }
    }

    /// A connection of the person that follows the space.
    async fn follow(&self, stack: &Stack) -> Socket {
        let socket = stack.socket_of(&self.person).await;
        socket.subscribe(&self.space, None).await;
        socket
    }

    /// Posts a message, waits until its run works, and posts nine others. Returns the runs that
    /// the ten dispatches name.
    async fn post_ten(&self, stack: &Stack) -> Vec<String> {
        let mut runs = Vec::new();
        for number in 1..=10 {
            let message = stack.post(&self.space, &self.person, &format!("m{number}")).await;
            assert_eq!(seq(&message), number);
            runs.push(triggered_run(&message, &self.agent).unwrap());
            if number == 1 {
                stack.model.nth_request("ada", 1).await;
            }
        }
        runs
    }

    /// Lets the model go on, waits for the end of all runs, and returns the ten runs. Then nothing
    /// is left unread.
    async fn end(&self, stack: &Stack, runs: &[String]) -> Vec<Value> {
        self.gate.open();
        let mut ended = Vec::new();
        for run in runs {
            ended.push(stack.ended(run, SOON).await);
        }
        let space = stack.get(&format!("/v1/spaces/{}", self.space)).await.must_be(200);
        let members = space["members"].as_array().unwrap();
        let agent = members.iter().find(|member| member["id"] == json!(self.agent)).unwrap();
        assert!(agent["readSeq"].as_u64() >= Some(10), "{agent}");
        ended
    }
}

async fn agent(stack: &Stack, concurrency: Value) -> String {
    let model = json!({"provider": "openai", "name": stack.model.name("ada")});
    let budget = json!({"runsPerMinute": 10_000});
    let config = json!({"model": model, "concurrency": concurrency, "budget": budget});
    stack.agent_with("Ada", config).await
}

/// The values of a field of several runs.
fn each<'a>(runs: &'a [Value], field: &str) -> Vec<&'a str> {
    runs.iter().map(|run| run[field].as_str().unwrap_or_default()).collect()
}

/// The place in the line of each run that a follower received.
fn positions(socket: &Socket, runs: &[String]) -> Vec<Option<u64>> {
    let frames = socket.frames();
    let position = |run: &String| {
        let mut queued = frames.iter().map(|frame| &frame.body);
        let frame =
            queued.find(|body| body["type"] == "run.queued" && body["run"]["id"] == json!(run))?;
        frame["position"].as_u64()
    };
    runs.iter().map(position).collect()
}

fn is_in_order(runs: &[Value]) -> bool {
    runs.is_sorted_by(|one, next| one["finishedAt"].as_str() <= next["startedAt"].as_str())
}

/// Kills the product while the first of ten runs works, and starts it again.
async fn burst_with_kill(mode: &str) -> Option<(Stack, Burst, Vec<Value>)> {
    let mut stack = Stack::local().await?;
    let burst = Burst::new(&stack, json!({"mode": mode, "maxRuns": 10})).await;
    let runs = burst.post_ten(&stack).await;
    stack.kill9();
    stack.restart().await;
    let ended = burst.end(&stack, &runs).await;
    Some((stack, burst, ended))
}

#[tokio::test]
async fn parallel_runs_work_side_by_side() {
    let stack = Stack::start().await;
    let burst = Burst::new(&stack, json!({"mode": "parallel", "maxRuns": 10})).await;
    let runs = burst.post_ten(&stack).await;
    stack.model.nth_request("ada", 10).await;
    let ended = burst.end(&stack, &runs).await;
    assert_eq!(each(&ended, "endReason"), ["done"; 10]);
}

#[tokio::test]
async fn queued_runs_work_one_after_the_other_in_the_order_of_their_messages() {
    let stack = Stack::start().await;
    let burst = Burst::new(&stack, json!({"mode": "queue"})).await;
    let socket = burst.follow(&stack).await;
    let runs = burst.post_ten(&stack).await;
    let last = &runs[9];
    socket.frame("run.queued", SOON, |frame| frame["run"]["id"] == json!(last)).await;
    assert_eq!(stack.run(&runs[1]).await["status"], "queued");
    assert_eq!(stack.model.requests("ada").len(), 1, "the others wait");
    let ended = burst.end(&stack, &runs).await;
    assert_eq!(each(&ended, "endReason"), ["done"; 10]);
    assert!(is_in_order(&ended), "{ended:#?}");
    let places: Vec<_> = (0..10).map(|place| Some(place).filter(|place| *place > 0)).collect();
    assert_eq!(positions(&socket, &runs), places);
}

#[tokio::test]
async fn messages_join_the_run_that_is_queued_and_it_answers_them_together() {
    let stack = Stack::start().await;
    let burst = Burst::new(&stack, json!({"mode": "coalesce"})).await;
    let socket = burst.follow(&stack).await;
    let runs = burst.post_ten(&stack).await;
    let joined = &runs[9];
    let canceled =
        socket.frame("run.canceled", SOON, |frame| frame["run"]["id"] == json!(joined)).await;
    assert_eq!(canceled.body["run"]["intoRunId"], json!(runs[1]));
    let ended = burst.end(&stack, &runs).await;
    assert_coalesced(&runs, &ended);
    let second = stack.model.nth_request("ada", 3).await.user();
    let trigger = second.block("TRIGGER");
    assert!(trigger[0].starts_with("TRIGGER: message #10 "), "{trigger:?}");
    let others = "Answer these messages, too: #2, #3, #4, #5, #6, #7, #8, #9";
    assert_eq!(trigger.last().unwrap(), others);
}

/// Two runs answer ten messages.
fn assert_coalesced(runs: &[String], ended: &[Value]) {
    assert_eq!(each(&ended[..2], "endReason"), ["done"; 2]);
    assert_eq!(each(&ended[2..], "endReason"), ["coalesced"; 8]);
    assert!(ended[2..].iter().all(|run| run["intoRunId"] == json!(runs[1])), "{ended:#?}");
}

#[tokio::test]
async fn the_latest_run_replaces_all_before_it() {
    let stack = Stack::start().await;
    let burst = Burst::new(&stack, json!({"mode": "latest"})).await;
    let runs = burst.post_ten(&stack).await;
    let ended = burst.end(&stack, &runs).await;
    assert_latest(&ended);
    let texts = stack.texts(&burst.space).await;
    assert_eq!(texts.len(), 11, "{texts:?}");
    assert!(texts[10].contains("m10"), "{texts:?}");
}

fn assert_latest(ended: &[Value]) {
    assert_eq!(each(&ended[..9], "endReason"), ["superseded"; 9]);
    assert_eq!(each(&ended[9..], "endReason"), ["done"]);
}

#[tokio::test]
async fn parallel_and_queued_runs_survive_a_crash() {
    for mode in ["parallel", "queue"] {
        let Some((_, _, ended)) = burst_with_kill(mode).await else { return };
        assert_eq!(each(&ended, "endReason"), ["done"; 10], "{mode}");
        assert!(mode == "parallel" || is_in_order(&ended[1..]), "{ended:#?}");
    }
}

#[tokio::test]
async fn joined_messages_and_replaced_runs_survive_a_crash() {
    let Some((_, _, ended)) = burst_with_kill("coalesce").await else { return };
    let runs: Vec<_> = each(&ended, "id").into_iter().map(str::to_owned).collect();
    assert_coalesced(&runs, &ended);
    let Some((_, _, ended)) = burst_with_kill("latest").await else { return };
    assert_latest(&ended);
}

#[tokio::test]
async fn runs_over_the_limit_wait_until_a_run_ends_in_any_space() {
    let stack = Stack::start().await;
    let burst = Burst::new(&stack, json!({"mode": "parallel", "maxRuns": 2})).await;
    let other = stack.space("Other", &[&burst.person, &burst.agent]).await;
    let socket = burst.follow(&stack).await;
    let mut runs = Vec::new();
    for (space, number) in [(&other, 1), (&burst.space, 2), (&burst.space, 3), (&burst.space, 4)] {
        let message = stack.post(space, &burst.person, &format!("m{number}")).await;
        runs.push(triggered_run(&message, &burst.agent).unwrap());
        if number < 3 {
            stack.model.nth_request("ada", number).await;
        } else {
            let run = runs.last().unwrap().clone();
            socket.frame("run.queued", SOON, |frame| frame["run"]["id"] == json!(run)).await;
        }
    }
    assert_eq!(positions(&socket, &runs), [None, None, Some(1), Some(2)]);
    assert_eq!(stack.model.requests("ada").len(), 2);
    stack.cancel(&runs[0]).await.must_be(202);
    stack.model.nth_request("ada", 3).await;
    assert_eq!(stack.run(&runs[2]).await["status"], "running", "it has waited longest");
    assert_eq!(stack.run(&runs[3]).await["status"], "queued");
    stack.cancel(&runs[3]).await.must_be(202);
    burst.gate.open();
    assert_eq!(stack.ended(&runs[2], SOON).await["status"], "completed");
}

#[tokio::test]
async fn an_agent_with_fifty_active_runs_is_busy_until_it_has_more_slots() {
    let stack = Stack::start().await;
    let burst = Burst::new(&stack, json!({"mode": "parallel", "maxRuns": 1})).await;
    let mut runs = Vec::new();
    // A space accepts few messages of one sender in a second.
    for number in 0..10 {
        let space = stack.space(&format!("S{number}"), &[&burst.person, &burst.agent]).await;
        for _ in 0..5 {
            let message = stack.post(&space, &burst.person, "Well?").await;
            runs.push(triggered_run(&message, &burst.agent).unwrap());
        }
    }
    let agent = format!("/v1/entities/{}", burst.agent);
    let busy = wait_for("the agent is busy", SOON, async || {
        let preview = format!("/v1/spaces/{}/messages/preview", burst.space);
        let body = json!({"text": "And now?", "senderId": burst.person});
        let preview = stack.create(&preview, body).await.must_be(200);
        (preview["dispatch"][0]["reason"] == "busy").then_some(preview)
    })
    .await;
    assert_eq!(busy["dispatch"][0]["runId"], Value::Null);
    let message = stack.post(&burst.space, &burst.person, "And now?").await;
    assert_eq!(message["dispatch"][0]["reason"], "busy");
    let more = json!({"agent": {"concurrency": {"maxRuns": 100}}});
    stack.patch(&agent, more).await.must_be(200);
    stack.model.nth_request("ada", 50).await;
    burst.gate.open();
    for run in &runs {
        assert_eq!(stack.ended(run, SOON).await["status"], "completed");
    }
}
