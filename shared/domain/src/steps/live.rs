//! A step as the followers of its space see it while a run works on it.

use serde::{Deserialize, Serialize};

use crate::{
    Time,
    ids::CallId,
    steps::{CallStatus, FinishReason},
    usage::Usage,
};

/// A step that a run works on. Members of the space get only [`LiveStep::for_members`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LiveStep {
    /// The position of the step in its run, from 0.
    pub index: u32,
    /// Of two frames of a run the one with the higher `rev` holds.
    #[serde(default)]
    pub rev: u64,
    /// What only the operator gets.
    #[serde(flatten)]
    pub answer: Option<LiveAnswer>,
    /// The tool calls, in their written order.
    pub calls: Vec<LiveCall>,
}

/// The model's answer of a step, which may be under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LiveAnswer {
    /// The model that is asked, as `provider/model`.
    pub model: String,
    /// Whether the request waits until the model's server may have one more answer under way. Left
    /// out if it does not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waiting: bool,
    /// When the model was asked.
    pub started_at: Time,
    /// When the first part of the answer arrived. Null while the answer is under way.
    pub first_token_at: Option<Time>,
    /// When the answer was complete. Null while it is under way.
    pub finished_at: Option<Time>,
    /// Why the model stopped. Null while the answer is under way.
    pub finish_reason: Option<FinishReason>,
    /// The tokens and the cost of the answer; zero while it is under way.
    pub usage: Usage,
}

/// A tool call of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LiveCall {
    /// The tool's name.
    pub name: String,
    /// What only the operator gets.
    #[serde(flatten)]
    pub details: Option<LiveCallDetails>,
}

/// What the operator knows of a call besides its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LiveCallDetails {
    /// The call.
    pub call_id: CallId,
    /// The call's status.
    pub status: CallStatus,
    /// When the call began. Null before that.
    pub started_at: Option<Time>,
    /// Whether members see the call: its tool is `visible`.
    pub visible: bool,
}

impl LiveAnswer {
    /// An answer of which nothing is known yet.
    pub fn asked(model: String, started_at: Time, waiting: bool) -> Self {
        Self {
            model,
            waiting,
            started_at,
            first_token_at: None,
            finished_at: None,
            finish_reason: None,
            usage: Usage::default(),
        }
    }
}

impl LiveStep {
    /// The step as members see it: its index, and the names of its visible tools.
    #[must_use]
    pub fn for_members(&self) -> Self {
        let is_visible = |call: &&LiveCall| call.details.is_none_or(|details| details.visible);
        let calls = self.calls.iter().filter(is_visible);
        Self {
            index: self.index,
            rev: self.rev,
            answer: None,
            calls: calls.map(|call| LiveCall { name: call.name.clone(), details: None }).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ids::RunId;

    fn step() -> LiveStep {
        let run = RunId::new(Time::default(), 1);
        let call = |index, name: &str, visible| LiveCall {
            name: name.into(),
            details: Some(LiveCallDetails {
                call_id: CallId::of(run, 2, index),
                status: CallStatus::Pending,
                started_at: Some(Time::default()),
                visible,
            }),
        };
        LiveStep {
            index: 2,
            rev: 5,
            answer: Some(LiveAnswer {
                model: "scripted/scripted".into(),
                waiting: false,
                started_at: Time::default(),
                first_token_at: None,
                finished_at: Some(Time::default()),
                finish_reason: Some(FinishReason::ToolCalls),
                usage: Usage::default(),
            }),
            calls: vec![call(0, "set_memories", false), call(1, "weather", true)],
        }
    }

    #[test]
    fn members_see_the_index_and_the_names_of_visible_tools() {
        let seen = serde_json::to_value(step().for_members()).unwrap();
        assert_eq!(seen, json!({"index": 2, "rev": 5, "calls": [{"name": "weather"}]}));
        assert_eq!(step().for_members().for_members(), step().for_members());
    }

    #[test]
    fn a_step_is_read_as_it_was_written() {
        for step in [step(), step().for_members()] {
            let written = serde_json::to_string(&step).unwrap();
            assert_eq!(serde_json::from_str::<LiveStep>(&written).unwrap(), step, "{written}");
        }
    }
}
