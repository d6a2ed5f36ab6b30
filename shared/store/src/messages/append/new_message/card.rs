//! A tool call that a new message shows.

use serde_json::Value;
use smartspace_domain::{
    Time,
    approvals::{Approval, ApprovalRule},
    ids::{CallId, EntityId},
    steps::CallStatus,
    tools::AnswerBy,
};

use crate::{
    shared::message::{Asks, CutJson, Overflow, ToolCard},
    table::pages::json_bytes,
};

/// A tool call to be shown as a card.
#[derive(Clone, Debug)]
pub struct NewCard {
    pub call_id: CallId,
    pub name: String,
    /// The template of its title, if its tool has one.
    pub title: Option<String>,
    /// The input of the call.
    pub input: Value,
    /// The output of the call, if it is known.
    pub output: Option<Value>,
    /// The status of the call.
    pub status: CallStatus,
    /// The question to people, if the call is a form.
    pub asks: Option<NewForm>,
}

#[derive(Clone, Debug)]
pub struct NewForm {
    /// How clients render the form.
    pub ui: String,
    /// The JSON Schema of an answer. Any answer fits if it is `None`.
    pub result_schema: Option<Value>,
    /// The people who may answer. The rule of an approval says it instead.
    pub answer_by: AnswerBy,
    /// When the form expires.
    pub until: Time,
    /// The rule by which people decide the call, unless the card is a form of a tool.
    pub approval: Option<NewApproval>,
    /// The member whose client runs the call, if the tool is one of that member's page.
    pub page_of: Option<EntityId>,
}

/// A call that waits for approval.
#[derive(Clone, Debug)]
pub struct NewApproval {
    /// The rule that stopped the call.
    pub rule: ApprovalRule,
    /// The JSON Schema of the call's input.
    pub input_schema: Value,
}

impl NewForm {
    /// The people who may answer. The rule says it if people decide the call.
    pub(in crate::messages::append) fn answered_by(&self) -> AnswerBy {
        let by_rule = self.approval.as_ref().map(|new| new.rule.by.answer_by());
        by_rule.unwrap_or_else(|| self.answer_by.clone())
    }
}

impl NewCard {
    /// The bytes of its input and output, as JSON.
    pub(super) fn bytes(&self) -> usize {
        json_bytes(&self.input) + self.output.as_ref().map_or(0, json_bytes)
    }

    /// The card as it is stored in the message, and the parts that are too long for it.
    pub(in crate::messages::append) fn split(&self) -> (ToolCard, Overflow) {
        let (input, whole_input) = CutJson::of(&self.input);
        let output = self.output.as_ref().map(CutJson::of);
        let (output, whole_output) =
            output.map_or((None, None), |(output, whole)| (Some(output), whole));
        let asks = self.asks.as_ref().map(|form| Asks {
            ui: form.ui.clone(),
            has_schema: form.result_schema.is_some(),
            answer_by: form.answered_by(),
            until: form.until,
            approval: form.approval.as_ref().map(|new| Approval::open(&new.rule)),
            page_of: form.page_of,
            resolved_by: None,
            resolved_name: None,
            resolved_by_guest: false,
        });
        let result_schema =
            self.asks.as_ref().and_then(|form| form.result_schema.as_ref()).map(Value::to_string);
        let card = ToolCard {
            call_id: self.call_id,
            name: self.name.clone(),
            title: self.title.clone(),
            input,
            output,
            status: self.status,
            asks,
        };
        let overflow =
            Overflow { text: None, input: whole_input, output: whole_output, result_schema };
        (card, overflow)
    }
}
