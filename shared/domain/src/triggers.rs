//! Why a run was started.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    Time,
    dispatch::Source,
    ids::{DeliveryId, MessageId, PlanId, SpaceId},
    messages::{Sender, excerpt},
};

/// Why a run was started, as the API shows it to those who may know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Trigger {
    /// Someone said something.
    #[schema(rename_all = "camelCase")]
    SpaceMessage {
        /// Why it woke this agent.
        source: Source,
        /// Where.
        space_id: SpaceId,
        /// The space's name.
        space_name: String,
        /// The message.
        message_id: MessageId,
        /// Its place in the space.
        seq: u64,
        /// Who.
        sender: Sender,
        /// What, cut to 4,000 characters.
        text: String,
        /// When.
        at: Time,
        /// Who handed it on, where another agent did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delegated_by: Option<Sender>,
        /// What that agent said about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// A plan's time has come.
    #[schema(rename_all = "camelCase")]
    Plan {
        /// The plan.
        plan_id: PlanId,
        /// Its name.
        name: String,
        /// What it says.
        instruction: String,
        /// For when it was set.
        scheduled_at: Time,
        /// How many times went by before it.
        missed: u32,
    },
    /// A service called.
    #[schema(rename_all = "camelCase")]
    Service {
        /// The service.
        service: String,
        /// What it sent.
        payload: Value,
        /// The delivery.
        delivery_id: DeliveryId,
        /// When.
        at: Time,
    },
    /// Told to those who may know no more than the type: `{type}` alone.
    #[serde(skip_deserializing, untagged)]
    Hidden(HiddenTrigger),
}

/// Reads a trigger as it is shown: whole, or its type only.
pub(crate) fn shown<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Trigger, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Shown {
        Whole(Box<Trigger>),
        Hidden(HiddenTrigger),
    }
    Ok(match Shown::deserialize(deserializer)? {
        Shown::Whole(trigger) => *trigger,
        Shown::Hidden(hidden) => Trigger::Hidden(hidden),
    })
}

/// The type of a trigger, without what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HiddenTrigger {
    /// Which one.
    #[serde(rename = "type")]
    pub kind: TriggerKind,
}

/// The three kinds of trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TriggerKind {
    /// Someone said something.
    SpaceMessage,
    /// A plan's time has come.
    Plan,
    /// A service called.
    Service,
}

/// That another agent handed a trigger on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delegation {
    /// Who.
    pub by: Sender,
    /// What it said about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl TriggerKind {
    /// As the API and prompts write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SpaceMessage => "space_message",
            Self::Plan => "plan",
            Self::Service => "service",
        }
    }
}

impl Trigger {
    /// Its kind.
    pub fn kind(&self) -> TriggerKind {
        match self {
            Self::SpaceMessage { .. } => TriggerKind::SpaceMessage,
            Self::Plan { .. } => TriggerKind::Plan,
            Self::Service { .. } => TriggerKind::Service,
            Self::Hidden(hidden) => hidden.kind,
        }
    }

    /// The space that it names.
    pub fn space_id(&self) -> Option<SpaceId> {
        match self {
            Self::SpaceMessage { space_id, .. } => Some(*space_id),
            _ => None,
        }
    }

    /// The same, handed on by another agent.
    #[must_use]
    pub fn handed_on(mut self, delegation: Delegation) -> Self {
        if let Self::SpaceMessage { delegated_by, note, .. } = &mut self {
            (*delegated_by, *note) = (Some(delegation.by), delegation.note);
        }
        self
    }

    /// What those see who may know no more.
    #[must_use]
    pub fn hidden(&self) -> Self {
        Self::Hidden(HiddenTrigger { kind: self.kind() })
    }

    /// As a message keeps it that an agent sent because of it: its texts cut to 200 characters, without a payload.
    #[must_use]
    pub fn in_short(self) -> Self {
        let mut short = self.cut_to(200);
        if let Self::Service { payload, .. } = &mut short {
            *payload = Value::Null;
        }
        short
    }

    /// The same with its texts cut to `chars` characters; of a longer payload the beginning of its JSON is left, as a text.
    #[must_use]
    pub fn cut_to(mut self, chars: usize) -> Self {
        let cut = |text: &mut String| text.truncate(excerpt(text, chars).0.len());
        match &mut self {
            Self::SpaceMessage { text, note, .. } => [Some(text), note.as_mut()].into_iter().flatten().for_each(cut),
            Self::Plan { instruction, .. } => cut(instruction),
            Self::Service { payload, .. } => {
                let written = payload.to_string();
                let (begins, more) = excerpt(&written, chars);
                if more > 0 {
                    *payload = Value::String(begins.to_owned());
                }
            }
            Self::Hidden(_) => {}
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_shown_by_its_type_only_can_be_read_again() {
        for kind in ["space_message", "plan", "service"] {
            let text = json!({"type": kind});
            let read = shown(&text).unwrap();
            assert!(matches!(read, Trigger::Hidden(_)));
            assert_eq!(serde_json::to_value(read).unwrap(), text);
        }
        assert!(shown(&json!({"type": "space_message", "seq": 1})).is_err(), "half a trigger is none");
    }
}
