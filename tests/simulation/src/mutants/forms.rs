//! Mutants of forms, and of runs that end each other.

use std::time::Duration;

use serde_json::{Value, json};
use smartspace_domain::Time;
use smartspace_embedded_table::NAME;

use crate::conditions::prune;
use crate::mutants::writes::{drop_where, ends_run, mentions, sort_key};
use crate::mutants::{Mutant, RawResponse};
use crate::storage::Storage;

/// How much later than its time a form still accepts an answer.
const LATER: Duration = Duration::from_mins(10);

/// Changes a transaction, or answers it instead.
pub(super) fn change(mutant: Mutant, parts: &mut [Value]) -> Option<RawResponse> {
    match mutant {
        Mutant::AbsorbsNothing if ends_run(&parts[0]) && is_by_own(&parts[0]) => {
            drop_where(parts, |part| ends_run(part) || !part["Delete"].is_null());
        }
        Mutant::ForgetsAbsorbing if ends_run(&parts[0]) && is_by_own(&parts[0]) => {
            parts[0]["Update"]["ExpressionAttributeValues"][":by"] = json!({"S": "somebody"});
            drop_where(parts, |part| sort_key(part).starts_with("CALL#"));
        }
        Mutant::ForgetsWaitingRuns => {
            let resolves = |part: &Value| {
                ["#openCalls - :one", "#dueAt"]
                    .iter()
                    .all(|name| mentions(&part["Update"]["UpdateExpression"], name))
            };
            for part in parts.iter_mut().filter(|part| resolves(part)) {
                part["Update"]["UpdateExpression"] =
                    json!("SET #openCalls = #openCalls - :one, #kept = #kept + :one");
                prune(&mut part["Update"]);
            }
        }
        Mutant::LeavesFormsOpen => {
            if parts[0]["Update"]["ExpressionAttributeValues"][":status"]["S"] == "canceled"
                && sort_key(&parts[0]).starts_with("CALL#")
            {
                return Some((200, "{}".into()));
            }
            for part in parts.iter_mut().filter(|part| ends_run(part)) {
                let expression = part["Update"]["UpdateExpression"]
                    .as_str()?
                    .replace(", #due = :due, #dueAt = :now REMOVE", " REMOVE #due, #dueAt,");
                part["Update"]["UpdateExpression"] = expression.into();
                prune(&mut part["Update"]);
            }
        }
        Mutant::AnswersTwice
            if mentions(&parts[0]["Update"]["ConditionExpression"], "#status = :pending") =>
        {
            parts[0]["Update"]["ConditionExpression"] = json!("attribute_exists(PK)");
            prune(&mut parts[0]["Update"]);
        }
        _ => {}
    }
    None
}

/// Lets the time of a form end later.
pub(super) fn give_time(answer: &mut Value) {
    let Some(until) = answer.pointer_mut("/Item/until/S") else { return };
    if let Some(Ok(time)) = until.as_str().map(str::parse::<Time>) {
        *until = json!((time + LATER).to_string());
    }
}

impl Mutant {
    /// Whether a job, given as JSON text, is lost on its way to a queue.
    pub fn loses(self, storage: &Storage, job: &str) -> bool {
        let job: Value = serde_json::from_str(job).unwrap_or_default();
        let Some(run) = job["runId"].as_str().filter(|_| self == Self::ForgetsWaitingRuns) else {
            return false;
        };
        let key = json!({"PK": {"S": format!("RUN#{run}")}, "SK": {"S": "META"}});
        let (_, answer) = storage
            .answer("GetItem", json!({"TableName": NAME, "Key": key}).to_string().as_bytes());
        let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
        let run = &answer["Item"];
        // A run with a `dueCount` was already counted by a sweep.
        run["status"]["S"] == "waiting_tool"
            && run["openCalls"]["N"] == "0"
            && run["dueCount"].is_null()
    }
}

/// Whether another run of the same agent ends this run.
fn is_by_own(part: &Value) -> bool {
    let reason = &part["Update"]["ExpressionAttributeValues"][":reason"]["S"];
    reason == "absorbed" || reason == "stop_run"
}
