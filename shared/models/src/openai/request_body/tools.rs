//! The tools of a request.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::port::ToolSpec;

#[derive(Serialize)]
pub(super) struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a RawValue,
}

pub(super) fn tool(tool: &ToolSpec) -> Tool<'_> {
    let function = Function {
        name: &tool.name,
        description: &tool.description,
        parameters: tool.input_schema(),
    };
    Tool { r#type: "function", function }
}
