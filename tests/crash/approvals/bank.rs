//! Spaces with people and an agent whose `transfer` asks one person, or two if it is large.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};

use crate::{
    crash::approvals::ENDED_WITHIN,
    support::{
        client::{Client, Reply},
        model::{answer, call},
        process::Setup,
        stack::Stack,
        tokens::jwt_env,
        tool_server::{ReceivedRequest, ToolServer},
        waiting::patient,
    },
    tools::{
        approvals::act::{pay, transfer},
        forms::scene::form_tool,
    },
};

/// A transfer from here on needs two people.
pub(crate) const LARGE: u64 = 1_000;

/// The spaces, and the server that counts what was done.
pub(crate) struct Bank {
    pub(crate) spaces: Vec<Space>,
    /// The operator of the newest process.
    pub(crate) product: watch::Sender<Client>,
    server: ToolServer,
}

/// A space of three people and an agent.
pub(crate) struct Space {
    pub(crate) id: String,
    pub(crate) people: Vec<String>,
    pub(crate) agent: String,
}

impl Bank {
    /// Makes the spaces, in a product that can be killed. Each agent asks its people whether to pay
    /// the amount in the message, and pays, in one answer.
    pub(crate) async fn found(spaces: usize) -> (Self, Stack) {
        let server = ToolServer::start().await;
        let mut env = jwt_env();
        env.push(("SMARTSPACE_TOOL_HOSTS".into(), server.allowed()));
        let why = "it needs a process of its own";
        let setup = Setup { on_disk: true, env, alone: why, ..Setup::default() };
        let stack = Stack::of(setup).await.expect("a product of its own");
        stack.model.replies("ada", |request| {
            let amount = request.trigger_text().parse().expect("a message with an amount");
            let question = json!({"message": "Shall I pay?", "options": ["Approve", "Reject"]});
            answer([call("getApproval", question), pay(amount)])
        });
        let form = form_tool("getApproval", json!({"ui": "buttons", "expiresAfter": "10 minutes"}));
        let large = format!("double(input.amount) >= {LARGE}.0");
        let config = json!({
            "model": {"provider": "openai", "name": stack.model.name("ada")},
            "tools": [form, transfer(&server.url)],
            // Each message has a run of its own.
            "concurrency": {"mode": "parallel"},
            "approvals": [
                {"tools": ["transfer"], "when": large, "quorum": 2},
                {"tools": ["transfer"]},
            ],
        });
        let mut made = Vec::new();
        for number in 0..spaces {
            let mut people = Vec::new();
            for name in ["Olga", "Max", "Sarah"] {
                people.push(stack.person(&format!("{name} {number}")).await);
            }
            let agent = stack.agent_with(&format!("Ada {number}"), config.clone()).await;
            let members: Vec<&String> = people.iter().chain([&agent]).collect();
            let id = stack.space(&format!("Bank {number}"), &members).await;
            made.push(Space { id, people, agent });
        }
        let product = watch::Sender::new((*stack).clone());
        (Self { spaces: made, product, server }, stack)
    }

    /// The operator of the newest process.
    pub(crate) fn operator(&self) -> Client {
        self.product.borrow().clone()
    }

    /// The requests that a call has made.
    pub(crate) fn requests_of(&self, card: &Value) -> Vec<ReceivedRequest> {
        self.server.of_call(card)
    }

    /// Sends a person's request, again and again until it is answered.
    pub(crate) async fn post_as(&self, person: &str, path: &str, body: &Value) -> Reply {
        let answered = async {
            loop {
                let caller = self.operator().as_entity(person);
                let request = caller.request(Method::POST, path).bearer_auth(&caller.key);
                match caller.try_send(request.json(body)).await {
                    Ok(reply) if ![429, 503].contains(&reply.status) => return reply,
                    _ => sleep(Duration::from_millis(5)).await,
                }
            }
        };
        timeout(patient(ENDED_WITHIN), answered).await.expect("an answer in time")
    }
}
