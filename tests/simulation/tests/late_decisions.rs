//! Decisions that are made after their message was stored: what they count is part of the space's
//! minute, whoever else counts at the same time.

use serde_json::json;
use smartspace_domain::{
    access::Caller,
    dispatch::{Reason, Routing},
    ids::LineId,
};
use smartspace_store::{
    messages::{
        MessageRecord,
        append::{LateDispatch, Stored},
    },
    spaces::stops::{NewStop, Stopping},
};

use crate::small_space::{SmallSpace, start};

/// A person and five agents in a space with a router. The person's messages may trigger four runs
/// a minute.
struct Office(SmallSpace);

impl Office {
    async fn new() -> Self {
        let settings = json!({
            "name": "Office",
            "triggerPolicy": "router",
            "gate": {"mode": "off"},
            "router": {"model": {"provider": "openai", "name": "m"}},
            "budget": {"runsPerMinute": 6},
        });
        let model = json!({"provider": "openai", "name": "m"});
        let agent = json!({"model": model, "concurrency": {"mode": "parallel"}});
        let agents = (2..7).map(
            |number| json!({"type": "agent", "name": format!("Agent {number}"), "agent": agent}),
        );
        let members = [json!({"type": "human", "name": "Husam"})].into_iter().chain(agents);
        Self(SmallSpace::new(settings, members).await)
    }

    async fn post(&self, number: u64) -> MessageRecord {
        self.0.post(number.into()).await;
        self.0.store.messages().record(self.0.id, number).await.unwrap().unwrap()
    }

    /// Decides that everyone is triggered, because the router does not answer.
    async fn decide(&self, message: &MessageRecord) -> LateDispatch {
        let messages = self.0.store.messages();
        messages.decide_late(self.0.id, message, Routing::Failed, start()).await.unwrap()
    }

    /// The operator stops the chain of a message.
    async fn stop_chain(&self, message: &MessageRecord) {
        let what = Stopping::Chain { chain: message.chain_id(), seq: message.seq };
        let id = LineId::new(start(), 1);
        let new = NewStop { space: self.0.id, what, by: Caller::Operator, id };
        self.0.store.spaces().stop(&new, |_| Ok(()), start()).await.unwrap();
    }

    async fn store(&self, late: &LateDispatch) -> Stored {
        self.0.store.messages().store_decision(late, None, start()).await.unwrap()
    }
}

fn refused(late: &LateDispatch) -> usize {
    let dispatch = &late.decided.dispatch;
    dispatch.iter().filter(|entry| entry.reason == Some(Reason::Rate)).count()
}

#[tokio::test]
async fn a_late_decision_keeps_to_the_runs_of_the_minute() {
    let office = Office::new().await;
    let message = office.post(1).await;
    assert!(!message.is_decided());
    let late = office.decide(&message).await;
    assert_eq!((late.decided.taken.len(), refused(&late)), (4, 1));
    assert_eq!(office.store(&late).await, Stored::Now);
    assert_eq!(office.store(&late).await, Stored::Before);
    let next = office.post(2).await;
    let dispatch = next.dispatch.unwrap();
    assert!(dispatch.iter().all(|entry| entry.reason == Some(Reason::Rate)), "{dispatch:?}");
}

#[tokio::test]
async fn a_late_decision_is_made_again_if_another_message_has_used_runs() {
    let office = Office::new().await;
    let first = office.post(1).await;
    let outdated = office.decide(&first).await;
    let second = office.post(2).await;
    assert_eq!(office.store(&outdated).await, Stored::Outdated);
    let late = office.decide(&first).await;
    assert_eq!(late.decided.taken.len(), 3, "one run is counted for the second message");
    assert_eq!(office.store(&late).await, Stored::Now);
    let late = office.decide(&second).await;
    assert_eq!((late.decided.taken.len(), refused(&late)), (1, 4));
    assert_eq!(office.store(&late).await, Stored::Now);
}

#[tokio::test]
async fn a_late_decision_is_made_again_if_its_chain_was_stopped() {
    let office = Office::new().await;
    let message = office.post(1).await;
    let outdated = office.decide(&message).await;
    office.stop_chain(&message).await;
    assert_eq!(office.store(&outdated).await, Stored::Outdated);
    let late = office.decide(&message).await;
    let reasons: Vec<_> = late.decided.dispatch.iter().map(|entry| entry.reason).collect();
    assert_eq!(reasons, [Some(Reason::ChainStopped); 5]);
    assert_eq!(office.store(&late).await, Stored::Now);
    assert_ne!(office.post(2).await.chain_id(), message.chain_id());
}
