//! Agents that answer each other or trigger themselves, and the chain depth that stops them.

mod own_tools;

use serde_json::{Value, json};

use crate::support::{
    model::say,
    routes::{id, text, triggered_run},
    stack::Stack,
};

fn depth(message: &Value) -> u64 {
    message["chainDepth"].as_u64().unwrap()
}

/// Three agents that answer each message by itself.
async fn talkers(stack: &Stack) -> Vec<String> {
    let mut agents = Vec::new();
    for name in ["Ada", "Bob", "Eve"] {
        let agent = stack.agent(name, &stack.model.name("talker")).await;
        stack.side_by_side(&agent).await;
        agents.push(agent);
    }
    agents
}

#[tokio::test]
async fn three_agents_that_answer_everything_stop_at_the_chain_depth_of_the_space() {
    let stack = Stack::start().await;
    stack.model.replies("talker", |request| say(&format!("About {}", request.trigger_text())));
    let person = stack.person("Husam").await;
    let agents = talkers(&stack).await;
    let space = stack
        .space_with(
            "Team",
            &[&person, &agents[0], &agents[1], &agents[2]],
            json!({ "maxChainDepth": 2 }),
        )
        .await;

    stack.post(&space, &person, "weather").await;
    stack.quiet(&space).await;

    let messages = stack.messages(&space).await;
    let of_depth = |wanted: u64| {
        messages.iter().filter(|message| depth(message) == wanted).collect::<Vec<_>>()
    };
    assert_eq!([0, 1, 2, 3].map(|depth| of_depth(depth).len()), [1, 3, 6, 0]);
    assert!(of_depth(1).iter().all(|message| text(message) == "About weather"));
    assert!(of_depth(2).iter().all(|message| text(message) == "About About weather"));
    for message in of_depth(2) {
        let sender = message["sender"]["id"].as_str().unwrap();
        let mut decisions = message["dispatch"].as_array().unwrap().clone();
        decisions.sort_by_key(|decision| decision["agentId"].to_string());
        let mut expected: Vec<_> = agents.iter().filter(|agent| *agent != sender).collect();
        expected.sort();
        let expected: Vec<_> = expected
            .iter()
            .map(|agent| json!({ "agentId": agent, "runId": null, "reason": "chain_depth" }))
            .collect();
        assert_eq!(decisions, expected);
    }

    let runs = stack.runs_of(&space).await;
    assert_eq!(runs.len(), 9, "three for the first message, two for each of the three answers");
    for run in &runs {
        assert_eq!(
            (run["status"].as_str(), run["endReason"].as_str()),
            (Some("completed"), Some("done")),
            "{run}"
        );
    }
    for message in of_depth(0).into_iter().chain(of_depth(1)) {
        for agent in agents.iter().filter(|agent| message["sender"]["id"] != agent.as_str()) {
            let run = triggered_run(message, agent).unwrap();
            let answers = messages
                .iter()
                .filter(|answer| answer["runId"] == run.as_str())
                .collect::<Vec<_>>();
            assert_eq!(answers.len(), 1, "one answer by {run}");
            assert_eq!(depth(answers[0]), depth(message) + 1);
        }
    }
}

#[tokio::test]
async fn the_operator_sees_to_which_chain_a_run_belongs() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    stack.model.replies("talker", |request| say(&format!("About {}", request.trigger_text())));
    let person = stack.person("Husam").await;
    let agents = talkers(&stack).await;
    let members = [&person, &agents[0], &agents[1]];
    let space = stack.space_with("Team", &members, json!({ "maxChainDepth": 2 })).await;
    let mut chains = Vec::new();
    for text in ["weather", "lunch"] {
        let message = id(&stack.post(&space, &person, text).await);
        stack.quiet(&space).await;
        chains.push(json!(message.replace("msg_", "chn_")));
    }
    let runs = stack.runs_of(&space).await;
    let of_chain = |chain: &Value| runs.iter().filter(|run| run["chainId"] == *chain).count();
    assert_eq!((of_chain(&chains[0]), of_chain(&chains[1]), runs.len()), (4, 4, 8), "{runs:?}");
    let seen = stack.as_entity(&person).runs_of(&space).await;
    assert_eq!(seen.len(), 8);
    assert!(seen.iter().all(|run| run.get("chainId").is_none()), "{seen:?}");
}

#[tokio::test]
async fn a_message_in_an_agents_name_is_one_deeper_than_the_last_message() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let agent = stack.agent("Ada", &stack.model.name("silent")).await;
    let space = stack.space_with("Team", &[&person, &agent], json!({ "maxChainDepth": 3 })).await;
    let mut depths = Vec::new();
    for sender in [&agent, &person, &agent, &agent, &person] {
        depths.push(depth(&stack.post(&space, sender, "hello").await));
    }
    assert_eq!(depths[1..], [0, 1, 2, 0]);
    stack.quiet(&space).await;
}

#[tokio::test]
async fn an_agents_own_lower_chain_depth_applies() {
    let stack = Stack::start().await;
    stack.model.replies("talker", |_| say("I have something to say."));
    let person = stack.person("Husam").await;
    let talker = stack.agent("Ada", &stack.model.name("talker")).await;
    let model = json!({ "provider": "openai", "name": stack.model.name("quiet") });
    let shy = stack.agent_with("Bob", json!({ "model": model, "maxChainDepth": 1 })).await;
    let space = stack.space("Team", &[&person, &talker, &shy]).await;

    let first = stack.post(&space, &person, "hello").await;
    assert!(triggered_run(&first, &shy).is_some());
    stack.quiet(&space).await;

    let messages = stack.messages(&space).await;
    assert_eq!(messages.len(), 2);
    assert_eq!(
        messages[1]["dispatch"],
        json!([{ "agentId": shy, "runId": null, "reason": "chain_depth" }])
    );
}

#[tokio::test]
async fn with_the_policy_mention_only_mentioned_agents_are_triggered() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let ada = stack.agent("Ada", &stack.model.name("ada")).await;
    let bob = stack.agent("Bob", &stack.model.name("bob")).await;
    stack.side_by_side(&ada).await;
    let space = stack
        .space_with("Team", &[&person, &ada, &bob], json!({ "triggerPolicy": "mention" }))
        .await;
    let nobody = stack.post(&space, &person, "ada, are you there?").await;
    assert_eq!((triggered_run(&nobody, &ada), triggered_run(&nobody, &bob)), (None, None));
    let one = stack.post(&space, &person, "@ADA, are you there?").await;
    assert_eq!((triggered_run(&one, &ada).is_some(), triggered_run(&one, &bob)), (true, None));
    let all = stack.post(&space, &person, "@all?").await;
    assert!(triggered_run(&all, &ada).is_some() && triggered_run(&all, &bob).is_some());
    stack.quiet(&space).await;
    assert_eq!((stack.model.requests("ada").len(), stack.model.requests("bob").len()), (2, 1));
}
