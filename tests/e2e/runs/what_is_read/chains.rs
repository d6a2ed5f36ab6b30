//! The end of a chain: the sentence that the agent's message wakes nobody.

use serde_json::{Value, json};

use crate::support::{
    model::{Prompt, answer, call, say, stop},
    stack::Stack,
};

const ENDS: &str = "This chain ends with your message: it wakes nobody.";
const WAKES: &str = "Your message wakes the other agents here; write @Name to ask one of them.";

/// Ada and other agents with these chain limits of their own, in a space with Husam.
struct Chain {
    stack: Stack,
    person: String,
    others: Vec<String>,
    space: String,
    /// A space of Husam and Ada alone.
    team: String,
}

impl Chain {
    async fn new(limits: &[u32], settings: Value) -> Self {
        let stack = Stack::start().await;
        let (person, ada, team) = stack.pair().await;
        let model = json!({"provider": "openai", "name": stack.model.name("quiet")});
        let mut others = Vec::new();
        for (limit, name) in limits.iter().zip(["Bob", "Eve"]) {
            let agent = json!({"model": model, "maxChainDepth": limit});
            others.push(stack.agent_with(name, agent).await);
        }
        let members: Vec<&String> = [&person, &ada].into_iter().chain(&others).collect();
        let space = stack.space_with("Ops", &members, settings).await;
        Self { stack, person, others, space, team }
    }

    /// Whether Ada reads that a chain ends with her message. The prompt and the result of the
    /// message must agree.
    async fn ends(&self) -> bool {
        self.stack.model.plays("ada", [say("All is well.").into(), stop()]);
        self.stack.post(&self.space, &self.person, "@Ada how is it?").await;
        self.stack.quiet(&self.space).await;
        let request = self.stack.model.requests("ada").pop().unwrap();
        let prompt = request.user();
        let ends = prompt.block("TRIGGER").last().unwrap() == ENDS;
        let wakes = prompt.block("ACTIVE SPACE").last().unwrap() == WAKES;
        assert_ne!(ends, wakes, "{prompt:?}");
        let result = request.results().pop().unwrap();
        assert_eq!(result["why"] == "chain_depth", ends, "{result}, {prompt:?}");
        ends
    }
}

#[tokio::test]
async fn a_chain_ends_at_the_limit_of_the_space() {
    let chain = Chain::new(&[5], json!({"maxChainDepth": 1})).await;
    assert!(chain.ends().await);
    let settings = json!({"maxChainDepth": 2});
    let path = format!("/v1/spaces/{}", chain.space);
    chain.stack.patch(&path, settings).await.must_be(200);
    assert!(!chain.ends().await);
}

#[tokio::test]
async fn a_chain_ends_at_the_highest_limit_of_the_other_agents() {
    let chain = Chain::new(&[1, 1], json!({})).await;
    assert!(chain.ends().await, "nobody accepts the depth 1");
    let bob = format!("/v1/entities/{}", chain.others[0]);
    let limit = json!({"agent": {"maxChainDepth": 2}});
    chain.stack.patch(&bob, limit).await.must_be(200);
    assert!(!chain.ends().await, "Bob does now");
    chain.stack.patch(&bob, json!({"agent": {"maxChainDepth": 1}})).await.must_be(200);
    assert!(chain.ends().await, "and no longer");
}

#[tokio::test]
async fn a_chain_that_ends_in_an_entered_space_is_announced_there() {
    for (limits, settings, ends) in [
        (&[1][..], json!({}), true),
        (&[5], json!({"maxChainDepth": 1}), true),
        (&[1, 5], json!({}), false),
    ] {
        let Chain { stack, person, team, .. } = Chain::new(limits, settings).await;
        let enter = call("enter_space", json!({"spaceId": "Ops"}));
        stack.model.plays("ada", [answer([enter, say("All is well.")]), stop()]);
        stack.post(&team, &person, "Tell them.").await;
        stack.quiet(&team).await;
        let results = stack.model.requests("ada").pop().unwrap().results();
        let entered = Prompt::of_result(&results[0]);
        let expected = if ends { ENDS } else { WAKES };
        assert_eq!(entered.block("ACTIVE SPACE")[1], expected, "{limits:?}");
        assert_eq!(results[1]["why"] == "chain_depth", ends, "{}", results[1]);
    }
}
