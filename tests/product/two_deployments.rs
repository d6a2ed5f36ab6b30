//! Two deployments whose agents call each other for ever: it ends at the depth, since the calls of tools say how deep they are. That agents of one space
//! who always answer each other stop at its depth is shown in [`super::chains`].

use serde_json::{Value, json};

use super::{
    acting::http_tool,
    hooks::field,
    model::{answer, call, say, stop},
    routes::{text, woken},
    stack::Stack,
    waiting::{SOON, wait_for},
};

const KEYS: [&str; 2] = ["the-first-deployments-own-key", "the-second-deployments-own-key"];

/// Two products. Tools of each may reach the other, whose key is their secret `PEER`.
async fn two() -> Option<[Stack; 2]> {
    let one = Stack::keyed(KEYS[0], &[("SMARTSPACE_TOOL_HOSTS", "127.0.0.1"), ("SMARTSPACE_SECRET_PEER", KEYS[1])]).await?;
    let other = Stack::keyed(KEYS[1], &[("SMARTSPACE_TOOL_HOSTS", "127.0.0.1"), ("SMARTSPACE_SECRET_PEER", KEYS[0])]).await?;
    Some([one, other])
}

/// A tool that tells another deployment something.
fn tells(url: &str, body: Value) -> Value {
    http_tool("tell", "POST", url, json!({ "headers": { "Authorization": "Bearer ${secret.PEER}" }, "body": body }))
}

async fn give_tool(stack: &Stack, agent: &str, tool: Value) {
    stack.patch(&format!("/v1/entities/{agent}"), json!({ "agent": { "tools": [tool] } })).await.must_be(200);
}

/// The only call of a run: its status, and what came of it.
async fn call_of(stack: &Stack, run: &Value) -> (String, Value) {
    let run = stack.ended(&field(run, "id"), SOON).await;
    let calls = run["steps"][0]["calls"].as_array().unwrap();
    (field(&calls[0], "status"), calls[0]["output"].clone())
}

#[tokio::test]
async fn two_agents_that_wake_each_other_as_services_stop_at_the_depth() {
    let Some(stacks) = two().await else { return };
    let mut agents = Vec::new();
    for stack in &stacks {
        stack.model.answers("ada", |asked| if asked.step() == 0 { call("tell", json!({})).into() } else { stop() });
        agents.push(stack.receiver(json!({})).await);
    }
    for (place, peer) in [(0, 1), (1, 0)] {
        let url = format!("{}/v1/agents/{}/trigger", stacks[peer].url, agents[peer]);
        let body = json!({ "service": format!("deployment-{place}"), "payload": { "said": "your turn" } });
        give_tool(&stacks[place], &agents[place], tells(&url, body)).await;
    }
    stacks[0].trigger(&agents[0], "operator", &json!("begin"), &[]).await.must_be(202);
    let refused = wait_for("the last one is refused", SOON, async || {
        let refused = stacks[1].deliveries(&agents[1], "?status=refused").await;
        (!refused.is_empty()).then_some(refused)
    })
    .await;

    // Depths 0, 2 and 4 here, 1 and 3 there; what would be the fifth is refused.
    let mut runs = Vec::new();
    for (stack, agent) in stacks.iter().zip(&agents) {
        let mut of_agent = stack.runs_by(agent).await;
        of_agent.reverse();
        runs.push(of_agent);
    }
    let depths = |of: usize| -> Vec<u64> { runs[of].iter().map(|run| run["chainDepth"].as_u64().unwrap()).collect() };
    assert_eq!([depths(0), depths(1)], [vec![0, 2, 4], vec![1, 3]]);
    assert_eq!((refused.len(), &refused[0]["reason"], &refused[0]["service"]), (1, &json!("chain_depth"), &json!("deployment-0")));
    let last = call_of(&stacks[0], &runs[0][2]).await;
    assert_eq!(last, ("completed".into(), json!({ "deliveryId": refused[0]["id"], "runId": null, "reason": "chain_depth" })));
    let told = stacks[0].model.asked("ada").pop().unwrap().results();
    assert_eq!(told, [last.1], "the model is told that it woke nobody");
    // Each call before woke the next run.
    for (of, index, next) in [(0, 0, &runs[1][0]), (1, 0, &runs[0][1]), (0, 1, &runs[1][1]), (1, 1, &runs[0][2])] {
        let (status, output) = call_of(&stacks[of], &runs[of][index]).await;
        assert_eq!((status.as_str(), &output["runId"], &output["deliveryId"]), ("completed", &next["id"], &next["trigger"]["deliveryId"]));
    }
    for (place, (stack, agent)) in stacks.iter().zip(&agents).enumerate() {
        assert!(stack.runs_by(agent).await.iter().all(|run| run["status"] == "completed"), "nothing goes on");
        assert!(!stack.log().contains(KEYS[1 - place]), "what opens the other one is no text of this one's log");
    }
}

#[tokio::test]
async fn two_agents_that_speak_into_each_others_spaces_stop_at_the_depth() {
    let Some(stacks) = two().await else { return };
    let mut places = Vec::new();
    for stack in &stacks {
        stack.model.answers("ada", |asked| match asked.step() {
            0 => answer([say(&format!("I pass on: {}", asked.trigger_text())), call("tell", json!({}))]),
            _ => stop(),
        });
        // The bridge is a person to those there, so that nothing but the header tells how deep its words are.
        let (agent, bridge) = (stack.receiver(json!({})).await, stack.person("Bridge").await);
        let space = stack.space_with("Team", &[&bridge, &agent], json!({ "maxChainDepth": 3 })).await;
        places.push((agent, bridge, space));
    }
    for (place, peer) in [(0, 1), (1, 0)] {
        let (_, bridge, space) = &places[peer];
        let url = format!("{}/v1/spaces/{space}/messages", stacks[peer].url);
        give_tool(&stacks[place], &places[place].0, tells(&url, json!({ "text": "your turn", "senderId": bridge }))).await;
    }
    let (_, bridge, space) = &places[0];
    stacks[0].post(space, bridge, "begin").await;
    let bridged = async |of: usize| -> Vec<Value> {
        let messages = stacks[of].messages(&places[of].2).await;
        messages.into_iter().filter(|message| message["sender"]["id"] == places[of].1.as_str()).collect()
    };
    let last = wait_for("the last one wakes nobody", SOON, async || {
        let said = bridged(1).await;
        said.iter().find(|message| woken(message, &places[1].0).is_none()).cloned()
    })
    .await;
    stacks[0].quiet(space).await;
    stacks[1].quiet(&places[1].2).await;
    let depths = |messages: &[Value]| -> Vec<u64> { messages.iter().map(|message| message["chainDepth"].as_u64().unwrap()).collect() };
    assert_eq!([depths(&bridged(0).await), depths(&bridged(1).await)], [vec![0, 2], vec![1, 3]]);
    assert_eq!(last["dispatch"], json!([{ "agentId": places[1].0, "runId": null, "reason": "chain_depth" }]));
    let shown = stacks[0].runs_of(space).await;
    let told = stacks[0].run(&field(&shown[0], "id")).await["steps"][0]["calls"][1]["output"].clone();
    assert_eq!((&told["id"], &told["dispatch"]), (&last["id"], &last["dispatch"]), "the agent that said it is told so");
    assert_eq!(text(&last), "your turn");
}
