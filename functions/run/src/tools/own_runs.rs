//! What the tools share that end another run of the agent.

use serde_json::{Value, json};
use smartspace_domain::{Error, Result, agents::SpacesShown, ids::RunId};
use smartspace_store::runs::RunRecord;

use super::{Calling, text_of};

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
pub(super) async fn other(calling: &Calling<'_>, input: &Value) -> Result<Result<RunRecord, String>> {
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
    let told = worker.config.spaces_shown() == SpacesShown::All || run.space_id == worker.run.space_id;
    Ok(if run.agent_id == worker.run.agent_id && told { Ok(run) } else { Err(none()) })
}
