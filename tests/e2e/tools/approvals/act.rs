//! An agent whose `transfer` is a request to a test server, and people who decide it.

use serde_json::{Value, json};

use crate::support::{
    client::{Client, Reply},
    model::{Answer, Part, call},
    process::Setup,
    routes::triggered_run,
    socket::Socket,
    stack::Stack,
    tokens::jwt_env,
    tool_scene::{but, http_tool},
    tool_server::{ReceivedRequest, ToolServer},
    waiting::{SOON, wait_for},
};

/// An agent that asks the model `ada`, and three people in the same space. The first one owns it.
pub(crate) struct ActScene {
    pub(crate) stack: Stack,
    pub(crate) server: ToolServer,
    pub(crate) people: Vec<String>,
    pub(crate) agent: String,
    pub(crate) space: String,
    /// The first person's socket, subscribed to the space.
    pub(crate) socket: Socket,
}

/// The tool of which each request counts.
pub(crate) fn transfer(url: &str) -> Value {
    let schema = json!({
        "type": "object",
        "properties": {"amount": {"type": "number"}, "to": {"type": "string"}},
        "required": ["amount"],
        "additionalProperties": false,
    });
    let body = json!({"body": {"amount": "{{input.amount}}"}});
    but(
        http_tool("transfer", "POST", &format!("{url}/echo/transfer"), body),
        json!({
            "inputSchema": schema,
        }),
    )
}

/// A call that transfers this much.
pub(crate) fn pay(amount: u32) -> Part {
    call("transfer", json!({"amount": amount}))
}

/// A rule that asks one member about `tools`.
pub(crate) fn asks(tools: &[&str]) -> Value {
    json!({"tools": tools, "by": "members"})
}

impl ActScene {
    /// The agent has the tool `transfer` and these rules. The fields of `more` are added to its
    /// configuration.
    pub(crate) async fn with(
        rules: Value,
        more: Value,
        answers: impl IntoIterator<Item = Answer>,
    ) -> Self {
        Self::set_up(Setup::default(), rules, more, answers).await
    }

    /// The same on a product that can be killed and restarted.
    pub(crate) async fn on_disk(rules: Value, answers: impl IntoIterator<Item = Answer>) -> Self {
        let setup = Setup { on_disk: true, ..Setup::default() };
        Self::set_up(setup, rules, json!({}), answers).await
    }

    async fn set_up(
        setup: Setup,
        rules: Value,
        more: Value,
        answers: impl IntoIterator<Item = Answer>,
    ) -> Self {
        let server = ToolServer::start().await;
        let mut env = jwt_env();
        env.push(("SMARTSPACE_TOOL_HOSTS".into(), server.allowed()));
        let flags = ["--invites", "guests"].map(str::to_owned).to_vec();
        let setup = Setup { env, flags, alone: "it calls a server of the test", ..setup };
        let stack = Stack::of(setup).await.expect("a product of its own");
        stack.model.plays("ada", answers);
        let mut people = Vec::new();
        for name in ["Olga", "Max", "Sarah"] {
            people.push(stack.person(name).await);
        }
        let model = json!({"provider": "openai", "name": stack.model.name("ada")});
        let mut config =
            json!({"model": model, "tools": [transfer(&server.url)], "approvals": rules});
        config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let agent = stack.agent_with("Ada", config).await;
        let members: Vec<&String> = people.iter().chain([&agent]).collect();
        let space = stack.space("Bank", &members).await;
        let olga = format!("/v1/spaces/{space}/members/{}", people[0]);
        assert!(stack.put(&olga, json!({"role": "owner"})).await.status < 300);
        let socket = stack.socket_of(&people[0]).await;
        socket.subscribe(&space, None).await;
        Self { stack, server, people, agent, space, socket }
    }

    /// Posts a message to the agent. Returns the run that it triggers.
    pub(crate) async fn trigger(&self) -> String {
        let question = self.stack.post(&self.space, &self.people[0], "Pay Ben.").await;
        triggered_run(&question, &self.agent).unwrap()
    }

    /// Triggers a run and waits until it waits for people.
    pub(crate) async fn waits(&self) -> String {
        let run = self.trigger().await;
        self.status(&run, "waiting_tool").await;
        run
    }

    /// Waits until a run has this status.
    pub(crate) async fn status(&self, run: &str, status: &str) {
        wait_for(&format!("{run} is {status}"), SOON, async || {
            (self.stack.run(run).await["status"] == status).then_some(())
        })
        .await;
    }

    /// Waits for the end of a run. Returns the calls of a step.
    pub(crate) async fn ended(&self, run: &str, step: usize) -> Vec<Value> {
        let run = self.stack.ended(run, SOON * 2).await;
        run["steps"][step]["calls"].as_array().unwrap_or_else(|| panic!("{run:.3000}")).clone()
    }

    /// The tool parts of the cards in the space, oldest first.
    pub(crate) async fn cards(&self) -> Vec<Value> {
        let messages = self.stack.messages(&self.space).await;
        let parts = messages.into_iter().map(|message| message["parts"][0].clone());
        parts.filter(|part| part["type"] == "tool").collect()
    }

    /// The texts of the space, oldest first.
    pub(crate) async fn texts(&self) -> Vec<String> {
        let messages = self.stack.messages(&self.space).await;
        let texts = messages.iter().filter_map(|message| message["parts"][0]["text"].as_str());
        texts.map(str::to_owned).collect()
    }

    /// Decides the call of a card as one of the people.
    pub(crate) async fn decides(
        &self,
        person: usize,
        run: &str,
        card: &Value,
        body: Value,
    ) -> Reply {
        let caller = self.stack.as_entity(&self.people[person]);
        decide(&caller, run, card, body).await
    }

    /// Approves the call of a card.
    pub(crate) async fn approves(&self, person: usize, run: &str, card: &Value) {
        self.decides(person, run, card, json!({"action": "approve"})).await.must_be(202);
    }

    /// The requests that `transfer` has made.
    pub(crate) fn transfers(&self) -> Vec<ReceivedRequest> {
        let all = self.server.requests().into_iter();
        all.filter(|request| request.target.starts_with("/echo/transfer")).collect()
    }

    /// The amounts of these requests.
    pub(crate) fn paid(&self) -> Vec<Value> {
        self.transfers().iter().map(|request| request.json()["amount"].clone()).collect()
    }

    /// The tool results in the last request to the model.
    pub(crate) fn results(&self) -> Vec<Value> {
        self.stack.model.requests("ada").last().unwrap().results()
    }
}

/// Decides the call of a card with the API.
pub(crate) async fn decide(caller: &Client, run: &str, card: &Value, body: Value) -> Reply {
    let call = card["callId"].as_str().unwrap_or_else(|| panic!("not a card: {card}"));
    caller.create(&format!("/v1/runs/{run}/toolCalls/{call}/decision"), body).await
}

/// The status and output of a call, as a step or a card shows it.
pub(crate) fn outcome(call: &Value) -> (&str, &Value) {
    (call["status"].as_str().unwrap(), &call["output"])
}

/// A call of `transfer` with this input.
pub(crate) fn pay_what(input: Value) -> Part {
    call("transfer", input)
}
