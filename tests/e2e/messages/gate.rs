//! The gate: scores that decide without a model, or are only recorded.

use std::{collections::BTreeSet, env};

use serde_json::{Value, json};

use crate::support::{
    model::http,
    routes::seq,
    stack::Stack,
    waiting::{SOON, is_ended, wait_for},
};

/// The scores from which the dial `balanced` wakes without a model, and asks with one.
const ALONE: f64 = 0.07;

/// Two people and three agents. Each agent answers people's messages that have its name.
struct Office {
    people: [String; 2],
    agents: Vec<String>,
}

impl Office {
    async fn new(stack: &Stack) -> Self {
        let people = [stack.person("Husam").await, stack.person("Sara").await];
        let mut agents = Vec::new();
        for name in ["Ada", "Bob", "Cleo"] {
            let say = json!({"tool": "send_message", "input": {"text": "{{sender}}, it is done."}});
            let skip = json!({"tool": "skip_response", "input": {"reason": "Not mine."}});
            let rules = json!([
                {"when": {"sender": "human", "contains": name}, "steps": [{"calls": [say]}]},
                {"steps": [{"calls": [skip]}]},
            ]);
            let model = json!({"provider": "scripted", "name": "demo", "script": {"rules": rules}});
            let agent = json!({"description": format!("{name} does things."), "model": model});
            agents.push(stack.agent_with(name, agent).await);
        }
        Self { people, agents }
    }

    async fn space(&self, stack: &Stack, settings: Value) -> String {
        let members: Vec<_> = self.people.iter().chain(&self.agents).collect();
        stack.space_with("Office", &members, settings).await
    }

    /// The decided message, after everyone is quiet.
    async fn post(&self, stack: &Stack, space: &str, number: usize) -> Value {
        let name = ["Ada", "Bob", "Cleo", "Who"][number % 4];
        let text = format!("{name}, here is number {number}.");
        let posted = stack.post(space, &self.people[number % 2], &text).await;
        let path = format!("/v1/spaces/{space}/messages?after={}", seq(&posted) - 1);
        let list = async || stack.get(&path).await.must_be(200)["items"].clone();
        wait_for("the answers", SOON, async || {
            let messages = list().await;
            for message in messages.as_array().unwrap() {
                for run in
                    message["dispatch"].as_array()?.iter().filter_map(|it| it["runId"].as_str())
                {
                    let run = stack.get(&format!("/v1/runs/{run}")).await.must_be(200);
                    is_ended(&run).then_some(())?;
                }
            }
            // A run that ended after the list was read may have posted a message.
            (list().await == messages).then(|| messages[0].clone())
        })
        .await
    }

    /// The decisions of a message, in the order of the agents.
    fn decisions(&self, message: &Value) -> Vec<(Value, Value)> {
        let dispatch = message["dispatch"].as_array().unwrap();
        let entry = |agent: &String| {
            let entry = dispatch.iter().find(|entry| entry["agentId"] == agent.as_str()).unwrap();
            (entry["source"].clone(), entry["reason"].clone())
        };
        self.agents.iter().map(entry).collect()
    }
}

/// Checks that an agent of a message was woken if and only if its score is high enough without a
/// model.
fn assert_decided_alone(message: &Value) {
    let scores = message["gate"]["scores"].as_array().unwrap();
    assert_eq!(scores.len(), 3, "{message}");
    for score in scores {
        let dispatch = message["dispatch"].as_array().unwrap();
        let entry = dispatch.iter().find(|entry| entry["agentId"] == score["agentId"]).unwrap();
        let is_woken = score["score"].as_f64().unwrap() >= ALONE;
        let field = if is_woken { "source" } else { "reason" };
        assert_eq!(entry[field], "router", "{message}");
        let text = entry["reasonText"].as_str().unwrap();
        let expected = format!("gate {:.2}: ", score["score"].as_f64().unwrap());
        assert!(text.starts_with(&expected), "{text}");
    }
}

#[tokio::test]
async fn without_a_model_the_gate_decides_when_the_message_is_stored() {
    let stack = Stack::start().await;
    let office = Office::new(&stack).await;
    let space = office.space(&stack, json!({"triggerPolicy": "router"})).await;
    for number in 0..8 {
        let message = office.post(&stack, &space, number).await;
        assert_decided_alone(&message);
        assert_eq!(message["gate"]["mode"], "on");
        assert!(message["router"].is_null(), "{message}");
    }
    let named = stack.post(&space, &office.people[0], "@Ada, please.").await;
    assert_eq!(named["gate"]["scores"], json!([]));
    let path = format!("/v1/spaces/{space}/messages/preview");
    let body = json!({"senderId": office.people[0], "text": "Thank you."});
    let preview = stack.create(&path, body).await.must_be(200);
    for entry in preview["dispatch"].as_array().unwrap() {
        assert!(entry["reasonText"].as_str().unwrap().starts_with("gate "), "{entry}");
    }
}

