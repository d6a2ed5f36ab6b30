//! `absorb_run`: ends another run of the agent and takes its work along: what woke it, and what it did.
//!
//! What it did is read, then the other run is ended in the same transaction that keeps the call's result, on the condition that nothing was kept
//! of that run since. So nothing is left out, of two runs that absorb each other one wins, and who absorbs an absorber inherits what it inherited.

use futures::try_join;
use serde_json::{Value, json};
use smartspace_domain::{Error, Result, runs::EndReason, steps::CallStatus};
use smartspace_store::{
    append::RACED_FOR,
    endings::ByWorker,
    steps::{CallRecord, Work},
};
use tokio::time::Instant;

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
    let worker = calling.worker;
    let store = &worker.pipeline.store;
    let until = Instant::now() + RACED_FOR;
    loop {
        let other = match own_runs::other(calling, input).await? {
            Ok(other) => other,
            Err(text) => return Ok(Outcome::error(text)),
        };
        // Behind its state: what is kept after that was read makes the condition fail.
        let (view, work) = try_join!(store.run(&other), store.work(other.id))?;
        let output = json!({"success": true, "absorbed": absorbed(&json!(view.trigger), work)});
        let result = worker.with_expiry(CallRecord { status: CallStatus::Completed, output: output.clone(), ..calling.record() });
        let by = ByWorker { run: worker.run.id, lease: &worker.lease, result: &result };
        let ended = {
            let _writing = worker.writing.lock().await;
            store.end_own(&other, EndReason::Absorbed, &by, worker.pipeline.now()).await
        };
        match ended {
            Ok(Some(ended)) => {
                let run = store.run(&ended).await?;
                worker.pipeline.follow_cancel(&ended, &run, Some(worker.run.id)).await;
                return Ok(Outcome { kept: true, ..Outcome::completed(output) });
            }
            Ok(None) if Instant::now() < until => {}
            Ok(None) => return Ok(Outcome::error("that run does too much at this moment; try again")),
            Err(error @ (Error::Conflict(_) | Error::NotFound(_))) => return Ok(Outcome::error(error.to_string())),
            Err(error) => return Err(error),
        }
    }
}

/// What woke a run and what it did, as much of it as fits a result.
fn absorbed(trigger: &Value, work: Work) -> Value {
    let actions = actions(work);
    let count = super::count_that_fit(&actions, OUTPUT_BYTES.saturating_sub(trigger.to_string().len()));
    let mut absorbed = json!({"trigger": trigger, "actionsTaken": actions[..count]});
    if count < actions.len() {
        absorbed["more"] = json!(actions.len() - count);
    }
    absorbed
}

/// What a run did, in its order.
fn actions(mut work: Work) -> Vec<Value> {
    let mut actions = Vec::new();
    for step in &work.steps {
        for (index, begun) in step.calls.iter().enumerate() {
            let Some(done) = work.calls.remove(&(step.index, index as u32)) else { continue };
            let output = if done.status == CallStatus::Pending { json!({"error": "canceled"}) } else { done.output };
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
