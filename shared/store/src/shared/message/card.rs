//! Tool calls that messages show as cards.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use smartspace_domain::{
    Time,
    approvals::Approval,
    ids::{CallId, EntityId},
    messages::{Part, ResolvedBy, ToolPart},
    steps::CallStatus,
    stored, templates,
    tools::AnswerBy,
};

use crate::shared::message::{CutJson, Overflow};

/// A tool call, as its message stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCard {
    pub call_id: CallId,
    pub name: String,
    /// The template of its title, as the tool had it when the call was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The input of the call.
    pub input: CutJson,
    /// The output of the call, once it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<CutJson>,
    /// The status of the call.
    pub status: CallStatus,
    /// The question to people, if the call is a form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<Asks>,
}

/// A form, as its card stores it. The schema of its answer is in `TEXT#`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Asks {
    /// How clients render the form.
    pub ui: String,
    /// Whether the answer has a schema.
    pub has_schema: bool,
    /// The people who may answer.
    #[serde(deserialize_with = "AnswerBy::read_stored")]
    pub answer_by: AnswerBy,
    /// When the form expires.
    pub until: Time,
    /// The approvals, if people decide the call.
    #[serde(default, deserialize_with = "stored::read_if_known")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// The member whose client runs the call, if the tool is one of that member's page. Then it is
    /// no question to people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_of: Option<EntityId>,
    /// The entity that answered. `None` also if the operator answered, see [`Self::answerer`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_by: Option<EntityId>,
    /// The name of that entity when it answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_name: Option<String>,
    /// Whether it was a guest.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resolved_by_guest: bool,
}

impl Asks {
    /// Who answered, if the call has this status. Only an answer completes a form, and one of
    /// nobody is the operator's. Its decisions say who approved a call.
    fn answerer(&self, status: CallStatus) -> Option<ResolvedBy> {
        let is_answer = status == CallStatus::Completed && self.approval.is_none();
        let of_operator = is_answer.then_some(ResolvedBy::OPERATOR);
        self.resolved_by.map(ResolvedBy::Member).or(of_operator)
    }
}

/// The fields of a form's input that may be its heading, as clients show it. That of buttons is
/// their message, if they have one.
const HEADINGS: [&str; 7] =
    ["title", "question", "message", "heading", "prompt", "subject", "text"];

/// The heading of a form.
fn question(ui: &str, input: &Value) -> Option<String> {
    let of_buttons = (ui == "buttons").then_some("message");
    let texts = of_buttons.into_iter().chain(HEADINGS).filter_map(|name| input[name].as_str());
    texts.map(str::trim).find(|text| !text.is_empty()).map(str::to_owned)
}

impl ToolCard {
    /// The least number of bytes that its input and output have.
    pub(crate) fn least_bytes(&self) -> usize {
        let bytes = |json: &CutJson| json.text.len() + json.more;
        bytes(&self.input) + self.output.as_ref().map_or(0, bytes)
    }

    /// When its question expires, if it is a question to people that is open.
    pub(crate) fn asks_until(&self) -> Option<Time> {
        let asks = self.asks.as_ref().filter(|asks| asks.page_of.is_none())?;
        (self.status == CallStatus::Pending).then_some(asks.until)
    }

    /// Whether a part of the card is in `TEXT#`.
    pub(crate) fn has_overflow(&self) -> bool {
        let is_cut = |json: &CutJson| json.more > 0;
        is_cut(&self.input)
            || self.output.as_ref().is_some_and(is_cut)
            || self.asks.as_ref().is_some_and(|asks| asks.has_schema)
    }

    /// What a list shows of the call: its title, else the question of a form, else the name of its
    /// tool.
    pub(super) fn row(self) -> String {
        let name = self.name.clone();
        let Part::Tool(tool) = self.view(&Overflow::default(), false) else { return name };
        let question = tool.ui.as_ref().and_then(|ui| question(ui, &tool.input));
        tool.title.or(question).unwrap_or(name)
    }

    pub(super) fn view(self, overflow: &Overflow, partial: bool) -> Part {
        let input = self.input.whole(overflow.input.as_ref());
        let output = self.output.map(|output| output.whole(overflow.output.as_ref()));
        // A template takes less room than the title, and knows the result as soon as there is one.
        let title = self.title.and_then(|it| templates::title(&it, &input, output.as_ref()));
        let mut part = ToolPart {
            call_id: self.call_id,
            name: self.name,
            title,
            input,
            partial,
            output,
            status: self.status,
            ui: None,
            result_schema: overflow
                .result_schema
                .as_ref()
                .and_then(|text| serde_json::from_str(text).ok()),
            answer_by: None,
            resolved_by: None,
            expires_at: None,
            approval: None,
            page_of: None,
        };
        if let Some(asks) = self.asks {
            part.resolved_by = asks.answerer(self.status);
            part.page_of = asks.page_of;
            // Clients show a card with an `ui` as a form, to everybody who may answer it.
            if asks.page_of.is_none() {
                part.ui = Some(asks.ui);
                part.answer_by = Some(asks.answer_by);
            }
            part.expires_at = Some(asks.until);
            part.approval = asks.approval;
        }
        Part::Tool(Box::new(part))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_question_of_a_form_is_the_first_text_that_may_be_its_heading() {
        let of = |ui: &str, input: Value| question(ui, &input);
        let both = json!({"message": "Deploy?", "title": "v2.1"});
        assert_eq!(of("form", both.clone()).as_deref(), Some("v2.1"));
        assert_eq!(of("buttons", both).as_deref(), Some("Deploy?"));
        let blank = json!({"title": " ", "question": 7, "text": " When? "});
        assert_eq!(of("form", blank).as_deref(), Some("When?"));
        assert_eq!(of("form", json!(["title"])), None);
    }
}
