//! What a test lets a fake server answer, without the form in which the server writes it.

use serde_json::{Value, json};

use crate::support::model::Gate;

/// One answer of a server.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScriptedAnswer {
    pub(crate) thinking: String,
    pub(crate) text: String,
    pub(crate) calls: Vec<Call>,
    pub(crate) end: Ending,
    /// Where the server stops in the middle of the answer until the gate is open.
    pub(crate) gate: Option<Gate>,
}

#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) input: Value,
}

/// How an answer ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ending {
    #[default]
    Whole,
    /// At the limit of its tokens.
    Cut,
    /// By a filter of the provider, or because the model refuses.
    Refused,
    /// The connection breaks in the middle.
    Broken,
    /// The server refuses the key, so that another model is asked at once.
    Unauthorized,
}

impl ScriptedAnswer {
    /// A call of a tool.
    pub(crate) fn call(name: &str, input: Value) -> Self {
        Self::default().and_call(name, input)
    }

    /// A call that posts a message.
    pub(crate) fn message(text: &str) -> Self {
        Self::call("send_message", json!({ "text": text }))
    }

    /// Text that nobody sees.
    pub(crate) fn text(text: &str) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// An empty answer, which ends the run.
    pub(crate) fn nothing() -> Self {
        Self::default()
    }

    pub(crate) fn and_call(mut self, name: &str, input: Value) -> Self {
        self.calls.push(Call { name: name.into(), input });
        self
    }

    pub(crate) fn thinking(self, thinking: &str) -> Self {
        Self { thinking: thinking.into(), ..self }
    }

    pub(crate) fn ends(self, end: Ending) -> Self {
        Self { end, ..self }
    }

    pub(crate) fn held(self, gate: &Gate) -> Self {
        Self { gate: Some(gate.clone()), ..self }
    }
}

impl Call {
    /// The input as JSON, or its first half if the answer is cut.
    pub(crate) fn json(&self, end: Ending) -> String {
        let whole = self.input.to_string();
        if end != Ending::Cut {
            return whole;
        }
        whole.chars().take(whole.chars().count() / 2).collect()
    }
}
