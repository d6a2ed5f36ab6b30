//! Allowances: approvals that are remembered.

use serde_json::{Value, json};

use crate::{
    support::{
        client::{Client, Reply},
        model::{Part, answer, call, stop},
        waiting::{SOON, wait_for},
    },
    tools::forms::scene::FormScene,
};

const RULES: &str = r#"[{"tools": ["pay"], "when": "input.amount > 1"}]"#;

/// An agent whose calls of `pay` ask. The first of three people owns the space.
struct Scene {
    forms: FormScene,
}

impl Scene {
    /// The model calls `pay` with each amount, in one run each.
    async fn new(amounts: &[u32]) -> Self {
        let tool = json!({
            "name": "pay",
            "description": "Pays.",
            "inputSchema": {"type": "object"},
            "execution": {"type": "static", "output": "paid"},
        });
        let answers = amounts.iter().flat_map(|amount| [answer([pay(*amount)]), stop()]);
        let scene = Self { forms: FormScene::new(json!([tool]), answers).await };
        scene.set_rules(&serde_json::from_str(RULES).unwrap()).await;
        let FormScene { stack, space, people, .. } = &scene.forms;
        let member = format!("/v1/spaces/{space}/members/{}", people[0]);
        stack.put(&member, json!({"role": "owner"})).await.must_be(200);
        scene
    }

    async fn set_rules(&self, rules: &Value) {
        let path = format!("/v1/entities/{}", self.forms.agent);
        let patch = json!({"agent": {"approvals": rules}});
        self.forms.stack.patch(&path, patch).await.must_be(200);
    }

    fn person(&self, number: usize) -> Client {
        self.forms.stack.as_entity(&self.forms.people[number])
    }

    /// Triggers the agent and waits until its call asks. Returns the card's frame.
    async fn asked(&self) -> Value {
        let run = self.forms.trigger().await;
        let is_new = |frame: &Value| frame["name"] == "pay" && frame["runId"] == run.as_str();
        self.forms.socket.frame("tool.requested", SOON, is_new).await.body
    }

    /// Approves a call and remembers that. Returns the only allowance.
    async fn remembered(&self, person: usize, remember: Value) -> Value {
        let card = self.asked().await;
        let decision = json!({"action": "approve", "remember": remember});
        let decided = decide(&self.person(person), &card, decision).await.must_be(202);
        assert_eq!(decided["approvals"], json!({"given": 1, "needed": 1}));
        self.forms.status(card["runId"].as_str().unwrap(), "completed").await;
        let [allowance] = &self.listed(&self.forms.stack).await[..] else {
            panic!("expected one allowance")
        };
        allowance.clone()
    }

    /// The allowances of the agent that a caller sees.
    async fn listed(&self, caller: &Client) -> Vec<Value> {
        caller.all(&format!("/v1/allowances?agentId={}", self.forms.agent)).await
    }

    /// What the agent's next call with an amount would need.
    async fn preview(&self, amount: u32) -> Value {
        let FormScene { stack, agent, space, .. } = &self.forms;
        let call = json!({"tool": "pay", "input": {"amount": amount}, "spaceId": space});
        stack.create(&format!("/v1/agents/{agent}/approvals/preview"), call).await.must_be(200)
    }
}

/// A call of the tool.
fn pay(amount: u32) -> Part {
    call("pay", json!({"amount": amount}))
}

async fn decide(caller: &Client, card: &Value, decision: Value) -> Reply {
    let [run, call] = ["runId", "callId"].map(|field| card[field].as_str().unwrap());
    caller.create(&format!("/v1/runs/{run}/toolCalls/{call}/decision"), decision).await
}

