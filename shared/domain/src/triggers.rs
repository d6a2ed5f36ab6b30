//! Triggers: why a run was started.

mod reference;
mod shown;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

pub(crate) use self::shown::shown;
pub use self::{
    reference::TriggerReference,
    shown::{RunTrigger, ShownTrigger},
};
use crate::{
    Time,
    identity::Sender,
    ids::{DeliveryId, MessageId, PlanId, SpaceId},
    stored::tolerant,
    texts::excerpt,
};

/// Why a message triggered an agent. If several reasons apply, the first one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase", remote = "Self")]
pub enum Source {
    /// The admin agent passed the message on with the tool `delegate`.
    Delegated,
    /// The agent is the admin agent of the space, and a person posted the message.
    Admin,
    /// The message mentions the agent, or `@all`.
    Mention,
    /// No mention, and the message replies to a message of the agent.
    Reply,
    /// No mention, and the space has exactly two members.
    Auto,
    /// No mention, and the sender talked with the agent last.
    Partner,
    /// The space's router chose the agent.
    Router,
    /// Nobody has answered the message, and the agent is the one to do so.
    Unanswered,
    /// No mention, and the space's `triggerPolicy` selects the agent.
    Broadcast,
}

tolerant!(Source);

impl Source {
    /// Whether somebody meant this agent, so that an answer is expected of it.
    pub fn names_agent(self) -> bool {
        match self {
            Self::Delegated
            | Self::Admin
            | Self::Mention
            | Self::Reply
            | Self::Auto
            | Self::Partner
            | Self::Unanswered => true,
            Self::Router | Self::Broadcast => false,
        }
    }

    /// Whether the run of an agent's message with this source is an auto reply: the message does
    /// not name the agent.
    pub fn is_auto_reply(self) -> bool {
        matches!(self, Self::Auto | Self::Router | Self::Broadcast)
    }

    /// The source as the API and prompts write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Delegated => "delegated",
            Self::Admin => "admin",
            Self::Mention => "mention",
            Self::Reply => "reply",
            Self::Auto => "auto",
            Self::Partner => "partner",
            Self::Router => "router",
            Self::Unanswered => "unanswered",
            Self::Broadcast => "broadcast",
        }
    }
}

/// Why a run was started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Trigger {
    /// A message was posted.
    #[schema(rename_all = "camelCase")]
    SpaceMessage {
        /// Why the message triggered this agent.
        source: Source,
        /// The message's space.
        space_id: SpaceId,
        /// The space's name.
        space_name: String,
        /// The message's id.
        message_id: MessageId,
        /// The message's position in the space.
        seq: u64,
        /// The message's sender.
        sender: Sender,
        /// The message's text, cut to 4,000 characters. Absent if the message has none, and in the
        /// origin of a message: read it from the message that it names.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
        /// When the message was posted.
        at: Time,
        /// The agent that delegated the message to this agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delegated_by: Option<Sender>,
        /// The delegating agent's note about the message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// A plan fired.
    #[schema(rename_all = "camelCase")]
    Plan {
        /// The plan.
        plan_id: PlanId,
        /// The plan's name.
        name: String,
        /// The plan's instruction.
        instruction: String,
        /// The time for which the plan fired.
        scheduled_at: Time,
        /// How many earlier times of the plan were missed, up to 10,000.
        missed: u32,
    },
    /// A service sent a webhook.
    #[schema(rename_all = "camelCase")]
    Service {
        /// The service.
        service: String,
        /// The JSON that the service sent.
        payload: Value,
        /// The delivery.
        delivery_id: DeliveryId,
        /// When the delivery was received.
        at: Time,
    },
    /// Without its texts, as events and lists of runs carry it.
    #[serde(skip_deserializing, untagged)]
    Reference(TriggerReference),
    /// Only the type, for readers who may know no more.
    #[serde(skip_deserializing, untagged)]
    Hidden(HiddenTrigger),
}

