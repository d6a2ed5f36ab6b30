//! A question that would wake nobody wakes the agent with the best score.

use crate::{
    dispatch::{Candidate, Decided, IncomingMessage, Reason, Room, Source, obstacle, room},
    ids::{EntityId, RunId},
    quota::RateWindow,
    spaces::SpaceSettings,
};

/// What decides about a question that wakes nobody.
#[derive(Clone, Copy, Debug)]
pub struct Best<'a> {
    /// The scores of agents. Of equal scores the first one counts.
    pub scores: &'a [(EntityId, f64)],
    /// The score from which the gate of the space wakes an agent.
    pub threshold: f64,
}

impl Best<'_> {
    /// The agents from the best score on.
    pub fn order(scores: &[(EntityId, f64)]) -> Vec<(EntityId, f64)> {
        let mut order = scores.to_vec();
        order.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        order
    }

    fn reason_text(&self, best: f64) -> String {
        if best < self.threshold {
            format!("nobody reached {:.2}; best is {best:.2}", self.threshold)
        } else {
            format!("nobody was chosen; best is {best:.2}")
        }
    }
}

impl Decided {
    /// The agents that a message could wake and does not, if it wakes nobody.
    pub fn all_left_out(&self) -> Vec<EntityId> {
        if self.woken() > 0 {
            return Vec::new();
        }
        let is_left_out = |reason| matches!(reason, Some(Reason::Router | Reason::Policy));
        let left_out = self.dispatch.iter().filter(|entry| is_left_out(entry.reason));
        left_out.map(|entry| entry.agent_id).collect()
    }

    /// Wakes the agent with the best score that has room for a run. `window` counts the runs of the
    /// space.
    pub fn wake_best(
        &mut self,
        best: Best<'_>,
        space: &SpaceSettings,
        members: &[Candidate<'_>],
        incoming: IncomingMessage<'_>,
        window: &mut RateWindow,
        run_of: impl Fn(EntityId) -> RunId,
    ) {
        let user = incoming.quota_user();
        let left_out = self.all_left_out();
        for (agent_id, score) in Best::order(best.scores) {
            let agent = members.iter().find(|member| member.id == agent_id);
            let Some((agent, limits)) = agent.and_then(|it| Some((it, it.wake_limits?))) else {
                continue;
            };
            let room = room(space, agent, limits, window, &user);
            let is_free = left_out.contains(&agent_id) && obstacle(agent, false).is_none();
            let entry = self.dispatch.iter_mut().find(|entry| entry.agent_id == agent_id);
            let (Ok(room), Some(entry)) = (room, entry.filter(|_| is_free)) else {
                continue;
            };
            entry.run_id = Some(run_of(agent_id));
            entry.source = Some(Source::Router);
            entry.reason = None;
            entry.reason_text = Some(best.reason_text(score));
            if let Room::Starts { own_bucket, space_bucket } = room {
                self.taken.push((agent_id, own_bucket));
                window.count(space_bucket, &user);
                self.counted += 1;
            }
            return;
        }
    }
}