#[tokio::test]
async fn an_allowance_spares_later_calls_the_question_until_it_is_deleted() {
    let scene = Scene::new(&[5, 6, 7]).await;
    let FormScene { stack, people, agent, space, .. } = &scene.forms;
    let allowance = scene.remembered(1, json!({"in": "space", "when": "input.amount < 9"})).await;
    let expected = json!({
        "id": allowance["id"], "agentId": agent, "tool": "pay", "spaceId": space,
        "when": "input.amount < 9", "createdBy": people[1], "createdByName": "Sarah",
        "createdAt": allowance["createdAt"], "expiresAt": null,
        "rule": {
            "tools": ["pay"], "action": "ask", "when": "input.amount > 1", "by": "members",
            "quorum": 1, "expiresAfter": "1 day", "onExpire": "decline",
        },
    });
    assert_eq!(allowance, expected);
    let of_space = format!("/v1/allowances?spaceId={space}");
    let only = [allowance.clone()];
    for member in [scene.person(0), scene.person(2)] {
        assert_eq!(scene.listed(&member).await, only);
        assert_eq!(member.all(&of_space).await, only);
        let both = format!("{of_space}&agentId={agent}");
        assert_eq!(member.all(&both).await, only);
    }

    let run = scene.forms.trigger().await;
    scene.forms.status(&run, "completed").await;
    assert_eq!(scene.forms.results(), ["paid"]);
    let previewed = scene.preview(6).await;
    assert_eq!((&previewed["verdict"], &previewed["rule"]), (&json!("make"), &json!(0)));
    assert_eq!(previewed["allowanceId"], allowance["id"]);
    assert_eq!(scene.preview(9).await["verdict"], "ask");

    let path = format!("/v1/allowances/{}", allowance["id"].as_str().unwrap());
    let stranger = stack.person("Eve").await;
    let stranger = stack.as_entity(&stranger);
    assert_eq!(scene.listed(&stranger).await, Vec::<Value>::new());
    stranger.get(&of_space).await.must_be(404);
    stranger.delete(&path).await.must_be(404);
    for refused in [scene.person(2), stack.as_entity(agent)] {
        refused.delete(&path).await.must_be(403);
    }
    scene.person(1).delete(&path).await.must_be(204);
    scene.person(1).delete(&path).await.must_be(404);
    assert_eq!(scene.listed(stack).await, Vec::<Value>::new());
    assert_eq!(stack.all(&of_space).await, Vec::<Value>::new());
    scene.asked().await;
}

#[tokio::test]
async fn an_allowance_ends_with_its_time_with_its_rule_and_when_the_agent_leaves() {
    let scene = Scene::new(&[5, 6]).await;
    let FormScene { stack, agent, space, .. } = &scene.forms;
    let short = scene.remembered(0, json!({"in": "space", "for": "1 second"})).await;
    assert!(short["expiresAt"].is_string(), "{short}");
    wait_for("the end of the allowance", SOON, async || {
        (scene.preview(5).await["verdict"] == "ask").then_some(())
    })
    .await;
    assert_eq!(scene.listed(stack).await, Vec::<Value>::new());
    let path = format!("/v1/allowances/{}", short["id"].as_str().unwrap());
    stack.delete(&path).await.must_be(404);

    scene.remembered(0, json!({"in": "space"})).await;
    let changed = json!([{"tools": ["pay"], "when": "input.amount > 1", "by": "owners"}]);
    scene.set_rules(&changed).await;
    assert_eq!(scene.preview(5).await["verdict"], "ask", "its rule has changed");
    scene.set_rules(&serde_json::from_str(RULES).unwrap()).await;
    assert_eq!(scene.preview(5).await["verdict"], "make", "its rule is back");

    let member = format!("/v1/spaces/{space}/members/{agent}");
    stack.delete(&member).await.must_be(204);
    stack.put(&member, json!({})).await.must_be(200);
    assert_eq!(scene.preview(5).await["verdict"], "ask", "the agent had left");
    assert_eq!(scene.listed(stack).await, Vec::<Value>::new());
}

#[tokio::test]
async fn an_approval_without_an_allowance_is_not_repeated_with_one() {
    let scene = Scene::new(&[5]).await;
    let card = scene.asked().await;
    let olga = scene.person(0);
    let always = json!({"action": "approve", "remember": {"in": "space"}});
    decide(&olga, &card, json!({"action": "approve"})).await.must_be(202);
    decide(&olga, &card, always.clone()).await.must_be(409);
    assert_eq!(scene.listed(&scene.forms.stack).await, Vec::<Value>::new());
    let scene = Scene::new(&[5]).await;
    let card = scene.asked().await;
    let olga = scene.person(0);
    for decision in [&always, &always, &json!({"action": "approve"})] {
        decide(&olga, &card, decision.clone()).await.must_be(202);
    }
    assert_eq!(scene.listed(&scene.forms.stack).await.len(), 1);
}

