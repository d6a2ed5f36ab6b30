//! What one seed is like: how many of everything, and how bad the weather is.
//!
//! Seeds differ in which faults they have at all. With every fault everywhere most histories would look alike, and the interesting ones, where
//! one kind of trouble meets a quiet world, would not come up.

use std::{collections::BTreeSet, time::Duration};

use crate::{
    chance::{Chance, Strike},
    planted::Planted,
};

/// What is asked of a simulation.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// From which everything follows.
    pub seed: u64,
    /// A mistake that is planted on purpose.
    pub planted: Option<Planted>,
    /// Faults that are not to strike.
    pub spared: BTreeSet<Strike>,
    /// What people are not to do: who, and the how-manieth thing.
    pub undone: BTreeSet<(usize, usize)>,
    /// Whether the history is to be read.
    pub history: bool,
}

/// How likely each fault is, in 1 of 100,000 calls. By default nothing goes wrong.
#[derive(Clone, Debug, Default)]
pub struct Weather {
    /// A process dies before a call takes effect.
    pub killed_before: u64,
    /// A process dies after a call took effect, before it learns of it.
    pub killed_after: u64,
    /// A process stands still for a while.
    pub stalled: u64,
    /// The table refuses a call.
    pub refused: u64,
    /// The table throttles a call.
    pub throttled: u64,
    /// The table reports a conflict.
    pub conflict: u64,
    /// A call takes effect, and its answer is lost.
    pub lost_answer: u64,
    /// A call seems to have failed, and takes effect later.
    pub late_effect: u64,
    /// A batch is answered in part.
    pub partial: u64,
    /// A page is shorter than it had to be.
    pub short_page: u64,
    /// A call takes seconds.
    pub slow: u64,
    /// A queue does not take a job, or takes it and says that it did not.
    pub queue: u64,
    /// A job is delivered again.
    pub twice: u64,
    /// A job is delivered late.
    pub late_job: u64,
    /// An alarm is lost, late, early, or rings twice.
    pub alarm: u64,
    /// A frame is not taken, or taken and not acknowledged.
    pub frame: u64,
    /// A connection is dropped.
    pub dropped: u64,
    /// A request over HTTP, or its answer, is lost.
    pub request: u64,
    /// A model fails, hangs or is cut off.
    pub model: u64,
    /// A server that a tool calls is slow, fails, loses its answer, or is never reached.
    pub outside: u64,
    /// A process dies or stands still while such a request is under way.
    pub under_way: u64,
    /// The wall clock jumps, back and forth.
    pub clock: u64,
}

/// What one seed is like.
#[derive(Clone, Debug)]
pub struct Plan {
    /// One process, as on one machine: when it dies, queues and connections go with it. Else several, as on AWS.
    pub local: bool,
    /// How many processes.
    pub processes: usize,
    /// How many people.
    pub people: usize,
    /// How many agents.
    pub agents: usize,
    /// How many spaces.
    pub spaces: usize,
    /// The spaces' depth.
    pub depth: u32,
    /// The spaces' policy.
    pub policy: &'static str,
    /// How many messages agents are shown.
    pub window: u64,
    /// How long an invocation of the function `run` may take, on AWS.
    pub invocation: Duration,
    /// Agents have tools of their own: forms, and notes that everyone sees.
    pub tools: bool,
    /// They have tools that reach outside.
    pub outside: bool,
    /// The operator and agents make plans.
    pub plans: bool,
    /// Services wake agents.
    pub services: bool,
    /// At which depth agents are not woken any more, whatever their spaces say.
    pub agent_depth: u32,
    /// Agents go on only after they have changed something.
    pub writes: bool,
    /// What each person does, at least.
    pub deeds: usize,
    /// The weather.
    pub weather: Weather,
}

impl Plan {
    /// The plan of a seed.
    pub fn of(chance: &Chance) -> Self {
        let number = |name: &str, from: u64, to: u64| from + chance.below(&format!("plan/{name}"), to - from + 1);
        let local = number("local", 0, 3) == 0;
        // Over thirty agents a message is decided behind its answer.
        let crowd = number("crowd", 0, 39) == 0;
        let agents = if crowd { number("many agents", 31, 34) } else { number("agents", 1, 3) };
        // Where many agents all wake each other the world is large, and nothing happens in it that does not happen in a small one.
        let depth = number("depth", 1, 4 - agents.min(3));
        Self {
            local,
            processes: if local { 1 } else { number("processes", 2, 4) as usize },
            people: if crowd { 1 } else { number("people", 1, 3) as usize },
            agents: agents as usize,
            spaces: if crowd { 1 } else { number("spaces", 1, 2) as usize },
            depth: depth as u32,
            // An admin agent needs another one, and would leave a crowd asleep.
            policy: ["all", "all", "mention", if agents == 1 || crowd { "all" } else { "admin" }][number("policy", 0, 3) as usize],
            window: [50, 50, 8][number("window", 0, 2) as usize],
            // An answer may take two minutes, so that the short ones hand over what takes long.
            invocation: Duration::from_secs([900, 150, 122][number("invocation", 0, 2) as usize]),
            tools: number("tools", 0, 5) != 0,
            outside: number("outside", 0, 3) != 0,
            plans: !crowd && number("plans", 0, 2) != 0,
            services: !crowd && number("services", 0, 2) != 0,
            // No space is deeper.
            agent_depth: if crowd { 5 } else { 3 },
            writes: number("writes", 0, 3) == 0,
            deeds: if crowd { 2 } else { number("deeds", 4, 8) as usize },
            weather: Weather::of(chance),
        }
    }
}

impl Plan {
    /// One of everything, as on AWS, where nothing goes wrong: for what is counted.
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
            deeds: 0,
            weather: Weather::default(),
        }
    }
}

impl Weather {
    fn of(chance: &Chance) -> Self {
        // Each fault is absent, rare or frequent.
        let rate = |name: &str, rare: u64, frequent: u64| match chance.below(&format!("weather/{name}"), 4) {
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
