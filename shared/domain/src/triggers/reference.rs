//! A trigger without its texts. A member gets several events of each run, and the texts of its
//! trigger are in the message or with the run.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    identity::Sender,
    ids::{MessageId, PlanId},
    triggers::{Source, Trigger, TriggerKind},
};

/// A trigger without its texts, as events and lists of runs carry it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum TriggerReference {
    /// A message was posted.
    #[schema(rename_all = "camelCase")]
    SpaceMessage {
        /// The message's id.
        message_id: MessageId,
        /// The message's position in the space.
        seq: u64,
        /// Why the message triggered this agent.
        source: Source,
        /// The agent that delegated the message to this agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delegated_by: Option<Sender>,
    },
    /// A plan fired.
    #[schema(rename_all = "camelCase")]
    Plan {
        /// The plan.
        plan_id: PlanId,
    },
    /// A service sent a webhook.
    Service {
        /// The service.
        service: String,
    },
}

impl TriggerReference {
    /// The reference to a trigger. `None` if only the type of the trigger is known.
    pub(super) fn of(trigger: &Trigger) -> Option<Self> {
        Some(match trigger {
            Trigger::SpaceMessage { message_id, seq, source, delegated_by, .. } => {
                Self::SpaceMessage {
                    message_id: *message_id,
                    seq: *seq,
                    source: *source,
                    delegated_by: delegated_by.clone(),
                }
            }
            Trigger::Plan { plan_id, .. } => Self::Plan { plan_id: *plan_id },
            Trigger::Service { service, .. } => Self::Service { service: service.clone() },
            Trigger::Reference(reference) => reference.clone(),
            Trigger::Hidden(_) => return None,
        })
    }

    pub(super) fn kind(&self) -> TriggerKind {
        match self {
            Self::SpaceMessage { .. } => TriggerKind::SpaceMessage,
            Self::Plan { .. } => TriggerKind::Plan,
            Self::Service { .. } => TriggerKind::Service,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::triggers::shown;

    fn sender(name: &str) -> Value {
        json!({"id": "ent_01KHRMMJH0000000000000000H", "type": "agent", "name": name})
    }

    #[test]
    fn a_reference_has_no_texts_and_can_be_read_again() {
        let at = "2026-01-01T00:00:00.000Z";
        let message = json!({
            "type": "space_message", "source": "delegated", "spaceName": "Team",
            "spaceId": "spc_01KHRMMJH0000000000000000H",
            "messageId": "msg_01KHRMMJH0000000000000000H", "seq": 4,
            "sender": sender("Sara"), "text": "Hello", "at": at,
            "delegatedBy": sender("Desk"), "note": "Please.",
        });
        let plan = json!({
            "type": "plan", "planId": "pln_01KHRMMJH0000000000000000H", "name": "Daily",
            "instruction": "Report.", "scheduledAt": at, "missed": 0,
        });
        let service = json!({
            "type": "service", "service": "ci", "payload": {"build": 7}, "at": at,
            "deliveryId": "dlv_01KHRMMJH0000000000000000H",
        });
        let of_message = json!({
            "type": "space_message", "messageId": message["messageId"], "seq": 4,
            "source": "delegated", "delegatedBy": sender("Desk"),
        });
        let of_plan = json!({"type": "plan", "planId": plan["planId"]});
        let of_service = json!({"type": "service", "service": "ci"});
        for (whole, expected) in [(message, of_message), (plan, of_plan), (service, of_service)] {
            let whole: Trigger = serde_json::from_value(whole).unwrap();
            let reference = whole.without_texts();
            assert_eq!(serde_json::to_value(&reference).unwrap(), expected);
            assert_eq!(shown(&expected).unwrap(), reference);
            assert_eq!(reference.without_texts(), reference);
            assert_eq!(reference.kind(), whole.kind());
            assert_eq!(reference.hidden().without_texts(), whole.hidden());
        }
    }
}
