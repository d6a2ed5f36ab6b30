//! The dispatch of a message: which agents it triggers.
//!
//! It is decided and stored once: with the message, or by `trigger` afterwards, if a router is
//! asked or the transaction would be too large.

mod addressing;
mod gating;
mod routing;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use self::{
    addressing::Addressing,
    gating::{Choosing, Verdict},
};
pub use self::{
    gating::{Gating, scored},
    routing::{Choice, Routed, Routing},
};
pub use crate::triggers::Source;
use crate::{
    agents::ConcurrencyMode,
    budgets::{BudgetScope, DailyLimit},
    days::Day,
    identity::{EntityType, Sender},
    ids::{EntityId, RunId},
    limits::ACTIVE_RUNS,
    mentions,
    quota::{Bucket, QuotaUser, RateWindow},
    spaces::SpaceSettings,
    stored::tolerant,
};

/// Why a message did not trigger an agent. If several reasons apply, the first one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", remote = "Self")]
pub enum Reason {
    /// The agent or the space is paused.
    Paused,
    /// The message's chain depth has reached `maxChainDepth` of the space or of the agent.
    ChainDepth,
    /// The space's `triggerPolicy` does not select the agent.
    Policy,
    /// The space's gate or router did not choose the agent.
    Router,
    /// The space's policy is `admin`, its admin agent has left, and the message does not mention
    /// the agent.
    NoAdmin,
    /// The runs per minute of the space or of the agent are used.
    Rate,
    /// The budget of the agent, the space or the deployment for today is used.
    Budget,
    /// The agent has 50 active runs.
    Busy,
}

tolerant!(Reason);

impl Reason {
    /// The reason as the API writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Paused => "paused",
            Self::ChainDepth => "chain_depth",
            Self::Policy => "policy",
            Self::Router => "router",
            Self::NoAdmin => "no_admin",
            Self::Rate => "rate",
            Self::Budget => "budget",
            Self::Busy => "busy",
        }
    }
}

/// The decision for one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Dispatch {
    /// The agent.
    pub agent_id: EntityId,
    /// The run that the message triggers; null if it triggers none.
    #[schema(required)]
    pub run_id: Option<RunId>,
    /// Why the message triggers the agent; absent if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// Why the message does not trigger the agent; absent if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// More about `reason` or `source`, at most 300 characters: the gate's score and what moved it
    /// most, the router's words for its choice, or whose budget is used, and until when. Absent if
    /// there is nothing to add.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason_text: Option<String>,
}

impl Dispatch {
    /// The decision not to trigger an agent.
    pub fn refused(agent_id: EntityId, reason: Reason) -> Self {
        Self { agent_id, run_id: None, source: None, reason: Some(reason), reason_text: None }
    }
}

/// The parts of an agent's configuration that decide about a dispatch. They are stored apart from
/// the rest, because they are read for every message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WakeLimits {
    /// Whether the agent is paused.
    pub paused: bool,
    /// A message of this chain depth or more does not trigger the agent.
    pub max_chain_depth: u32,
    /// What a trigger does while a run is active.
    pub mode: ConcurrencyMode,
    /// The largest number of runs that work at the same time.
    pub max_runs: u32,
    /// Runs per minute.
    pub runs_per_minute: u32,
    /// What the agent may spend in a day.
    #[serde(default, skip_serializing_if = "DailyLimit::is_none")]
    pub per_day: DailyLimit,
    /// The model (`provider/model`) that its runs ask. `None` for a remote agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// A member of the space, as a dispatch sees it.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The member.
    pub id: EntityId,
    /// The member's name, for mentions.
    pub name: &'a str,
    /// The agent's limits; `None` for people.
    pub wake_limits: Option<&'a WakeLimits>,
    /// The agent's runs of this minute, as far as this process knows them.
    pub window: Option<&'a RateWindow>,
    /// Whether the agent has so many active runs that it takes no more.
    pub is_busy: bool,
    /// The budget that is used, if one is that the agent's run would be paid from.
    pub used_budget: Option<(BudgetScope, Day)>,
}

/// A message to be dispatched.
#[derive(Clone, Copy, Debug)]
pub struct IncomingMessage<'a> {
    /// The sender.
    pub sender: EntityId,
    /// Whether the sender is a person or an agent.
    pub sender_kind: EntityType,
    /// The text.
    pub text: &'a str,
    /// The chain depth.
    pub chain_depth: u32,
}

impl<'a> IncomingMessage<'a> {
    /// A text from `sender`.
    pub fn new(sender: &Sender, text: &'a str, chain_depth: u32) -> Self {
        Self { sender: sender.id, sender_kind: sender.kind, text, chain_depth }
    }

    /// Whose share of the quota the runs use that the message triggers.
    pub fn quota_user(&self) -> QuotaUser {
        QuotaUser::member(self.sender, self.sender_kind == EntityType::Human)
    }
}

