//! `skip_response`: ends the run without a message, and records why. It is refused if the run is
//! the last one that could answer a person who is alone with agents.

use async_trait::async_trait;
use serde_json::{Value, json};
use smartspace_domain::{
    Result, dispatch::Source, json, limits, messages::excerpt, runs::EndReason, triggers::Trigger,
};

use crate::tools::{
    calling::{Calling, Outcome},
    input::text_of,
    tool::{BuiltInTool, Spec},
};

/// The error of an agent that is the only one to answer.
const NOBODY_ELSE: &str = "nobody else answers: say what you know, or that you do not know";

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

    async fn call(&self, calling: &Calling<'_>, _: &Value) -> Result<Outcome> {
        if is_last_hope(calling).await? {
            return Ok(Outcome::error(NOBODY_ELSE));
        }
        Ok(Outcome {
            ends: Some(EndReason::Skipped),
            ..Outcome::completed(json!({"success": true}))
        })
    }
}

/// Whether the run is for a question that nobody has answered, and the asker is the only person in
/// its space.
async fn is_last_hope(calling: &Calling<'_>) -> Result<bool> {
    let context = calling.context;
    let Trigger::SpaceMessage { source: Source::Unanswered, space_id, sender, .. } =
        &context.trigger
    else {
        return Ok(false);
    };
    let roster = context.store().members().roster(*space_id).await?;
    Ok(context.dry_run.is_none() && roster.is_only_person(sender.id))
}
