//! `skip_response`: ends the run without a message, and records why.

use async_trait::async_trait;
use serde_json::{Value, json};
use smartspace_domain::{Result, json, limits, messages::excerpt, runs::EndReason};

use crate::tools::{
    calling::{Calling, Outcome},
    input::text_of,
    tool::{BuiltInTool, Spec},
};

pub(crate) struct SkipResponse;

/// The beginning of the reason that a call gave, which members see. The call has all of it.
pub(crate) fn reason(input: &str) -> Option<String> {
    let input = json::parse_written(input).ok()?;
    let reason = text_of(&input, "reason").trim();
    let (beginning, missing) = excerpt(reason, limits::SKIP_REASON_CHARS);
    let ellipsis = if missing > 0 { "…" } else { "" };
    (!reason.is_empty()).then(|| format!("{beginning}{ellipsis}"))
}

#[async_trait]
impl BuiltInTool for SkipResponse {
    fn spec(&self) -> Spec {
        Spec {
            name: "skip_response".into(),
            description: "End this run in silence.".into(),
            input: json!({
                "type": "object",
                "properties": {"reason": {"type": "string"}},
                "required": ["reason"],
                "additionalProperties": false
            }),
            read_only: false,
            changes_space: false,
            group: None,
        }
    }

    /// It only ends the run.
    fn is_made_dry(&self) -> bool {
        true
    }

    async fn call(&self, _: &Calling<'_>, _: &Value) -> Result<Outcome> {
        Ok(Outcome {
            ends: Some(EndReason::Skipped),
            ..Outcome::completed(json!({"success": true}))
        })
    }
}
