//! `skip_response`: ends the run without a word, and records why.

use serde_json::json;
use smartspace_domain::runs::EndReason;

use super::{Outcome, toolbox::Spec};

pub(super) const NAME: &str = "skip_response";

pub(super) fn spec() -> Spec {
    Spec {
        name: NAME,
        description: "End this run without saying anything, and record why.",
        input: json!({
            "type": "object",
            "properties": {"reason": {"type": "string", "description": "Why you stay silent."}},
            "required": ["reason"],
            "additionalProperties": false
        }),
        read_only: false,
        changes_space: false,
        side_by_side: false,
        call: |_, _| Box::pin(async { Ok(call()) }),
    }
}

fn call() -> Outcome {
    Outcome { ends: Some(EndReason::Skipped), ..Outcome::completed(json!({"success": true})) }
}
