//! The entities, spaces and runs that the requests of the access tables are about.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    support::{
        client::Client,
        files::PIXEL,
        routes::{id, triggered_run},
        stack::Stack,
        waiting::{SOON, wait_for},
    },
    tools::forms::scene::form_tool,
};

/// The tools that ask people, the owner, and anyone.
const FORMS: [&str; 3] = ["form", "owners", "anyones"];

/// The tools whose calls the members approve, and those whose calls the owners approve.
const GUARDED: [&str; 2] = ["approval", "ownersApproval"];

/// A space with an owner, a member, a guest, an agent, an active run, a canceled one and those
/// that wait for forms and for approval, and entities outside of the space.
pub(crate) struct Scene {
    names: Vec<(&'static str, String)>,
    guest: String,
}

impl Scene {
    pub(crate) async fn new(stack: &Stack) -> Self {
        let [stranger, member, owner, newcomer] =
            ["Eve", "Sara", "Husam", "Noor"].map(|name| stack.person(name));
        let (stranger, member, owner, newcomer) = tokio::join!(stranger, member, owner, newcomer);
        let [ada, open, closed] = [("Ada", false), ("Open", true), ("Closed", false)]
            .map(|(name, open)| stack.agent_with(name, slow_agent(open)));
        let (ada, open, closed) = tokio::join!(ada, open, closed);
        let space = stack.as_entity(&owner).space("Team", &[&member]).await;
        stack.put(&format!("/v1/spaces/{space}/members/{ada}"), json!({})).await.must_be(200);
        let run =
            triggered_run(&stack.post(&space, &member, "Count, please.").await, &ada).unwrap();
        let canceled =
            triggered_run(&stack.post(&space, &member, "Count again.").await, &ada).unwrap();
        stack.cancel(&canceled).await.must_be(202);
        let waiting = waiting_calls(stack, [&owner, &member, &ada]).await;
        let monthly = json!({ "name": "Report", "instruction": "Write it.", "cron": "0 9 1 * *" });
        let plan =
            id(&stack.create(&format!("/v1/agents/{ada}/plans"), monthly).await.must_be(201));
        let sent = json!({ "service": "ci", "payload": {} });
        let received = stack.create(&format!("/v1/agents/{ada}/trigger"), sent).await.must_be(202);
        let delivery = received["deliveryId"].as_str().unwrap().to_owned();
        let (invite, guest, token) = guest_of(stack, &space).await;
        let file = stack.as_entity(&member).upload(&space, "a.png", "image/png", PIXEL).await;
        let owners = stack.as_entity(&owner).upload(&space, "b.png", "image/png", PIXEL).await;
        let guests = stack.with(&token).upload(&space, "c.png", "image/png", PIXEL).await;
        let elsewhere = stack.space("Elsewhere", &[&newcomer]).await;
        let names = [
            ("guest", guest),
            ("invite", invite),
            ("file", file),
            ("ownersFile", owners),
            ("guestsFile", guests),
            ("elsewhere", elsewhere),
            ("stranger", stranger),
            ("member", member),
            ("owner", owner),
            ("agent", ada),
            ("newcomer", newcomer),
            ("open", open),
            ("closed", closed),
            ("space", space),
            ("run", run),
            ("canceled", canceled),
            ("plan", plan),
            ("delivery", delivery),
        ];
        Self { names: names.into_iter().chain(waiting).collect(), guest: token }
    }

    /// The id that a name stands for.
    pub(crate) fn id(&self, name: &str) -> &str {
        &self.names.iter().find(|(known, _)| *known == name).unwrap().1
    }

    /// The entity that a caller acts on: itself, or the member if the caller is the admin.
    fn me(&self, caller: &str) -> &str {
        self.id(if caller == "admin" { "member" } else { caller })
    }

