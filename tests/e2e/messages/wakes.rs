//! An agent reads whom its message wakes, and why it wakes nobody.

use serde_json::{Value, json};

use crate::support::{
    model::{Answer, Prompt, call, say, stop},
    stack::Stack,
};

/// The results of the messages that Ada posts to a space with these settings, in which are Husam,
/// Fixer and Comms.
async fn results(stack: &Stack, settings: Value, texts: &[&str]) -> Vec<Value> {
    let (person, ada, team) = stack.pair().await;
    let mut members = vec![person.clone(), ada];
    for name in ["Fixer", "Comms"] {
        let agent = json!({
            "description": format!("{name} does things."),
            "model": {"provider": "openai", "name": stack.model.name(name)},
        });
        members.push(stack.agent_with(name, agent).await);
    }
    let ops = stack.space_with("Ops", &members.iter().collect::<Vec<_>>(), settings).await;
    let enter = call("enter_space", json!({"spaceId": "Ops", "limit": 0}));
    let calls: Vec<_> = [enter].into_iter().chain(texts.iter().map(|text| say(text))).collect();
    stack.model.plays("ada", [Answer::of(calls), stop()]);
    stack.post(&team, &person, "Tell them.").await;
    stack.quiet(&team).await;
    stack.quiet(&ops).await;
    stack.model.requests("ada")[1].results()
}

fn wakes(result: &Value) -> (&Value, &Value) {
    (&result["wakes"], &result["why"])
}

#[tokio::test]
async fn a_message_that_names_nobody_wakes_nobody_in_a_space_that_needs_names() {
    let stack = Stack::start().await;
    let settings = json!({"triggerPolicy": "mention"});
    let results = results(&stack, settings, &["Hello.", "@Fixer, please check."]).await;
    let entered = Prompt::of_result(&results[0]);
    let [members, sentence] = entered.block("ACTIVE SPACE") else { panic!("{entered:?}") };
    for member in ["Husam (human)", "You", "Fixer (agent: \"Fixer does things.\")"] {
        assert!(members.contains(member), "{members}");
    }
    assert_eq!(sentence, "Your message wakes an agent only if you write @Name or reply to it.");
    assert_eq!(wakes(&results[1]), (&json!([]), &json!("policy")));
    assert_eq!(wakes(&results[2]), (&json!(["Fixer"]), &Value::Null));
}

#[tokio::test]
async fn a_message_at_the_end_of_a_chain_says_so() {
    let stack = Stack::start().await;
    let settings = json!({"maxChainDepth": 1});
    let results = results(&stack, settings, &["@Fixer, please check."]).await;
    assert_eq!(wakes(&results[1]), (&json!([]), &json!("chain_depth")));
}

#[tokio::test]
async fn a_router_decides_later() {
    let stack = Stack::start().await;
    let model = json!({"provider": "openai", "name": stack.model.name("router")});
    let router = json!({"model": model, "instructions": "Nobody is needed."});
    let gate = json!({"mode": "off"});
    let settings = json!({"triggerPolicy": "router", "router": router, "gate": gate});
    let results = results(&stack, settings, &["Hello.", "@Comms, hello."]).await;
    let sentence = &Prompt::of_result(&results[0]).block("ACTIVE SPACE")[1].clone();
    assert_eq!(sentence, "A router chooses whom your message wakes; @Name wakes that agent.");
    assert_eq!(wakes(&results[1]), (&json!("not decided yet"), &Value::Null));
    assert_eq!(wakes(&results[2]), (&json!(["Comms"]), &Value::Null));
}
