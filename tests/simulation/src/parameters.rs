//! The parameters of a seed: how many processes, people, agents and spaces, and the fault rates.

mod small;

use std::time::Duration;

use serde_json::Value;
use smartspace_domain::{
    append_limits::AppendLimit,
    limits::{EMPTY_SPACES_KEPT, RoomLimits},
};

use crate::{chance::Chance, fault_rates::FaultRates, units::Units};

/// A limit that people and agents reach, who write far less than a real crowd.
pub(crate) const FEW_APPENDS: AppendLimit = AppendLimit { messages: 4, bytes: 12_000 };

/// How long an empty space stays in seeds in which people leave spaces. Other spaces, from which
/// everybody is removed for a while, have no members for a shorter time.
pub(crate) const SHORTLY_KEPT: Duration = Duration::from_mins(4);

/// A context window that the results of one step may fill, in tokens.
pub(crate) const SMALL_WINDOW: u32 = 1_000;

/// The parameters of one seed.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// Whether there is one process, as on a local host: its queues and connections die with it.
    /// Otherwise there are several processes, as on AWS.
    pub local: bool,
    pub processes: usize,
    pub people: usize,
    pub agents: usize,
    pub spaces: usize,
    /// The depth limit of the spaces.
    pub depth: u32,
    /// How often an agent answers agents in a space until an outside cause comes.
    pub auto_replies: u32,
    /// The trigger policy of the spaces.
    pub policy: &'static str,
    /// The mode of the spaces' gates.
    pub gate: &'static str,
    /// How many messages a prompt shows.
    pub window: u64,
    /// The longest invocation of the function `run` on AWS.
    pub invocation: Duration,
    /// Whether agents have forms and visible tools.
    pub tools: bool,
    /// Whether agents have tools that make external calls.
    pub outside: bool,
    /// Whether people decide calls of agents.
    pub approvals: bool,
    /// Whether the operator and agents make plans.
    pub plans: bool,
    /// Whether services trigger agents.
    pub services: bool,
    /// Whether one more agent works elsewhere.
    pub remote: bool,
    /// Whether people and agents reply to messages, edit, delete, react to and pin them.
    pub changes: bool,
    /// Whether people and agents search, and one space has a long past.
    pub searches: bool,
    /// Whether an operator applies files.
    pub applies: bool,
    /// Whether people send files.
    pub files: bool,
    /// Whether people make spaces and leave them.
    pub empties: bool,
    /// How long a space stays that its last member has left.
    pub empty_spaces_kept: Duration,
    /// How much a space accepts in a second.
    pub append_limit: AppendLimit,
    /// How many messages a person sends at once.
    pub burst: usize,
    /// How many connections make a room large.
    pub room_limits: RoomLimits,
    /// How many answers of a thousand are written slowly.
    pub slow_answers: u64,
    /// How many of ten answers to forms come late, perhaps after the time of the form.
    pub late_answers: u64,
    /// Whether models take long for summaries.
    pub slow_summaries: bool,
    /// The greatest number of words of an agent's message.
    pub words: u64,
    /// The depth limit of the agents.
    pub agent_depth: u32,
    /// Whether agents continue only after a step that changed something.
    pub writes: bool,
    /// Whether a run that a message triggered ends after an answer whose calls all posted to the
    /// space of that message, and did not say that it goes on.
    pub ends_after_send: bool,
    /// Whether agents that answer in text alone are reminded that nothing was posted.
    pub reminders: bool,
    /// The size of the models' context windows, in tokens. Runs with a small one cut old results.
    pub context_window: u32,
    /// Whether runs have many steps and read long pages, which fill a small window.
    pub long_runs: bool,
    /// Whether people ask questions that name nobody, at which models like to stay silent.
    pub questions: bool,
    /// What messages do while an agent is busy.
    pub mode: &'static str,
    /// How many runs of an agent work at the same time.
    pub max_runs: usize,
    /// The number of actions of each person, besides its last answers to forms.
    pub actions: usize,
    /// How much the clock of a process differs from the wall clock at most.
    pub clock_spread: Duration,
    /// The runs per minute of a space, if few enough that they are used up.
    pub space_runs: Option<u32>,
    /// The budget of the agents, the spaces or the deployment, if there is one.
    pub budget: Option<TokenBudget>,
    /// The units per second of each partition of the table, if they are limited.
    pub partition_limits: Option<Units>,
    /// Whether the last space is deleted while everything else happens.
    pub deletes_space: bool,
    /// How often a person stops following a space and follows it again in the calm, while another
    /// one posts there and everyone watches when the message arrives.
    pub watched_posts: u64,
    /// After how many of a thousand actions a person stops a chain.
    pub stops: u64,
    /// How many of a thousand pings are floods of a hundred.
    pub floods: u64,
    /// Whether old jobs are sent again at the end, after runs have expired.
    pub redrives: bool,
    pub fault_rates: FaultRates,
}

