//! Small worlds, for mutants and tests that need only a part.

use std::time::Duration;

use crate::{fault_rates::FaultRates, plan::Plan};

impl Plan {
    /// Reduces the world to many people who write into one space, on AWS.
    pub(crate) fn keep_only_messages(&mut self) {
        self.local = false;
        self.processes = self.processes.max(3);
        self.people = 3;
        self.agents = 1;
        self.spaces = 1;
        self.depth = 1;
        self.policy = "mention";
        self.tools = false;
        self.outside = false;
        self.plans = false;
        self.services = false;
        self.agent_depth = 3;
        self.actions = 8;
    }

    /// One process, person, agent and space on AWS, without faults: for tests that count calls.
    pub fn quiet() -> Self {
        Self {
            local: false,
            processes: 1,
            people: 1,
            agents: 1,
            spaces: 1,
            depth: 1,
            policy: "all",
            window: 50,
            invocation: Duration::from_mins(15),
            tools: false,
            outside: false,
            plans: false,
            services: false,
            agent_depth: 5,
            writes: false,
            actions: 0,
            fault_rates: FaultRates::default(),
        }
    }
}