    /// Replaces the names in a text by ids.
    pub(crate) fn fill(&self, text: &str, caller: &str) -> String {
        let me = self.me(caller);
        let for_admin = |field: &str| {
            if caller == "admin" { format!(r#","{field}":"{me}""#) } else { String::new() }
        };
        let mut text = text.replace("{me}", me);
        for field in ["senderId", "entityId"] {
            text = text.replace(&format!("{{,{field}}}"), &for_admin(field));
        }
        self.names.iter().fold(text, |text, (name, id)| text.replace(&format!("{{{name}}}"), id))
    }

    /// A client with the credential of a caller.
    pub(crate) fn client(&self, stack: &Stack, caller: &str) -> Client {
        match caller {
            "admin" => Client::clone(stack),
            "guest" => stack.with(&self.guest),
            entity => stack.as_entity(self.id(entity)),
        }
    }
}

/// Invites a guest to a space. Returns the invite, the guest and its token.
async fn guest_of(stack: &Stack, space: &str) -> (String, String, String) {
    let path = format!("/v1/spaces/{space}/invites");
    let invite = stack.create(&path, json!({})).await.must_be(201);
    let body = json!({"token": invite["token"], "name": "Guest"});
    let request = stack.request(Method::POST, "/v1/invites/accept").json(&body);
    let accepted = stack.send(request).await.must_be(200);
    let token = accepted["token"].as_str().unwrap().to_owned();
    (id(&invite), id(&accepted["entity"]), token)
}

/// An agent that counts slowly.
fn slow_agent(open: bool) -> Value {
    let text = "one two three four five six seven eight nine ten eleven twelve";
    let count = json!({ "tool": "send_message", "input": { "text": text } });
    let script = json!({ "wordDelayMs": 1_000, "rules": [{ "steps": [{ "calls": [count] }] }] });
    let webhooks = json!({ "github": { "scheme": "github", "secrets": ["HOOK"] } });
    json!({
        "model": { "provider": "scripted", "name": "demo", "script": script },
        "open": open,
        "webhooks": webhooks,
        "concurrency": { "mode": "parallel" },
    })
}

/// An agent that shows the forms of [`FORMS`].
fn clerk(owner: &str) -> Value {
    let calls = FORMS.map(|tool| json!({ "tool": tool, "input": {} }));
    let rule = json!({ "steps": [{ "calls": calls }], "when": { "contains": "forms" } });
    let tools: Vec<_> = FORMS
        .into_iter()
        .zip([json!("humans"), json!([owner]), json!("anyone")])
        .map(|(name, answer_by)| form_tool(name, json!({ "answerBy": answer_by })))
        .collect();
    let script = json!({ "rules": [rule] });
    json!({
        "model": { "provider": "scripted", "name": "demo", "script": script },
        "tools": tools,
    })
}

/// An agent whose calls of [`GUARDED`] wait for approval.
fn guarded() -> Value {
    let calls = GUARDED.map(|tool| json!({ "tool": tool, "input": {} }));
    let rule = json!({ "steps": [{ "calls": calls }], "when": { "contains": "approvals" } });
    let execution = json!({ "type": "compute", "expression": "1" });
    let tools = GUARDED.map(|name| {
        let schema = json!({ "type": "object" });
        let mut tool = json!({ "name": name, "description": "Counts.", "inputSchema": schema });
        tool["execution"] = execution.clone();
        tool
    });
    let script = json!({ "rules": [rule] });
    let approvals: Vec<_> = GUARDED
        .into_iter()
        .zip(["members", "owners"])
        .map(|(tool, by)| json!({ "tools": [tool], "by": by }))
        .collect();
    json!({
        "model": { "provider": "scripted", "name": "demo", "script": script },
        "tools": tools,
        "approvals": approvals,
    })
}

/// Makes a run that waits for the forms of [`FORMS`], and one that waits for approval of the calls
/// of [`GUARDED`], in a space of an owner, a member and an agent. Returns the runs as `asking` and
/// `approving`, and each call by its tool.
async fn waiting_calls(stack: &Stack, team: [&String; 3]) -> Vec<(&'static str, String)> {
    let [owner, member, agent] = team;
    let clerk = stack.agent_with("Clerk", clerk(owner)).await;
    let guard = stack.agent_with("Guard", guarded()).await;
    let members = [member, agent, &clerk, &guard];
    let mention = json!({ "triggerPolicy": "mention" });
    let desk = stack.as_entity(owner).space_with("Desk", &[], mention).await;
    for added in members {
        stack.put(&format!("/v1/spaces/{desk}/members/{added}"), json!({})).await.must_be(200);
    }
    let forms = waiting_run(stack, &desk, member, "@Clerk the forms, please.", &FORMS).await;
    let text = "@Guard the approvals, please.";
    let approvals = waiting_run(stack, &desk, member, text, &GUARDED).await;
    let (asking, approving) = (forms.0, approvals.0);
    let runs = [("asking", asking), ("approving", approving)];
    forms.1.into_iter().chain(approvals.1).chain(runs).collect()
}

/// Triggers a run whose calls of `tools` wait. Returns the run, and each call by its tool.
async fn waiting_run(
    stack: &Stack,
    space: &str,
    sender: &str,
    text: &str,
    tools: &[&'static str],
) -> (String, Vec<(&'static str, String)>) {
    let question = stack.post(space, sender, text).await;
    let run = question["dispatch"]
        .as_array()
        .unwrap()
        .iter()
        .find_map(|dispatch| dispatch["runId"].as_str())
        .unwrap()
        .to_owned();
    let cards = wait_for("the cards", SOON, async || {
        let mut cards = stack.messages(space).await;
        cards.retain(|message| message["runId"] == run.as_str());
        (cards.len() == tools.len()).then_some(cards)
    })
    .await;
    let call = |card: Value| card["parts"][0]["callId"].as_str().unwrap().to_owned();
    (run, tools.iter().copied().zip(cards.into_iter().map(call)).collect())
}
