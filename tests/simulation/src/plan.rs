//! The parameters of a seed: how many processes, people, agents and spaces, and the fault rates.
//!
//! Seeds differ in which faults they have at all. With every fault in every seed most histories
//! would look alike, and no history would have one kind of fault in an otherwise quiet world.

use std::{collections::BTreeSet, time::Duration};

use crate::{
    chance::{Chance, Fault},
    mutants::Mutant,
};

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

/// The rate of each kind of fault, per 100,000 calls. By default there are no faults.
#[derive(Clone, Debug, Default)]
pub struct FaultRates {
    /// A process dies before a call takes effect.
    pub killed_before: u64,
    /// A process dies after a call takes effect, before it gets the answer.
    pub killed_after: u64,
    /// A process stalls for a while.
    pub stalled: u64,
    /// The table refuses a call.
    pub refused: u64,
    /// The table throttles a call.
    pub throttled: u64,
    /// The table reports a conflict.
    pub conflict: u64,
    /// A call takes effect, and its answer is lost.
    pub lost_answer: u64,
    /// A call seems to fail, and takes effect later.
    pub late_effect: u64,
    /// A batch is answered in part.
    pub partial: u64,
    /// A page is shorter than its limit.
    pub short_page: u64,
    /// A call takes seconds.
    pub slow: u64,
    /// A queue does not take a job, or takes it and reports a failure.
    pub queue: u64,
    /// A job is delivered again.
    pub twice: u64,
    /// A job is delivered late.
    pub late_job: u64,
    /// An alarm is lost, late, early, or rings twice.
    pub alarm: u64,
    /// A frame is not delivered, or delivered and not acknowledged.
    pub frame: u64,
    /// A connection is dropped.
    pub dropped: u64,
    /// A request over HTTP, or its answer, is lost.
    pub request: u64,
    /// A model fails, hangs or is cut off.
    pub model: u64,
    /// A server that a tool calls is slow, fails, loses its answer, or is not reached.
    pub outside: u64,
    /// A process dies or stalls while an external call is under way.
    pub under_way: u64,
    /// The wall clock jumps, back and forth.
    pub clock: u64,
}

/// The parameters of one seed.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Whether there is one process, as on a local host: its queues and connections die with it.
    /// Otherwise there are several processes, as on AWS.
    pub local: bool,
    /// The number of processes.
    pub processes: usize,
    /// The number of people.
    pub people: usize,
    /// The number of agents.
    pub agents: usize,
    /// The number of spaces.
    pub spaces: usize,
    /// The depth limit of the spaces.
    pub depth: u32,
    /// The trigger policy of the spaces.
    pub policy: &'static str,
    /// How many messages a prompt shows.
    pub window: u64,
    /// The longest invocation of the function `run` on AWS.
    pub invocation: Duration,
    /// Whether agents have forms and visible tools.
    pub tools: bool,
    /// Whether agents have tools that make external calls.
    pub outside: bool,
    /// Whether the operator and agents make plans.
    pub plans: bool,
    /// Whether services trigger agents.
    pub services: bool,
    /// The depth limit of the agents.
    pub agent_depth: u32,
    /// Whether agents continue only after a step that changed something.
    pub writes: bool,
    /// The number of actions of each person, besides its last answers to forms.
    pub actions: usize,
    /// The fault rates.
    pub fault_rates: FaultRates,
}

impl Plan {
    /// Draws the parameters of a seed.
    pub fn from_seed(chance: &Chance) -> Self {
        let number = |name: &str, from: u64, to: u64| {
            from + chance.below(&format!("plan/{name}"), to - from + 1)
        };
        let local = number("local", 0, 3) == 0;
        // With more than thirty agents a message is dispatched after its answer.
        let crowd = number("crowd", 0, 39) == 0;
        let agents = if crowd { number("many agents", 31, 34) } else { number("agents", 1, 3) };
        // Many agents that all trigger each other make a large world, in which nothing happens that
        // does not also happen in a small one.
        let depth = number("depth", 1, 4 - agents.min(3));
        Self {
            local,
            processes: if local { 1 } else { number("processes", 2, 4) as usize },
            people: if crowd { 1 } else { number("people", 1, 3) as usize },
            agents: agents as usize,
            spaces: if crowd { 1 } else { number("spaces", 1, 2) as usize },
            depth: depth as u32,
            // An admin agent needs another agent, and would trigger few agents of a crowd.
            policy: ["all", "all", "mention", if agents == 1 || crowd { "all" } else { "admin" }]
                [number("policy", 0, 3) as usize],
            window: [50, 50, 8][number("window", 0, 2) as usize],
            // An answer may take two minutes, so that short invocations requeue long runs.
            invocation: Duration::from_secs([900, 150, 122][number("invocation", 0, 2) as usize]),
            tools: number("tools", 0, 5) != 0,
            outside: number("outside", 0, 3) != 0,
            plans: !crowd && number("plans", 0, 2) != 0,
            services: !crowd && number("services", 0, 2) != 0,
            // At least the depth limit of every space.
            agent_depth: if crowd { 5 } else { 3 },
            writes: number("writes", 0, 3) == 0,
            actions: if crowd { 2 } else { number("deeds", 4, 8) as usize },
            fault_rates: FaultRates::from_seed(chance),
        }
    }
}

impl Plan {
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

impl FaultRates {
    fn from_seed(chance: &Chance) -> Self {
        // Each fault is absent, rare or frequent.
        let rate = |name: &str, rare: u64, frequent: u64| match chance
            .below(&format!("weather/{name}"), 4)
        {
            0 | 1 => 0,
            2 => rare,
            _ => frequent,
        };
        Self {
            killed_before: rate("killed_before", 60, 300),
            killed_after: rate("killed_after", 60, 300),
            stalled: rate("stalled", 20, 100),
            refused: rate("refused", 500, 3_000),
            throttled: rate("throttled", 500, 3_000),
            conflict: rate("conflict", 1_000, 10_000),
            lost_answer: rate("lost_answer", 500, 5_000),
            late_effect: rate("late_effect", 100, 1_000),
            partial: rate("partial", 2_000, 20_000),
            short_page: rate("short_page", 2_000, 20_000),
            slow: rate("slow", 200, 1_000),
            queue: rate("queue", 2_000, 15_000),
            twice: rate("twice", 2_000, 20_000),
            late_job: rate("late_job", 1_000, 10_000),
            alarm: rate("alarm", 10_000, 60_000),
            frame: rate("frame", 1_000, 10_000),
            dropped: rate("dropped", 100, 500),
            request: rate("request", 2_000, 15_000),
            model: rate("model", 2_000, 10_000),
            outside: rate("outside", 10_000, 40_000),
            under_way: rate("under_way", 5_000, 20_000),
            clock: rate("clock", 10, 50),
        }
    }
}
