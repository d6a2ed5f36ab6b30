//! Runs in the lane of an agent with all defaults, whose claims and ends read nothing first: what a
//! message at the same moment does.

use std::future::ready;

use serde_json::json;
use smartspace_domain::{
    ids::{LeaseId, RunId},
    runs::{EndReason, RunStatus, UsageByModel},
};
use smartspace_store::runs::{RunRecord, claims::Claim, endings::Ending};

use crate::small_space::{SmallSpace, start};

/// A person and an agent, and the messages that the person posts.
struct Team(SmallSpace);

impl Team {
    async fn new() -> Self {
        let config = json!({"model": {"provider": "openai", "name": "m"}});
        let members = [
            json!({"type": "human", "name": "Husam"}),
            json!({"type": "agent", "name": "Ada", "agent": config}),
        ];
        Self(SmallSpace::new(json!({"name": "Team"}), members).await)
    }

    /// Posts a message. Returns its run, and how many runs may start now.
    async fn post(&self, number: u128) -> (RunRecord, usize) {
        let appended = self.0.post(number).await;
        let run = appended.message.dispatch.unwrap()[0].run_id.unwrap();
        (self.record(run).await, appended.triggered.len())
    }

    async fn record(&self, run: RunId) -> RunRecord {
        self.0.store.runs().record(run).await.unwrap()
    }

    /// Claims a run, as a worker does that read `seen`.
    async fn claim(&self, run: &RunRecord, seen: &RunRecord, lease: u128) -> Claim {
        let runs = self.0.store.runs();
        let read = ready(Some(seen.clone()));
        runs.claim(&run.to_ref(), &LeaseId::new(lease), start(), read).await.unwrap()
    }

    /// Ends a claimed run. Returns how many runs may start then.
    async fn finish(&self, run: &RunRecord) -> usize {
        let lease = run.lease.clone().unwrap();
        let ending = Ending {
            reason: Some(EndReason::Done),
            ..Ending::new(RunStatus::Completed, UsageByModel::default())
        };
        self.0.store.runs().finish(run, &lease, &ending, start()).await.unwrap().next.len()
    }
}

fn ours(claim: Claim) -> RunRecord {
    let Claim::Ours { run, .. } = claim else { panic!("{claim:?}") };
    *run
}

#[tokio::test]
async fn a_run_that_finds_its_lane_empty_starts_and_leaves_it_empty() {
    let team = Team::new().await;
    for number in 1..=3 {
        let (run, started) = team.post(number).await;
        assert!(run.in_lane && started == 1, "{run:?}");
        let run = ours(team.claim(&run, &run, number).await);
        assert_eq!(team.finish(&run).await, 0);
    }
}

#[tokio::test]
async fn a_worker_that_read_its_run_before_a_message_joined_starts_with_that_message() {
    let team = Team::new().await;
    let (seen, _) = team.post(1).await;
    let (joined, started) = team.post(2).await;
    assert_eq!((joined.into_run_id, started), (Some(seen.id), 0));
    let run = ours(team.claim(&seen, &seen, 1).await);
    assert_eq!((run.place().unwrap().seq, &run.joined[..]), (2, &[1][..]));
    assert_eq!(team.finish(&run).await, 0);
    assert_eq!(team.post(3).await.1, 1, "the lane is empty");
}

#[tokio::test]
async fn a_message_joins_no_run_that_works_or_has_ended() {
    let team = Team::new().await;
    let (first, _) = team.post(1).await;
    let first = ours(team.claim(&first, &first, 1).await);
    let (second, started) = team.post(2).await;
    assert_eq!((second.status, started), (RunStatus::Queued, 0));
    let third = team.post(3).await.0;
    assert_eq!(third.into_run_id, Some(second.id));
    assert!(matches!(team.claim(&second, &second, 2).await, Claim::NotYet { position: 1, .. }));
    assert_eq!(team.finish(&first).await, 1, "its end starts the run that waits");
    let second = team.record(second.id).await;
    let second = ours(team.claim(&second, &second, 3).await);
    assert_eq!(second.joined, [2]);
    assert_eq!(team.finish(&second).await, 0);
    let (fourth, started) = team.post(4).await;
    assert_eq!((fourth.status, started), (RunStatus::Queued, 1));
}

#[tokio::test]
async fn of_two_workers_one_claims_a_run() {
    let team = Team::new().await;
    let (run, _) = team.post(1).await;
    let first = ours(team.claim(&run, &run, 1).await);
    assert!(matches!(team.claim(&run, &run, 2).await, Claim::Busy { .. }));
    assert_eq!(ours(team.claim(&run, &run, 1).await).lease, first.lease, "its answer was lost");
    assert_eq!(team.finish(&first).await, 0);
    assert_eq!(team.finish(&first).await, 0, "its answer was lost");
    assert!(matches!(team.claim(&run, &run, 3).await, Claim::Ended));
}

#[tokio::test]
async fn a_canceled_run_gives_its_place_to_the_next_one() {
    let team = Team::new().await;
    let (first, _) = team.post(1).await;
    let first = ours(team.claim(&first, &first, 1).await);
    let (second, _) = team.post(2).await;
    let runs = team.0.store.runs();
    let cancel = async |run: &RunRecord, token: u128| {
        let token = LeaseId::new(token);
        runs.cancel(run, EndReason::Cancel, &token, start()).await.unwrap().next.len()
    };
    assert_eq!(cancel(&first, 10).await, 1);
    assert_eq!(cancel(&second, 11).await, 0);
    assert_eq!(team.post(3).await.1, 1, "the lane is empty");
}
