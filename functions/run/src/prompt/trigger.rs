//! Writes `TRIGGER`: why the agent runs.

use smartspace_domain::{
    dispatch::Source,
    entities::EntityType,
    mentions,
    messages::{Origin, Sender, excerpt},
    triggers::Trigger,
};

use crate::prompt::{
    format::{Json, PAYLOAD_CHARS, Quoted, Thousands},
    lines::{file_lines, joined},
    reading::{PromptSources, SpaceContext},
    waking::CHAIN_ENDS,
};

/// The longest text of a message that is repeated here, in characters. The history shows more of
/// it.
const MAX_TEXT_CHARS: usize = 1_000;

/// Writes why the agent runs. `chain_ends` says that its message can wake nobody.
pub(super) fn write_trigger(
    sources: &PromptSources,
    trigger: &Trigger,
    chain_ends: bool,
) -> String {
    match trigger {
        Trigger::SpaceMessage { seq, sender, text, note, .. } => {
            let kind = sender.kind.as_str();
            let note =
                note.as_ref().map_or_else(String::new, |note| format!("note: {}\n", Quoted(note)));
            let more = sources.trigger_space.as_ref().map_or(0, |it| it.trigger.more_chars);
            let files = sources.trigger_space.iter().flat_map(|it| &it.trigger.files);
            format!(
                "TRIGGER: message #{seq} from {} ({kind}), {}{}\n{}\n{}{note}{}{}{}{}",
                sources.names.of(sender),
                reason(sources, trigger),
                if is_unanswered(sources, trigger) { ", not answered yet" } else { "" },
                beginning(text, more, *seq),
                file_lines(files),
                others_named(sources, text),
                joined(sources.trigger_space.as_ref()),
                if chain_ends { CHAIN_ENDS } else { "" },
                if chain_ends { "\n" } else { "" },
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

/// Writes in words why the message is for the agent.
fn reason(sources: &PromptSources, trigger: &Trigger) -> String {
    let Trigger::SpaceMessage { seq, source, sender, text, delegated_by, .. } = trigger else {
        return String::new();
    };
    let partner = || format!("you talked with {} last", sources.names.of(sender));
    let why = match source {
        Source::Partner => &partner(),
        Source::Unanswered => &unanswered(*seq),
        Source::Auto => "to you alone",
        Source::Mention if names_all_only(text, &sources.agent.name) => "names you and all others",
        Source::Mention => "names you",
        Source::Broadcast => "to all",
        Source::Router => "chosen by the router",
        Source::Admin => return "you are the admin".to_owned(),
        Source::Delegated => "handed to you",
    };
    let by = delegated_by.as_ref();
    let by = by.map_or_else(String::new, |by| format!(" by {}", sources.names.of(by)));
    let admin = if sources.is_admin_here() { ", you are the admin" } else { "" };
    format!("{why}{by}{admin}")
}

fn unanswered(seq: u64) -> String {
    format!(
        "nobody has answered #{seq}. You are the one to answer: say what you know, or that you do \
         not know"
    )
}

/// Whether a message mentions an agent by `@all` and not by its name.
fn names_all_only(text: &str, agent: &str) -> bool {
    let mentions = mentions::find(text, [agent].into_iter());
    mentions.all && mentions.named.is_empty()
}

/// Whether the agent has posted something since the message that triggered the run, but no answer
/// to it. Its newer lines could look like one.
fn is_unanswered(sources: &PromptSources, trigger: &Trigger) -> bool {
    // Its words say so already.
    if trigger.source() == Some(Source::Unanswered) {
        return false;
    }
    let Some(SpaceContext { messages, trigger, .. }) = &sources.trigger_space else { return false };
    let answers_it = |origin: &Origin| match &origin.trigger {
        Trigger::SpaceMessage { message_id, .. } => *message_id == trigger.id,
        _ => false,
    };
    let mut own = messages
        .iter()
        .filter(|message| message.sender.id == sources.agent.id && message.seq > trigger.seq)
        .peekable();
    own.peek().is_some() && !own.any(|message| message.origin.as_ref().is_some_and(answers_it))
}

/// Writes for an admin agent which other agents the message names.
fn others_named(sources: &PromptSources, text: &str) -> String {
    let Some(trigger_space) = sources.trigger_space.as_ref().filter(|_| sources.is_admin_here())
    else {
        return String::new();
    };
    let card = sources.cards.get(&trigger_space.space.id);
    let members = card.iter().flat_map(|card| &card.members).map(|member| &member.sender);
    let agents: Vec<&Sender> = members
        .chain(&trigger_space.unlisted)
        .filter(|sender| sender.kind == EntityType::Agent)
        .collect();
    let mentions = mentions::find(text, agents.iter().map(|agent| agent.name.as_str()));
    let named: Vec<String> = mentions
        .named
        .into_iter()
        .map(|index| agents[index])
        .filter(|agent| agent.id != sources.agent.id)
        .map(|agent| sources.names.of(agent))
        .collect();
    match named.split_last() {
        None => String::new(),
        Some((only, [])) => format!("{only} was named.\n"),
        Some((last, others)) => format!("{} and {last} were named.\n", others.join(", ")),
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
