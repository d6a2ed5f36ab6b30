//! The cards among messages: those that show a tool call, and which of them wait for people.
//!
//! A form waits for an answer, and a call that waits for approval for a decision. Clients get both
//! the same way: the schema of a form's answer or of the decision is the card's `resultSchema`.

use smartspace_domain::{
    access::{Caller, Membership},
    approvals::{Approval, ApprovalState},
    events::AskedCall,
    ids::EntityId,
    messages::{Message, Part, ToolPart},
    quoting::escaped,
    spaces::Space,
    steps::CallStatus,
};

/// The tool call that a message shows.
pub(crate) fn card_of(message: &Message) -> Option<&ToolPart> {
    message.parts.iter().find_map(|part| match part {
        Part::Tool(tool) => Some(&**tool),
        Part::Text { .. } | Part::File(_) => None,
    })
}

/// Whether a message shows a form that waits for an answer, or a call that waits for approval.
pub(crate) fn is_open_form(message: &Message) -> bool {
    card_of(message).is_some_and(|card| {
        card.ui.is_some() && waits_for_people(card.status, card.approval.as_ref())
    })
}

/// Whether a message shows a call that waits for the page of this member.
pub(super) fn is_open_page_call(message: &Message, member: EntityId) -> bool {
    card_of(message)
        .is_some_and(|card| card.page_of == Some(member) && card.status == CallStatus::Pending)
}

/// Whether the run of a message waits until its card is answered, by people or by a page.
pub(super) fn waits_for_answer(message: &Message) -> bool {
    let page_of = card_of(message).and_then(|card| card.page_of);
    is_open_form(message) || page_of.is_some_and(|member| is_open_page_call(message, member))
}

/// Whether a card waits for people. A call that is approved stays pending until it has a result.
pub(crate) fn waits_for_people(status: CallStatus, approval: Option<&Approval>) -> bool {
    let is_open = approval.is_none_or(|approval| approval.state == ApprovalState::Open);
    status == CallStatus::Pending && is_open
}

/// What a card asks, if it says so. The input of a call that waits for approval was written for a
/// tool, so the question is not a text of it: it names the tool and shows the whole input.
pub(crate) fn question_of(form: &AskedCall) -> Option<String> {
    if form.approval.is_some() {
        let input = escaped(&form.input.to_string());
        return Some(format!("{} waits for approval. Its input: {input}", form.name));
    }
    form.input["message"].as_str().map(str::to_owned)
}

/// An entity that may be asked by the cards of a space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    entity: EntityId,
    membership: Option<Membership>,
}

impl Asked {
    pub(crate) fn in_space(entity: EntityId, space: &Space) -> Self {
        let member = space.members.iter().find(|member| member.id == entity);
        let membership = member.map(|member| Membership {
            role: member.role,
            kind: member.kind,
            guest: member.guest,
        });
        Self { entity, membership }
    }

    /// Whether the card asks this entity. A person who has approved a call is not asked again.
    pub(crate) fn by(self, form: &AskedCall) -> bool {
        let caller = Caller::Entity(self.entity);
        if let Some(approval) = &form.approval {
            let mut decisions = approval.decisions.iter();
            return caller.may_decide(&approval.by, self.membership).is_ok()
                && decisions.all(|made| made.by != self.entity);
        }
        let by = form.answer_by.as_ref();
        by.is_some_and(|by| caller.may_answer(by, self.membership).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use smartspace_domain::{entities::EntityType, ids::CallId, spaces::Role};

    use super::*;
    use crate::samples::{at, message};

    fn person(number: u128) -> EntityId {
        EntityId::new(at(), number)
    }

    fn member(number: u128, role: Role, kind: EntityType, guest: bool) -> Asked {
        let membership = Some(Membership { role, kind, guest });
        Asked { entity: person(number), membership }
    }

    /// The card of a call that needs two approvals of owners, after these decisions.
    fn approval(state: &str, decisions: &[Value]) -> Message {
        let mut card = serde_json::to_value(message(2, Some(1), Some(&[]))).unwrap();
        card["parts"] = json!([{
            "type": "tool", "callId": CallId::new(at(), 1), "name": "transfer",
            "input": {"message": "Show cats\u{202e}?", "amount": 900},
            "output": null, "status": "pending", "ui": "approval", "resultSchema": {},
            "answerBy": null, "resolvedBy": null, "expiresAt": null,
            "approval": {"by": "owners", "needed": 2, "state": state, "decisions": decisions},
        }]);
        serde_json::from_value(card).unwrap()
    }

    fn approved_by(number: u128) -> Value {
        json!({"by": person(number), "name": "Olga", "action": "approve", "at": at()})
    }

    #[test]
    fn an_approval_waits_until_enough_people_have_approved() {
        assert!(is_open_form(&approval("open", &[])));
        assert!(is_open_form(&approval("open", &[approved_by(1)])));
        assert!(!is_open_form(&approval("approved", &[approved_by(1), approved_by(2)])));
    }

    #[test]
    fn the_question_of_an_approval_is_its_tool_and_its_whole_input() {
        let form = AskedCall::of(&approval("open", &[])).unwrap();
        let shown = r#"{"message":"Show cats\u202e?","amount":900}"#;
        let expected = format!("transfer waits for approval. Its input: {shown}");
        assert_eq!(question_of(&form), Some(expected));
        let asks = AskedCall { approval: None, ..form };
        assert_eq!(question_of(&asks).as_deref(), Some("Show cats\u{202e}?"));
    }

    #[test]
    fn an_approval_asks_those_who_may_decide_and_have_not() {
        let asked = AskedCall::of(&approval("open", &[approved_by(1)])).unwrap();
        for (who, expected) in [
            (member(1, Role::Owner, EntityType::Human, false), false),
            (member(2, Role::Owner, EntityType::Human, false), true),
            (member(3, Role::Member, EntityType::Human, false), false),
            (member(4, Role::Owner, EntityType::Human, true), false),
            (member(5, Role::Owner, EntityType::Agent, false), false),
            (Asked { entity: person(6), membership: None }, false),
        ] {
            assert_eq!(who.by(&asked), expected, "{who:?}");
        }
    }
}
