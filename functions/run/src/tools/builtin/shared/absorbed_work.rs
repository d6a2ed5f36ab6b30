//! The work of an absorbed run, as the result of `absorb_run` shows it: its trigger and its
//! actions.

use futures::try_join;
use serde_json::{Value, json};
use smartspace_domain::{Result, steps::CallStatus};
use smartspace_store::{
    Store,
    runs::{RunRecord, steps::Progress},
};

use crate::tools::output::{MAX_OUTPUT_BYTES, bounded_to, count_that_fit};

/// How much of an input or output is shown, in bytes.
const MAX_VALUE_BYTES: usize = 4_000;

/// The trigger and the actions of a run, as many as fit a result.
pub(crate) async fn absorbed(store: &Store, other: &RunRecord) -> Result<Value> {
    let (run, progress) = try_join!(store.runs().get(other), store.steps().progress(other.id))?;
    let trigger = json!(run.trigger);
    let actions = actions(progress);
    let count =
        count_that_fit(&actions, MAX_OUTPUT_BYTES.saturating_sub(trigger.to_string().len()));
    let mut absorbed = json!({"trigger": trigger, "actionsTaken": actions[..count]});
    if count < actions.len() {
        absorbed["more"] = json!(actions.len() - count);
    }
    Ok(absorbed)
}

/// The actions of a run, in order.
fn actions(mut progress: Progress) -> Vec<Value> {
    let mut actions = Vec::new();
    for step in &progress.steps {
        for (index, begun) in step.calls.iter().enumerate() {
            let Some(done) = progress.calls.remove(&(step.index, index as u32)) else { continue };
            let output = match done.status {
                CallStatus::Pending if done.is_external => {
                    json!({"error": "it was under way; whether it took effect is not known"})
                }
                CallStatus::Pending => json!({"error": "canceled"}),
                _ => done.output,
            };
            let input = smartspace_domain::json::parse_written(&begun.input)
                .unwrap_or_else(|_| Value::String(begun.input.clone()));
            actions.push(json!({
                "tool": begun.name,
                "input": bounded_to(input, MAX_VALUE_BYTES),
                "output": bounded_to(output, MAX_VALUE_BYTES),
            }));
        }
    }
    actions
}
