//! The input of a simulation.

use std::collections::BTreeSet;

use crate::{chance::Fault, mutants::Mutant};

/// The input of a simulation.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// The number from which the history follows completely.
    pub seed: u64,
    /// The mutant to play with.
    pub mutant: Option<Mutant>,
    /// Faults that are left out.
    pub suppressed: BTreeSet<Fault>,
    /// Actions that are left out, by the client's number and the number of the action.
    pub skipped: BTreeSet<(usize, usize)>,
    /// Whether to store the history as text.
    pub history: bool,
}
