//! Writes `TRIGGER`: why the agent runs.

use smartspace_domain::triggers::Trigger;

use crate::prompt::{
    lines::joined,
    quoted::{CutText, Json, Name, PAYLOAD_CHARS, Quoted},
    reading::SpaceContext,
};

/// Writes why the agent runs. `place` is the space of the message that triggered it.
pub(super) fn trigger(trigger: &Trigger, place: Option<&SpaceContext>) -> String {
    match trigger {
        Trigger::SpaceMessage {
            source,
            space_id,
            space_name,
            message_id,
            sender,
            text,
            at,
            delegated_by,
            note,
            ..
        } => {
            let more = place.map_or(0, |place| place.trigger.more_chars);
            let by = delegated_by.as_ref().map_or_else(String::new, |by| {
                format!("  delegatedBy: {} ({}, id: {})\n", Name(&by.name), by.kind.as_str(), by.id)
            });
            let note = note
                .as_ref()
                .map_or_else(String::new, |note| format!("  note: {}\n", Quoted(note)));
            let joined = match joined(place) {
                joined if joined.is_empty() => joined,
                joined => format!("  {joined}"),
            };
            format!(
                "TRIGGER:\n  type: space_message\n  source: {}\n{by}{note}  \
                 space: {} (id: {space_id})\n  sender: {} ({}, id: {})\n  message: {}\n  \
                 messageId: {message_id}\n  at: {}\n{joined}",
                source.as_str(),
                Quoted(space_name),
                Name(&sender.name),
                sender.kind.as_str(),
                sender.id,
                CutText { text, more },
                at.to_whole_seconds(),
            )
        }
        Trigger::Plan { plan_id, name, instruction, scheduled_at, missed } => {
            let missed = if *missed > 0 { format!("  missed: {missed}\n") } else { String::new() };
            format!(
                "TRIGGER:\n  type: plan\n  plan: {} (id: {plan_id})\n  \
                 instruction: {}\n  scheduledAt: {}\n{missed}",
                Quoted(name),
                Quoted(instruction),
                scheduled_at.to_whole_seconds(),
            )
        }
        Trigger::Service { service, payload, .. } => {
            let payload = Json { value: payload, max_chars: PAYLOAD_CHARS, hint: "" };
            format!(
                "TRIGGER:\n  type: service\n  service: {}\n  payload: {payload}\n",
                Quoted(service)
            )
        }
        Trigger::Hidden(hidden) => format!("TRIGGER:\n  type: {}\n", hidden.kind.as_str()),
    }
}
