//! External calls that their server has ended with questions. They are under way until people have
//! answered, and are then repeated with the answers.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::table::json_text;

/// What a call waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AwaitedInput {
    /// The position of the call of the form, behind the calls of the step.
    pub form: u32,
    /// The request that the form shows.
    pub asked: String,
    /// The requests that are not answered yet, with that one, by their names: an object.
    #[serde(with = "json_text")]
    pub requests: Value,
    /// The answers to the others: an object.
    #[serde(with = "json_text")]
    pub answers: Value,
    /// The state of the server, which it gets back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
}

impl AwaitedInput {
    /// The first forms are at this position and behind it. A step has no more calls.
    const FIRST_FORM: u32 = 100;
    const LAST_FORM: u32 = 999;

    /// The position of the next form of the `index`-th call of a step. `before` is that of its last
    /// form. `None` if there can't be one more.
    pub fn next_form(index: u32, before: Option<u32>) -> Option<u32> {
        let next = before.unwrap_or(index) + Self::FIRST_FORM;
        (index < Self::FIRST_FORM && next <= Self::LAST_FORM).then_some(next)
    }

    /// The request that the form shows.
    pub fn request(&self) -> &Value {
        &self.requests[&self.asked]
    }

    /// This, after the form was answered. `None` if no request is left: then the call is repeated
    /// with the answers, which are returned in any case.
    pub fn after(&self, answer: Value) -> (Option<Self>, Map<String, Value>) {
        let mut answers = self.answers.as_object().cloned().unwrap_or_default();
        answers.insert(self.asked.clone(), answer);
        let mut requests = self.requests.as_object().cloned().unwrap_or_default();
        requests.shift_remove(&self.asked);
        let next = requests.keys().next().cloned().map(|asked| Self {
            asked,
            requests: Value::Object(requests),
            answers: Value::Object(answers.clone()),
            ..self.clone()
        });
        (next, answers)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn requests_are_answered_one_after_the_other() {
        let first = AwaitedInput {
            form: 100,
            asked: "a".into(),
            requests: json!({"a": 1, "b": 2}),
            answers: json!({}),
            state: Some("s".into()),
        };
        let (next, answers) = first.after(json!("x"));
        assert_eq!(Value::Object(answers), json!({"a": "x"}));
        let next = next.unwrap();
        assert_eq!((next.asked.as_str(), next.request()), ("b", &json!(2)));
        let (none, answers) = next.after(json!("y"));
        assert_eq!((none, Value::Object(answers)), (None, json!({"a": "x", "b": "y"})));
    }

    #[test]
    fn forms_have_positions_of_their_own() {
        assert_eq!(AwaitedInput::next_form(3, None), Some(103));
        assert_eq!(AwaitedInput::next_form(3, Some(103)), Some(203));
        assert_eq!(AwaitedInput::next_form(3, Some(903)), None);
        assert_eq!(AwaitedInput::next_form(100, None), None);
    }
}
