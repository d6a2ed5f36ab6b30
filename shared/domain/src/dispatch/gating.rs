//! What the gate of a space says about the agents that a message does not address, and what follows
//! from it and from the router's choice.

use std::collections::BTreeSet;

use crate::{
    dispatch::{
        Addressing, Candidate, IncomingMessage, Reason, Routing, Source, WakeLimits, obstacle,
    },
    gate::{Gate, GateMode, Would},
    identity::EntityType,
    ids::EntityId,
    spaces::{RouterConfig, SpaceSettings},
};

/// What the gate says when a dispatch is decided.
#[derive(Clone, Copy, Debug)]
pub struct Gating<'a> {
    /// The scores, as they are stored with the message.
    pub gate: &'a Gate,
    /// The reason text of each score, in their order.
    pub texts: &'a [String],
    /// The agents that it would wake, or ask the router about, but for the chain depth.
    pub would_wake: &'a [EntityId],
}

/// The agents that the gate scores: those that a message could wake and does not address.
pub fn scored(
    space: &SpaceSettings,
    members: &[Candidate<'_>],
    incoming: IncomingMessage<'_>,
) -> Vec<EntityId> {
    if !Addressing::of_message(&incoming, members).is_open() {
        return Vec::new();
    }
    agents_with(space, members, incoming, None)
}

/// The agents for which the gate says whether a message ends a chain: those that an agent's message
/// would have to wake but for its chain depth, if the gate alone decides about them.
pub fn stopped_by_depth(
    space: &SpaceSettings,
    members: &[Candidate<'_>],
    incoming: IncomingMessage<'_>,
) -> Vec<EntityId> {
    let ends_chain = incoming.sender_kind == EntityType::Agent && space.gate_decides();
    if !ends_chain || !Addressing::of_message(&incoming, members).is_open() {
        return Vec::new();
    }
    agents_with(space, members, incoming, Some(Reason::ChainDepth))
}

/// The agents besides the sender that cannot be woken for this reason, or can if it is `None`.
fn agents_with(
    space: &SpaceSettings,
    members: &[Candidate<'_>],
    incoming: IncomingMessage<'_>,
    reason: Option<Reason>,
) -> Vec<EntityId> {
    let agents = members.iter().filter_map(|agent| Some((agent, agent.wake_limits?)));
    let has_reason = |&(agent, limits): &(&Candidate<'_>, &WakeLimits)| {
        agent.id != incoming.sender && incoming.cannot_wake(space, limits) == reason
    };
    agents.filter(has_reason).map(|(agent, _)| agent.id).collect()
}

/// What is said about an agent that the policy `router` does not select by itself.
pub(super) struct Verdict {
    /// Whether the agent is woken. `Ok` if nothing knows of it: [`Self::is_left_out`].
    pub(super) selected: Result<Source, Reason>,
    words: Option<String>,
    /// Whether gate and router chose without knowing of the agent: it could not be woken then, and
    /// what keeps it from being woken now is a better reason than the choice.
    pub(super) is_left_out: bool,
    /// Whether the router has to be asked.
    pub(super) is_asked: bool,
}

impl Verdict {
    pub(super) fn new(selected: Result<Source, Reason>, words: Option<String>) -> Self {
        Self { selected, words, is_left_out: false, is_asked: false }
    }

    pub(super) fn asks(selected: Source) -> Self {
        Self { is_asked: true, ..Self::new(Ok(selected), None) }
    }

    pub(super) fn left_out(words: Option<String>) -> Self {
        Self { is_left_out: true, ..Self::new(Ok(Source::Router), words) }
    }

    /// The words about the agent, if they explain its decision: what was chosen may have no room.
    pub(super) fn words_for(self, woken: Result<Source, Reason>) -> Option<String> {
        let expected = if self.is_left_out { Err(Reason::Router) } else { self.selected };
        self.words.filter(|_| woken == expected)
    }
}

/// How the agents are chosen that a message does not address.
pub(super) struct Choosing<'a> {
    routing: Routing<'a>,
    gating: Option<Gating<'a>>,
    /// The agents beyond `maxAgents`, by score.
    cut: BTreeSet<EntityId>,
    max_agents: u32,
    /// How many agents the router may choose.
    pub(super) left_for_router: usize,
}

impl<'a> Choosing<'a> {
    pub(super) fn new(
        space: &SpaceSettings,
        members: &[Candidate<'_>],
        incoming: &IncomingMessage<'_>,
        routing: Routing<'a>,
        gating: Option<Gating<'a>>,
    ) -> Self {
        let max_agents = space
            .router
            .as_ref()
            .map_or_else(|| RouterConfig::default().max_agents, |router| router.max_agents);
        let mut choosing = Self {
            routing,
            gating: gating.filter(|gating| gating.gate.mode == GateMode::On),
            cut: BTreeSet::new(),
            max_agents,
            left_for_router: max_agents as usize,
        };
        choosing.cut_to_most(space, members, incoming);
        choosing
    }

    /// Leaves the agents with the best scores, of those that nothing else keeps from starting.
    fn cut_to_most(
        &mut self,
        space: &SpaceSettings,
        members: &[Candidate<'_>],
        incoming: &IncomingMessage<'_>,
    ) {
        let Some(Gating { gate, .. }) = self.gating else { return };
        let is_free = |agent: &&Candidate<'_>| {
            obstacle(agent, false).is_none()
                && incoming.check_auto_replies(space, agent, Source::Router).is_ok()
        };
        let free: BTreeSet<_> = members.iter().filter(is_free).map(|agent| agent.id).collect();
        let mut chosen = Vec::new();
        let mut asked = Vec::new();
        for score in gate.scores.iter().filter(|score| free.contains(&score.agent_id)) {
            let verdict = self.of_router(score.agent_id);
            if verdict.is_asked {
                asked.push(score.agent_id);
            } else if verdict.selected.is_ok() && !verdict.is_left_out {
                chosen.push((score.score, score.agent_id));
            }
        }
        chosen.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        self.left_for_router = self.left_for_router.saturating_sub(chosen.len());
        self.cut.extend(chosen.iter().skip(self.max_agents as usize).map(|(_, agent)| *agent));
        if self.left_for_router == 0 {
            self.cut.extend(asked);
        }
    }

    /// What follows for an agent that the policy selects for a reason, or does not select: if the
    /// policy is `router`, gate and router decide.
    pub(super) fn verdict(&self, agent: EntityId, selected: Result<Source, Reason>) -> Verdict {
        if selected == Ok(Source::Router) {
            self.of_router(agent)
        } else {
            Verdict::new(selected, None)
        }
    }

    /// Whether an agent that the policy selects for a reason would be woken but for a limit. At
    /// the chain depth the gate has said so.
    pub(super) fn would_choose(
        &self,
        agent: EntityId,
        source: Source,
        woken: Result<Source, Reason>,
    ) -> bool {
        let is_for_gate = source == Source::Router && woken == Err(Reason::ChainDepth);
        let gating = self.gating.filter(|_| is_for_gate);
        gating.is_none_or(|gating| gating.would_wake.contains(&agent))
    }

    /// What gate and router say about an agent.
    fn of_router(&self, agent: EntityId) -> Verdict {
        let Some(Gating { gate, texts, .. }) = self.gating else {
            return self.routing.verdict(agent);
        };
        let scored = gate.scores.iter().zip(texts).find(|(score, _)| score.agent_id == agent);
        let Some((score, text)) = scored else { return Verdict::left_out(None) };
        if self.cut.contains(&agent) {
            let most = self.max_agents;
            let text =
                format!("gate {:.2}: {most} agents (maxAgents) have a better score", score.score);
            return Verdict::new(Err(Reason::Router), Some(text));
        }
        let would = match (score.would, self.routing) {
            (Would::Ask, Routing::Unasked) => return Verdict::asks(Source::Router),
            (Would::Ask, Routing::Failed) => gate.dial.thresholds(false).would(score.score),
            (Would::Ask, _) => return self.routing.verdict(agent),
            (would, _) => would,
        };
        let selected = if would == Would::Wake { Ok(Source::Router) } else { Err(Reason::Router) };
        Verdict::new(selected, Some(text.clone()))
    }
}
