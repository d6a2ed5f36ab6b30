//! The inputs of the tools.

use rmcp::{
    ErrorData,
    handler::server::{common::FromContextPart, tool::ToolCallContext},
    schemars::{JsonSchema, Schema, SchemaGenerator},
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::input::shaped;

/// `rmcp` makes an error that begins so the result of the tool, which the model reads.
const MISFIT: &str = "failed to deserialize parameters:";

/// The input of a tool. Unlike that of `rmcp`, it names the field that does not fit. The macro
/// `tool` knows it by its name.
#[derive(Debug)]
pub(super) struct Parameters<T>(pub(super) T);

impl<T: JsonSchema> JsonSchema for Parameters<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

impl<S, T: DeserializeOwned> FromContextPart<ToolCallContext<'_, S>> for Parameters<T> {
    fn from_context_part(context: &mut ToolCallContext<'_, S>) -> Result<Self, ErrorData> {
        let input = Value::Object(context.arguments.take().unwrap_or_default());
        shaped(input).map(Self).map_err(|refusal| {
            ErrorData::invalid_params(format!("{MISFIT} {}", refusal.detail), None)
        })
    }
}
