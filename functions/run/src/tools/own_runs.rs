//! What the tools share that end another run of the agent.

use serde_json::{Value, json};
use smartspace_domain::{Error, Result, agents::SpacesShown, ids::RunId, runs::EndReason, steps::CallStatus};
use smartspace_store::{append::RACED_FOR, endings::ByWorker, runs::RunRecord, steps::CallRecord};
use tokio::time::Instant;

use super::{Calling, Outcome, absorb_run, text_of};

/// Ends the run that an input names, in the transaction that keeps the call's result. One that is absorbed is told of as it is then.
pub(super) async fn end(calling: &Calling<'_>, input: &Value, reason: EndReason) -> Result<Outcome> {
    let worker = calling.worker;
    let store = &worker.pipeline.store;
    let by = (reason == EndReason::Absorbed).then_some(worker.run.id);
    let until = Instant::now() + RACED_FOR;
    loop {
        let other = match other(calling, input).await? {
            Ok(other) => other,
            Err(text) => return Ok(Outcome::error(text)),
        };
        // Behind its state: what is kept after that was read makes the condition fail.
        let output = match by {
            Some(_) => json!({"success": true, "absorbed": absorb_run::absorbed(store, &other).await?}),
            None => json!({"success": true}),
        };
        let result = worker.with_expiry(CallRecord { status: CallStatus::Completed, output: output.clone(), ..calling.record() });
        let ended = {
            let _writing = worker.writing.lock().await;
            let by = ByWorker { run: worker.run.id, lease: &worker.lease, result: &result };
            store.end_own(&other, reason, &by, worker.pipeline.now()).await
        };
        match ended {
            Ok(Some(ended)) => {
                worker.pipeline.follow_cancel(&ended, by).await?;
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

/// The schema of an input that names a run.
pub(super) fn schema(description: &str) -> Value {
    json!({
        "type": "object",
        "properties": {"runId": {"type": "string", "description": description}},
        "required": ["runId"],
        "additionalProperties": false
    })
}

/// The run that an input names, where the agent may know of it; else what to tell the model.
async fn other(calling: &Calling<'_>, input: &Value) -> Result<Result<RunRecord, String>> {
    let worker = calling.worker;
    let id: RunId = match text_of(input, "runId").parse() {
        Ok(id) => id,
        Err(error) => return Ok(Err(format!("runId: {error}"))),
    };
    if id == worker.run.id {
        return Ok(Err("that is this run; expected another one of ACTIVE RUNS. To end this one, call nothing more".into()));
    }
    let none = || "you have no such run; ACTIVE RUNS and get_my_runs list yours".to_owned();
    let run = match worker.pipeline.store.run_record(id).await {
        Ok(run) => run,
        Err(Error::NotFound(_)) => return Ok(Err(none())),
        Err(error) => return Err(error),
    };
    // An agent that is told of one space only is not told what it does in others: anybody may have let it in here.
    let told = worker.config.spaces_shown() == SpacesShown::All || run.space_id() == worker.run.space_id();
    Ok(if run.agent_id == worker.run.agent_id && told { Ok(run) } else { Err(none()) })
}
