//! An agent with form tools, three people, and the answers that they give.

mod tools;

use serde_json::{Value, json};

pub(crate) use self::tools::{amount, amount_schema, approval, approval_call, form_tool};
use crate::support::{
    client::{Client, Reply},
    model::Answer,
    routes::triggered_run,
    socket::Socket,
    stack::Stack,
    waiting::{SOON, wait_for},
};

/// An agent with form tools that asks the model `ada`, and three people in the same space.
pub(crate) struct FormScene {
    pub(crate) stack: Stack,
    pub(crate) people: Vec<String>,
    pub(crate) agent: String,
    pub(crate) space: String,
    /// The first person's socket, subscribed to the space.
    pub(crate) socket: Socket,
}

impl FormScene {
    pub(crate) async fn on(
        stack: Stack,
        tools: Value,
        answers: impl IntoIterator<Item = Answer>,
    ) -> Self {
        stack.model.plays("ada", answers);
        let mut people = Vec::new();
        for name in ["Husam", "Sarah", "Ahmad"] {
            people.push(stack.person(name).await);
        }
        let model = json!({"provider": "openai", "name": stack.model.name("ada")});
        let agent = stack.agent_with("Ada", json!({"model": model, "tools": tools})).await;
        let members: Vec<&String> = people.iter().chain([&agent]).collect();
        let space = stack.space("Deployments", &members).await;
        let socket = stack.socket_of(&people[0]).await;
        socket.subscribe(&space, None).await;
        Self { stack, people, agent, space, socket }
    }

    pub(crate) async fn new(tools: Value, answers: impl IntoIterator<Item = Answer>) -> Self {
        let stack = Stack::with_secret(&[]).await.expect("a product that accepts tokens");
        Self::on(stack, tools, answers).await
    }

    /// Posts a message to the agent. Returns the run that it triggers.
    pub(crate) async fn trigger(&self) -> String {
        let question = self.stack.post(&self.space, &self.people[0], "Deploy v2.1").await;
        triggered_run(&question, &self.agent).unwrap()
    }

    /// Waits for the `tool.requested` frame of a form.
    pub(crate) async fn requested(&self, name: &str) -> Value {
        self.socket.frame("tool.requested", SOON, |frame| frame["name"] == name).await.body
    }

    /// Waits until a run has this status.
    pub(crate) async fn status(&self, run: &str, status: &str) {
        wait_for(&format!("{run} is {status}"), SOON, async || {
            (self.stack.run(run).await["status"] == status).then_some(())
        })
        .await;
    }

    /// Answers a form as one of the people.
    pub(crate) async fn answers(&self, person: usize, form: &Value, body: Value) -> Reply {
        answer_form(&self.stack.as_entity(&self.people[person]), form, body).await
    }

    /// The current message of a form.
    pub(crate) async fn card(&self, form: &Value) -> Value {
        let messages = self.stack.messages(&self.space).await;
        let is_card = |message: &Value| message["id"] == form["messageId"];
        messages.into_iter().find(is_card).expect("the space has a card for the form")
    }

    /// The tool results in the last request to the model.
    pub(crate) fn results(&self) -> Vec<Value> {
        self.stack.model.requests("ada").last().unwrap().results()
    }
}

/// Answers a form with the API.
pub(crate) async fn answer_form(caller: &Client, form: &Value, body: Value) -> Reply {
    let run = form["runId"].as_str().unwrap();
    let call = form["callId"].as_str().unwrap();
    caller.create(&format!("/v1/runs/{run}/toolCalls/{call}/result"), body).await
}

pub(crate) fn part(message: &Value) -> &Value {
    &message["parts"][0]
}
