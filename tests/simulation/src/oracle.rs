//! Judges a simulation by what clients sent and saw, what models were asked, and what the table holds at the end. It knows nothing of how the
//! product works. One file for each promise.

mod ended_by_their_own;
mod kept;
mod outside;
mod plans;
mod promise_1;
mod promise_2;
mod promise_3;
mod promise_4;
mod promise_5;
mod promise_6;
mod promise_7;
mod promise_8;
mod promise_9;
mod services;
mod streams;
mod unplaced;

use std::{collections::BTreeSet, sync::Arc};

use crate::{ledger::Ledger, locked, people::Person, view::Seen, world::World};

pub use kept::Kept;

/// What must not be, and the promise that it breaks. 0 is no promise's: an internal error.
pub type Complaint = (u8, String);

/// All that the oracle knows.
pub(crate) struct Evidence<'a> {
    pub(crate) world: &'a World,
    pub(crate) ledger: Ledger,
    pub(crate) kept: Kept,
    /// What each person saw.
    pub(crate) seen: Vec<(&'a Person, Seen)>,
    complaints: BTreeSet<Complaint>,
}

impl Evidence<'_> {
    pub(crate) fn complain(&mut self, promise: u8, text: String) {
        self.complaints.insert((promise, text));
    }
}

/// Everything that must not be.
pub fn judge(world: &Arc<World>, people: &[Person]) -> BTreeSet<Complaint> {
    let ledger = std::mem::take(&mut *locked(&world.ledger));
    let seen: Vec<_> = people.iter().map(|person| (person, person.view.seen())).collect();
    let mut complaints = ledger.complaints.clone();
    complaints.extend(seen.iter().flat_map(|(_, seen)| seen.complaints.iter().cloned()));
    let mut evidence = Evidence { world, kept: Kept::of(&world.storage.items()), ledger, seen, complaints };
    promise_1::nothing_accepted_is_lost_and_each_wakes_once(&mut evidence);
    services::what_services_send_wakes_once(&mut evidence);
    promise_2::one_order_without_gaps(&mut evidence);
    promise_3::what_an_agent_did_happened_once(&mut evidence);
    outside::a_call_that_reaches_outside_happens_at_most_once(&mut evidence);
    promise_4::who_lost_its_run_writes_nothing_more(&mut evidence);
    promise_5::no_run_hangs(&mut evidence);
    promise_6::agents_alone_come_to_an_end(&mut evidence);
    promise_7::a_form_counts_once(&mut evidence);
    plans::a_plan_fires_once_for_each_of_its_times(&mut evidence);
    promise_8::new_until_a_completed_run_read_it(&mut evidence);
    promise_9::nobody_reads_or_writes_where_they_are_no_member(&mut evidence);
    unplaced::runs_that_no_space_woke_show_only_where_they_went(&mut evidence);
    streams::a_stream_is_its_message(&mut evidence);
    evidence.complaints
}
