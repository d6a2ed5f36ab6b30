//! Faults in the writes of the sweep, which finds, queues and gives up due items.

use std::future::ready;

use smartspace_domain::{ids::LeaseId, limits::SWEEPS};
use smartspace_store::{
    Store,
    due::{Duty, Swept},
    runs::claims::Claim,
    table::keys::{self, Key},
};

use crate::crash::lost_answers::{
    at,
    faults::{Fault, assert_same_outcome},
    studio::Studio,
};

/// In seconds. Longer than any due time is postponed.
pub(crate) const LATER: i64 = 2 * 60 * 60;

/// All items that are overdue at this second, in a fixed order.
pub(crate) async fn overdue(store: &Store, second: i64) -> Vec<Key> {
    let mut found = Vec::new();
    for part in 0..keys::DUE_PARTS {
        found.extend(store.due().candidates(part, at(second), 100).await.unwrap());
    }
    found.sort_by(|one, other| (&one.pk, &one.sk).cmp(&(&other.pk, &other.sk)));
    found
}

/// Sweeps a run until it is given up. Returns the results with the contents of the table, and the
/// number of writes.
async fn path_of_sweeping(fault: Option<(usize, Fault)>) -> (String, usize) {
    let studio = Box::pin(Studio::with_fault(fault)).await;
    let due = studio.store.due();
    let run = &studio.runs[1];
    let mut swept = Vec::new();
    for round in 1..=i64::from(SWEEPS) + 1 {
        swept.push(due.sweep_one(&keys::run_meta(run.id), at(round * LATER)).await.unwrap());
    }
    let mut expected = vec![Swept::Overdue(Duty::Run(run.job())); SWEEPS as usize];
    expected.push(Swept::GivenUp);
    assert_eq!(swept, expected);
    let (stored, writes) = studio.outcome().await;
    (format!("{swept:#?} {stored}"), writes)
}

#[tokio::test(start_paused = true)]
async fn sweeping_survives_a_fault_of_any_write() {
    let (_, writes) = assert_same_outcome(path_of_sweeping).await;
    assert_eq!(writes, SWEEPS as usize + 1);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_claimed_after_it_was_given_up_is_due_again() {
    let studio = Box::pin(Studio::with_fault(None)).await;
    let store = &studio.store;
    let queued = studio.runs[1].to_ref();
    let run = queued.run_id;
    for round in 1..=i64::from(SWEEPS) + 1 {
        store.due().sweep_one(&keys::run_meta(run), at(round * LATER)).await.unwrap();
    }
    let then = LATER * 20;
    // A run that was given up is never due.
    assert!(!overdue(store, then * 2).await.contains(&keys::run_meta(run)));
    let claimed =
        store.runs().claim(&queued, &LeaseId::new(8), at(then), ready(None)).await.unwrap();
    assert!(matches!(claimed, Claim::Ours { .. }), "{claimed:?}");
    // Its worker may die, so the claimed run is due again.
    assert!(overdue(store, then + LATER).await.contains(&keys::run_meta(run)));
}
