//! Agents that answer each other, or wake themselves, and where that ends.

use serde_json::{Value, json};

use super::{
    acting::http_tool,
    model::{call, say, stop},
    plans::daily,
    routes::{id, text, woken},
    stack::Stack,
    waiting::{SOON, wait_for},
};

/// A product whose agents' tools may call it, with its own key.
const KEY: &str = "the-operators-own-key-that-a-tool-has";

fn depth(message: &Value) -> u64 {
    message["chainDepth"].as_u64().unwrap()
}

#[tokio::test]
async fn three_agents_who_answer_everything_stop_at_the_depth_of_the_space() {
    let stack = Stack::start().await;
    stack.model.replies("talker", |asked| say(&format!("About {}", asked.trigger_text())));
    let person = stack.person("Husam").await;
    let mut agents = Vec::new();
    for name in ["Ada", "Bob", "Eve"] {
        agents.push(stack.agent(name, &stack.model.name("talker")).await);
    }
    let space = stack.space_with("Team", &[&person, &agents[0], &agents[1], &agents[2]], json!({ "maxChainDepth": 2 })).await;

    stack.post(&space, &person, "weather").await;
    stack.quiet(&space).await;

    let messages = stack.messages(&space).await;
    let of_depth = |wanted: u64| messages.iter().filter(|message| depth(message) == wanted).collect::<Vec<_>>();
    assert_eq!([0, 1, 2, 3].map(|depth| of_depth(depth).len()), [1, 3, 6, 0]);
    assert!(of_depth(1).iter().all(|message| text(message) == "About weather"));
    assert!(of_depth(2).iter().all(|message| text(message) == "About About weather"));
    for message in of_depth(2) {
        let sender = message["sender"]["id"].as_str().unwrap();
        let mut told = message["dispatch"].as_array().unwrap().clone();
        told.sort_by_key(|decision| decision["agentId"].to_string());
        let mut expected: Vec<_> = agents.iter().filter(|agent| *agent != sender).collect();
        expected.sort();
        let expected: Vec<_> = expected.iter().map(|agent| json!({ "agentId": agent, "runId": null, "reason": "chain_depth" })).collect();
        assert_eq!(told, expected);
    }

    let runs = stack.runs_of(&space).await;
    assert_eq!(runs.len(), 9, "three of the first message, two of each of the three answers");
    for run in &runs {
        assert_eq!((run["status"].as_str(), run["endReason"].as_str()), (Some("completed"), Some("done")), "{run}");
    }
    for message in of_depth(0).into_iter().chain(of_depth(1)) {
        for agent in agents.iter().filter(|agent| message["sender"]["id"] != agent.as_str()) {
            let run = woken(message, agent).unwrap();
            let answers = messages.iter().filter(|answer| answer["runId"] == run.as_str()).collect::<Vec<_>>();
            assert_eq!(answers.len(), 1, "one answer of {run}");
            assert_eq!(depth(answers[0]), depth(message) + 1);
        }
    }
}

#[tokio::test]
async fn what_is_posted_in_an_agents_name_is_one_deeper_than_the_last_message() {
    let stack = Stack::start().await;
    let (person, agent) = (stack.person("Husam").await, stack.agent("Ada", &stack.model.name("silent")).await);
    let space = stack.space_with("Team", &[&person, &agent], json!({ "maxChainDepth": 3 })).await;
    let mut depths = Vec::new();
    for sender in [&agent, &person, &agent, &agent, &person] {
        depths.push(depth(&stack.post(&space, sender, "hello").await));
    }
    assert_eq!(depths[1..], [0, 1, 2, 0]);
    stack.quiet(&space).await;
}

#[tokio::test]
async fn an_agent_with_a_lower_depth_of_its_own_is_not_woken_by_agents() {
    let stack = Stack::start().await;
    stack.model.replies("talker", |_| say("I have something to say."));
    let person = stack.person("Husam").await;
    let talker = stack.agent("Ada", &stack.model.name("talker")).await;
    let model = json!({ "provider": "openai", "name": stack.model.name("quiet") });
    let shy = stack.agent_with("Bob", json!({ "model": model, "maxChainDepth": 1 })).await;
    let space = stack.space("Team", &[&person, &talker, &shy]).await;

    let first = stack.post(&space, &person, "hello").await;
    assert!(woken(&first, &shy).is_some());
    stack.quiet(&space).await;

    let messages = stack.messages(&space).await;
    assert_eq!(messages.len(), 2);
    assert_eq!(messages[1]["dispatch"], json!([{ "agentId": shy, "runId": null, "reason": "chain_depth" }]));
}

