//! Faults in the writes of read positions and of deleting a space.

use smartspace_domain::{ids::LeaseId, spaces::Role};

use crate::crash::lost_answers::{
    at,
    faults::{Fault, FaultyStore, assert_same_outcome},
    posted, space_and_people,
};

/// A member reads, and the space is deleted, each twice. Returns the results and the number of
/// writes.
async fn path_of_reading_and_deleting(fault: Option<(usize, Fault)>) -> (String, usize) {
    let faulty = FaultyStore::new().await;
    let store = &faulty.store;
    let (space, people) = space_and_people(store).await;
    for person in &people {
        store.members().join(space, person, Role::Member, at(0)).await.unwrap();
    }
    let hello = posted(5, space, people[0].id, "Hello", 1);
    faulty.fail(fault);

    let sent = store.messages().append(&hello, at(1)).await.map(|sent| sent.message.seq);
    let read = store.members().read_up_to(space, people[1].id, 1).await;
    let read_again = store.members().read_up_to(space, people[1].id, 1).await;
    store.members().leave(space, people[1].id, at(2)).await.unwrap();
    let stranger = store.members().read_up_to(space, people[1].id, 1).await;
    let deleted = store.spaces().delete(space, &LeaseId::new(1), at(2)).await;
    let gone = store.spaces().delete(space, &LeaseId::new(2), at(3)).await;
    let results = format!("{sent:?} {read:?} {read_again:?} {stranger:?} {deleted:?} {gone:?}");
    (results, faulty.writes())
}

#[tokio::test(start_paused = true)]
async fn reading_and_deleting_survive_a_fault_of_any_write() {
    let (results, writes) = assert_same_outcome(path_of_reading_and_deleting).await;
    let expected = "Ok(1) Ok(ReadUpTo { seq: 1, cards: 0, moved: true }) \
                    Ok(ReadUpTo { seq: 1, cards: 0, moved: false }) \
                    Err(NotFound(\"the entity is not a member of this space\")) \
                    Ok(()) Err(NotFound(\"there is no such space\"))";
    assert_eq!((results.as_str(), writes), (expected, 6));
}
