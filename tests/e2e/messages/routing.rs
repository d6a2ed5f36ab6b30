//! The policy `router`: a model chooses which agents a message triggers.

use serde_json::{Value, json};

use crate::support::{
    model::{Answer, Gate, ModelRequest, answer, call, http, raw_call, say, stop, think, wait},
    stack::Stack,
    waiting::{SOON, wait_for},
};

/// A space with a router and five agents: Ada, Bob, Cleo, Dan and Eve, who is paused.
struct Office {
    person: String,
    agents: Vec<(&'static str, String)>,
    space: String,
}

impl Office {
    async fn new(stack: &Stack, router: Value) -> Self {
        let person = stack.person("Husam").await;
        let mut agents = Vec::new();
        for name in ["Ada", "Bob", "Cleo", "Dan", "Eve"] {
            let agent = json!({
                "description": format!("{name} does \"{name}\" things."),
                "paused": name == "Eve",
                "model": {"provider": "openai", "name": stack.model.name(name)},
            });
            agents.push((name, stack.agent_with(name, agent).await));
        }
        let members: Vec<_> = agents.iter().map(|(_, id)| id).chain([&person]).collect();
        let gate = json!({"mode": "off"});
        let settings = json!({"triggerPolicy": "router", "router": router, "gate": gate});
        let space = stack.space_with("Office", &members, settings).await;
        Self { person, agents, space }
    }

    /// An office whose router asks the model `router`.
    async fn asking(stack: &Stack) -> Self {
        let model = json!({"provider": "openai", "name": stack.model.name("router")});
        Self::new(stack, json!({"model": model, "instructions": "Bills go to Ada."})).await
    }

    /// Posts a message and waits for its decision.
    async fn post(&self, stack: &Stack, text: &str) -> Value {
        let posted = stack.post(&self.space, &self.person, text).await;
        wait_for("the decision", SOON, async || {
            let messages = stack.messages(&self.space).await;
            let decided =
                |message: &Value| message["id"] == posted["id"] && message["dispatch"].is_array();
            messages.into_iter().find(decided)
        })
        .await
    }

