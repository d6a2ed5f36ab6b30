//! `stop_run`: ends another run of the agent. Its end and the call's result are one transaction.

use serde_json::Value;
use smartspace_domain::{Result, runs::EndReason};

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
        call: |calling, input| Box::pin(call(calling, input)),
    }
}

async fn call(calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
    own_runs::end(calling, input, EndReason::StopRun).await
}
