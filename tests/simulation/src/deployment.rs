//! One simulated deployment, from its first message to the calm phase at its end.
//!
//! `processes` starts the processes and restarts each one that dies. `deliveries` gives the jobs of
//! queues to them, and `redrive` sends old jobs again at the end.

mod deliveries;
mod processes;
mod redrive;

use std::{
    sync::{Arc, Mutex, atomic::AtomicU64},
    time::Duration,
};

use crate::{chance::Chance, env::Env, input::Input, parameters::Parameters, process::Process};

/// How many of 100,000 conditional writes wait for another write, at least, when a clause of a
/// condition is dropped.
const HELD: u64 = 20_000;

/// One simulated deployment.
pub struct Deployment {
    /// All of it except its processes.
    pub env: Arc<Env>,
    started: AtomicU64,
    processes: Mutex<Vec<Arc<Process>>>,
}

impl Deployment {
    /// A new deployment with the parameters of its seed.
    pub fn new(input: &Input) -> Result<Arc<Self>, String> {
        let chance = Chance::new(input.seed, input.suppressed.clone());
        let mut parameters = Parameters::from_seed(&chance);
        if let Some(mutant) = input.mutant {
            // Only some mutants need these, and they ask for them.
            parameters.changes = false;
            parameters.searches = false;
            parameters.applies = false;
            mutant.adjust(&mut parameters);
        }
        // Other conditions are found without changes of messages.
        if input.dropped.as_ref().is_some_and(|dropped| !dropped.is_of_changes()) {
            parameters.changes = false;
        }
        if input.dropped.as_ref().is_some_and(|dropped| !dropped.is_of_searches()) {
            parameters.searches = false;
        }
        if input.dropped.as_ref().is_some_and(|dropped| !dropped.is_of_applies()) {
            parameters.applies = false;
        }
        if input.dropped.is_some() || input.finds_deciding {
            parameters.fault_rates.held = parameters.fault_rates.held.max(HELD);
        }
        Self::build(input, parameters, chance, None)
    }

    /// A new deployment with the given parameters. It begins in a calm phase.
    pub fn with_parameters(
        input: &Input,
        parameters: Parameters,
        fixed_latency: Option<Duration>,
    ) -> Result<Arc<Self>, String> {
        let chance = Chance::new(input.seed, input.suppressed.clone());
        Self::build(input, parameters, chance, fixed_latency)
    }

    fn build(
        input: &Input,
        parameters: Parameters,
        chance: Chance,
        fixed_latency: Option<Duration>,
    ) -> Result<Arc<Self>, String> {
        Ok(Arc::new(Self {
            env: Env::new(input, parameters, chance, fixed_latency)?,
            started: AtomicU64::new(0),
            processes: Mutex::default(),
        }))
    }
}