#[tokio::test]
async fn when_the_model_is_down_the_gate_decides_alone() {
    let stack = Stack::start().await;
    stack.model.answers("router", |_| http(500));
    let office = Office::new(&stack).await;
    let model = json!({"provider": "openai", "name": stack.model.name("router")});
    let settings = json!({"triggerPolicy": "router", "router": {"model": model}});
    let space = office.space(&stack, settings).await;
    let mut asked = 0;
    for number in 0..24 {
        let message = office.post(&stack, &space, number).await;
        assert_decided_alone(&message);
        let scores = message["gate"]["scores"].as_array().unwrap();
        let asks = scores.iter().any(|score| score["would"] == "ask");
        assert_eq!(message["router"]["error"].is_string(), asks, "{message}");
        asked += 2 * usize::from(asks);
        assert_eq!(stack.model.requests("router").len(), asked, "two tries for each message");
    }
    assert!(asked > 0, "no score was between the thresholds");
}

/// How many messages a shadow sees, by default and with `SMARTSPACE_SHADOW_MESSAGES`.
const SEEN: usize = 40;

#[tokio::test]
async fn a_shadow_changes_nothing_and_the_report_equals_a_count_by_hand() {
    let stack = Stack::start().await;
    let office = Office::new(&stack).await;
    let shadow = office.space(&stack, json!({"gate": {"mode": "shadow"}})).await;
    let plain = office.space(&stack, json!({"gate": {"mode": "off"}})).await;
    let seen = env::var("SMARTSPACE_SHADOW_MESSAGES").map_or(SEEN, |text| text.parse().unwrap());
    for number in 0..seen {
        let recorded = office.post(&stack, &shadow, number).await;
        let without = office.post(&stack, &plain, number).await;
        assert_eq!(office.decisions(&recorded), office.decisions(&without));
        assert!(without["gate"].is_null(), "{without}");
    }
    let messages = stack.messages(&shadow).await;
    let answered: BTreeSet<(&str, &str)> = messages
        .iter()
        .filter_map(|it| Some((it["origin"]["messageId"].as_str()?, it["sender"]["id"].as_str()?)))
        .collect();
    let has_scores =
        |it: &&Value| it["gate"]["scores"].as_array().is_some_and(|scores| !scores.is_empty());
    let scored: Vec<_> = messages.iter().filter(has_scores).collect();
    let scored = &scored[scored.len().saturating_sub(500)..];
    let of_dial = |from: f64| {
        let mut counts = [0, 0];
        for message in scored {
            for score in message["gate"]["scores"].as_array().unwrap() {
                if score["score"].as_f64().unwrap() >= from {
                    let id = message["id"].as_str().unwrap();
                    let pair = (id, score["agentId"].as_str().unwrap());
                    counts[0] += 1;
                    counts[1] += u64::from(answered.contains(&pair));
                }
            }
        }
        json!(counts)
    };
    let report = stack.get(&format!("/v1/spaces/{shadow}/gate")).await.must_be(200);
    let counts = |it: &Value| json!([it["wakes"], it["answers"]]);
    let wakes = |it: &Value| {
        it["dispatch"].as_array().unwrap().iter().filter(|it| it["runId"].is_string()).count()
    };
    let woken: usize = scored.iter().map(|it| wakes(it)).sum();
    let ids: BTreeSet<_> = scored.iter().map(|it| it["id"].as_str().unwrap()).collect();
    let answers = answered.iter().filter(|(id, _)| ids.contains(id)).count();
    assert_eq!(counts(&report["now"]), json!([woken, answers]));
    assert_eq!(report["messages"], scored.len());
    assert_eq!(report["fromSeq"], scored[0]["seq"]);
    assert_eq!(report["toSeq"], scored[scored.len() - 1]["seq"]);
    for (dial, from) in report["dials"].as_array().unwrap().iter().zip([0.15, ALONE, 0.04]) {
        assert_eq!(counts(dial), of_dial(from), "{dial}");
    }
}
