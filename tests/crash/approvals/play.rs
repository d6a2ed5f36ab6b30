//! One play: an act that waits, people who decide it, and what must hold in the end.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
    time::Duration,
};

use futures::future::join_all;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    crash::{
        approvals::{
            Counts, ENDED_WITHIN,
            bank::{Bank, LARGE, Space},
        },
        kills::chance::Chance,
    },
    support::{
        routes::triggered_run,
        waiting::{SOON, wait_for},
    },
};

/// A decision that a person makes, perhaps in vain.
#[derive(Clone, Debug)]
struct Intent {
    person: usize,
    after: Duration,
    action: &'static str,
    /// The new amount of an edit.
    amount: u64,
}

pub(crate) struct Play<'a> {
    bank: &'a Bank,
    space: &'a Space,
    amount: u64,
    run: String,
    /// The cards of the question and of the act.
    form: Value,
    card: Value,
    intents: Vec<Intent>,
    answers_after: Duration,
    /// The people that have sent an approval.
    sent: RefCell<BTreeSet<usize>>,
    accepted: RefCell<Vec<Intent>>,
    refused: Cell<usize>,
}

impl<'a> Play<'a> {
    /// Lets the agent ask and act. Returns when both cards wait.
    pub(crate) async fn begin(
        bank: &'a Bank,
        space: &'a Space,
        number: u64,
        mut chance: Chance,
    ) -> Self {
        let amount = number + 1 + chance.below(2) * LARGE;
        let client = bank.operator();
        let question = client.post(&space.id, &space.people[0], &amount.to_string()).await;
        let run = triggered_run(&question, &space.agent).unwrap();
        wait_for("the act waits", SOON, async || {
            (client.run(&run).await["status"] == "waiting_tool").then_some(())
        })
        .await;
        let [form, card] = cards(bank, space, &run).await;
        assert_eq!(
            (&form["ui"], &card["ui"], &card["input"]["amount"]),
            (&json!("buttons"), &json!("approval"), &json!(amount)),
        );
        assert_eq!(bank.requests_of(&card).len(), 0, "the act did not wait");
        Self {
            intents: intents(amount, &mut chance),
            answers_after: chance.millis(0..150),
            bank,
            space,
            amount,
            run,
            form,
            card,
            sent: RefCell::default(),
            accepted: RefCell::default(),
            refused: Cell::default(),
        }
    }

    fn needed(&self) -> usize {
        if self.amount >= LARGE { 2 } else { 1 }
    }

    /// People decide the act and answer the question, while the process may be killed.
    pub(crate) async fn decide(&self) {
        let answer = async {
            sleep(self.answers_after).await;
            let path = format!("/v1/runs/{}/toolCalls/{}/result", self.run, call_of(&self.form));
            let body = json!({"output": {"choice": "Approve"}});
            self.bank.post_as(&self.space.people[0], &path, &body).await.must_be(202);
        };
        tokio::join!(answer, join_all(self.intents.iter().map(|intent| self.carry_out(intent))));
    }

    async fn carry_out(&self, intent: &Intent) {
        sleep(intent.after).await;
        if self.sent.borrow().len() < self.needed() {
            let requests = self.bank.requests_of(&self.card).len();
            assert_eq!(requests, 0, "the act was done before enough people approved it");
        }
        let Intent { person, action, amount, .. } = intent;
        let body = match *action {
            "edit" => json!({"action": action, "input": {"amount": amount}}),
            "decline" => json!({"action": action, "text": "too much"}),
            _ => json!({"action": action}),
        };
        if *action != "decline" {
            self.sent.borrow_mut().insert(*person);
        }
        let path = format!("/v1/runs/{}/toolCalls/{}/decision", self.run, call_of(&self.card));
        let reply = self.bank.post_as(&self.space.people[*person], &path, &body).await;
        if reply.status == 409 {
            self.refused.set(self.refused.get() + 1);
        } else {
            let count = reply.must_be(202);
            assert_eq!(count["approvals"]["needed"], self.needed(), "{count}");
            self.accepted.borrow_mut().push(intent.clone());
        }
    }

