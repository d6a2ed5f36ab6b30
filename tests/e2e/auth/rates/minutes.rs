//! Limits of runs a minute: `budget.runsPerMinute` of agents and of spaces.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    client::{Client, Reply},
    model::{Gate, answer, say, wait},
    routes::{text, triggered_run},
    stack::Stack,
    tokens::in_seconds,
    waiting::{SOON, wait_for},
    webhook_senders::signatures::Scheme,
};

/// Repeats `scene` until it takes place within one minute of the clock, because runs are counted by
/// the minute. `smartspace_domain::quota` tests that a new minute starts from zero.
pub(crate) async fn in_one_minute<T>(scene: impl AsyncFn() -> T) -> T {
    loop {
        let minute = in_seconds(0) / 60;
        let result = scene().await;
        if in_seconds(0) / 60 == minute {
            return result;
        }
    }
}

/// Posts five messages each as a person, as another agent and as a second person. Returns how many
/// of each trigger the agent with these budgets of the space and of the agent.
async fn triggered_in_a_minute(stack: &Stack, of_space: u32, of_agent: u32) -> [usize; 3] {
    let husam = stack.person("Husam").await;
    let sarah = stack.person("Sarah").await;
    // The depth is high enough for a series of messages in an agent's name.
    let budget = |runs: u32| json!({ "budget": { "runsPerMinute": runs }, "maxChainDepth": 100 });
    let mut config = budget(of_agent);
    // Each message starts a run of its own.
    config["concurrency"] = json!({ "mode": "queue" });
    let agent = stack.receiver(config).await;
    let bot = stack
        .agent_with(
            "Bob",
            json!({ "model": { "provider": "scripted", "name": "demo" }, "paused": true }),
        )
        .await;
    let space = stack.space_with("Team", &[&husam, &sarah, &agent, &bot], budget(of_space)).await;
    let mut counts = [0; 3];
    for (count, sender) in counts.iter_mut().zip([&husam, &bot, &sarah]) {
        for _ in 0..5 {
            let body = json!({ "text": "Hello", "senderId": sender });
            let preview = stack
                .create(&format!("/v1/spaces/{space}/messages/preview"), body)
                .await
                .must_be(200);
            let message = stack.post(&space, sender, "Hello").await;
            let mut previewed = decision_on(&preview, &agent);
            let mut decided = decision_on(&message, &agent);
            let run = decided["runId"].take();
            assert_eq!(previewed, decided, "the preview shows the same decision");
            *count += usize::from(run.is_string());
            if run.is_null() {
                assert_eq!(previewed, json!({ "agentId": agent, "runId": null, "reason": "rate" }));
            } else {
                assert_eq!(previewed["source"].take(), "broadcast");
            }
        }
    }
    counts
}

/// The dispatch decision on an agent.
fn decision_on(message: &Value, agent: &str) -> Value {
    let decisions = message["dispatch"].as_array().unwrap();
    decisions.iter().find(|decision| decision["agentId"] == agent).unwrap().clone()
}

#[tokio::test]
async fn half_of_a_minutes_runs_is_reserved_for_people_and_half_of_that_for_each_person() {
    let Some(stack) = Stack::receiving_at_once().await else { return };
    // For each budget: the runs with this budget of the space, and with this budget of the agent.
    // Other callers may use the part of an agent's budget that people leave.
    let shares = [
        (1, [1, 0, 0], [1, 0, 0]),
        (2, [2, 0, 0], [2, 0, 0]),
        (3, [2, 1, 0], [3, 0, 0]),
        (4, [2, 1, 1], [3, 0, 1]),
        (8, [4, 2, 2], [5, 1, 2]),
    ];
    for (budget, of_space, of_agent) in shares {
        let by_space =
            in_one_minute(async || triggered_in_a_minute(&stack, budget, 100_000).await).await;
        let by_agent =
            in_one_minute(async || triggered_in_a_minute(&stack, 100_000, budget).await).await;
        assert_eq!((by_space, by_agent), (of_space, of_agent), "{budget} runs a minute");
    }
    let both = in_one_minute(async || triggered_in_a_minute(&stack, 3, 4).await).await;
    assert_eq!(both, [2, 1, 0], "the smaller budget decides");
}

#[tokio::test]
async fn an_agents_runs_count_in_all_spaces_and_for_services_together() {
    let Some(stack) = Stack::receiving_at_once().await else { return };
    let counts = in_one_minute(async || {
        let husam = stack.person("Husam").await;
        let config =
            json!({ "budget": { "runsPerMinute": 4 }, "concurrency": { "mode": "queue" } });
        let agent = stack.receiver(config).await;
        let service =
            stack.trigger(&agent, "ci", &json!({}), &[]).await.must_be(202)["runId"].is_string();
        let mut counts = [0; 2];
        for count in &mut counts {
            let space = stack.space("Team", &[&husam, &agent]).await;
            for _ in 0..3 {
                let message = stack.post(&space, &husam, "Hello").await;
                *count += usize::from(triggered_run(&message, &agent).is_some());
            }
        }
        (counts[0], counts[1], service)
    })
    .await;
    assert_eq!(
        counts,
        (2, 0, true),
        "a person has one share in all spaces, reduced by the run of the service"
    );
}

