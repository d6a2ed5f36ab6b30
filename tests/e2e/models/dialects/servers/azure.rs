//! Azure `OpenAI`, after "Azure `OpenAI` in Foundry Models v1 API"
//! (`learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle`: the base path and the
//! header `api-key`), "Content filtering" (`…/openai/concepts/content-filter`: the first chunk,
//! the results in each choice, and 400 for a prompt) and "Reasoning models"
//! (`…/openai/how-to/reasoning`).
//!
//! Not imitated: deployments in the path, `api-version`, Entra ID, and the asynchronous filter.

use serde_json::{Value, json};

use crate::{
    models::dialects::{
        chunks::{Chunks, head},
        dialect::{Abilities, Dialect, KeyPlace, Refusing, Turn, no_mark},
        received::Received,
        rules::{Refusal, Rule},
        servers::openai::{self, id, reason, usage},
    },
    support::model::{Api, Beat},
};

/// A text that the filter of prompts does not let pass.
pub(crate) const FILTERED: &str = "a text that the filter knows";

pub(crate) fn dialect() -> Dialect {
    let filter = Rule::new(
        "content_filter",
        "The response was filtered due to the prompt triggering Azure OpenAI's content management \
         policy. Please modify your prompt and retry.",
        |received: &Received| received.body.to_string().contains(FILTERED).then(String::new),
    );
    Dialect {
        name: "azure",
        api: Api::OpenAi,
        base: "/openai/v1",
        path: "/openai/v1/chat/completions",
        key: KeyPlace::Named("api-key"),
        model: "our-deployment",
        settings: json!({ "sees": ["images"] }),
        rules: [filter].into_iter().chain(openai::rules()).collect(),
        refuses_at_first: &["max_tokens"],
        refusing: Some(Refusing {
            model: "other-deployment",
            settings: json!({ "temperature": 0.5 }),
            rule: "temperature",
        }),
        refusal,
        write,
        mark: no_mark,
        id,
        can: Abilities { streams_calls: true, sees: true, refuses: true, counts_cached: true },
    }
}

fn refusal(refusal: &Refusal) -> Value {
    let is_filter = refusal.rule == "content_filter";
    let code = if is_filter { "content_filter" } else { "unsupported_parameter" };
    let param = if is_filter { Some("prompt") } else { refusal.param };
    let mut error = json!({
        "message": refusal.words,
        "type": if is_filter { None } else { Some("invalid_request_error") },
        "param": param,
        "code": code,
    });
    if is_filter {
        error["status"] = json!(400);
        error["innererror"] = json!({
            "code": "ResponsibleAIPolicyViolation",
            "content_filter_result": { "violence": { "filtered": true, "severity": "medium" } },
        });
    }
    json!({ "error": error })
}

fn write(turn: &Turn<'_>) -> Vec<Beat> {
    let mut chunks = Chunks::new(head(&format!("chatcmpl-{}", turn.number), turn.model));
    let safe = json!({ "hate": { "filtered": false, "severity": "safe" } });
    let of_prompt = json!([{ "prompt_index": 0, "content_filter_results": safe }]);
    chunks.event(
        &json!({
            "choices": [], "created": 0, "id": "", "model": "", "object": "",
            "prompt_filter_results": of_prompt,
        })
        .to_string(),
    );
    chunks.delta(json!({ "role": "assistant", "content": "", "refusal": null }));
    openai::write_said(&mut chunks, turn);
    chunks.choice(json!({
        "index": 0,
        "delta": {},
        "finish_reason": reason(turn, "content_filter"),
        "content_filter_results": safe,
        "logprobs": null,
    }));
    if turn.wants_usage {
        chunks.chunk(json!({ "choices": [], "usage": usage() }));
    }
    chunks.done()
}
