//! Faults in the requests of an owner who gives up the ownership.

use smartspace_domain::{
    access::{Caller, SpaceAction},
    spaces::Role,
};
use smartspace_pipeline::access::may_in;
use smartspace_store::spaces::rosters::Roster;

use crate::crash::lost_answers::{
    at,
    faults::{Fault, FaultyStore, assert_same_outcome},
    space_and_people,
};

/// An owner adds a member, gives up the ownership, and leaves. Returns the results of these
/// requests with the members in the end, and the number of writes.
async fn path_of_an_owner(fault: Option<(usize, Fault)>) -> (String, usize) {
    let faulty = FaultyStore::new().await;
    let store = &faulty.store;
    let (space, [owner, other]) = space_and_people(store).await;
    store.members().join(space, &owner, Role::Owner, at(0)).await.unwrap();
    faulty.fail(fault);

    let caller = Caller::Entity(owner.id);
    let may = |action| move |roster: &Roster| may_in(roster, caller, action);
    let joined = store
        .members()
        .join_if(space, &other, Some(Role::Owner), caller, at(1), may(SpaceAction::Govern))
        .await;
    let given = store
        .members()
        .join_if(space, &owner, Some(Role::Member), caller, at(2), may(SpaceAction::Govern))
        .await;
    let refused = store
        .members()
        .join_if(space, &owner, Some(Role::Owner), caller, at(3), may(SpaceAction::Govern))
        .await;
    let members = store.members();
    let leave = || members.leave_if(space, owner.id, caller, at(9), may(SpaceAction::Leave));
    let left = leave().await;
    let again = leave().await;
    let results = [joined, given, refused, left, again]
        .map(|result| result.map(|member| member.map(|member| (member.entity_id, member.role))));
    let members = store.members().roster(space).await.unwrap().members.clone();
    (format!("{results:#?} {members:#?}"), faulty.writes())
}

#[tokio::test(start_paused = true)]
async fn giving_up_ones_own_permission_survives_a_lost_answer() {
    let (expected, writes) = assert_same_outcome(path_of_an_owner).await;
    let results = expected.split("MemberRecord").next().unwrap_or_default();
    assert_eq!(
        (results.matches("Some(").count(), results.matches("Forbidden").count(), writes),
        (3, 1, 3),
        "{expected}"
    );
}
