//! Stops whose answers are lost.

use smartspace_domain::{access::Caller, ids::LineId, spaces::Role};
use smartspace_store::spaces::stops::{NewStop, Stopping};

use crate::crash::lost_answers::{
    at,
    faults::{Fault, FaultyStore, assert_same_outcome},
    posted, space_and_people,
};
/// The operator stops a chain twice, and then the space. Returns the results and the lines, and the
/// number of writes.
async fn path_of_stops(fault: Option<(usize, Fault)>) -> (String, usize) {
    let faulty = FaultyStore::new().await;
    let store = &faulty.store;
    let (space, [husam, _]) = space_and_people(store).await;
    store.members().join(space, &husam, Role::Owner, at(0)).await.unwrap();
    let first = posted(5, space, husam.id, "Begin!", 1);
    let first = store.messages().append(&first, at(1)).await.unwrap().message;
    faulty.fail(fault);

    let chain = Stopping::Chain { chain: first.id.into(), seq: 1 };
    let mut results = Vec::new();
    for (number, what) in [(1, chain), (2, chain), (3, Stopping::Space), (4, Stopping::Space)] {
        let id = LineId::new(at(2), number);
        let new = NewStop { space, what, by: Caller::Operator, id };
        let stored = store.spaces().stop(&new, |_| Ok(()), at(2)).await.unwrap();
        store.spaces().stop_is_done(space, stored.record.place()).await.unwrap();
        results.push((stored.record.line, stored.is_new));
    }
    let lines = store.spaces().lines(space, 0, u64::MAX, 9).await.unwrap();
    let record = store.spaces().record(space).await.unwrap();
    let stopped: Vec<_> = record.stopped_chains.iter().map(|it| it.chain).collect();
    let paused = record.settings.paused;
    (format!("{results:#?} {lines:#?} {stopped:?} {paused}"), faulty.writes())
}

#[tokio::test(start_paused = true)]
async fn a_stop_is_stored_once() {
    let (expected, writes) = assert_same_outcome(path_of_stops).await;
    let results = expected.matches("kind: ChainStopped").count();
    assert_eq!(results, 3, "two answers and one line: {expected}");
    assert!(writes >= 4, "{writes}");
}
