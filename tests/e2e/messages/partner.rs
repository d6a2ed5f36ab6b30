//! The policy `partner`: a person's message triggers the agent with which the person talked last.

use serde_json::{Value, json};

use crate::support::{model::say, routes::seq, stack::Stack};

/// A space with the policy `partner`, two people and two agents.
struct Talk {
    people: [String; 2],
    agents: [(&'static str, String); 2],
    space: String,
}

impl Talk {
    async fn new(stack: &Stack) -> Self {
        let people = [stack.person("Ana").await, stack.person("Omar").await];
        let mut made = Vec::new();
        for name in ["Bob", "Eve"] {
            stack.model.replies(name, |_| say("I see."));
            let agent = json!({
                "model": {"provider": "openai", "name": stack.model.name(name)},
                "concurrency": {"mode": "coalesce"},
                "loop": {"endAfterSend": true},
            });
            made.push(stack.agent_with(name, agent).await);
        }
        let agents = [("Bob", made.remove(0)), ("Eve", made.remove(0))];
        let members = [&people[0], &people[1], &agents[0].1, &agents[1].1];
        let space = stack.space_with("Talk", &members, json!({"triggerPolicy": "partner"})).await;
        Self { people, agents, space }
    }

    /// Posts a message and waits until the talk is quiet. Returns the message and its decision, as
    /// `name:source` or `name!reason`.
    async fn post(&self, stack: &Stack, sender: &str, text: &str) -> (Value, String) {
        let message = stack.post(&self.space, sender, text).await;
        stack.quiet(&self.space).await;
        let decision = self.decision(&message);
        (message, decision)
    }

    fn decision(&self, message: &Value) -> String {
        let entries = message["dispatch"].as_array().unwrap();
        let words = self.agents.iter().filter_map(|(name, id)| {
            let entry = entries.iter().find(|entry| entry["agentId"] == id.as_str())?;
            Some(match entry["source"].as_str() {
                Some(source) => format!("{name}:{source}"),
                None => format!("{name}!{}", entry["reason"].as_str().unwrap()),
            })
        });
        words.collect::<Vec<_>>().join(" ")
    }
}

#[tokio::test]
async fn a_message_triggers_the_agent_with_which_its_sender_talked_last() {
    let stack = Stack::start().await;
    let talk = Talk::new(&stack).await;
    let [ana, omar] = &talk.people;
    let [(_, bob), (_, eve)] = &talk.agents;
    let post = async |sender: &str, text: &str| talk.post(&stack, sender, text).await.1;
    assert_eq!(post(ana, "Hello.").await, "Bob!policy Eve!policy", "she talked with nobody");
    assert_eq!(post(ana, "@Eve, hello.").await, "Bob!policy Eve:mention");
    assert_eq!(post(omar, "@Bob, hello.").await, "Bob:mention Eve!policy");
    assert_eq!(post(ana, "And then?").await, "Bob!policy Eve:partner");
    assert_eq!(post(omar, "And then?").await, "Bob:partner Eve!policy");
    assert_eq!(post(ana, "@Bob, and you?").await, "Bob:mention Eve!policy");
    assert_eq!(post(ana, "Thanks.").await, "Bob:partner Eve!policy");
    // An agent that names her comes between.
    assert_eq!(post(eve, "Ana, one more thing.").await, "Bob!policy");
    assert_eq!(post(ana, "Yes?").await, "Bob!policy Eve:partner");
    assert_eq!(post(bob, "I agree, @Eve.").await, "Eve:mention");
    let prompts = stack.model.requests("Eve");
    let trigger = prompts.iter().map(|request| request.user().block("TRIGGER")[0].clone());
    let partner: Vec<_> = trigger.filter(|line| line.ends_with("talked with Ana last")).collect();
    assert_eq!(partner.len(), 2, "{partner:?}");
}

#[tokio::test]
async fn a_preview_shows_the_partner_and_a_paused_or_distant_one_is_not_replaced() {
    let stack = Stack::start().await;
    let talk = Talk::new(&stack).await;
    let [ana, omar] = &talk.people;
    let [_, (_, eve)] = &talk.agents;
    talk.post(&stack, ana, "@Eve, hello.").await;
    let preview = async || {
        let body = json!({"senderId": ana, "text": "Well."});
        let path = format!("/v1/spaces/{}/messages/preview", talk.space);
        talk.decision(&stack.create(&path, body).await.must_be(200))
    };
    assert_eq!(preview().await, "Bob!policy Eve:partner");
    let pause = async |paused: bool| {
        let patch = json!({"agent": {"paused": paused}});
        stack.patch(&format!("/v1/entities/{eve}"), patch).await.must_be(200);
    };
    pause(true).await;
    assert_eq!(preview().await, "Bob!policy Eve!paused");
    pause(false).await;
    // Her talk with Eve is message 1 and 2: the last of the 50 is message 2 until 52 is stored.
    let mut last = 2;
    while last < 51 {
        last = seq(&stack.post(&talk.space, omar, "Hm.").await);
    }
    assert_eq!(preview().await, "Bob!policy Eve:partner");
    stack.post(&talk.space, omar, "Hm.").await;
    assert_eq!(preview().await, "Bob!policy Eve!policy");
    let path = format!("/v1/spaces/{}", talk.space);
    stack.patch(&path, json!({"triggerPolicy": "all"})).await.must_be(200);
    assert_eq!(preview().await, "Bob:broadcast Eve:broadcast");
}

#[tokio::test]
async fn in_a_space_of_two_the_other_one_comes_first() {
    let stack = Stack::start().await;
    let person = stack.person("Ana").await;
    let agent = stack.agent("Bob", &stack.model.name("silent")).await;
    let settings = json!({"triggerPolicy": "partner"});
    let space = stack.space_with("Talk", &[&person, &agent], settings).await;
    let message = stack.post(&space, &person, "Hello.").await;
    assert_eq!(message["dispatch"][0]["source"], "auto");
    stack.quiet(&space).await;
}
