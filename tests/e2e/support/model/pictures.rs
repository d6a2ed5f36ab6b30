//! `OpenAI`'s image API. A model whose name begins with `held` waits at a gate before it draws.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use serde_json::{Value, json};

use crate::support::{
    files::PIXEL,
    model::{Gate, Model, Shared},
};

/// What the provider counts for a picture.
pub(crate) const TOKENS: (u64, u64) = (12, 1_056);

impl Model {
    /// The requests for pictures so far.
    pub(crate) fn drawn(&self) -> Vec<Value> {
        self.shared.drawn.lock().unwrap().clone()
    }

    /// The gate of the models that wait.
    pub(crate) fn drawing(&self) -> &Gate {
        &self.shared.drawing
    }
}

/// Draws a red pixel. A prompt that says "refuse" is refused.
pub(super) async fn draw(shared: &Shared, model: &str, key: &str, body: Value) -> Response {
    let faults = faults(shared, key, &body);
    shared.faults.lock().unwrap().extend(faults.into_iter().map(|it| format!("{model}: {it}")));
    shared.drawn.lock().unwrap().push(body.clone());
    if model.starts_with("held") {
        shared.drawing.pass().await;
    }
    if body["prompt"].as_str().is_some_and(|prompt| prompt.contains("refuse")) {
        let error = json!({"error": {"message": "not this", "code": "moderation_blocked"}});
        return (StatusCode::BAD_REQUEST, Json(error)).into_response();
    }
    let (read, written) = TOKENS;
    let usage = json!({"input_tokens": read, "output_tokens": written});
    Json(json!({"data": [{"b64_json": BASE64.encode(PIXEL)}], "usage": usage})).into_response()
}

/// What the provider would refuse in a request.
fn faults(shared: &Shared, key: &str, body: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    if shared.key.is_some_and(|expected| expected != key) {
        faults.push("a wrong API key".to_owned());
    }
    let is_text = |field: &str| body[field].as_str().is_some_and(|text| !text.trim().is_empty());
    for field in ["model", "prompt"] {
        if !is_text(field) {
            faults.push(format!("no text in {field}"));
        }
    }
    if !["1024x1024", "1536x1024", "1024x1536"].contains(&body["size"].as_str().unwrap_or("")) {
        faults.push(format!("a size that the model does not have: {}", body["size"]));
    }
    let fields = body.as_object().into_iter().flatten();
    // The newer models have no field `response_format`.
    let known = ["model", "prompt", "size", "n"];
    faults.extend(
        fields
            .filter(|(name, _)| !known.contains(&name.as_str()))
            .map(|(name, _)| format!("the unknown field {name}")),
    );
    faults
}
