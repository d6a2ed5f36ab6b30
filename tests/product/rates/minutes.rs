//! How many runs someone may cause in a minute: `budget.runsPerMinute` of agents and of spaces.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::{
    client::Reply,
    model::say,
    routes::{text, woken},
    services::Scheme,
    stack::Stack,
    tokens::in_seconds,
};

/// Does something within one minute of the clock, by which runs are counted: what a new minute begins in the middle of is done once more. A new minute
/// begins with nothing, which `smartspace_domain::shares` tests.
pub(in super::super) async fn in_one_minute<T>(scene: impl AsyncFn() -> T) -> T {
    loop {
        let minute = in_seconds(0) / 60;
        let came = scene().await;
        if in_seconds(0) / 60 == minute {
            return came;
        }
    }
}

/// How many of five messages of two people and of an agent's name wake the agent, where its budget or its space's is so small.
async fn of_a_minute(stack: &Stack, of_space: u32, of_agent: u32) -> [usize; 3] {
    let (husam, sarah) = (stack.person("Husam").await, stack.person("Sarah").await);
    // So deep that what an agent's name says one after the other does not end it before.
    let budget = |runs: u32| json!({ "budget": { "runsPerMinute": runs }, "maxChainDepth": 100 });
    let agent = stack.receiver(budget(of_agent)).await;
    let bot = stack.agent_with("Bob", json!({ "model": { "provider": "scripted", "name": "demo" }, "paused": true })).await;
    let space = stack.space_with("Team", &[&husam, &sarah, &agent, &bot], budget(of_space)).await;
    let mut counts = [0; 3];
    for (place, sender) in [&husam, &bot, &sarah].into_iter().enumerate() {
        for _ in 0..5 {
            let body = json!({ "text": "Hello", "senderId": sender });
            let preview = stack.create(&format!("/v1/spaces/{space}/messages/preview"), body).await.must_be(200);
            let message = stack.post(&space, sender, "Hello").await;
            let of = |dispatch: &Value| dispatch.as_array().unwrap().iter().find(|one| one["agentId"] == agent.as_str()).unwrap().clone();
            let (mut said, mut decided) = (of(&preview["dispatch"]), of(&message["dispatch"]));
            let run = decided["runId"].take();
            assert_eq!(said, decided, "the preview says the same");
            counts[place] += usize::from(run.is_string());
            if run.is_null() {
                assert_eq!(said, json!({ "agentId": agent, "runId": null, "reason": "rate" }));
            } else {
                assert_eq!(said["source"].take(), "broadcast");
            }
        }
    }
    counts
}

#[tokio::test]
async fn of_a_minutes_runs_half_is_kept_for_people_and_no_person_takes_more_than_half_of_it() {
    let Some(stack) = Stack::receiving_at_once().await else { return };
    // A person, then an agent's name, then another person: of a space's runs, and of an agent's, where nobody is kept from what people leave.
    let shares = [
        (1, [1, 0, 0], [1, 0, 0]),
        (2, [2, 0, 0], [2, 0, 0]),
        (3, [2, 1, 0], [3, 0, 0]),
        (4, [2, 1, 1], [3, 0, 1]),
        (8, [4, 2, 2], [5, 1, 2]),
    ];
    for (budget, of_space, of_agent) in shares {
        let by_space = in_one_minute(async || of_a_minute(&stack, budget, 100_000).await).await;
        let by_agent = in_one_minute(async || of_a_minute(&stack, 100_000, budget).await).await;
        assert_eq!((by_space, by_agent), (of_space, of_agent), "{budget} runs a minute");
    }
    let both = in_one_minute(async || of_a_minute(&stack, 3, 4).await).await;
    assert_eq!(both, [2, 1, 0], "the smaller one decides");
}

#[tokio::test]
async fn an_agents_runs_are_counted_wherever_they_are_woken() {
    let Some(stack) = Stack::receiving_at_once().await else { return };
    let counts = in_one_minute(async || {
        let husam = stack.person("Husam").await;
        let agent = stack.receiver(json!({ "budget": { "runsPerMinute": 4 } })).await;
        let service = stack.trigger(&agent, "ci", &json!({}), &[]).await.must_be(202)["runId"].is_string();
        let mut counts = [0; 2];
        for place in [0, 1] {
            let space = stack.space("Team", &[&husam, &agent]).await;
            for _ in 0..3 {
                counts[place] += usize::from(woken(&stack.post(&space, &husam, "Hello").await, &agent).is_some());
            }
        }
        (counts[0], counts[1], service)
    })
    .await;
    assert_eq!(counts, (2, 0, true), "one share of a person in all spaces, less what a service took");
}

#[tokio::test]
async fn a_service_and_a_member_that_flood_take_no_answer_from_another_member() {
    let Some(stack) = Stack::receiving_at_once().await else { return };
    stack.model.replies("ada", |asked| say(&format!("Re: {}", asked.trigger_text())));
    // The budgets that agents and spaces have where nothing is said.
    let agent = stack.receiver(json!({ "budget": { "runsPerMinute": 60 } })).await;
    let (husam, sarah) = (stack.person("Husam").await, stack.person("Sarah").await);
    let space = stack.space_with("Team", &[&husam, &sarah, &agent], json!({ "budget": { "runsPerMinute": 120 } })).await;
    let (his, hers) = (stack.as_entity(&husam), stack.as_entity(&sarah));
    let path = format!("/v1/spaces/{space}/messages");
    let member = async |round: usize| his.create(&path, json!({ "text": format!("flood {round}") })).await;
    let (mut by_service, mut by_member) = (Vec::new(), Vec::new());
    let mut asked = Vec::new();
    // Both flood between any two of her messages, and long before the first.
    for question in 0..12 {
        let rounds = if question == 0 { 100 } else { 10 };
        for round in 0..rounds {
            let sent = Scheme::Github.sends(&format!("evt_{question}_{round}"));
            let (hook, post) = tokio::join!(stack.hook(&agent, "github", &sent), member(round));
            by_service.push(hook);
            by_member.push(post);
        }
        let message = hers.create(&path, json!({ "text": format!("question {question}") })).await.must_be(201);
        let run = woken(&message, &agent).unwrap_or_else(|| panic!("her question {question} woke nobody: {message}"));
        asked.push((format!("Re: question {question}"), run));
    }
    stack.quiet_within(&space, Duration::from_mins(1)).await;
    let said = stack.messages(&space).await;
    for (answer, run) in &asked {
        let answers = said.iter().filter(|message| message["runId"] == run.as_str() && text(message) == answer).count();
        assert_eq!(answers, 1, "{answer}");
    }
    let refused = |reply: &Reply| reply.body["reason"] == "rate" || reply.body["dispatch"][0]["reason"] == "rate";
    for (flood, share) in [(&by_service, 30), (&by_member, 45)] {
        assert!(flood.iter().any(&refused), "it floods");
        // Twice, where a new minute begins in the middle; and what is counted at the same moment may be one too many.
        let woke = flood.iter().filter(|reply| reply.status < 300 && !refused(reply)).count();
        assert!((1..=2 * (share + 2)).contains(&woke), "{woke} of a share of {share}");
    }
}
