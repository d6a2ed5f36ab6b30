//! The scene that most tests of tools start with: an agent whose tools call a test server.

use serde_json::{Value, json};

use crate::support::{
    model::{Answer, Part, call, stop},
    routes::triggered_run,
    stack::Stack,
    tool_server::ToolServer,
    waiting::SOON,
};

/// An agent with tools and the model `ada`, and a person in the same space. The tools may call
/// `server`.
pub(crate) struct ToolScene {
    pub(crate) stack: Stack,
    pub(crate) server: ToolServer,
    pub(crate) person: String,
    pub(crate) agent: String,
    pub(crate) space: String,
}

/// A tool that sends an HTTP request. The fields of `more` are added to its `execution`.
pub(crate) fn http_tool(name: &str, method: &str, url: &str, more: Value) -> Value {
    let mut execution = json!({"type": "http", "method": method, "url": url});
    add(&mut execution, more);
    json!({
        "name": name,
        "description": "Asks a server.",
        "inputSchema": {"type": "object"},
        "execution": execution,
    })
}

/// `tool` with some fields replaced.
pub(crate) fn but(mut tool: Value, settings: Value) -> Value {
    add(&mut tool, settings);
    tool
}

/// The `tool` part of a card that asks no person.
pub(crate) fn card_part(
    call_id: &Value,
    name: &str,
    input: &Value,
    output: &Value,
    status: &str,
) -> Value {
    json!({
        "type": "tool",
        "callId": call_id,
        "name": name,
        "title": null,
        "input": input,
        "output": output,
        "status": status,
        "ui": null,
        "resultSchema": null,
        "answerBy": null,
        "resolvedBy": null,
        "expiresAt": null,
    })
}

fn add(object: &mut Value, more: Value) {
    for (field, value) in more.as_object().unwrap() {
        object[field] = value.clone();
    }
}

impl ToolScene {
    /// Starts a product that stores nothing on disk. `tools` gets the URL of the server. Returns
    /// `None` if
    /// the test is skipped.
    pub(crate) async fn with(tools: impl FnOnce(&str) -> Value) -> Option<Self> {
        let server = ToolServer::start().await;
        let stack = Stack::with_env(&[("SMARTSPACE_TOOL_HOSTS", &server.allowed())]).await?;
        Some(Self::on(stack, server, tools).await)
    }

    /// Like [`Self::with`], but on a folder, so that the product can be killed and restarted.
    pub(crate) async fn on_disk(tools: impl FnOnce(&str) -> Value) -> Option<Self> {
        let server = ToolServer::start().await;
        let stack = Stack::local_with_env(&[("SMARTSPACE_TOOL_HOSTS", &server.allowed())]).await?;
        Some(Self::on(stack, server, tools).await)
    }

    /// Like [`Self::with`], on a product that runs already.
    pub(crate) async fn on(
        stack: Stack,
        server: ToolServer,
        tools: impl FnOnce(&str) -> Value,
    ) -> Self {
        let person = stack.person("Husam").await;
        let model = json!({"provider": "openai", "name": stack.model.name("ada")});
        let agent =
            stack.agent_with("Ada", json!({"model": model, "tools": tools(&server.url)})).await;
        let space = stack.space("Team", &[&person, &agent]).await;
        Self { stack, server, person, agent, space }
    }

    /// Lets the agent make these calls in one answer. Returns the run.
    pub(crate) async fn begin(&self, calls: Vec<Part>) -> String {
        self.stack.model.plays("ada", [Answer::of(calls), stop()]);
        self.trigger().await
    }

    /// Posts a message to the agent. Returns the run that it triggers.
    pub(crate) async fn trigger(&self) -> String {
        let message = self.stack.post(&self.space, &self.person, "Go on.").await;
        triggered_run(&message, &self.agent).expect("the message triggers a run")
    }

    /// Lets the agent make these calls in one answer and waits until the run completes. Returns the
    /// calls as the run's first step shows them.
    pub(crate) async fn calls(&self, calls: Vec<Part>) -> Vec<Value> {
        let run = self.begin(calls).await;
        let run = self.stack.ended(&run, SOON * 2).await;
        assert_eq!(
            (&run["status"], &run["endReason"]),
            (&json!("completed"), &json!("done")),
            "{run:.3000}"
        );
        let calls = run["steps"][0]["calls"].as_array().unwrap().clone();
        let outputs: Vec<_> = calls.iter().map(|call| call["output"].clone()).collect();
        assert_eq!(self.results(), outputs, "the model gets the outputs that the step shows");
        calls
    }

    /// Calls each of these tools once, with an empty input, in one answer. Returns the status and
    /// output of each.
    pub(crate) async fn outcomes(&self, tools: &[&str]) -> Vec<(String, Value)> {
        let calls = self.calls(tools.iter().map(|tool| call(tool, json!({}))).collect()).await;
        calls
            .into_iter()
            .map(|call| (call["status"].as_str().unwrap().to_owned(), call["output"].clone()))
            .collect()
    }

    /// The tool results in the last request to the model.
    pub(crate) fn results(&self) -> Vec<Value> {
        self.stack.model.requests("ada").last().unwrap().results()
    }

    /// The `tool` parts of all cards in the space, oldest first.
    pub(crate) async fn cards(&self) -> Vec<Value> {
        let messages = self.stack.messages(&self.space).await;
        messages
            .into_iter()
            .map(|message| message["parts"][0].clone())
            .filter(|part| part["type"] == "tool")
            .collect()
    }
}
