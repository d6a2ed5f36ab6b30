//! `absorb_run`: ends another run of the agent and takes its work along: what woke it, and what it did.
//!
//! First it ends the other run, under a check of its own lease: of two that absorb each other the first one wins. Who is ended writes nothing
//! more, so what is read of it then is all that it did. The end names this very call: who takes this run over in between ends nothing again, and
//! reads the same.

use futures::try_join;
use serde_json::{Value, json};
use smartspace_domain::{Error, Result, runs::EndReason, steps::CallStatus};
use smartspace_store::{endings::ByWorker, steps::Work};

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
    }
}

pub(super) async fn call(calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
    let other = match own_runs::other(calling, input).await? {
        Ok(other) => other,
        Err(text) => return Ok(Outcome::error(text)),
    };
    let worker = calling.worker;
    let store = &worker.pipeline.store;
    let by = ByWorker { run: worker.run.id, lease: &worker.lease, call: calling.begun.call_id, result: None };
    let absorbed = {
        let _writing = worker.writing.lock().await;
        store.end_own(&other, EndReason::Absorbed, &by, worker.pipeline.now()).await
    };
    let absorbed = match absorbed {
        Ok(absorbed) => absorbed,
        Err(error @ (Error::Conflict(_) | Error::NotFound(_))) => return Ok(Outcome::error(error.to_string())),
        Err(error) => return Err(error),
    };
    let (run, work) = try_join!(store.run(&absorbed), store.work(absorbed.id))?;
    worker.pipeline.follow_cancel(&absorbed, &run, Some(worker.run.id)).await;
    let actions = actions(work);
    let count = super::count_that_fit(&actions, OUTPUT_BYTES);
    let mut told = json!({"trigger": run.trigger, "actionsTaken": actions[..count]});
    if count < actions.len() {
        told["more"] = json!(actions.len() - count);
    }
    Ok(Outcome::completed(json!({"success": true, "absorbed": told})))
}

/// What a run did, in its order.
fn actions(mut work: Work) -> Vec<Value> {
    let mut actions = Vec::new();
    for step in &work.steps {
        for (index, begun) in step.calls.iter().enumerate() {
            let Some(done) = work.calls.remove(&(step.index, index as u32)) else { continue };
            let output = if done.status == CallStatus::Pending { json!({"error": "canceled"}) } else { done.output };
            let input = serde_json::from_str(&begun.input).unwrap_or_else(|_| Value::String(begun.input.clone()));
            actions.push(json!({
                "tool": begun.name,
                "input": super::bounded_to(input, SHOWN_BYTES),
                "output": super::bounded_to(output, SHOWN_BYTES),
            }));
        }
    }
    actions
}
