//! All tests of the simulation in one binary, because each binary takes long to link.

#![cfg(test)]

mod calls;
mod changed_tools;
mod hand_over;
mod index_lag;
mod long_history;
mod plans;
mod promises;
mod unlimited_retention;