#[tokio::test]
async fn with_the_policy_mention_only_the_named_wake() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let (ada, bob) = (stack.agent("Ada", &stack.model.name("ada")).await, stack.agent("Bob", &stack.model.name("bob")).await);
    let space = stack.space_with("Team", &[&person, &ada, &bob], json!({ "triggerPolicy": "mention" })).await;
    let nobody = stack.post(&space, &person, "ada, are you there?").await;
    assert_eq!((woken(&nobody, &ada), woken(&nobody, &bob)), (None, None));
    let one = stack.post(&space, &person, "@ADA, are you there?").await;
    assert_eq!((woken(&one, &ada).is_some(), woken(&one, &bob)), (true, None));
    let all = stack.post(&space, &person, "@all?").await;
    assert!(woken(&all, &ada).is_some() && woken(&all, &bob).is_some());
    stack.quiet(&space).await;
    assert_eq!((stack.model.asked("ada").len(), stack.model.asked("bob").len()), (2, 1));
}

/// Gives an agent a tool that asks the product for this with the operator's key, and wakes it once, as a service; the depths of its runs, and what the last
/// one was told, which woke nobody.
async fn wakes_itself(stack: &Stack, agent: &str, path: &str, body: Value) -> (Vec<u64>, Value) {
    let authorised = json!({ "headers": { "Authorization": "Bearer ${secret.OWN}" }, "body": body });
    let tool = http_tool("again", "POST", &format!("{}{path}", stack.url), authorised);
    stack.patch(&format!("/v1/entities/{agent}"), json!({ "agent": { "tools": [tool] } })).await.must_be(200);
    stack.trigger(agent, "begin", &json!("again"), &[]).await.must_be(202);
    let runs = wait_for("the last one wakes nobody", SOON, async || {
        let mut runs = stack.runs_by(agent).await;
        runs.reverse();
        (runs.len() >= 3 && runs.iter().all(|run| run["status"] == "completed")).then_some(runs)
    })
    .await;
    let told = stack.run(&id(&runs[2])).await["steps"][0]["calls"][0]["output"].clone();
    (stack.runs_by(agent).await.iter().rev().map(depth).collect(), told)
}

#[tokio::test]
async fn an_agent_whose_tool_wakes_it_again_stops_at_its_depth() {
    let Some(stack) = Stack::keyed(KEY, &[("SMARTSPACE_TOOL_HOSTS", "127.0.0.1"), ("SMARTSPACE_SECRET_OWN", KEY)]).await else { return };
    stack.model.answers("ada", |asked| if asked.step() == 0 { call("again", json!({})).into() } else { stop() });
    let agent = async || stack.receiver(json!({ "maxChainDepth": 3 })).await;
    let too_deep = |told: &Value| told["body"]["detail"].as_str().is_some_and(|detail| detail.contains("3 deep"));

    let by_plans = agent().await;
    let plan = json!({ "name": "Again", "instruction": "Once more.", "runAfter": "1 second" });
    let (depths, told) = wakes_itself(&stack, &by_plans, &format!("/v1/agents/{by_plans}/plans"), plan).await;
    assert!(depths == [0, 1, 2] && too_deep(&told), "{depths:?}: {told}");

    let by_hand = agent().await;
    let path = format!("/v1/agents/{by_hand}/plans/{}/run", id(&stack.plan(&by_hand, daily("Report")).await));
    let (depths, told) = wakes_itself(&stack, &by_hand, &path, json!({})).await;
    assert!(depths == [0, 1, 2] && too_deep(&told), "{depths:?}: {told}");

    let by_replays = agent().await;
    stack.patch(&format!("/v1/entities/{by_replays}"), json!({ "agent": { "paused": true } })).await.must_be(200);
    let kept = stack.trigger(&by_replays, "ci", &json!({}), &[]).await.must_be(202);
    stack.patch(&format!("/v1/entities/{by_replays}"), json!({ "agent": { "paused": false } })).await.must_be(200);
    let path = format!("/v1/agents/{by_replays}/deliveries/{}/replay", kept["deliveryId"].as_str().unwrap());
    let (depths, told) = wakes_itself(&stack, &by_replays, &path, json!({})).await;
    assert_eq!((depths, &told["runId"], &told["reason"]), (vec![0, 1, 2], &Value::Null, &json!("chain_depth")));
}