/// The outcome of [`decide`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decided {
    /// The decision for each agent.
    pub dispatch: Vec<Dispatch>,
    /// The triggered agents, and the bucket of the agent's own quota that the run is taken from.
    pub taken: Vec<(EntityId, Bucket)>,
    /// The agents among which the space's router chooses. If there are any, it has to be asked
    /// before the decision is final.
    pub asks_router: Vec<EntityId>,
    /// How many of these agents it may choose.
    pub left_for_router: usize,
    /// How many runs the space's window counts.
    pub counted: usize,
}

/// Decides for each agent except the sender whether `incoming` triggers it.
///
/// `run_of` gives the id of a triggered agent's run. `gating` has the scores of the agents that the
/// message does not address. `window` counts the runs of the space. Of the agents among which the
/// router chooses, it counts one, so that questions are limited, too.
pub fn decide(
    space: &SpaceSettings,
    members: &[Candidate<'_>],
    incoming: IncomingMessage<'_>,
    routing: Routing<'_>,
    gating: Option<Gating<'_>>,
    window: &mut RateWindow,
    run_of: impl Fn(EntityId) -> RunId,
) -> Decided {
    let user = incoming.quota_user();
    let agents = || members.iter().filter(|member| member.wake_limits.is_some());
    let mentions = mentions::find(incoming.text, agents().map(|agent| agent.name));
    let choosing = Choosing::new(space, members, routing, gating);
    let mut decided = Decided { left_for_router: choosing.left_for_router, ..Decided::default() };
    for (index, agent) in agents().enumerate() {
        let Some(limits) = agent.wake_limits else { continue };
        if agent.id == incoming.sender {
            continue;
        }
        let addressing = Addressing {
            is_mentioned: mentions.includes(index),
            mentions_anyone: mentions.all || !mentions.named.is_empty(),
            is_pair: members.len() == 2,
        };
        let selected = cannot_wake(space, limits, incoming.chain_depth)
            .map_or(Ok(()), Err)
            .and_then(|()| addressing.source(agent.id, space, incoming.sender_kind));
        let verdict = if selected == Ok(Source::Router) {
            choosing.verdict(agent.id)
        } else {
            Verdict::new(selected, None)
        };
        let woken = verdict.selected.and_then(|source| {
            let (own_bucket, space_bucket) =
                room(space, agent, limits, window, &user).ok_or(Reason::Rate)?;
            if let Some(reason) = obstacle(agent, verdict.is_left_out) {
                return Err(reason);
            }
            if verdict.is_asked {
                decided.asks_router.push(agent.id);
            }
            if !verdict.is_asked || decided.asks_router.len() == 1 {
                window.count(space_bucket, &user);
                decided.counted += 1;
            }
            decided.taken.push((agent.id, own_bucket));
            Ok(source)
        });
        decided.dispatch.push(Dispatch {
            agent_id: agent.id,
            run_id: woken.is_ok().then(|| run_of(agent.id)),
            source: woken.ok(),
            reason: woken.err(),
            reason_text: reason_text(woken, agent, verdict.words_for(woken)),
        });
    }
    decided
}

/// Why an agent does not start although its quotas have room for a run.
fn obstacle(agent: &Candidate<'_>, is_left_out: bool) -> Option<Reason> {
    if agent.used_budget.is_some() {
        Some(Reason::Budget)
    } else if agent.is_busy {
        Some(Reason::Busy)
    } else {
        is_left_out.then_some(Reason::Router)
    }
}

/// What is said about a decision besides its reason. `words` are those of the gate or the router.
fn reason_text(
    woken: Result<Source, Reason>,
    agent: &Candidate<'_>,
    words: Option<String>,
) -> Option<String> {
    match woken {
        Ok(_) | Err(Reason::Router | Reason::Rate) => words,
        Err(Reason::Budget) => agent.used_budget.map(|(scope, day)| scope.used_text(day)),
        Err(Reason::Busy) => Some(format!("{ACTIVE_RUNS} of its runs are at work or wait")),
        Err(_) => None,
    }
}

/// The reason for which no message of this chain depth can trigger an agent in a space.
pub fn cannot_wake(space: &SpaceSettings, limits: &WakeLimits, chain_depth: u32) -> Option<Reason> {
    if space.paused || limits.paused {
        Some(Reason::Paused)
    } else if chain_depth >= space.max_chain_depth.min(limits.max_chain_depth) {
        Some(Reason::ChainDepth)
    } else {
        None
    }
}

/// The buckets of the quotas of the agent and of the space from which a run can be taken. Returns
/// `None` if one of them is used.
fn room(
    space: &SpaceSettings,
    agent: &Candidate<'_>,
    limits: &WakeLimits,
    window: &RateWindow,
    user: &QuotaUser,
) -> Option<(Bucket, Bucket)> {
    let own_bucket = agent
        .window
        .map_or(Some(Bucket::Rest), |own| own.room_of_agent(limits.runs_per_minute, user))?;
    let space_bucket = window.room_in_space(space.budget.runs_per_minute, user)?;
    Some((own_bucket, space_bucket))
}
