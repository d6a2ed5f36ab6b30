//! All tests of the simulation in one binary, because each binary takes long to link.

#![cfg(test)]

mod budgets;
mod calls;
mod changed_tools;
mod conditions;
mod edits;
mod golden;
mod hand_over;
mod index_lag;
mod lanes;
mod late_decisions;
mod later_version;
mod limits;
mod lone_worker;
mod long_history;
mod memberships;
mod plans;
mod presence;
mod promises;
mod questions;
mod reader;
mod retention;
mod same_answers;
mod searches;
mod small_space;
mod socket_limits;
mod starts_at_once;
