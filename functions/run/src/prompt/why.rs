//! Writes why the agent sent a message: the trigger of its run, and the tools used before.

use std::fmt::Write;

use crate::prompt::{
    format::{Name, Quoted},
    names::Names,
};
use smartspace_domain::{ids::SpaceId, messages::Origin, triggers::Trigger};

/// Writes why the agent sent a message to a space, with the names of senders as its prompt writes
/// them.
pub(super) fn write_why(names: &Names, space: SpaceId, origin: &Origin) -> String {
    let mut text = match &origin.trigger {
        Trigger::SpaceMessage { space_id, seq, .. } if *space_id == space => {
            format!("answering #{seq}")
        }
        trigger => write_cause(names, trigger),
    };
    if !origin.tools_used.is_empty() {
        let used: Vec<_> = origin.tools_used.iter().map(|tool| Name(tool).to_string()).collect();
        let _ = write!(text, "; used {}", used.join(", "));
    }
    text
}

/// Writes why a message was sent whose run another space, a plan or a service triggered.
fn write_cause(names: &Names, trigger: &Trigger) -> String {
    match trigger {
        Trigger::SpaceMessage { space_name, sender, text, .. } => format!(
            "sent because {} wrote {} in {}",
            names.of(sender),
            Quoted(text),
            Quoted(space_name)
        ),
        Trigger::Plan { name, .. } => format!("sent because plan {} fired", Quoted(name)),
        Trigger::Service { service, .. } => {
            format!("sent because service {} called", Quoted(service))
        }
        Trigger::Reference(_) | Trigger::Hidden(_) => {
            "sent for a reason that is hidden here".to_owned()
        }
    }
}
