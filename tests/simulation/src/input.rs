//! The input of a simulation.

use std::collections::BTreeSet;

use crate::{chance::Fault, conditions::Clause, mutants::Mutant};

/// The input of a simulation.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// The number from which the history follows completely.
    pub seed: u64,
    /// The mutant to play with.
    pub mutant: Option<Mutant>,
    /// The clause that a mutant drops from the product's conditions.
    pub dropped: Option<Clause>,
    /// Whether to find out which clauses refuse writes, with the faults with which a dropped clause
    /// is searched for.
    pub finds_deciding: bool,
    /// Faults that are left out.
    pub suppressed: BTreeSet<Fault>,
    /// Actions that are left out, by the client's number and the number of the action.
    pub skipped: BTreeSet<(usize, usize)>,
    /// Whether to store the history as text.
    pub history: bool,
    /// Whether to collect a sample of each kind of item.
    pub samples: bool,
    /// Whether to record the calls of the store.
    pub records_calls: bool,
    /// Whether a later version adds fields to all items.
    pub later_version: bool,
}
