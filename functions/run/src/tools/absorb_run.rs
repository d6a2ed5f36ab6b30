//! `absorb_run`: ends another run of the agent and takes its work along: what woke it, and what it did.
//!
//! What it did is read, then the other run is ended in the same transaction that keeps the call's result, on the condition that nothing was kept
//! of that run since. So nothing is left out, of two runs that absorb each other one wins, and who absorbs an absorber inherits what it inherited.

use futures::try_join;
use serde_json::{Value, json};
use smartspace_domain::{Result, runs::EndReason, steps::CallStatus};
use smartspace_store::{Store, runs::RunRecord, steps::Progress};

use super::{Calling, OUTPUT_BYTES, Outcome, own_runs, toolbox::Spec};

pub(super) const NAME: &str = "absorb_run";

/// What of an input or output is told, in bytes.
const SHOWN_BYTES: usize = 4_000;

pub(super) fn spec() -> Spec {
    Spec {
        name: NAME,
        description: "Stop another run of yours and take over what it was doing: you are told what woke it and what it did so far.",
        input: own_runs::schema("The run, as ACTIVE RUNS shows it."),
        read_only: false,
        changes_space: false,
        side_by_side: false,
        call: |calling, input| Box::pin(call(calling, input)),
    }
}

async fn call(calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
    own_runs::end(calling, input, EndReason::Absorbed).await
}

/// What woke a run and what it did, as much of it as fits a result.
pub(super) async fn absorbed(store: &Store, other: &RunRecord) -> Result<Value> {
    let (run, progress) = try_join!(store.run(other), store.progress(other.id))?;
    let (trigger, actions) = (json!(run.trigger), actions(progress));
    let count = super::count_that_fit(&actions, OUTPUT_BYTES.saturating_sub(trigger.to_string().len()));
    let mut absorbed = json!({"trigger": trigger, "actionsTaken": actions[..count]});
    if count < actions.len() {
        absorbed["more"] = json!(actions.len() - count);
    }
    Ok(absorbed)
}

/// What a run did, in its order.
fn actions(mut progress: Progress) -> Vec<Value> {
    let mut actions = Vec::new();
    for step in &progress.steps {
        for (index, begun) in step.calls.iter().enumerate() {
            let Some(done) = progress.calls.remove(&(step.index, index as u32)) else { continue };
            let output = match done.status {
                CallStatus::Pending if done.outside => json!({"error": "it was under way; whether it took effect is not known"}),
                CallStatus::Pending => json!({"error": "canceled"}),
                _ => done.output,
            };
            let input = smartspace_domain::json::parse(&begun.input).unwrap_or_else(|_| Value::String(begun.input.clone()));
            actions.push(json!({
                "tool": begun.name,
                "input": super::bounded_to(input, SHOWN_BYTES),
                "output": super::bounded_to(output, SHOWN_BYTES),
            }));
        }
    }
    actions
}
