//! The end of a chain: a message of an agent that wakes nobody since agents have talked enough.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    dispatch::{Decided, Dispatch, Reason, Room, Source, WakeLimits},
    ids::EntityId,
    rates::ROUTER_CALLS,
    spaces::SpaceSettings,
    stored::tolerant,
};

/// That a message of an agent would have triggered others but for a limit, and triggers nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChainEnded {
    /// The limit.
    pub by: ChainLimit,
    /// Its number: how many answers in a row it allows, or for `rate`, how many runs in a minute.
    pub limit: u32,
}

/// A limit of what agents may say to each other. If several hold, the first one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", remote = "Self")]
pub enum ChainLimit {
    /// `maxChainDepth` of the space or of the agents.
    Depth,
    /// `maxAutoReplies` of the space.
    AutoReplies,
    /// The runs per minute of the space or of the agents, or how often a router may be asked.
    Rate,
}

tolerant!(ChainLimit);

impl Decided {
    /// Notes the limit without which an agent's message would have triggered an agent.
    pub(super) fn stopped(
        &mut self,
        space: &SpaceSettings,
        limits: &WakeLimits,
        woken: Result<Source, Reason>,
        room: Result<Room, u32>,
    ) {
        let ended = match woken {
            Err(Reason::ChainDepth) => {
                let limit = space.max_chain_depth.min(limits.max_chain_depth);
                ChainEnded { by: ChainLimit::Depth, limit }
            }
            Err(Reason::AutoReplies) => {
                ChainEnded { by: ChainLimit::AutoReplies, limit: space.max_auto_replies }
            }
            Err(Reason::Rate) => {
                ChainEnded { by: ChainLimit::Rate, limit: room.err().unwrap_or(ROUTER_CALLS.burst) }
            }
            _ => return,
        };
        self.chain_ended = Some(ended.or(self.chain_ended));
    }

    /// Takes back that a message triggers `agent`: the runs per minute of the space are
    /// used, and `limit` is their number.
    pub fn refuse_by_rate(&mut self, agent: EntityId, limit: u32, is_of_agent: bool) {
        for entry in self.dispatch.iter_mut().filter(|entry| entry.agent_id == agent) {
            *entry = Dispatch::refused(agent, Reason::Rate);
        }
        if is_of_agent && self.woken() == 0 {
            let ended = ChainEnded { by: ChainLimit::Rate, limit };
            self.chain_ended = Some(ended.or(self.chain_ended));
        }
    }
}

impl ChainEnded {
    /// The end by either of two limits for two agents: the higher number of the first limit.
    pub(super) fn or(self, other: Option<Self>) -> Self {
        match other {
            Some(other) if other.by < self.by => other,
            Some(other) if other.by == self.by => {
                Self { limit: self.limit.max(other.limit), ..self }
            }
            _ => self,
        }
    }
}
