//! Calls that wait for the page of a member. They are no forms, and only the page knows their
//! results.

use serde_json::Value;
use smartspace_client::{Refusal, Session as ApiSession, messages_path};
use smartspace_domain::ids::{CallId, RunId, SpaceId};

/// Among how many messages, the newest ones, the card is looked for. A call waits for ten minutes.
const SEARCHED: u64 = 200;

/// Refuses the answer of a model to a call that waits for a page.
pub(super) async fn refuse_page_call(
    api: &ApiSession,
    run: RunId,
    call: CallId,
) -> Result<(), Refusal> {
    match messages_near(api, run).await {
        Ok(messages) if is_of_page(&messages, call) => {
            Err(Refusal::new(403, "the call waits for a page (pageOf), and only this answers it"))
        }
        // A caller that may not read the run is refused when it answers.
        Err(refusal) if !matches!(refusal.status, 403 | 404) => Err(refusal),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// The newest messages of the space whose message triggered the run. Only that has a page.
async fn messages_near(api: &ApiSession, run: RunId) -> Result<Value, Refusal> {
    let run: Value = api.get(&format!("/v1/runs/{run}"), &[]).await?;
    let space = run["trigger"]["spaceId"].as_str().and_then(|id| id.parse::<SpaceId>().ok());
    let Some(space) = space else { return Ok(Value::Null) };
    api.get(&messages_path(space), &[("limit", SEARCHED.to_string())]).await
}

fn is_of_page(messages: &Value, call: CallId) -> bool {
    let call = call.to_string();
    let messages = messages["items"].as_array().into_iter().flatten();
    let mut parts = messages.filter_map(|message| message["parts"].as_array()).flatten();
    parts.any(|part| part["callId"] == call && part["pageOf"].is_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::samples::run_id;

    #[test]
    fn only_a_call_with_a_page_is_one_of_a_page() {
        let [form, of_page, other] = [0, 1, 2].map(|index| CallId::of(run_id(1), 0, index));
        let messages = json!({"items": [
            {"parts": [{"type": "text", "text": "Hello"}]},
            {"parts": [{"type": "tool", "callId": form.to_string(), "ui": "form"}]},
            {"parts": [{"type": "tool", "callId": of_page.to_string(), "pageOf": "ent_1"}]},
        ]});
        assert!(is_of_page(&messages, of_page));
        assert!(!is_of_page(&messages, form));
        assert!(!is_of_page(&messages, other));
        assert!(!is_of_page(&Value::Null, of_page));
    }
}