    /// Lets people approve what is still open, waits for the end, and checks what must hold.
    pub(crate) async fn judge(&self, was_killed: bool) -> Counts {
        let [_, card] = cards(self.bank, self.space, &self.run).await;
        if card["approval"]["state"] == "open" {
            for person in 0..self.space.people.len() {
                let after = Duration::ZERO;
                let action = "approve";
                self.carry_out(&Intent { person, after, action, amount: 0 }).await;
            }
        }
        let ended = self.bank.operator().ended(&self.run, ENDED_WITHIN).await;
        let [form, card] = cards(self.bank, self.space, &self.run).await;
        let shown = format!("{:?} made {card:#}", self.accepted.borrow());
        assert_eq!(form["output"], json!({"choice": "Approve"}), "{form:#}");
        self.check_decisions(&card, &shown);
        let call = &ended["steps"][0]["calls"][1];
        let requests = self.bank.requests_of(&self.card);
        let state = card["approval"]["state"].as_str().unwrap();
        assert!(requests.len() <= 1, "the act was done {} times: {shown}", requests.len());
        if let [request] = &requests[..] {
            assert_eq!(state, "approved", "the act was done without its approvals: {shown}");
            assert_eq!(request.json()["amount"], card["input"]["amount"], "{shown}");
        }
        if state == "approved" {
            assert!(approvers(&card).len() >= self.needed(), "{shown}");
            // The kill may come between the request and its result. Then nobody knows the outcome.
            let is_known = call["status"] == "completed";
            assert!(is_known || was_killed, "{call:#}");
            assert!(requests.len() == 1 || !is_known, "{call:#}");
        } else {
            assert_eq!(
                (state, &call["output"]),
                ("declined", &json!({"declined": true, "reason": "too much"})),
                "{shown}"
            );
        }
        Counts {
            done: requests.len(),
            unsent: usize::from(state == "approved" && requests.is_empty()),
            declined: usize::from(state == "declined"),
            edited: usize::from(edits(&card).next().is_some()),
            accepted: self.accepted.borrow().len(),
            refused: self.refused.get(),
        }
    }

    /// Checks that every decision that was answered with 202 is on the card, or that a later edit
    /// has made it void.
    fn check_decisions(&self, card: &Value, shown: &str) {
        let state = &card["approval"]["state"];
        for Intent { person, action, .. } in &*self.accepted.borrow() {
            let person = self.space.people[*person].as_str();
            if *action == "decline" {
                let last = card["approval"]["decisions"].as_array().unwrap().last().unwrap();
                assert_eq!(
                    (state, &last["by"], &last["action"]),
                    (&json!("declined"), &json!(person), &json!("decline")),
                    "a declined call was approved: {shown}"
                );
                continue;
            }
            let counts = approvers(card).contains(person);
            let is_void = edits(card).any(|by| by != person);
            assert!(counts || is_void, "the decision of {person} is lost: {shown}");
            assert!(*action != "edit" || edits(card).next().is_some(), "an edit is lost: {shown}");
        }
        let amount = &card["input"]["amount"];
        let writer = edits(card).next().map(str::to_owned);
        let written = writer.map(|writer| {
            let its = |intent: &&Intent| {
                intent.action == "edit" && self.space.people[intent.person] == writer
            };
            self.intents.iter().filter(its).map(|intent| json!(intent.amount)).collect::<Vec<_>>()
        });
        let written = written.unwrap_or_else(|| vec![json!(self.amount)]);
        assert!(written.contains(amount), "nobody wrote this input: {shown}");
    }
}

/// What the people of a play do, often at the same moment.
fn intents(amount: u64, chance: &mut Chance) -> Vec<Intent> {
    let are_together = chance.below(2) == 0;
    let together = chance.millis(0..100);
    let count = 1 + chance.below(3);
    let mut intents = Vec::new();
    for number in 0..count {
        let action = match chance.below(10) {
            0..6 => "approve",
            6..8 => "edit",
            _ => "decline",
        };
        intents.push(Intent {
            person: chance.below(3) as usize,
            after: if are_together { together } else { chance.millis(0..150) },
            action,
            amount: amount * 10 + number,
        });
    }
    intents
}

/// The cards of a run: the question and the act.
async fn cards(bank: &Bank, space: &Space, run: &str) -> [Value; 2] {
    let messages = bank.operator().messages(&space.id).await;
    let its = messages.iter().filter(|message| message["runId"] == run);
    let parts: Vec<_> = its.map(|message| message["parts"][0].clone()).collect();
    <[Value; 2]>::try_from(parts).unwrap_or_else(|parts| panic!("expected two cards: {parts:#?}"))
}

fn call_of(card: &Value) -> &str {
    card["callId"].as_str().unwrap()
}

/// The people whose approval counts.
fn approvers(card: &Value) -> BTreeSet<&str> {
    made(card, &["approve", "edit"]).collect()
}

/// The people of the edits that the card names. There is at most one, since an edit ends the
/// decisions before it.
fn edits(card: &Value) -> impl Iterator<Item = &str> {
    made(card, &["edit"])
}

fn made<'a>(card: &'a Value, actions: &'static [&'static str]) -> impl Iterator<Item = &'a str> {
    let decisions = card["approval"]["decisions"].as_array().unwrap().iter();
    let wanted = move |made: &&Value| actions.iter().any(|action| made["action"] == *action);
    decisions.filter(wanted).map(|made| made["by"].as_str().unwrap())
}