#[tokio::test]
async fn a_message_that_joins_a_run_uses_none_of_the_runs_of_a_minute() {
    let stack = Stack::start().await;
    let counts = in_one_minute(async || {
        let asked = stack.model.requests("ada").len() + 1;
        let gate = Gate::closed();
        let held = gate.clone();
        stack.model.replies("ada", move |_| answer([wait(&held), say("Yes.")]));
        let husam = stack.person("Husam").await;
        let model = json!({ "provider": "openai", "name": stack.model.name("ada") });
        let config = json!({ "model": model, "budget": { "runsPerMinute": 4 } });
        let agent = stack.agent_with("Ada", config).await;
        let space = stack.space("Team", &[&husam, &agent]).await;
        let wakes = async || {
            let message = stack.post(&space, &husam, "Hello").await;
            usize::from(triggered_run(&message, &agent).is_some())
        };
        let first = wakes().await;
        stack.model.nth_request("ada", asked).await;
        let mut joined = 0;
        for _ in 0..10 {
            joined += wakes().await;
        }
        gate.open();
        stack.quiet(&space).await;
        let third = wakes().await;
        stack.quiet(&space).await;
        (first, joined, third, wakes().await)
    })
    .await;
    assert_eq!(counts, (1, 10, 1, 0), "a person starts three of four runs of an agent");
}

/// Posts a message. Next to a flood its space has room for one message of a person a second.
async fn accepted(client: &Client, path: &str, text: &str) -> Value {
    wait_for("a message is accepted", SOON, async || {
        let reply = client.create(path, json!({ "text": text })).await;
        (reply.status != 429).then_some(reply)
    })
    .await
    .must_be(201)
}

#[tokio::test]
async fn a_flooding_service_and_member_do_not_cost_another_member_an_answer() {
    let Some(stack) = Stack::receiving_at_once().await else { return };
    stack.model.replies("ada", |request| say(&format!("Re: {}", request.trigger_text())));
    // These are the default budgets of agents and spaces.
    let config = json!({ "budget": { "runsPerMinute": 60 }, "concurrency": { "mode": "queue" } });
    let agent = stack.receiver(config).await;
    let husam = stack.person("Husam").await;
    let sarah = stack.person("Sarah").await;
    let space = stack
        .space_with(
            "Team",
            &[&husam, &sarah, &agent],
            json!({ "budget": { "runsPerMinute": 120 } }),
        )
        .await;
    let his = stack.as_entity(&husam);
    let hers = stack.as_entity(&sarah);
    let path = format!("/v1/spaces/{space}/messages");
    let member =
        async |round: usize| his.create(&path, json!({ "text": format!("flood {round}") })).await;
    let mut by_service = Vec::new();
    let mut by_member = Vec::new();
    let mut questions = Vec::new();
    // Both flood between any two of her messages, and for longer before the first.
    for question in 0..12 {
        let rounds = if question == 0 { 100 } else { 10 };
        for round in 0..rounds {
            let sent = Scheme::Github.signed(&format!("evt_{question}_{round}"));
            let (hook, post) = tokio::join!(stack.hook(&agent, "github", &sent), member(round));
            by_service.push(hook);
            by_member.push(post);
        }
        // An agent has at most 50 runs at a time, and a slow machine leaves more of the flood.
        stack.quiet_within(&space, Duration::from_mins(1)).await;
        let message = accepted(&hers, &path, &format!("question {question}")).await;
        let run = triggered_run(&message, &agent)
            .unwrap_or_else(|| panic!("her question {question} triggered no run: {message}"));
        questions.push((format!("Re: question {question}"), run));
    }
    stack.quiet_within(&space, Duration::from_mins(1)).await;
    let messages = stack.messages(&space).await;
    for (answer, run) in &questions {
        let answers = messages
            .iter()
            .filter(|message| message["runId"] == run.as_str() && text(message) == answer)
            .count();
        assert_eq!(answers, 1, "{answer}");
    }
    let refused = |reply: &Reply| {
        reply.body["reason"] == "rate" || reply.body["dispatch"][0]["reason"] == "rate"
    };
    for (flood, share) in [(&by_service, 30), (&by_member, 45)] {
        assert!(flood.iter().any(&refused), "the flood exceeds the limit");
        // Twice the share, in case a new minute begins during the test. Simultaneous requests may
        // exceed the share a little.
        let triggered = flood.iter().filter(|reply| reply.status < 300 && !refused(reply)).count();
        assert!((1..=2 * (share + 2)).contains(&triggered), "{triggered} of a share of {share}");
    }
}
