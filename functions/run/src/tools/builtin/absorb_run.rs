//! `absorb_run`: ends another run of the agent and takes over its work: its trigger and its
//! actions.
//!
//! The tool reads what the other run did. It ends that run in the transaction that stores the
//! result of the call, on condition that the other run has stored nothing since, so that the result
//! is complete.
//! If two runs absorb each other, one wins. A run that absorbs an absorber inherits everything.

use async_trait::async_trait;
use serde_json::Value;
use smartspace_domain::{Result, runs::EndReason};

use crate::tools::{
    builtin::shared::own_runs,
    calling::{Calling, Outcome},
    tool::{BuiltInTool, Spec, ToolGroup},
};

pub(crate) struct AbsorbRun;

#[async_trait]
impl BuiltInTool for AbsorbRun {
    fn spec(&self) -> Spec {
        Spec {
            name: "absorb_run".into(),
            description: "Stop another run of yours and read what it was doing.".into(),
            input: own_runs::schema(),
            read_only: false,
            changes_space: false,
            group: Some(ToolGroup::Runs),
        }
    }

    async fn call(&self, calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
        own_runs::end(calling, input, EndReason::Absorbed).await
    }
}
