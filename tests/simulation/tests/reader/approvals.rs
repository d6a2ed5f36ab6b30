//! A form that waits while a memory changes.

use serde_json::{Value, json};

use super::scene::{Scene, text};

const TASK: &str = r#"
When a message has "release", ask getApproval, call deploy and say "<who> agreed: it is out.".
Never call deploy with the note "No deploys", say "<who> agreed, but there are no deploys today.".
When a message has "Who agreed", say "It was <who>.".
"#;

fn tools() -> Value {
    json!([
        {
            "name": "getApproval", "description": "Asks people.",
            "inputSchema": {"type": "object"},
            "execution": {"type": "space", "ui": "buttons", "expiresAfter": "1 day"},
        },
        {
            "name": "deploy", "description": "Deploys.", "inputSchema": {"type": "object"},
            "execution": {"type": "static", "output": {"deployed": true}},
        },
    ])
}

/// Lets Olga approve a release, while a memory may be set, and then asks who has agreed. Returns
/// what the agent has said, and the tools that it has called for the release.
async fn released(seed: u64, memory: Option<&str>) -> (Vec<String>, Vec<String>) {
    let scene = Scene::new(seed, &[]).await;
    let [olga, omar] = [scene.person("Olga").await, scene.person("Omar").await];
    let agent = scene.agent("Shipper", TASK, json!({"tools": tools()})).await;
    let members = [olga.clone(), omar.clone(), agent.clone()];
    let space = scene.space("Releases", &members, "all").await;
    scene.post(&space, &omar, "Please prepare the release.").await;
    let card = scene.until(&space, |message| message["parts"][0]["type"] == "tool").await;
    let card = card.unwrap();
    if let Some(memory) = memory {
        let path = format!("/v1/agents/{}/memories/freeze", agent.as_str().unwrap());
        scene.put(&path, json!({"value": memory})).await;
    }
    scene.approve(&card, &olga).await;
    scene.quiet(&space).await;
    scene.post(&space, &omar, "Who agreed?").await;
    scene.quiet(&space).await;
    let run = scene.get(&format!("/v1/runs/{}", card["runId"].as_str().unwrap())).await;
    let steps = run["steps"].as_array().unwrap();
    let calls = steps.iter().filter_map(|step| step["calls"].as_array()).flatten();
    let called = calls.map(|call| call["name"].as_str().unwrap().to_owned()).collect();
    let messages = scene.messages(&space).await;
    let of_agent = messages.iter().filter(|message| message["sender"]["id"] == agent);
    let said = of_agent.map(text).filter(|text| !text.is_empty()).map(str::to_owned).collect();
    scene.end();
    (said, called)
}

#[tokio::test(start_paused = true)]
async fn an_approval_names_who_gave_it_and_lets_the_agent_deploy() {
    for seed in 1..=5 {
        let (said, called) = released(seed, Some("The office is closed today")).await;
        assert_eq!(said, ["Olga agreed: it is out.", "It was Olga."]);
        assert_eq!(called, ["getApproval", "deploy", "send_message"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_memory_that_is_set_during_a_pause_stops_the_deploy() {
    for seed in 1..=5 {
        let (said, called) = released(seed, Some("No deploys today")).await;
        assert_eq!(said, ["Olga agreed, but there are no deploys today.", "It was Olga."]);
        assert_eq!(called, ["getApproval", "send_message"]);
    }
}
