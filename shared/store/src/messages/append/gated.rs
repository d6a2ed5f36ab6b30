//! The scores that a message gets from the gate of its space.

use smartspace_domain::{
    Time,
    dispatch::{Gating, IncomingMessage, scored, stopped_by_depth},
    gate::{self, Gate, Line, Member, Score, Talk, Would},
    ids::EntityId,
    limits::TIMELINE_CHARS,
    mentions::Mention,
    messages::{Origin, excerpt},
    triggers::Trigger,
};

use crate::{
    messages::{
        MessageRecord,
        append::{MessageSource, NewMessage, space_as_read::SpaceAsRead},
    },
    spaces::rosters::MemberRecord,
};

/// What the gate says about a message.
#[derive(Clone, Debug)]
pub(super) struct Gated {
    /// The scores, as they are stored.
    pub(super) gate: Gate,
    /// The reason text of each score.
    pub(super) texts: Vec<String>,
    /// The agents that it would wake, or ask the router about, but for the chain depth.
    would_wake: Vec<EntityId>,
}

impl Gated {
    pub(super) fn gating(&self) -> Gating<'_> {
        Gating { gate: &self.gate, texts: &self.texts, would_wake: &self.would_wake }
    }
}

/// What the gate reads of a new message besides its text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Details<'a> {
    origin: Option<&'a Origin>,
    has_file: bool,
}

impl<'a> Details<'a> {
    pub(super) fn of(new: &'a NewMessage) -> Self {
        let origin = match &new.by {
            MessageSource::Run(by) => Some(&by.origin),
            MessageSource::External { .. } => None,
        };
        Self { origin, has_file: !new.files.is_empty() }
    }
}

impl SpaceAsRead {
    /// What the gate says about a message, if the space has a gate. The message is the next one of
    /// the space.
    pub(super) fn gated(
        &self,
        message: IncomingMessage<'_>,
        details: Details<'_>,
        now: Time,
    ) -> Option<Gated> {
        let settings = &self.space.settings;
        if !settings.has_gate() {
            return None;
        }
        let members = self.candidates(message);
        let agents = scored(settings, &members, message);
        let scores = self.scores(message, details, &agents, now);
        let gate = Gate::new(settings.gate, self.has_router_model, &scores);
        let thresholds = settings.gate.dial.thresholds(self.has_router_model);
        let stopped = stopped_by_depth(settings, &members, message);
        let mut would_wake = self.scores(message, details, &stopped, now);
        would_wake.retain(|score| thresholds.would(score.score) != Would::Silent);
        Some(Gated {
            gate,
            texts: scores.iter().map(Score::reason_text).collect(),
            would_wake: would_wake.into_iter().map(|score| score.agent_id).collect(),
        })
    }

    /// The scores of some agents for the next message of the space.
    pub(super) fn scores(
        &self,
        message: IncomingMessage<'_>,
        details: Details<'_>,
        agents: &[EntityId],
        now: Time,
    ) -> Vec<Score> {
        if agents.is_empty() {
            return Vec::new();
        }
        // A space lists its members by id.
        let mut members: Vec<&MemberRecord> = self.roster.members.iter().collect();
        members.sort_by_key(|member| (member.joined_at, member.entity_id));
        let before: Vec<_> = self.talk.iter().map(|record| line_of(record, &members)).collect();
        let parent = message.reply_to;
        let message = Line {
            seq: self.head.seq + 1,
            at: now,
            sender: message.sender,
            // The record of a message has as much of its text.
            text: excerpt(message.text, TIMELINE_CHARS).0,
            named: named(message.mentions, &members),
            reply_to: parent,
            answers: answered(details.origin),
            has_file: details.has_file,
        };
        let members: Vec<_> = members.into_iter().map(member_of).collect();
        gate::scores(&Talk { before: &before, message: &message, members: &members }, agents)
    }
}

/// A stored message as the gate reads it. The text of a card is the progress of its call, which
/// nobody has written.
pub(super) fn line_of<'a>(record: &'a MessageRecord, members: &[&MemberRecord]) -> Line<'a> {
    let text = if record.card.is_some() { "" } else { record.text.as_str() };
    Line {
        seq: record.seq,
        at: record.created_at,
        sender: record.sender.id,
        text,
        named: named(&record.mentions, members),
        reply_to: record.reply_to.and_then(|parent| parent.sender_id),
        answers: answered(record.origin.as_ref()),
        has_file: !record.files.is_empty(),
    }
}

pub(super) fn member_of(member: &MemberRecord) -> Member<'_> {
    Member { id: member.entity_id, name: &member.name, description: member.about.as_deref() }
}

/// The members that a text mentions by name, each once.
fn named(mentions: &[Mention], members: &[&MemberRecord]) -> Vec<EntityId> {
    let is_named = |id| mentions.iter().any(|mention| mention.entity_id == Some(id));
    members.iter().map(|member| member.entity_id).filter(|id| is_named(*id)).collect()
}

/// The sender of the message that triggered the run with this origin.
fn answered(origin: Option<&Origin>) -> Option<EntityId> {
    match &origin?.trigger {
        Trigger::SpaceMessage { sender, .. } => Some(sender.id),
        _ => None,
    }
}
