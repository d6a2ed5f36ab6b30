//! How a model is asked, besides its name.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How much a model thinks before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Reasoning {
    /// Not at all, or as little as the model allows.
    Off,
    /// A little.
    Low,
    /// More.
    Medium,
    /// As much as fits the answer.
    High,
}

/// A kind of files that a model takes besides text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SeenFiles {
    /// PNG, JPEG, WebP and GIF.
    Images,
    /// PDF files.
    Pdf,
}

/// How a model says what it wants to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Speaks {
    /// It calls tools.
    #[default]
    Tools,
    /// It writes one JSON object, `{"say", "reason"}`: for models that were not trained on tools.
    /// It can post a message or skip, and nothing else.
    Json,
}

/// Whether an answer must call a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// Each answer must call a tool. A run ends by itself after a step that posted or skipped.
    Required,
}
