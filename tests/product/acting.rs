//! An agent with tools of its own, as tests of tools begin with it.

use serde_json::{Value, json};

use super::{
    model::{Answer, Part, call, stop},
    routes::woken,
    stack::Stack,
    tool_server::ToolServer,
    waiting::SOON,
};

/// An agent with tools whose model is `ada`, and a person with it in a space. Its tools may reach the server.
pub(crate) struct Acting {
    /// The product.
    pub(crate) stack: Stack,
    /// What its tools call.
    pub(crate) server: ToolServer,
    /// Who speaks to it.
    pub(crate) person: String,
    /// The agent.
    pub(crate) agent: String,
    /// Where both are.
    pub(crate) space: String,
}

/// A tool that sends a request. `more` is added to its execution.
pub(crate) fn http_tool(name: &str, method: &str, url: &str, more: Value) -> Value {
    let mut execution = json!({"type": "http", "method": method, "url": url});
    add(&mut execution, more);
    json!({"name": name, "description": "Asks a server.", "inputSchema": {"type": "object"}, "execution": execution})
}

/// The same tool with other settings.
pub(crate) fn but(mut tool: Value, settings: Value) -> Value {
    add(&mut tool, settings);
    tool
}

fn add(object: &mut Value, more: Value) {
    for (field, value) in more.as_object().unwrap() {
        object[field] = value.clone();
    }
}

impl Acting {
    /// With these tools, which are told where the server is. None against a deployed stack.
    pub(crate) async fn with(tools: impl FnOnce(&str) -> Value) -> Option<Self> {
        let server = ToolServer::start().await;
        let stack = Stack::with_env(&[("SMARTSPACE_TOOL_HOSTS", &server.allowed())]).await?;
        Some(Self::on(stack, server, tools).await)
    }

    /// The same on a folder, so that the product can be killed and started again.
    pub(crate) async fn on_disk(tools: impl FnOnce(&str) -> Value) -> Option<Self> {
        let server = ToolServer::start().await;
        let stack = Stack::local_with_env(&[("SMARTSPACE_TOOL_HOSTS", &server.allowed())]).await?;
        Some(Self::on(stack, server, tools).await)
    }

    /// The same on this stack.
    pub(crate) async fn on(stack: Stack, server: ToolServer, tools: impl FnOnce(&str) -> Value) -> Self {
        let person = stack.person("Husam").await;
        let model = json!({"provider": "openai", "name": stack.model.name("ada")});
        let agent = stack.agent_with("Ada", json!({"model": model, "tools": tools(&server.url)})).await;
        let space = stack.space("Team", &[&person, &agent]).await;
        Self { stack, server, person, agent, space }
    }

    /// Lets the agent make these calls in one answer; the run that does it.
    pub(crate) async fn begin(&self, calls: Vec<Part>) -> String {
        self.stack.model.plays("ada", [Answer::of(calls), stop()]);
        self.wake().await
    }

    /// Says something to the agent; the run that it wakes.
    pub(crate) async fn wake(&self) -> String {
        let message = self.stack.post(&self.space, &self.person, "Go on.").await;
        woken(&message, &self.agent).expect("a run")
    }

    /// Makes these calls in one answer and waits for the end of the run, which must go well: the calls, as its steps show them.
    pub(crate) async fn calls(&self, calls: Vec<Part>) -> Vec<Value> {
        let run = self.begin(calls).await;
        let run = self.stack.ended(&run, SOON * 2).await;
        assert_eq!((&run["status"], &run["endReason"]), (&json!("completed"), &json!("done")), "{run:.3000}");
        let calls = run["steps"][0]["calls"].as_array().unwrap().clone();
        let outputs: Vec<_> = calls.iter().map(|call| call["output"].clone()).collect();
        assert_eq!(self.results(), outputs, "the model is given what the steps show");
        calls
    }

    /// Calls each of these tools once, without input, in one answer: for each its status and output.
    pub(crate) async fn outcomes(&self, tools: &[&str]) -> Vec<(String, Value)> {
        let calls = self.calls(tools.iter().map(|tool| call(tool, json!({}))).collect()).await;
        calls.into_iter().map(|call| (call["status"].as_str().unwrap().to_owned(), call["output"].clone())).collect()
    }

    /// What the model was given by its calls, when it was asked last.
    pub(crate) fn results(&self) -> Vec<Value> {
        self.stack.model.asked("ada").last().unwrap().results()
    }

    /// The parts of all cards of the space, oldest first.
    pub(crate) async fn cards(&self) -> Vec<Value> {
        let messages = self.stack.messages(&self.space).await;
        messages.into_iter().map(|message| message["parts"][0].clone()).filter(|part| part["type"] == "tool").collect()
    }
}
