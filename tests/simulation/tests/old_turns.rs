//! Turns after a rollback: a version without turns has ended and started runs, and has changed
//! neither the slots nor the lanes.

use std::future::ready;

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;
use smartspace::embedded_table::NAME;
use smartspace_domain::{
    dispatch::Dispatch,
    ids::{EntityId, LeaseId, RunId},
    jobs::{RunJob, RunRef},
};
use smartspace_store::{messages::append::Appended, runs::claims::Claim};

use crate::small_space::{SmallSpace, start};

/// A person and an agent in a space.
struct Pair(SmallSpace);

impl Pair {
    async fn new(mode: &str, max_runs: u32) -> Self {
        let budget = json!({"runsPerMinute": 1_000});
        let config = json!({
            "model": {"provider": "openai", "name": "m"},
            "concurrency": {"mode": mode, "maxRuns": max_runs},
            "budget": budget,
        });
        let members = [
            json!({"type": "human", "name": "Husam"}),
            json!({"type": "agent", "name": "Ada", "agent": config}),
        ];
        Self(SmallSpace::new(json!({"name": "Team", "budget": budget}), members).await)
    }

    /// Posts the message with this number, and returns what follows and the run that it names.
    async fn post(&self, number: u128) -> (Appended, Dispatch) {
        let appended = self.0.post(number).await;
        let dispatch = appended.message.dispatch.as_ref().unwrap()[0].clone();
        (appended, dispatch)
    }

    /// Posts a message and returns the run that it names.
    async fn run(&self, number: u128) -> RunId {
        self.post(number).await.1.run_id.unwrap()
    }

    async fn claim(&self, run: RunId) -> Claim {
        let run = self.0.store.runs().record(run).await.unwrap();
        let run_ref: RunRef = run.to_ref();
        let lease = LeaseId(format!("worker of {}", run.id));
        self.0.store.runs().claim(&run_ref, &lease, start(), ready(None)).await.unwrap()
    }

    /// Changes the status of a run, and nothing else.
    async fn by_old_version(&self, run: RunId, status: &str) {
        self.0
            .client
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
    assert!(matches!(appended.triggered[..], [RunJob::Run { run: job, .. }] if job.run_id == run));
    assert!(is_ours(&pair.claim(run).await));
    assert_eq!(dispatch.agent_id, EntityId::new(start(), 2));
}

#[tokio::test]
async fn the_end_of_a_run_starts_none_that_has_ended() {
    let pair = Pair::new("queue", 5).await;
    let runs = [pair.run(1).await, pair.run(2).await, pair.run(3).await];
    assert!(is_ours(&pair.claim(runs[0]).await));
    pair.by_old_version(runs[1], "canceled").await;
    let first = pair.0.store.runs().record(runs[0]).await.unwrap();
    let token = LeaseId("by the operator".into());
    let reason = smartspace_domain::runs::EndReason::Cancel;
    let ended = pair.0.store.runs().cancel(&first, reason, &token, start()).await.unwrap();
    assert!(matches!(ended.next[..], [RunJob::Run { run: next, .. }] if next.run_id == runs[2]));
}
