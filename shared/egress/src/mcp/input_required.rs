//! A call that ends with a question to the user (revision 2026-07-28): the client asks, and repeats
//! the call with the answers.

use std::collections::BTreeMap;

use serde_json::Value;

/// The most questions of one call.
const MOST_REQUESTS: usize = 10;
/// The longest state of a server, in bytes. It is stored while people answer.
const LONGEST_STATE: usize = 32 * 1024;
/// The longest question, in bytes of JSON.
const LONGEST_REQUEST: usize = 16 * 1024;

/// What a server needs to go on with a call.
#[derive(Clone, Debug, PartialEq)]
pub struct InputRequired {
    /// The requests of the server, by its own names: `{method, params}`. Redacted.
    pub requests: BTreeMap<String, Value>,
    /// Sent back as it is.
    pub state: Option<String>,
}

/// The answers to such requests, for the repeated call.
#[derive(Clone, Debug, PartialEq)]
pub struct InputAnswers {
    /// The answers, by the names of the requests.
    pub answers: BTreeMap<String, Value>,
    /// Another number for each repetition, from 1.
    pub round: u32,
    /// The state that came with the questions.
    pub state: Option<String>,
}

/// Reads the result of a call. `None` if the call is complete.
///
/// # Errors
/// If the server asks for more than can be shown, as a sentence without its subject.
pub(super) fn of_result(result: &Value) -> Result<Option<InputRequired>, String> {
    match result.get("resultType").and_then(Value::as_str) {
        None | Some("complete") => return Ok(None),
        Some("input_required") => {}
        Some(_) => return Err("answered with an unknown type of result".to_owned()),
    }
    let requests: BTreeMap<_, _> = match &result["inputRequests"] {
        Value::Null => BTreeMap::new(),
        Value::Object(requests) => {
            requests.iter().map(|(name, request)| (name.clone(), request.clone())).collect()
        }
        _ => return Err("asks for an input, but not with an object".to_owned()),
    };
    let state = result.get("requestState").and_then(Value::as_str).map(str::to_owned);
    if requests.is_empty() && state.is_none() {
        return Err("asks for an input, but does not say for which".to_owned());
    }
    let is_too_long = |request: &Value| request.to_string().len() > LONGEST_REQUEST;
    if requests.len() > MOST_REQUESTS
        || requests.values().any(is_too_long)
        || state.as_ref().is_some_and(|state| state.len() > LONGEST_STATE)
    {
        return Err("asks for more than can be shown".to_owned());
    }
    Ok(Some(InputRequired { requests, state }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_question_differs_from_an_answer() {
        assert_eq!(of_result(&json!({"content": []})), Ok(None));
        assert_eq!(of_result(&json!({"resultType": "complete"})), Ok(None));
        let request = json!({"method": "elicitation/create", "params": {"message": "Name?"}});
        let asked = json!({
            "resultType": "input_required",
            "inputRequests": {"name": request},
            "requestState": "s",
        });
        let requests = BTreeMap::from([("name".to_owned(), request)]);
        let expected = InputRequired { requests, state: Some("s".to_owned()) };
        assert_eq!(of_result(&asked), Ok(Some(expected)));
        assert!(of_result(&json!({"resultType": "input_required"})).is_err());
        assert!(of_result(&json!({"resultType": "task"})).is_err());
        let list = json!({
            "resultType": "input_required",
            "inputRequests": [1],
            "requestState": "s",
        });
        assert!(of_result(&list).is_err());
        let state = "x".repeat(LONGEST_STATE + 1);
        let long = json!({"resultType": "input_required", "requestState": state});
        assert!(of_result(&long).is_err());
    }
}