impl Parameters {
    /// Draws the parameters of a seed.
    pub fn from_seed(chance: &Chance) -> Self {
        let draw = Draw(chance);
        let local = draw.number("local", 0, 3) == 0;
        // With more than twenty agents a message is dispatched after its answer.
        let crowd = draw.number("crowd", 0, 39) == 0;
        let agents =
            if crowd { draw.number("many agents", 21, 24) } else { draw.number("agents", 1, 3) };
        // Many agents that all trigger each other make a large deployment, in which nothing happens
        // that does not also happen in a small one.
        let depth = draw.number("depth", 1, 4 - agents.min(3));
        let limits = draw.number("partition limits", 0, 9);
        let watches = !crowd && limits != 0 && draw.number("watches", 0, 2) == 0;
        let has_router = agents > 1 && !crowd && draw.number("router", 0, 1) == 0;
        let deletes_space = draw.number("deletes space", 0, 5) == 0;
        let spaces = if crowd { 1 } else { draw.number("spaces", 1, 2) as usize };
        let clocks_differ = !local && draw.number("clocks", 0, 2) == 0;
        let clock_spread = if clocks_differ { draw.number("clock spread", 1, 5) } else { 0 };
        let uses_up_runs = clocks_differ && !crowd && draw.number("few runs", 0, 1) == 0;
        Self {
            local,
            processes: if local { 1 } else { draw.number("processes", 2, 4) as usize },
            people: if crowd { 1 } else { draw.number("people", 1, 3) as usize },
            agents: agents as usize,
            // Another space stays.
            spaces: if deletes_space && !crowd { 2 } else { spaces },
            depth: depth as u32,
            // An admin agent needs another agent, and would trigger few agents of a crowd.
            policy: [
                if has_router { "router" } else { "all" },
                "all",
                "mention",
                if agents == 1 || crowd { "all" } else { "admin" },
            ][draw.number("policy", 0, 3) as usize],
            gate: ["off", "off", "on", "shadow"][draw.number("gate", 0, 3) as usize],
            actions: if crowd { 2 } else { draw.number("actions", 4, 8) as usize },
            clock_spread: Duration::from_secs(clock_spread),
            space_runs: uses_up_runs.then(|| draw.number("space runs", 2, 4) as u32),
            budget: budget(draw.number("budget", 0, 8), draw.number("budget tokens", 0, 2)),
            partition_limits: (limits == 0)
                .then(|| few_units(draw.number("partition writes", 40, 60))),
            deletes_space,
            watched_posts: if watches { 2 } else { 0 },
            redrives: crowd || draw.number("redrives", 0, 3) == 0,
            fault_rates: FaultRates::from_seed(chance),
            ..Self::with_features(&draw, crowd)
        }
    }

