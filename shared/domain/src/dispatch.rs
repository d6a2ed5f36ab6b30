//! The dispatch of a message: which agents it triggers.
//!
//! It is decided and stored once: with the message, or by `trigger` afterwards, if a router is
//! asked or the transaction would be too large.

mod addressing;
mod best;
mod chain_ended;
mod gating;
mod partner;
mod routing;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use self::gating::Choosing;
pub use self::{
    addressing::Addressing,
    best::Best,
    chain_ended::{ChainEnded, ChainLimit},
    gating::{Gating, scored, stopped_by_depth},
    partner::{Earlier, partner},
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
    mentions::Mention,
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
    /// The message's chain was stopped in the space.
    ChainStopped,
    /// The message's chain depth has reached `maxChainDepth` of the space or of the agent.
    ChainDepth,
    /// The space's `triggerPolicy` does not select the agent.
    Policy,
    /// The space's gate or router did not choose the agent.
    Router,
    /// The space's policy is `admin`, its admin agent has left, and the message does not mention
    /// the agent.
    NoAdmin,
    /// Messages of agents that do not name it have started `maxAutoReplies` runs of the agent since
    /// the last outside cause: the message of a person, or of a run of a plan or a service.
    AutoReplies,
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
            Self::ChainStopped => "chain_stopped",
            Self::ChainDepth => "chain_depth",
            Self::Policy => "policy",
            Self::Router => "router",
            Self::NoAdmin => "no_admin",
            Self::AutoReplies => "auto_replies",
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
    /// most, the router's words for its choice, how often the agent has answered agents, or whose
    /// budget is used, and until when. Absent if there is nothing to add.
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
    /// The member's name.
    pub name: &'a str,
    /// The agent's limits; `None` for people.
    pub wake_limits: Option<&'a WakeLimits>,
    /// The agent's runs of this minute, as far as this process knows them.
    pub window: Option<&'a RateWindow>,
    /// Whether the agent has so many active runs that it takes no more.
    pub is_busy: bool,
    /// Whether the message joins a queued run of the agent. Then it starts no run, and none counts.
    pub joins: bool,
    /// How many runs of the agent are auto replies since the last outside cause. `None` if a new
    /// run would not count: the agent has no lane, or the message joins a queued run.
    pub auto_replies: Option<u32>,
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
    /// The mentions in the text.
    pub mentions: &'a [Mention],
    /// The chain depth.
    pub chain_depth: u32,
    /// Whether its chain was stopped in the space.
    pub chain_stopped: bool,
    /// For a message of an agent that is no outside cause: the `seq` of the last outside cause, 0
    /// if there was none.
    pub auto_since: Option<u64>,
    /// The agent with which the sender talked last, if the space's policy asks for it.
    pub partner: Option<EntityId>,
    /// The member to whose message it replies; `None` if that is the sender itself.
    pub reply_to: Option<EntityId>,
    /// Whether it replies to a message that has expired, so that nobody knows to whom.
    pub replies_to_expired: bool,
}

impl<'a> IncomingMessage<'a> {
    /// A text from `sender` without mentions, without regard to the messages before it.
    pub fn new(sender: &Sender, text: &'a str, chain_depth: u32) -> Self {
        Self {
            sender: sender.id,
            sender_kind: sender.kind,
            text,
            mentions: &[],
            chain_depth,
            chain_stopped: false,
            auto_since: None,
            partner: None,
            reply_to: None,
            replies_to_expired: false,
        }
    }

    /// The reason for which it can't trigger an agent with these limits, whomever it is for.
    fn cannot_wake(&self, space: &SpaceSettings, limits: &WakeLimits) -> Option<Reason> {
        match cannot_wake(space, limits, self.chain_depth) {
            Some(Reason::Paused) => Some(Reason::Paused),
            _ if self.chain_stopped => Some(Reason::ChainStopped),
            reason => reason,
        }
    }

    /// Refuses a run that would be one auto reply too many.
    fn check_auto_replies(
        &self,
        space: &SpaceSettings,
        agent: &Candidate<'_>,
        source: Source,
    ) -> Result<(), Reason> {
        let counts = self.auto_since.is_some() && source.is_auto_reply();
        let is_spent = agent.auto_replies.is_some_and(|runs| runs >= space.max_auto_replies);
        if counts && is_spent { Err(Reason::AutoReplies) } else { Ok(()) }
    }

