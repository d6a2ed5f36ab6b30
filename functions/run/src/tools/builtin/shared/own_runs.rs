//! Ends another run of the agent, for `stop_run` and `absorb_run`.

use serde_json::{Value, json};
use smartspace_domain::{
    Error, Result, agents::SpacesShown, ids::RunId, runs::EndReason, steps::CallStatus,
};
use smartspace_store::{
    optimistic_retry::RETRIED_FOR,
    runs::{RunRecord, endings::ByWorker, places::Places, steps::CallRecord},
};
use tokio::time::Instant;

use crate::tools::{
    builtin::shared::absorbed_work,
    calling::{Calling, Outcome},
    input::text_of,
};

/// Ends the run that an input names, in the transaction that stores the result of the call. If the
/// run is absorbed, the result shows what it had done at that moment.
pub(crate) async fn end(
    calling: &Calling<'_>,
    input: &Value,
    reason: EndReason,
) -> Result<Outcome> {
    let context = calling.context;
    let store = context.store();
    let absorber = (reason == EndReason::Absorbed).then_some(context.run.id);
    let until = Instant::now() + RETRIED_FOR;
    loop {
        let other = match named_run(calling, input).await? {
            Ok(other) => other,
            Err(text) => return Ok(Outcome::error(text)),
        };
        // This is read after the state of the run, so the condition fails if the run stores
        // anything later.
        let (output, places) = match absorber {
            Some(_) => {
                let (work, places) = absorbed_work::absorbed(store, &other, "/absorbed").await?;
                (json!({"success": true, "absorbed": work}), places)
            }
            None => (json!({"success": true}), Places::default()),
        };
        let result = context.with_expiry(CallRecord {
            status: CallStatus::Completed,
            output: output.clone(),
            places: places.clone(),
            ..calling.record()
        });
        let ended = {
            let _writing = context.writing.lock().await;
            let by = ByWorker { run: context.run.id, lease: &context.lease, result: &result };
            store.runs().end_own(&other, reason, &by, context.now()).await
        };
        match ended {
            Ok(Some(ended)) => {
                context.pipeline.queue_runs(ended.next).await;
                context.pipeline.follow_cancel(&ended.run, absorber).await?;
                return Ok(Outcome { places, is_stored: true, ..Outcome::completed(output) });
            }
            // The other run has stored something since it was read.
            Ok(None) if Instant::now() < until => {}
            Ok(None) => {
                return Ok(Outcome::error("that run does too much at this moment; try again"));
            }
            Err(error @ (Error::Conflict(_) | Error::NotFound(_))) => {
                return Ok(Outcome::error(error.to_string()));
            }
            Err(error) => return Err(error),
        }
    }
}

/// The schema of an input that names a run.
pub(crate) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {"runId": {"type": "string"}},
        "required": ["runId"],
        "additionalProperties": false
    })
}

/// The run that an input names, if the agent may know it; otherwise an error text for the model.
async fn named_run(calling: &Calling<'_>, input: &Value) -> Result<Result<RunRecord, String>> {
    let context = calling.context;
    let id: RunId = match text_of(input, "runId").parse() {
        Ok(id) => id,
        Err(error) => return Ok(Err(format!("runId: {error}"))),
    };
    if id == context.run.id {
        return Ok(Err("that is this run; expected another one of ACTIVE RUNS. To end this one, \
            call nothing more"
            .into()));
    }
    let no_such_run = || "you have no such run; ACTIVE RUNS and get_my_runs list yours".to_owned();
    let run = match context.store().runs().record(id).await {
        Ok(run) => run,
        Err(Error::NotFound(_)) => return Ok(Err(no_such_run())),
        Err(error) => return Err(error),
    };
    // An agent that sees only one space must not see its runs in others, because anybody may have
    // added it to this one.
    let is_visible = context.config.spaces_shown() == SpacesShown::All
        || run.space_id() == context.run.space_id();
    Ok(if run.agent_id == context.run.agent_id && is_visible {
        Ok(run)
    } else {
        Err(no_such_run())
    })
}
