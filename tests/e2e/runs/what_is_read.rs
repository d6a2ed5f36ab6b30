//! What a run reads: the marks of its messages, whom its own message wakes, and the history that
//! tools return.

mod chains;
mod positions;
mod silence;

use serde_json::{Value, json};

use crate::support::{
    model::{Gate, Line, ModelRequest, Prompt, answer, call, say, stop, wait},
    stack::Stack,
};

/// A space of Husam and Ada, whose first run is held at the gate. Ada works in this mode.
struct Held {
    stack: Stack,
    gate: Gate,
    person: String,
    space: String,
}

impl Held {
    /// Posts "one", which holds the agent. Its run then hears the news, and says "First.".
    async fn new(mode: &str) -> Self {
        Self::with(json!({"concurrency": {"mode": mode}})).await
    }

    /// An agent with these settings.
    async fn with(mut settings: Value) -> Self {
        let stack = Stack::start().await;
        let gate = Gate::closed();
        let held = gate.clone();
        stack.model.answers("ada", move |request| {
            match (request.trigger_text().as_str(), request.step()) {
                ("one", 0) => answer([wait(&held), call("get_memories", json!({}))]),
                ("one", 1) => say("First.").into(),
                ("one", _) => stop(),
                (_, 0) => call("read_messages", json!({})).into(),
                _ => stop(),
            }
        });
        let person = stack.person("Husam").await;
        settings["model"] = json!({"provider": "openai", "name": stack.model.name("ada")});
        let agent = stack.agent_with("Ada", settings).await;
        let space = stack.space("Team", &[&person, &agent]).await;
        stack.post(&space, &person, "one").await;
        gate.reached(1).await;
        Self { stack, gate, person, space }
    }

    /// Posts the other messages, lets the run go on, and returns the last request of the next one.
    async fn then(self, texts: &[&str]) -> ModelRequest {
        let Self { stack, gate, person, space } = self;
        for text in texts {
            stack.post(&space, &person, text).await;
        }
        gate.open();
        stack.quiet(&space).await;
        stack.model.requests("ada").pop().unwrap()
    }
}

fn short(lines: &[Line]) -> Vec<String> {
    lines.iter().map(Line::short).collect()
}

#[tokio::test]
async fn a_run_that_waited_reads_its_trigger_as_new_and_unanswered() {
    let request = Held::new("queue").await.then(&["two"]).await;
    let prompt = request.user();
    let lines = prompt.timeline();
    assert_eq!(short(&lines), ["SEEN Husam: one", "NEW Husam: two ← TRIGGER", "SEEN You: First."]);
    let expected = "TRIGGER: message #2 from Husam (human), to you alone, not answered yet";
    assert_eq!(prompt.block("TRIGGER")[0], expected);
    assert!(!prompt.names().contains(&"ACTIVE RUNS"), "the other run has ended");
    let read = Prompt::of_result(&request.results()[0]);
    assert_eq!(read.timeline(), lines, "a tool writes the same lines");
}

#[tokio::test]
async fn a_run_that_waited_reads_its_trigger_as_new_in_a_conversation_in_roles() {
    let roles = json!({"concurrency": {"mode": "queue"}, "context": {"history": "roles"}});
    let request = Held::with(roles).await.then(&["two"]).await;
    let said = Value::from(request.messages()).to_string();
    assert!(said.contains("[NEW] #2 ") && !said.contains("[NEW] #1 "), "{said}");
    assert!(said.contains(", to you alone, not answered yet"), "{said}");
}

#[tokio::test]
async fn a_run_reads_all_messages_that_joined_it_as_new() {
    let request = Held::new("coalesce").await.then(&["two", "three"]).await;
    let prompt = request.user();
    let lines = prompt.timeline();
    assert_eq!(
        short(&lines),
        ["SEEN Husam: one", "NEW Husam: two", "NEW Husam: three ← TRIGGER", "SEEN You: First.",]
    );
    let trigger = prompt.block("TRIGGER");
    assert!(trigger[0].ends_with(", to you alone, not answered yet"), "{trigger:?}");
    assert_eq!(trigger.last().unwrap(), "Answer these messages, too: #2");
    assert_eq!(Prompt::of_result(&request.results()[0]).timeline(), lines);
}

