//! `stop_run`: ends another run of the agent. Its end and the call's result are one transaction.

use serde_json::{Value, json};
use smartspace_domain::{Error, Result, runs::EndReason, steps::CallStatus};
use smartspace_store::{append::RACED_FOR, endings::ByWorker, steps::CallRecord};
use tokio::time::Instant;

use super::{Calling, Outcome, own_runs, toolbox::Spec};

pub(super) const NAME: &str = "stop_run";

pub(super) fn spec() -> Spec {
    Spec {
        name: NAME,
        description: "Stop another run of yours, which does what is not needed any more. What it posted stays.",
        input: own_runs::schema("The run, as ACTIVE RUNS shows it."),
        read_only: false,
        changes_space: false,
        side_by_side: false,
    }
}

pub(super) async fn call(calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
    let worker = calling.worker;
    let store = &worker.pipeline.store;
    let output = json!({"success": true});
    let result = worker.with_expiry(CallRecord { status: CallStatus::Completed, output: output.clone(), ..calling.record() });
    let by = ByWorker { run: worker.run.id, lease: &worker.lease, result: &result };
    let until = Instant::now() + RACED_FOR;
    loop {
        let other = match own_runs::other(calling, input).await? {
            Ok(other) => other,
            Err(text) => return Ok(Outcome::error(text)),
        };
        let ended = {
            let _writing = worker.writing.lock().await;
            store.end_own(&other, EndReason::StopRun, &by, worker.pipeline.now()).await
        };
        match ended {
            Ok(Some(ended)) => {
                let run = store.run(&ended).await?;
                worker.pipeline.follow_cancel(&ended, &run, None).await;
                return Ok(Outcome { kept: true, ..Outcome::completed(output) });
            }
            // It did something at this moment.
            Ok(None) if Instant::now() < until => {}
            Ok(None) => return Ok(Outcome::error("that run does too much at this moment; try again")),
            Err(error @ (Error::Conflict(_) | Error::NotFound(_))) => return Ok(Outcome::error(error.to_string())),
            Err(error) => return Err(error),
        }
    }
}
