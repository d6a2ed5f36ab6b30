//! `stop_run`: ends another run of the agent. Its end and the call's result are one transaction.

use async_trait::async_trait;
use serde_json::Value;
use smartspace_domain::{Result, runs::EndReason};

use crate::tools::{
    builtin::shared::own_runs,
    calling::{Calling, Outcome},
    tool::{BuiltInTool, Spec, ToolGroup},
};

pub(crate) struct StopRun;

#[async_trait]
impl BuiltInTool for StopRun {
    fn spec(&self) -> Spec {
        Spec {
            name: "stop_run".into(),
            description: "Stop another run of yours.".into(),
            input: own_runs::schema(),
            read_only: false,
            changes_space: false,
            group: Some(ToolGroup::Runs),
        }
    }

    async fn call(&self, calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
        own_runs::end(calling, input, EndReason::StopRun).await
    }
}