#[tokio::test]
async fn a_run_beside_another_one_reads_that_it_deals_with_its_own_trigger() {
    let Held { stack, gate, person, space } = Held::new("parallel").await;
    stack.post(&space, &person, "two").await;
    let request = stack.model.nth_request("ada", 2).await;
    gate.open();
    stack.quiet(&space).await;
    let runs = request.user().block("ACTIVE RUNS").to_vec();
    assert_eq!(
        runs[1],
        "Other runs of yours deal with other messages; you deal with TRIGGER. \
         stop_run or absorb_run ends one."
    );
    assert!(runs[2].ends_with(" (running) — Husam in \"Team\": \"one\""), "{runs:?}");
}

/// The lines of the first and the last message of a history, and their number.
fn extent(result: &Value) -> (String, String, usize) {
    let lines = Prompt::of_result(result).timeline();
    (lines[0].short(), lines.last().unwrap().short(), lines.len())
}

#[tokio::test]
async fn enter_space_shows_twenty_messages_none_or_all_of_them_without_ids() {
    let stack = Stack::start().await;
    let (person, agent, team) = stack.pair().await;
    let log = stack.space_with("Log", &[&person, &agent], json!({"paused": true})).await;
    for number in 1..=25 {
        stack.post(&log, &person, &format!("entry {number}")).await;
    }
    let enter = |more: Value| {
        let mut input = json!({"spaceId": "Log"});
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call("enter_space", input)
    };
    let all = [enter(json!({})), enter(json!({"limit": 0})), enter(json!({"limit": 200}))];
    let too_many = enter(json!({"limit": 201}));
    stack.model.plays("ada", [answer(all), too_many.into(), stop()]);
    stack.post(&team, &person, "Look at the log.").await;
    stack.quiet(&team).await;
    let results = stack.model.requests("ada").pop().unwrap().results();
    let last = "NEW Husam: entry 25".to_owned();
    assert_eq!(extent(&results[0]), ("NEW Husam: entry 6".into(), last.clone(), 20));
    let counted = Prompt::of_result(&results[1]);
    assert_eq!(
        counted.block("SPACE HISTORY")[1],
        "… 25 earlier messages, 25 of them [NEW]; read_messages({\"before\":26}) shows them"
    );
    assert!(counted.timeline().is_empty());
    assert_eq!(extent(&results[2]), ("NEW Husam: entry 1".into(), last, 25));
    for result in &results[..3] {
        let text = result.as_str().unwrap();
        let ids: Vec<_> = text.match_indices("_01").collect();
        assert_eq!(ids.len(), 1, "only the id of the space: {text}");
    }
    assert!(results[3]["error"].as_str().unwrap().contains("200"), "{}", results[3]);
}

#[tokio::test]
async fn an_admin_agent_reads_which_agents_a_message_names() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let mut agents = Vec::new();
    for name in ["Desk", "Quotes", "Stock"] {
        agents.push(stack.agent(name, &stack.model.name(name)).await);
    }
    let settings = json!({"triggerPolicy": "admin", "adminAgentId": agents[0]});
    let members = [&person, &agents[0], &agents[1], &agents[2]];
    let space = stack.space_with("Sales", &members, settings).await;
    for (text, expected) in [
        ("How much is it?", &[][..]),
        ("@quotes how much is it?", &["Quotes was named."]),
        ("@Stock @Quotes how much is it?", &["Quotes and Stock were named."]),
        ("@Desk how much is it?", &[]),
    ] {
        stack.post(&space, &person, text).await;
        stack.quiet(&space).await;
        let request = stack.model.requests("Desk").pop().unwrap();
        assert_eq!(request.user().block("TRIGGER")[2..], *expected, "{text}");
    }
}