/// Only the type of a trigger, for readers who may know no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HiddenTrigger {
    /// The trigger's type.
    #[serde(rename = "type")]
    pub kind: TriggerKind,
}

/// The type of a trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TriggerKind {
    /// A message was posted.
    SpaceMessage,
    /// A plan fired.
    Plan,
    /// A service sent a webhook.
    Service,
}

/// The delegation of a trigger to another agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delegation {
    /// The delegating agent.
    pub by: Sender,
    /// The delegating agent's note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl TriggerKind {
    /// The type as the API and prompts write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SpaceMessage => "space_message",
            Self::Plan => "plan",
            Self::Service => "service",
        }
    }
}

impl Trigger {
    /// The trigger's type.
    pub fn kind(&self) -> TriggerKind {
        match self {
            Self::SpaceMessage { .. } => TriggerKind::SpaceMessage,
            Self::Plan { .. } => TriggerKind::Plan,
            Self::Service { .. } => TriggerKind::Service,
            Self::Reference(reference) => reference.kind(),
            Self::Hidden(hidden) => hidden.kind,
        }
    }

    /// The space of the trigger's message.
    pub fn space_id(&self) -> Option<SpaceId> {
        match self {
            Self::SpaceMessage { space_id, .. } => Some(*space_id),
            _ => None,
        }
    }

    /// The trigger with a delegation, if it is a message.
    #[must_use]
    pub fn handed_on(mut self, delegation: Delegation) -> Self {
        if let Self::SpaceMessage { delegated_by, note, .. } = &mut self {
            *delegated_by = Some(delegation.by);
            *note = delegation.note;
        }
        self
    }

    /// The message that is the trigger, if one is known.
    pub fn message_id(&self) -> Option<MessageId> {
        match self {
            Self::SpaceMessage { message_id, .. }
            | Self::Reference(TriggerReference::SpaceMessage { message_id, .. }) => {
                Some(*message_id)
            }
            _ => None,
        }
    }

    /// Why the trigger's message triggered the agent, if a message is known.
    pub fn source(&self) -> Option<Source> {
        match self {
            Self::SpaceMessage { source, .. }
            | Self::Reference(TriggerReference::SpaceMessage { source, .. }) => Some(*source),
            _ => None,
        }
    }

    /// The trigger without its texts, as events and lists of runs carry it.
    #[must_use]
    pub fn without_texts(&self) -> Self {
        match TriggerReference::of(self) {
            Some(reference) => Self::Reference(reference),
            None => self.clone(),
        }
    }

    /// The trigger for readers who may know only its type.
    #[must_use]
    pub fn hidden(&self) -> Self {
        Self::Hidden(HiddenTrigger { kind: self.kind() })
    }

    /// The trigger as the origin of a message: without its payload, and with its texts cut to 200
    /// characters. The text of a message is stored once, with that message.
    #[must_use]
    pub fn in_short(self) -> Self {
        let mut short = self.cut_to(200);
        match &mut short {
            Self::Service { payload, .. } => *payload = Value::Null,
            Self::SpaceMessage { text, .. } => text.clear(),
            Self::Plan { .. } | Self::Reference(_) | Self::Hidden(_) => {}
        }
        short
    }

    /// The trigger with its texts cut to `chars` characters. The JSON of a longer payload is cut as
    /// well, and becomes a text.
    #[must_use]
    pub fn cut_to(mut self, chars: usize) -> Self {
        let cut = |text: &mut String| text.truncate(excerpt(text, chars).0.len());
        match &mut self {
            Self::SpaceMessage { text, note, .. } => {
                [Some(text), note.as_mut()].into_iter().flatten().for_each(cut);
            }
            Self::Plan { instruction, .. } => cut(instruction),
            Self::Service { payload, .. } => {
                let written = payload.to_string();
                let (start, omitted) = excerpt(&written, chars);
                if omitted > 0 {
                    *payload = Value::String(start.to_owned());
                }
            }
            Self::Reference(_) | Self::Hidden(_) => {}
        }
        self
    }
}
