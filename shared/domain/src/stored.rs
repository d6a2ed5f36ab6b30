//! Reading what another version of Smartspace has stored.
//!
//! The types of the HTTP and WebSocket APIs refuse unknown fields and values. Two neighbouring
//! versions work on one table, so what is stored is read tolerantly: [`read`] ignores unknown
//! fields at every level, and reads an unknown value of an enum as the enum's fallback. [`merge`]
//! writes a changed document without losing what only another version understands.
//!
//! The fallback of an enum is always the cautious value: it triggers nothing, allows nothing, and
//! ends nothing. Enums that no API accepts are always read like this ([`tolerant`]).

mod merge;
mod reader;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

pub use self::merge::merge;
pub(crate) use self::reader::Tolerant;

/// The fallbacks of enums, by the name of the type.
const FALLBACKS: &[(&str, &str)] = &[
    ("AnswerGroup", "humans"),
    // Such a call is not made.
    ("ApprovalState", "declined"),
    ("ApproverGroup", "owners"),
    // A file of an unknown state can't be sent.
    ("AttachmentStatus", "refused"),
    ("Because", "form"),
    ("CallStatus", "unknown"),
    ("ConcurrencyMode", "parallel"),
    ("ContinueOn", "toolCalls"),
    // It approves nothing.
    ("DecisionAction", "decline"),
    // It has the rights to delete any message.
    ("DeletedBy", "operator"),
    ("DeliveryStatus", "refused"),
    // It wakes the fewest agents.
    ("Dial", "quiet"),
    ("EndReason", "done"),
    // A person has no configuration and is never triggered.
    ("EntityType", "human"),
    ("FailureCode", "internal"),
    ("FinishReason", "stop"),
    ("GateMode", "on"),
    ("GoalStatus", "active"),
    ("History", "timeline"),
    ("InboxState", "closed"),
    // It says the least.
    ("LineKind", "policyChanged"),
    ("MentionWhy", "mention"),
    ("OnExpire", "decline"),
    // A paused plan does not fire.
    ("PlanStatus", "paused"),
    ("Reason", "policy"),
    ("Reasoning", "low"),
    ("Role", "member"),
    ("RuleAction", "deny"),
    // A queued run is active. The table refuses to claim a run with an unknown status.
    ("RunStatus", "queued"),
    ("ScriptError", "bad_request"),
    ("SeenFiles", "images"),
    ("Source", "broadcast"),
    ("SpacesShown", "active"),
    ("Speaks", "tools"),
    ("StreamEnd", "failed"),
    ("StreamKind", "message"),
    ("ToolChoice", "auto"),
    ("TriggerKind", "service"),
    // Only mentioned agents are triggered.
    ("TriggerPolicy", "mention"),
    // A run that waits is due anyway.
    ("WaitsFor", "slot"),
    ("WebhookScheme", "standard"),
    ("Would", "silent"),
];

/// Makes an enum tolerant wherever it is read: for enums that no API accepts. The enum derives its
/// forms with `#[serde(remote = "Self")]`.
macro_rules! tolerant {
    ($name:ident) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                Self::serialize(self, serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::deserialize($crate::stored::Tolerant(deserializer))
            }
        }
    };
}

pub(crate) use tolerant;

/// Whether a field is left out, because its default says the same.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A stored `T`, read by [`read`].
#[derive(Clone, Copy, Debug)]
pub struct Stored<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Stored<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer).map(Self)
    }
}

/// Reads a stored value: ignores unknown fields, and reads unknown values of enums as their
/// fallbacks. Also for `#[serde(deserialize_with)]`, on fields below a flattened or tagged type:
/// serde buffers these, so their own reader does not know that the value is stored.
pub fn read<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    T::deserialize(Tolerant(deserializer))
}

/// Reads a stored value, or `None` if this version cannot read it.
pub fn read_if_known<'de, D: Deserializer<'de>, T: for<'a> Deserialize<'a>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(if value.is_null() { None } else { read(value).ok() })
}

fn fallback_of(name: &str) -> Option<&'static str> {
    FALLBACKS.iter().find(|(of, _)| *of == name).map(|(_, fallback)| *fallback)
}

#[cfg(test)]
mod tests;
