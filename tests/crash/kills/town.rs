//! The spaces of the load, their people, and two agents with scripted models that answer each
//! message.

use serde_json::{Value, json};

use crate::support::client::Client;

const SPACES: usize = 3;

/// A space with people and both agents.
#[derive(Clone)]
pub(crate) struct Space {
    pub(crate) id: String,
    /// The first one posts after each start. The others are clients of the load.
    pub(crate) people: Vec<String>,
}

/// All spaces, and the operator.
#[derive(Clone)]
pub(crate) struct Town {
    pub(crate) spaces: Vec<Space>,
    admin_key: String,
}

/// The first agent's answer to a message of a person.
pub(crate) fn answer_to(text: &str) -> String {
    format!("I heard {text}")
}

/// The second agent's remark on an answer of the first one.
pub(crate) fn remark_on(answer: &str) -> String {
    format!("So it was {answer}")
}

impl Town {
    /// Creates the spaces, their people, and two agents that are in all of them: one answers
    /// people, and the other remarks on the answers.
    pub(crate) async fn found(url: &str, admin_key: &str) -> Self {
        let client = Client::new(url.to_owned(), admin_key.to_owned());
        let sends = |text: String| {
            let call = json!({ "tool": "send_message", "input": { "text": text } });
            json!({ "calls": [call] })
        };
        let answers =
            json!({ "when": { "sender": "human" }, "steps": [sends(answer_to("{{message}}"))] });
        let reads = json!({
            "text": "Let me see.",
            "calls": [{ "tool": "read_messages", "input": { "limit": 3 } }],
        });
        let remarks = json!({
            "when": { "sender": "agent", "contains": answer_to("") },
            "steps": [reads, sends(remark_on("{{message}}"))],
        });
        let agents = [
            client.agent_with("Answerer", scripted(answers)).await,
            client.agent_with("Remarker", scripted(remarks)).await,
        ];
        let mut spaces = Vec::new();
        for name in 0..SPACES {
            let mut people = Vec::new();
            for person in ["Asker", "Writer", "Speaker"] {
                people.push(client.person(&format!("{person} {name}")).await);
            }
            let members: Vec<&String> = people.iter().chain(&agents).collect();
            spaces
                .push(Space { id: client.space(&format!("Space {name}"), &members).await, people });
        }
        Self { spaces, admin_key: admin_key.to_owned() }
    }

    /// The operator's client for this URL.
    pub(crate) fn client(&self, url: &str) -> Client {
        Client::new(url.to_owned(), self.admin_key.clone())
    }
}

/// An agent's settings with a scripted model of one rule.
fn scripted(rule: Value) -> Value {
    let script = json!({ "wordDelayMs": 4, "rules": [rule] });
    let model = json!({ "provider": "scripted", "name": "s", "script": script });
    // Each message has a run of its own.
    json!({ "model": model, "concurrency": { "mode": "parallel" } })
}
