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

use crate::{chance::Chance, environment::Environment, plan::Plan, process::Process, setup::Setup};

/// How many of 100,000 conditional writes wait for another write, at least, when a clause of a
/// condition is dropped.
const HELD: u64 = 20_000;

/// One simulated deployment.
pub struct World {
    /// All of it except its processes.
    pub env: Arc<Environment>,
    started: AtomicU64,
    processes: Mutex<Vec<Arc<Process>>>,
}

impl World {
    /// A new deployment with the parameters of its seed.
    pub fn new(setup: &Setup) -> Result<Arc<Self>, String> {
        let chance = Chance::new(setup.seed, setup.suppressed.clone());
        let mut plan = Plan::from_seed(&chance);
        if let Some(mutant) = setup.mutant {
            mutant.adjust(&mut plan);
        }
        if setup.dropped.is_some() || setup.finds_deciding {
            plan.fault_rates.held = plan.fault_rates.held.max(HELD);
        }
        Self::with_plan(setup, plan, chance, None)
    }

    /// A new deployment with the given parameters. It begins in a calm phase.
    pub fn with_plan(
        setup: &Setup,
        plan: Plan,
        chance: Chance,
        fixed_latency: Option<Duration>,
    ) -> Result<Arc<Self>, String> {
        Ok(Arc::new(Self {
            env: Environment::new(setup, plan, chance, fixed_latency)?,
            started: AtomicU64::new(0),
            processes: Mutex::default(),
        }))
    }
}
