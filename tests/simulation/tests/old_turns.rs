//! Turns after a rollback: a version without turns has ended and started runs, and has changed
//! neither the slots nor the lanes.

use std::{future::ready, sync::Arc};

use aws_sdk_dynamodb::{Client, types::AttributeValue};
use serde_json::json;
use smartspace::embedded_table::{EmbeddedTable, NAME};
use smartspace_domain::{
    Time,
    dispatch::Dispatch,
    ids::{EntityId, LeaseId, MessageId, RunId, SpaceId},
    jobs::{RunJob, RunRef},
    spaces::Role,
};
use smartspace_store::{
    Store,
    messages::append::{Appended, Content, MessageSource, NewMessage},
    runs::claims::Claim,
    table::schema,
};

fn start() -> Time {
    Time::from_millis(1_771_427_220_000)
}

/// A person and an agent in a space.
struct Pair {
    client: Client,
    store: Store,
    space: SpaceId,
    person: EntityId,
    agent: EntityId,
}

impl Pair {
    async fn new(mode: &str, max_runs: u32) -> Self {
        let client = EmbeddedTable::in_memory().unwrap().client();
        schema::create_table(&client, NAME).await.unwrap();
        let store = Store::new(client.clone(), NAME, None, Arc::new(|| 4)).with_append_limit(None);
        let space = SpaceId::new(start(), 3);
        let budget = json!({"runsPerMinute": 1_000});
        let settings = serde_json::from_value(json!({"name": "Team", "budget": budget})).unwrap();
        store.spaces().create(space, settings, None, start()).await.unwrap();
        let (person, agent) = (EntityId::new(start(), 1), EntityId::new(start(), 2));
        let config = json!({
            "model": {"provider": "openai", "name": "m"},
            "concurrency": {"mode": mode, "maxRuns": max_runs},
            "budget": budget,
        });
        for (id, settings) in [
            (person, json!({"type": "human", "name": "Husam"})),
            (agent, json!({"type": "agent", "name": "Ada", "agent": config})),
        ] {
            let settings = serde_json::from_value(settings).unwrap();
            let entity = store.entities().create(id, settings, None, start()).await.unwrap();
            store.members().join(space, &entity, Role::Member, start()).await.unwrap();
        }
        Self { client, store, space, person, agent }
    }

    /// Posts the message with this number, and returns what follows and the run that it names.
    async fn post(&self, number: u128) -> (Appended, Dispatch) {
        let message = NewMessage {
            id: MessageId::new(start(), number),
            space: self.space,
            sender: self.person,
            content: Content::Text(format!("message {number}").parse().unwrap()),
            by: MessageSource::External { key: None, depth: 0 },
        };
        let appended = Box::pin(self.store.messages().append(&message, start())).await.unwrap();
        let dispatch = appended.message.dispatch.as_ref().unwrap()[0].clone();
        (appended, dispatch)
    }

    /// Posts a message and returns the run that it names.
    async fn run(&self, number: u128) -> RunId {
        self.post(number).await.1.run_id.unwrap()
    }

    async fn claim(&self, run: RunId) -> Claim {
        let run = self.store.runs().record(run).await.unwrap();
        let run_ref: RunRef = run.to_ref();
        let lease = LeaseId(format!("worker of {}", run.id));
        self.store.runs().claim(&run_ref, &lease, start(), ready(None)).await.unwrap()
    }

    /// Changes the status of a run, and nothing else.
    async fn by_old_version(&self, run: RunId, status: &str) {
        self.client
            .update_item()
            .table_name(NAME)
            .key("PK", AttributeValue::S(format!("RUN#{run}")))
            .key("SK", AttributeValue::S("META".into()))
            .update_expression("SET #status = :status")
            .expression_attribute_names("#status", "status")
            .expression_attribute_values(":status", AttributeValue::S(status.into()))
            .send()
            .await
            .unwrap();
    }
}

fn is_ours(claim: &Claim) -> bool {
    matches!(claim, Claim::Ours { .. })
}

#[tokio::test]
async fn ended_runs_do_not_block_their_lane() {
    let pair = Pair::new("queue", 5).await;
    let runs = [pair.run(1).await, pair.run(2).await, pair.run(3).await, pair.run(4).await];
    assert!(is_ours(&pair.claim(runs[0]).await));
    assert!(matches!(pair.claim(runs[2]).await, Claim::NotYet { position: 2, .. }));
    pair.by_old_version(runs[0], "completed").await;
    pair.by_old_version(runs[1], "canceled").await;
    assert!(matches!(pair.claim(runs[3]).await, Claim::NotYet { position: 1, .. }));
    assert!(is_ours(&pair.claim(runs[2]).await));
}

#[tokio::test]
async fn ended_runs_keep_no_slots_and_no_place_in_the_line() {
    let pair = Pair::new("parallel", 1).await;
    let runs = [pair.run(1).await, pair.run(2).await, pair.run(3).await];
    assert!(is_ours(&pair.claim(runs[0]).await));
    for run in &runs[1..] {
        assert!(matches!(pair.claim(*run).await, Claim::NotYet { .. }));
    }
    pair.by_old_version(runs[1], "canceled").await;
    pair.by_old_version(runs[0], "completed").await;
    assert!(is_ours(&pair.claim(runs[2]).await));
}

#[tokio::test]
async fn messages_join_only_runs_that_are_queued() {
    for status in ["canceled", "running"] {
        let pair = Pair::new("coalesce", 5).await;
        let first = pair.run(1).await;
        assert!(is_ours(&pair.claim(first).await));
        let second = pair.run(2).await;
        pair.by_old_version(second, status).await;
        let (appended, dispatch) = pair.post(3).await;
        assert!(appended.stillborn.is_empty(), "{status}");
        assert_eq!(appended.queued[0].1, if status == "running" { 2 } else { 1 });
        let third = dispatch.run_id.unwrap();
        pair.by_old_version(first, "completed").await;
        pair.by_old_version(second, "completed").await;
        assert!(is_ours(&pair.claim(third).await), "{status}");
    }
}

#[tokio::test]
async fn ended_runs_do_not_make_an_agent_busy() {
    let pair = Pair::new("parallel", 60).await;
    let mut runs = Vec::new();
    for number in 0..50 {
        runs.push(pair.run(number).await);
        assert!(is_ours(&pair.claim(runs[number as usize]).await));
    }
    assert_eq!(pair.post(50).await.1.run_id, None, "the agent is busy");
    for run in &runs {
        pair.by_old_version(*run, "completed").await;
    }
    let (appended, dispatch) = pair.post(51).await;
    let run = dispatch.run_id.unwrap();
    assert!(matches!(appended.triggered[..], [RunJob::Run(job)] if job.run_id == run));
    assert!(is_ours(&pair.claim(run).await));
    assert_eq!(pair.agent, dispatch.agent_id);
}

#[tokio::test]
async fn the_end_of_a_run_starts_none_that_has_ended() {
    let pair = Pair::new("queue", 5).await;
    let runs = [pair.run(1).await, pair.run(2).await, pair.run(3).await];
    assert!(is_ours(&pair.claim(runs[0]).await));
    pair.by_old_version(runs[1], "canceled").await;
    let first = pair.store.runs().record(runs[0]).await.unwrap();
    let token = LeaseId("by the operator".into());
    let reason = smartspace_domain::runs::EndReason::Cancel;
    let ended = pair.store.runs().cancel(&first, reason, &token, start()).await.unwrap();
    assert!(matches!(ended.next[..], [RunJob::Run(next)] if next.run_id == runs[2]));
}