    /// Draws which features of the product a seed uses.
    fn with_features(draw: &Draw<'_>, crowd: bool) -> Self {
        let is_large = draw.number("large rooms", 0, 3) == 0;
        let empties = !crowd && draw.number("empties", 0, 5) == 0;
        let empties = empties.then_some(SHORTLY_KEPT);
        let searches = !crowd && draw.number("searches", 0, 5) == 0;
        let has_small_window = draw.number("context window", 0, 3) == 0;
        Self {
            // Agents search only what is older than their windows.
            window: if searches { 8 } else { [50, 50, 8][draw.number("window", 0, 2) as usize] },
            // An answer may take two minutes, so that short invocations requeue long runs.
            invocation: Duration::from_secs(
                [900, 150, 122][draw.number("invocation", 0, 2) as usize],
            ),
            tools: draw.number("tools", 0, 5) != 0,
            outside: draw.number("outside", 0, 3) != 0,
            approvals: !crowd && draw.number("approvals", 0, 2) == 0,
            plans: !crowd && draw.number("plans", 0, 2) != 0,
            services: !crowd && draw.number("services", 0, 2) != 0,
            remote: !crowd && draw.number("remote", 0, 4) == 0,
            changes: !crowd && draw.number("changes", 0, 2) == 0,
            searches,
            applies: !crowd && draw.number("applies", 0, 4) == 0,
            files: !crowd && draw.number("files", 0, 3) == 0,
            empties: empties.is_some(),
            empty_spaces_kept: empties.unwrap_or(EMPTY_SPACES_KEPT),
            append_limit: [FEW_APPENDS, AppendLimit::SPACE]
                [draw.number("append limit", 0, 4).min(1) as usize],
            burst: 1,
            room_limits: if is_large { few_connections(draw.0) } else { RoomLimits::SPACE },
            // Somebody may join in the middle of a slow answer.
            slow_answers: if is_large && !crowd { 400 } else { 50 },
            slow_summaries: draw.number("slow summaries", 0, 2) == 0,
            words: if is_large && !crowd { 12 } else { 6 },
            // At least the depth limit of every space.
            agent_depth: if crowd { 5 } else { 3 },
            auto_replies: [3, 3, 3, 1][draw.number("auto replies", 0, 3) as usize],
            writes: draw.number("writes", 0, 3) == 0,
            ends_after_send: draw.number("ends after send", 0, 3) < 2,
            questions: !crowd && draw.number("questions", 0, 2) == 0,
            reminders: !crowd && draw.number("reminders", 0, 3) == 0,
            context_window: if has_small_window { SMALL_WINDOW } else { 200_000 },
            mode: ["parallel", "coalesce", "queue", "coalesce", "latest"]
                [draw.number("mode", 0, 4) as usize],
            max_runs: [5, 5, 1, 2][draw.number("max runs", 0, 3) as usize],
            floods: 250,
            stops: if !crowd && draw.number("stops", 0, 7) == 0 { 150 } else { 0 },
            ..Self::quiet()
        }
    }
}

/// The random numbers of the parameters.
struct Draw<'a>(&'a Chance);

impl Draw<'_> {
    fn number(&self, name: &str, from: u64, to: u64) -> u64 {
        from + self.0.below(&format!("parameters/{name}"), to - from + 1)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetOf {
    /// Each agent's.
    Agents,
    /// Each space's.
    Spaces,
    Deployment,
}

impl BudgetOf {
    /// The scope that pays for a run, as keys name it.
    pub(crate) fn of(self, run: &Value) -> Option<String> {
        match self {
            Self::Agents => run["agentId"].as_str().map(str::to_owned),
            Self::Spaces => run["spaceId"].as_str().map(str::to_owned),
            Self::Deployment => Some("ALL".to_owned()),
        }
    }
}

/// A budget of tokens per day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBudget {
    pub scope: BudgetOf,
    pub tokens: u64,
}

impl TokenBudget {
    /// The tokens, if it is the budget of `scope`.
    pub(crate) fn of(self, scope: BudgetOf) -> Option<u64> {
        (self.scope == scope).then_some(self.tokens)
    }
}

/// A budget in three of nine seeds. It has room for one call, for a few at the same time, or for
/// most calls of a seed.
fn budget(scope: u64, tokens: u64) -> Option<TokenBudget> {
    let scope = [BudgetOf::Agents, BudgetOf::Spaces, BudgetOf::Deployment].get(scope as usize)?;
    Some(TokenBudget { scope: *scope, tokens: [12_000, 30_000, 100_000][tokens as usize] })
}

/// Units of a partition: so few that a handful of messages uses them up, but enough for the
/// transaction that adds all members to a space.
fn few_units(write: u64) -> Units {
    Units { write: write as f64, read: 3.0 * write as f64 }
}

/// Limits at which one connection or two make a room large.
fn few_connections(chance: &Chance) -> RoomLimits {
    RoomLimits {
        direct: chance.below("parameters/direct connections", 2) as usize,
        per_job: 1 + chance.below("parameters/connections of a job", 2) as usize,
    }
}
