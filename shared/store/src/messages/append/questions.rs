//! Questions of people: one that would wake nobody wakes the agent with the best score.

use smartspace_domain::{
    Time,
    dispatch::{Best, Decided, IncomingMessage, Routing},
    entities::EntityType::Human,
    gate::{self, Score, Talk},
    ids::{EntityId, MessageId, RunId, SpaceId},
    questions::is_question,
    quota::RateWindow,
};

use crate::{
    Messages, Result,
    messages::{
        MessageRecord, Range,
        append::{
            gated::{Details, Gated, line_of, member_of},
            space_as_read::SpaceAsRead,
        },
    },
    spaces::rosters::{MemberRecord, Roster},
};

/// A new message that may be a question.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question<'a> {
    pub(super) id: MessageId,
    pub(super) incoming: IncomingMessage<'a>,
    pub(super) details: Details<'a>,
    /// Whether it is a question that is not left to silence.
    pub(super) asks: bool,
}

impl SpaceAsRead {
    /// Whether a message is a question of a person that is not left to silence.
    pub(super) fn is_question(&self, message: &IncomingMessage<'_>) -> bool {
        if message.sender_kind != Human || !self.space.settings.answers_questions() {
            return false;
        }
        // A reply is for the one to whom it replies.
        if message.reply_to.is_some() || message.replies_to_expired {
            return false;
        }
        let sender = Some(message.sender);
        let mentions_other = message.mentions.iter().any(|mention| mention.entity_id != sender);
        let members = self.roster.members.iter().filter(|it| it.kind == Human);
        let people = members.filter(|it| it.entity_id != message.sender);
        is_question(message.text, mentions_other, people.map(|it| it.name.as_str()))
    }

    /// Decides which agents a new message triggers, before a router is asked.
    pub(super) fn decide_new(
        &self,
        question: &Question<'_>,
        gated: Option<&Gated>,
        minute: &mut RateWindow,
        now: Time,
    ) -> Decided {
        let Question { id, incoming, details, asks } = *question;
        let gating = gated.map(Gated::gating);
        let mut decided = self.decide(id, incoming, Routing::Unasked, gating, minute, now);
        let left_out = decided.all_left_out();
        if !asks || left_out.is_empty() {
            return decided;
        }
        let scores = match gated {
            Some(gated) => gated.gate.scores.iter().map(|it| (it.agent_id, it.score)).collect(),
            None => pairs(&self.scores(incoming, details, &left_out, now)),
        };
        self.wake_best(&mut decided, id, incoming, &scores, minute, now);
        decided
    }

    /// Wakes the agent with the best score, if the message wakes nobody.
    pub(super) fn wake_best(
        &self,
        decided: &mut Decided,
        id: MessageId,
        incoming: IncomingMessage<'_>,
        scores: &[(EntityId, f64)],
        minute: &mut RateWindow,
        created_at: Time,
    ) {
        let settings = &self.space.settings;
        let scores = &by_join(&self.roster, scores.to_vec());
        let best = Best { scores, threshold: settings.gate.dial.thresholds(false).wake };
        let run_of = |agent| RunId::of_message(agent, id, created_at);
        decided.wake_best(best, settings, &self.candidates(incoming), incoming, minute, run_of);
    }
}

impl Messages<'_> {
    /// The scores of some agents for a stored message, in the order in which they joined. If it has
    /// no scores of them, as a message that speaks to somebody, they are computed from it and the
    /// messages before it.
    pub(crate) async fn scores(
        self,
        space: SpaceId,
        message: &MessageRecord,
        roster: &Roster,
        agents: &[EntityId],
    ) -> Result<Vec<(EntityId, f64)>> {
        if let Some(gate) = &message.gate {
            let known = gate.scores.iter().filter(|score| agents.contains(&score.agent_id));
            let known: Vec<_> = known.map(|score| (score.agent_id, score.score)).collect();
            if known.len() == agents.len() {
                return Ok(by_join(roster, known));
            }
        }
        let before = self.records(space, Range::Before(message.seq), gate::WINDOW).await?;
        let mut members: Vec<&MemberRecord> = roster.members.iter().collect();
        members.sort_by_key(|member| (member.joined_at, member.entity_id));
        let before: Vec<_> = before.iter().map(|record| line_of(record, &members)).collect();
        let message = line_of(message, &members);
        let members: Vec<_> = members.into_iter().map(member_of).collect();
        let talk = Talk { before: &before, message: &message, members: &members };
        Ok(by_join(roster, pairs(&gate::scores(&talk, agents))))
    }
}

/// The scores in the order in which the agents joined: of equal scores the first one counts.
fn by_join(roster: &Roster, mut scores: Vec<(EntityId, f64)>) -> Vec<(EntityId, f64)> {
    scores.sort_by_key(|(agent, _)| (roster.member(*agent).map(|it| it.joined_at), *agent));
    scores
}

fn pairs(scores: &[Score]) -> Vec<(EntityId, f64)> {
    scores.iter().map(|score| (score.agent_id, score.score)).collect()
}
