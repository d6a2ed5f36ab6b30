//! Writes why the agent sent a message: the trigger of its run, and the tools used before.

use crate::prompt::{
    format::{Name, Quoted},
    names::{Names, Words},
    placed::Placed,
};
use smartspace_domain::{
    ids::{EntityId, SpaceId},
    jobs::MessageRef,
    messages::Origin,
    triggers::Trigger,
};
use smartspace_store::{messages::MessageRecord, runs::places::deleted_mark};

/// Writes why the agent sent a message to a space, with the names of senders as its prompt writes
/// them.
pub(super) fn write_why(names: &Names, space: SpaceId, origin: &Origin) -> Placed {
    let mut text = match &origin.trigger {
        Trigger::SpaceMessage { space_id, seq, .. } if *space_id == space => {
            Placed::plain(format!("answering #{seq}"))
        }
        trigger => write_cause(names, trigger),
    };
    if !origin.tools_used.is_empty() {
        let used: Vec<_> = origin.tools_used.iter().map(|tool| Name(tool).to_string()).collect();
        text.push_str(&format!("; used {}", used.join(", ")));
    }
    text
}

/// Writes why a message was sent whose run another space, a plan or a service triggered.
fn write_cause(names: &Names, trigger: &Trigger) -> Placed {
    Placed::plain(match trigger {
        Trigger::SpaceMessage { space_id, seq, space_name, sender, .. } => {
            let mut text = Placed::plain(format!("sent because {} wrote ", names.of(sender)));
            let cause = MessageRef { space_id: *space_id, seq: *seq };
            text.append(&write_text(names, cause));
            text.push_str(&format!("in {}", Quoted(space_name)));
            return text;
        }
        Trigger::Plan { name, .. } => format!("sent because plan {} fired", Quoted(name)),
        Trigger::Service { service, .. } => {
            format!("sent because service {} called", Quoted(service))
        }
        Trigger::Reference(_) | Trigger::Hidden(_) => {
            "sent for a reason that is hidden here".to_owned()
        }
    })
}

/// Writes the beginning of a message of another space, and a blank after it. Nothing if the message
/// has expired.
fn write_text(names: &Names, message: MessageRef) -> Placed {
    let mut text = match names.words_of(message) {
        Words::Expired => return Placed::default(),
        Words::Deleted => Placed::plain(deleted_mark(message.seq)),
        Words::Text(text) => Placed::of(message, Quoted(text).to_string()),
    };
    text.push_str(" ");
    text
}

/// The messages of other spaces because of which the agent `me` sent messages to `space`. Their
/// texts are read when its lines are written.
pub(crate) fn causes<'a>(
    space: SpaceId,
    me: EntityId,
    messages: impl IntoIterator<Item = &'a MessageRecord>,
) -> Vec<MessageRef> {
    let own = messages.into_iter().filter(|it| it.sender.id == me && it.deleted.is_none());
    own.filter_map(|message| match &message.origin.as_ref()?.trigger {
        Trigger::SpaceMessage { space_id, seq, .. } => {
            Some(MessageRef { space_id: *space_id, seq: *seq })
        }
        _ => None,
    })
    .filter(|cause| cause.space_id != space)
    .collect()
}
