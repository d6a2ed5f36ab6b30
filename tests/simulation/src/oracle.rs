//! Judges a simulation by what clients sent and saw, what models were asked, and what the table
//! holds at the end.
//!
//! It does not know how the product works. The files by the promises of docs/reliability.md:
//!
//! 1. `stored_once`, `routing`, `gates`, `retries`, `services`, `files`, `pictures`, `remote`
//! 2. `order`, `prompts`, `summaries`
//! 3. `actions_once`, `run_ends`, `outside`, `forks`, `pictures`, `remote`
//! 4. `leases`, `stopped_runs`, `cut_results`, `remote`, `summaries`
//! 5. `hanging_runs`, `deletions`, `empty_spaces`, `files`, `remote`
//! 6. `chains`, `services`
//! 7. `forms`, `approvals`, `plans`
//! 8. `unread_messages`
//! 9. `members_only`, `invites`, `runs_without_space`
//! 10. `frames`, `reads`, `timeliness`, `lanes`, `seconds`, `budgets`, `rates`, `files`,
//!     `pictures`, `activity`
//! 13. `questions`
//! 14. `changes`
//! 15. `searches`
//! 16. `revisions`
//!
//! `applies`, a client, judges promise 17 while it plays.
//! `streams` compares live text with the stored messages. Except for `changes`, all files judge
//! messages as they were first posted.

mod actions_once;
mod activity;
mod approvals;
mod budgets;
mod chains;
mod changes;
mod cut_results;
mod deletions;
mod empty_spaces;
mod files;
mod forks;
mod forms;
mod frames;
mod gates;
mod hanging_runs;
mod invites;
mod lanes;
mod leases;
mod members_only;
mod order;
mod outside;
mod pictures;
mod plans;
mod prompts;
mod questions;
mod rates;
mod reads;
mod remote;
mod retries;
mod revisions;
mod router_calls;
mod routing;
mod run_ends;
mod runs_without_space;
mod searches;
mod seconds;
mod services;
mod stopped_runs;
mod stored;
mod stored_once;
mod streams;
mod summaries;
mod timeliness;
mod unread_messages;

use std::collections::BTreeSet;

use crate::{
    env::Env,
    ledger::{Ledger, Violation},
    locked,
    people::Person,
    view::Seen,
};

pub use stored::Stored;

/// Everything that the oracle knows.
pub(crate) struct Evidence<'a> {
    pub(crate) env: &'a Env,
    pub(crate) ledger: Ledger,
    pub(crate) stored: Stored,
    /// Everything that each person saw.
    pub(crate) seen: Vec<(&'a Person, Seen)>,
    /// How many jobs failed again and again in the calm phase.
    pub(crate) died_in_calm: usize,
    violations: BTreeSet<Violation>,
}

impl Evidence<'_> {
    pub(crate) fn report(&mut self, promise: u8, text: String) {
        self.violations.insert((promise, text));
    }
}

/// Returns all violations.
pub fn judge(env: &Env, people: &[Person]) -> BTreeSet<Violation> {
    let ledger = std::mem::take(&mut *locked(&env.ledger));
    {
        // Models and remote agents may still be asked: they choose agents and spaces.
        let mut later = locked(&env.ledger);
        later.agents.clone_from(&ledger.agents);
        later.spaces.clone_from(&ledger.spaces);
    }
    let seen: Vec<_> = people.iter().map(|person| (person, person.view.seen())).collect();
    let mut violations = ledger.violations.clone();
    violations.extend(seen.iter().flat_map(|(_, seen)| seen.violations.iter().cloned()));
    let mut evidence = Evidence {
        env,
        stored: changes::as_posted(env, deletions::with_deleted_spaces(env, &ledger)),
        ledger,
        seen,
        died_in_calm: env.died_in_calm(),
        violations,
    };
    stored_once::accepted_messages_are_stored_and_trigger_once(&mut evidence);
    routing::the_router_decides_once(&mut evidence);
    gates::scores_follow_from_the_messages_before(&mut evidence);
    router_calls::a_minute_asks_routers_sixty_times(&mut evidence);
    questions::questions_are_answered(&mut evidence);
    services::deliveries_trigger_once(&mut evidence);
    retries::a_run_is_repeated_once(&mut evidence);
    order::one_order_without_gaps(&mut evidence);
    prompts::models_see_messages_as_they_were(&mut evidence);
    changes::changes_hold(&mut evidence);
    searches::searches_show_what_is_there(&mut evidence);
    revisions::changes_have_revisions_and_steps_name_them(&mut evidence);
    summaries::summaries_cover_what_they_say(&mut evidence);
    actions_once::actions_of_agents_happen_once(&mut evidence);
    run_ends::runs_end_after_their_last_results(&mut evidence);
    forks::forks_change_nothing(&mut evidence);
    outside::external_calls_happen_at_most_once(&mut evidence);
    remote::remote_agents_answer_once_and_in_time(&mut evidence);
    leases::a_run_without_its_lease_writes_nothing(&mut evidence);
    hanging_runs::no_run_hangs(&mut evidence);
    files::files_are_those_of_their_messages(&mut evidence);
    pictures::pictures_are_drawn_once_and_kept(&mut evidence);
    deletions::nothing_is_left_of_a_deleted_space(&mut evidence);
    empty_spaces::empty_spaces_end(&mut evidence);
    chains::chains_of_agents_end(&mut evidence);
    chains::agents_answer_agents_only_so_often(&mut evidence);
    chains::stopped_chains_wake_nobody(&mut evidence);
    rates::runs_per_minute_have_a_limit(&mut evidence);
    budgets::models_are_paid_for(&mut evidence);
    forms::a_form_counts_once(&mut evidence);
    approvals::calls_are_made_as_people_decided(&mut evidence);
    plans::a_plan_fires_once_for_each_of_its_times(&mut evidence);
    unread_messages::messages_are_new_until_a_completed_run_read_them(&mut evidence);
    members_only::only_members_read_and_write(&mut evidence);
    invites::an_invite_lets_in_as_many_as_it_says(&mut evidence);
    runs_without_space::runs_without_a_space_show_only_where_they_were(&mut evidence);
    streams::a_stream_is_its_message(&mut evidence);
    streams::everyone_sees_whole_streams(&mut evidence);
    limits_hold(&mut evidence);
    evidence.violations
}

/// The checks of the tenth promise that need no other one.
fn limits_hold(evidence: &mut Evidence<'_>) {
    frames::only_floods_are_refused(evidence);
    reads::followers_learn_of_read_positions(evidence);
    activity::spaces_are_listed_by_activity(evidence);
    timeliness::messages_arrive_in_time(evidence);
    timeliness::streams_arrive_in_time(evidence);
    lanes::each_run_works_at_its_turn(evidence);
    lanes::runs_that_never_start_say_why(evidence);
    seconds::a_space_accepts_only_so_much_in_a_second(evidence);
}