    /// Whether it is for one agent, or for nobody, because of the message to which it replies.
    fn is_addressed_by_reply(&self, members: &[Candidate<'_>]) -> bool {
        let is_agent = |id| members.iter().any(|it| it.id == id && it.wake_limits.is_some());
        self.replies_to_expired || self.reply_to.is_some_and(is_agent)
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
    /// The agents of which a run starts, and the bucket of the agent's own quota that it is taken
    /// from. A message that joins a queued run takes none.
    pub taken: Vec<(EntityId, Bucket)>,
    /// The agents among which the space's router chooses. If there are any, it has to be asked
    /// before the decision is final.
    pub asks_router: Vec<EntityId>,
    /// How many of these agents it may choose.
    pub left_for_router: usize,
    /// How many runs the space's window counts.
    pub counted: usize,
    /// The limit that ends the chain with this message.
    pub chain_ended: Option<ChainEnded>,
}

/// Decides for each agent except the sender whether `incoming` triggers it.
///
/// `run_of` gives the id of a triggered agent's run. `gating` has the scores of the agents that the
/// message does not address. `window` counts the runs of the space. Of the agents among which the
/// router chooses, it counts one that would start, so that questions are limited, too.
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
    let addressing = Addressing::of_message(&incoming, members);
    let choosing = Choosing::new(space, members, &incoming, routing, gating);
    let mut decided = Decided { left_for_router: choosing.left_for_router, ..Decided::default() };
    let mut asked_to_start = 0;
    for agent in members {
        let Some(limits) = agent.wake_limits else { continue };
        if agent.id == incoming.sender {
            continue;
        }
        let meant = addressing.source(agent.id, space, incoming.sender_kind);
        let selected = incoming.cannot_wake(space, limits).map_or(Ok(()), Err).and(meant);
        let verdict = choosing.verdict(agent.id, selected);
        let room = room(space, agent, limits, window, &user);
        let obstacle = obstacle(agent, verdict.is_left_out);
        let woken = verdict.selected.and_then(|source| {
            incoming.check_auto_replies(space, agent, source)?;
            let room = room.map_err(|_| Reason::Rate)?;
            obstacle.map_or(Ok(()), Err)?;
            if verdict.is_asked {
                decided.asks_router.push(agent.id);
            }
            if let Room::Starts { own_bucket, space_bucket } = room {
                asked_to_start += usize::from(verdict.is_asked);
                if !verdict.is_asked || asked_to_start == 1 {
                    window.count(space_bucket, &user);
                    decided.counted += 1;
                }
                decided.taken.push((agent.id, own_bucket));
            }
            Ok(source)
        });
        let is_wanted = meant.is_ok_and(|source| choosing.would_choose(agent.id, source, woken));
        if is_wanted && obstacle.is_none() && incoming.sender_kind == EntityType::Agent {
            decided.stopped(space, limits, woken, room);
        }
        decided.dispatch.push(Dispatch {
            agent_id: agent.id,
            run_id: woken.is_ok().then(|| run_of(agent.id)),
            source: woken.ok(),
            reason: woken.err(),
            reason_text: reason_text(woken, agent, &incoming, verdict.words_for(woken)),
        });
    }
    decided.chain_ended = decided.chain_ended.filter(|_| decided.woken() == 0);
    decided
}

impl Decided {
    /// How many agents the message triggers. It may join queued runs of some of them.
    pub fn woken(&self) -> usize {
        self.dispatch.iter().filter(|entry| entry.run_id.is_some()).count()
    }
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
    incoming: &IncomingMessage<'_>,
    words: Option<String>,
) -> Option<String> {
    match woken {
        Err(Reason::AutoReplies) => {
            let since = incoming.auto_since.filter(|since| *since > 0);
            let since = since.map_or_else(|| "the beginning".into(), |seq| format!("#{seq}"));
            let runs = agent.auto_replies.unwrap_or(0);
            let answers = if runs == 1 { "answer" } else { "answers" };
            Some(format!("{runs} {answers} to agents since {since}"))
        }
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

/// What a message takes of the quotas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Room {
    /// Nothing: it joins a queued run.
    Joins,
    /// A run of the agent and of the space.
    Starts { own_bucket: Bucket, space_bucket: Bucket },
}

/// What a run of an agent takes of the quotas.
///
/// # Errors
/// The `runsPerMinute` of the agent or of the space, whichever is used.
fn room(
    space: &SpaceSettings,
    agent: &Candidate<'_>,
    limits: &WakeLimits,
    window: &RateWindow,
    user: &QuotaUser,
) -> Result<Room, u32> {
    if agent.joins {
        return Ok(Room::Joins);
    }
    let own = limits.runs_per_minute;
    let own_bucket = agent.window.map_or(Some(Bucket::Rest), |it| it.room_of_agent(own, user));
    let own_bucket = own_bucket.ok_or(own)?;
    let of_space = space.budget.runs_per_minute;
    let space_bucket = window.room_in_space(of_space, user).ok_or(of_space)?;
    Ok(Room::Starts { own_bucket, space_bucket })
}
