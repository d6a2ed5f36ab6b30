//! Writes `TRIGGER`: why the agent runs.

use smartspace_domain::{messages::excerpt, triggers::Trigger};

use crate::prompt::{
    format::{Json, PAYLOAD_CHARS, Quoted, Thousands},
    lines::{file_lines, joined},
    reading::PromptSources,
};

/// The longest text of a message that is repeated here, in characters. The history shows more of
/// it.
const MAX_TEXT_CHARS: usize = 1_000;

/// Writes why the agent runs.
pub(super) fn write_trigger(sources: &PromptSources, trigger: &Trigger) -> String {
    match trigger {
        Trigger::SpaceMessage { source, seq, sender, text, delegated_by, note, .. } => {
            let how = delegated_by.as_ref().map_or_else(
                || source.as_str().to_owned(),
                |by| format!("{} by {}", source.as_str(), sources.names.of(by)),
            );
            let kind = sender.kind.as_str();
            let note =
                note.as_ref().map_or_else(String::new, |note| format!("note: {}\n", Quoted(note)));
            let more = sources.trigger_space.as_ref().map_or(0, |it| it.trigger.more_chars);
            let files = sources.trigger_space.iter().flat_map(|it| &it.trigger.files);
            format!(
                "TRIGGER: message #{seq} from {} ({kind}), {how}\n{}\n{}{note}{}",
                sources.names.of(sender),
                beginning(text, more, *seq),
                file_lines(files),
                joined(sources.trigger_space.as_ref()),
            )
        }
        Trigger::Plan { plan_id, name, instruction, scheduled_at, missed } => {
            let missed =
                if *missed > 0 { format!(", {missed} missed before") } else { String::new() };
            format!(
                "TRIGGER: plan {} ({plan_id}), scheduled for {}{missed}\n{}\n",
                Quoted(name),
                scheduled_at.to_whole_seconds(),
                Quoted(instruction),
            )
        }
        Trigger::Service { service, payload, .. } => {
            let payload = Json { value: payload, max_chars: PAYLOAD_CHARS, hint: "" };
            format!("TRIGGER: service {}\npayload: {payload}\n", Quoted(service))
        }
        Trigger::Reference(_) | Trigger::Hidden(_) => {
            format!("TRIGGER: {}\n", trigger.kind().as_str())
        }
    }
}

/// Writes the beginning of a message. `more` is the number of characters that `text` lacks.
fn beginning(text: &str, more: usize, seq: u64) -> String {
    let (text, cut) = excerpt(text, MAX_TEXT_CHARS);
    match more + cut {
        0 => Quoted(text).to_string(),
        more => {
            format!("{} … ({} more characters, see #{seq})", Quoted(text), Thousands(more as u64))
        }
    }
}