#[tokio::test]
async fn only_the_operator_remembers_everywhere_and_sees_that() {
    let scene = Scene::new(&[5]).await;
    let FormScene { stack, people, space, .. } = &scene.forms;
    let card = scene.asked().await;
    let everywhere = json!({"action": "approve", "remember": {"in": "everywhere"}});
    decide(&scene.person(0), &card, everywhere.clone()).await.must_be(403);
    let mut by_operator = everywhere;
    by_operator["senderId"] = json!(people[1]);
    decide(stack, &card, by_operator).await.must_be(202);
    let [allowance] = &scene.listed(stack).await[..] else { panic!("expected one allowance") };
    assert_eq!((&allowance["spaceId"], &allowance["createdBy"]), (&Value::Null, &json!(people[1])));
    assert_eq!(scene.listed(&scene.person(0)).await, Vec::<Value>::new());
    assert_eq!(stack.all(&format!("/v1/allowances?spaceId={space}")).await, Vec::<Value>::new());
    let path = format!("/v1/allowances/{}", allowance["id"].as_str().unwrap());
    scene.person(0).delete(&path).await.must_be(404);
    stack.delete(&path).await.must_be(204);
}

#[tokio::test]
async fn what_may_not_be_remembered_is_refused_and_the_call_still_waits() {
    let scene = Scene::new(&[5]).await;
    let pair = json!([{"tools": ["pay"], "quorum": 2}]);
    scene.set_rules(&pair).await;
    let card = scene.asked().await;
    let owner = scene.person(0);
    let approve = |remember: Value| json!({"action": "approve", "remember": remember});
    let problem = decide(&owner, &card, approve(json!({"in": "space"}))).await.must_be(422);
    assert_eq!(problem["errors"][0]["pointer"], "/remember", "{problem}");
    let decided = decide(&owner, &card, json!({"action": "approve"})).await.must_be(202);
    assert_eq!(decided["approvals"], json!({"given": 1, "needed": 2}));
    assert_eq!(scene.listed(&scene.forms.stack).await, Vec::<Value>::new());
}

#[tokio::test]
async fn an_agent_has_at_most_a_hundred_allowances() {
    const CALLS: usize = 20;
    let scene = Scene::new(&[]).await;
    let FormScene { stack, space, .. } = &scene.forms;
    let twenty = || answer(std::array::from_fn::<_, CALLS, _>(|_| pay(2)));
    let answers = (0..5).flat_map(|_| [twenty(), stop()]).chain([answer([pay(2)])]);
    stack.model.plays("ada", answers);
    // It fits no call, so that every call asks.
    let remember = json!({"in": "space", "when": "false"});
    let decision = json!({"action": "approve", "remember": remember});
    for round in 1..=5 {
        let run = scene.forms.trigger().await;
        let cards = wait_for("the cards of a run", SOON, async || {
            let messages = stack.messages(space).await;
            let is_card = |message: &Value| {
                message["runId"] == run.as_str() && message["parts"][0]["type"] == "tool"
            };
            let cards: Vec<_> = messages.into_iter().filter(is_card).collect();
            (cards.len() == CALLS).then_some(cards)
        })
        .await;
        for card in cards {
            let card = json!({"runId": run, "callId": card["parts"][0]["callId"]});
            decide(&scene.person(0), &card, decision.clone()).await.must_be(202);
        }
        scene.forms.status(&run, "completed").await;
        assert_eq!(scene.listed(stack).await.len(), round * CALLS);
    }
    let card = scene.asked().await;
    decide(&scene.person(0), &card, decision).await.must_be(409);
    let once = json!({"action": "approve"});
    decide(&scene.person(0), &card, once).await.must_be(202);
    assert_eq!(scene.listed(stack).await.len(), 100);
}