    /// The decision as `name:source` or `name!reason`, with the router's words.
    fn decision(&self, message: &Value) -> String {
        let entry = |(name, id): &(&str, String)| {
            let dispatch = message["dispatch"].as_array().unwrap();
            let entry = dispatch.iter().find(|entry| entry["agentId"] == id.as_str()).unwrap();
            let words = entry["reasonText"].as_str().map(|text| format!(" ({text})"));
            let words = words.unwrap_or_default();
            match entry["source"].as_str() {
                Some(source) => format!("{name}:{source}{words}"),
                None => format!("{name}!{}{words}", entry["reason"].as_str().unwrap()),
            }
        };
        self.agents.iter().map(entry).collect::<Vec<_>>().join(", ")
    }
}

fn chooses(names: &[&str], others: &[&str]) -> Answer {
    let named = |names: &[&str], words: &str| -> Vec<Value> {
        let reason = |name: &&str| format!("{name} {words}");
        names.iter().map(|name| json!({"name": name, "reason": reason(name)})).collect()
    };
    let input = json!({"agents": named(names, "fits"), "others": named(others, "does not")});
    answer([think("Hm."), call("choose", input)])
}

/// The text of the message that a router is asked about.
fn asked_about(request: &ModelRequest) -> String {
    let question = request.body["messages"][1]["content"].as_str().unwrap();
    serde_json::from_str(question.lines().last().unwrap()).unwrap()
}

const EVERYONE: &str = "Ada:broadcast, Bob:broadcast, Cleo:broadcast, Dan:broadcast, Eve!paused";

#[tokio::test]
async fn the_router_chooses_and_gives_reasons() {
    let stack = Stack::start().await;
    let office = Office::asking(&stack).await;
    stack.model.answers("router", |_| chooses(&["Ada", "Cleo"], &["Bob"]));
    for name in ["Ada", "Cleo"] {
        stack.model.plays(name, [say(&format!("{name} is on it.")).into(), stop()]);
    }
    let message = office.post(&stack, "Who pays this bill?").await;
    assert_eq!(
        office.decision(&message),
        "Ada:router (Ada fits), Bob!router (Bob does not), Cleo:router (Cleo fits), \
         Dan!router (the router chose Ada, Cleo), Eve!paused"
    );
    let router = &message["router"];
    assert_eq!(router["model"], format!("openai/{}", stack.model.name("router")));
    assert!(router["usage"]["inputTokens"].as_u64() > Some(0), "{router}");
    assert!(router["latencyMs"].is_u64() && router["error"].is_null(), "{router}");

    stack.quiet(&office.space).await;
    let mut texts = stack.texts(&office.space).await;
    texts.sort();
    assert_eq!(texts, ["Ada is on it.", "Cleo is on it.", "Who pays this bill?"]);
    let runs = stack.runs_of(&office.space).await;
    let of_person: Vec<_> =
        runs.iter().filter(|run| run["trigger"]["messageId"] == message["id"]).collect();
    assert_eq!(of_person.len(), 2);
    assert!(of_person.iter().all(|run| run["trigger"]["source"] == "router"));

    let body = &stack.model.requests("router")[0].body;
    let names = "/response_format/json_schema/schema/properties/agents/items/properties/name/enum";
    assert_eq!(body.pointer(names), Some(&json!(["Ada", "Bob", "Cleo", "Dan"])));
    let system = body["messages"][0]["content"].as_str().unwrap();
    assert!(system.contains("each other agent such a reason in the list others."), "{system}");
    assert!(system.ends_with("Choose at most 3 agents.\n\nBills go to Ada."), "{system}");
    let user: Vec<_> = body["messages"][1]["content"].as_str().unwrap().lines().collect();
    assert_eq!(
        user,
        [
            "AGENTS:",
            r#""Ada": "Ada does \"Ada\" things.""#,
            r#""Bob": "Bob does \"Bob\" things.""#,
            r#""Cleo": "Cleo does \"Cleo\" things.""#,
            r#""Dan": "Dan does \"Dan\" things.""#,
            "SPACE HISTORY:",
            r#"ACTIVE SPACE: "Office""#,
            r#"TRIGGER: message #1 from "Husam" (human), router"#,
            r#""Who pays this bill?""#,
        ]
    );
}

#[tokio::test]
async fn mentions_and_previews_ask_no_router() {
    let stack = Stack::start().await;
    let office = Office::asking(&stack).await;
    let message = office.post(&stack, "Please, @Bob").await;
    assert_eq!(
        office.decision(&message),
        "Ada!policy, Bob:mention, Cleo!policy, Dan!policy, Eve!paused"
    );
    assert!(message["router"].is_null());
    let path = format!("/v1/spaces/{}/messages/preview", office.space);
    let body = json!({"senderId": office.person, "text": "Who pays?"});
    let preview = stack.create(&path, body).await.must_be(200);
    let asks = "router (asks the router)";
    assert_eq!(
        office.decision(&preview),
        format!("Ada!{asks}, Bob!{asks}, Cleo!{asks}, Dan!{asks}, Eve!paused")
    );
    let nobody = office.post(&stack, "And you, @Eve?").await;
    assert_eq!(
        office.decision(&nobody),
        "Ada!policy, Bob!policy, Cleo!policy, Dan!policy, Eve!paused"
    );
    assert_eq!(stack.model.requests("router").len(), 0);
}

#[tokio::test]
async fn an_agent_that_the_router_was_not_asked_about_keeps_its_own_reason() {
    let stack = Stack::start().await;
    let office = Office::asking(&stack).await;
    let (_, bob) = &office.agents[1];
    let change = json!({"agent": {"budget": {"tokensPerDay": 0}}});
    stack.patch(&format!("/v1/entities/{bob}"), change).await.must_be(200);
    stack.model.plays("router", [chooses(&["Ada", "Bob"], &[])]);
    let message = office.post(&stack, "Hello").await;
    let decision = office.decision(&message);
    let (before, after) = decision.split_once("Bob!budget (the budget of this agent").unwrap();
    assert_eq!(before, "Ada:router (Ada fits), ");
    assert!(after.ends_with("Dan!router (the router chose Ada), Eve!paused"), "{decision}");
}

#[tokio::test]
async fn a_router_that_does_not_answer_wakes_everyone() {
    let stack = Stack::start().await;
    let office = Office::asking(&stack).await;
    let gate = Gate::closed();
    let held = gate.clone();
    stack.model.answers("router", move |request| match asked_about(request).as_str() {
        "down" => http(500),
        "words" => answer([think("Ada, I think.")]),
        "nonsense" => answer([raw_call("choose", "{\"agents\": [")]),
        "strangers" => chooses(&["Zoe", "Eve"], &[]),
        "slow" => answer([wait(&held), call("choose", json!({"agents": []}))]),
        "refused" => http(400),
        other => panic!("{other}"),
    });
    let table = [
        ("down", 2, "the provider or the remote agent can't be reached or is overloaded"),
        ("words", 2, "it called no tool"),
        ("nonsense", 2, "its call of choose can't be read"),
        ("strangers", 2, "it chose \"Zoe\", \"Eve\", but expected were nobody or some of \"Ada\""),
        ("slow", 2, "it did not answer within 5 s"),
        ("refused", 1, "the provider refused the request"),
    ];
    let mut asked = 0;
    for (text, times, expected) in table {
        let message = office.post(&stack, text).await;
        assert_eq!(office.decision(&message), EVERYONE, "{text}");
        let error = message["router"]["error"].as_str().unwrap();
        assert!(error.contains(expected), "{text}: {error}");
        asked += times;
        assert_eq!(stack.model.requests("router").len(), asked, "{text}");
        stack.quiet(&office.space).await;
    }
    gate.open();
}

#[tokio::test]
async fn a_router_may_choose_nobody_and_its_strangers_are_ignored() {
    let stack = Stack::start().await;
    let office = Office::asking(&stack).await;
    stack.model.plays(
        "router",
        [
            http(500),
            chooses(&[], &["Dan"]),
            chooses(&["Zoe", "@dan", "Eve", "dan"], &[]),
            chooses(&["Dan", "Cleo", "Bob", "Ada"], &[]),
        ],
    );
    let nobody = "router (the router chose nobody)";
    let expected = [
        format!("Ada!{nobody}, Bob!{nobody}, Cleo!{nobody}, Dan!router (Dan does not), Eve!paused"),
        "Ada!router (the router chose Dan), Bob!router (the router chose Dan), \
         Cleo!router (the router chose Dan), Dan:router (@dan fits), Eve!paused"
            .to_owned(),
        "Ada!router (the router chose more agents than 3 (maxAgents)), Bob:router (Bob fits), \
         Cleo:router (Cleo fits), Dan:router (Dan fits), Eve!paused"
            .to_owned(),
    ];
    for (text, expected) in ["Hello", "Hello, one", "Hello, all"].iter().zip(expected) {
        let message = office.post(&stack, text).await;
        assert_eq!(office.decision(&message), expected, "{text}");
        assert!(message["router"]["error"].is_null(), "{message}");
        stack.quiet(&office.space).await;
    }
}

#[tokio::test]
async fn a_scripted_router_needs_no_model() {
    let stack = Stack::start().await;
    let choose = |when: Value, name: &str| {
        let agents = [json!({"name": name, "reason": "by rule"})];
        json!({"choose": {"when": when, "agents": agents}})
    };
    let script = json!({"rules": [
        choose(json!({"contains": "BILL"}), "Ada"),
        choose(json!({"sender": "agent"}), "Bob"),
    ]});
    let model = json!({"provider": "scripted", "name": "demo", "script": script});
    let office = Office::new(&stack, json!({"model": model})).await;
    let message = office.post(&stack, "A bill, again").await;
    assert!(office.decision(&message).starts_with("Ada:router (by rule), Bob!router"));
    let message = office.post(&stack, "Nothing fits").await;
    assert_eq!(office.decision(&message), EVERYONE);
    assert_eq!(message["router"]["error"], "it called no tool");
}

#[tokio::test]
async fn a_message_survives_a_kill_while_its_router_thinks() {
    let Some(mut stack) = Stack::local().await else { return };
    let office = Office::asking(&stack).await;
    let gate = Gate::closed();
    let held = gate.clone();
    stack.model.answers("router", move |_| {
        let choice = json!({"agents": [{"name": "Cleo", "reason": "first"}]});
        answer([wait(&held), call("choose", choice)])
    });
    stack.model.plays("Cleo", [say("Here I am.").into(), stop()]);
    let posted = stack.post(&office.space, &office.person, "Anybody?").await;
    assert!(posted["dispatch"].is_null());
    gate.reached(1).await;
    stack.kill9();
    gate.open();
    stack.restart().await;
    wait_for("the answer", SOON, async || {
        (stack.texts(&office.space).await.len() == 2).then_some(())
    })
    .await;
    stack.quiet(&office.space).await;
    assert_eq!(stack.texts(&office.space).await, ["Anybody?", "Here I am."]);
}
