//! The tools of a request.

use serde::Serialize;
use serde_json::{Value, json, value::RawValue};
use smartspace_domain::agents::ToolChoice;

use crate::{
    bedrock::families::Family,
    port::{Request, ToolSpec},
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tools<'a> {
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tool<'a> {
    tool_spec: Spec<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Spec<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    input_schema: Schema<'a>,
}

#[derive(Serialize)]
struct Schema<'a> {
    json: &'a RawValue,
}

impl<'a> Tools<'a> {
    /// Returns `None` without tools, because the provider refuses an empty list. `may_force` is
    /// false if the request has something that the model refuses next to a forced call.
    pub(super) fn new(request: &'a Request, family: Family, may_force: bool) -> Option<Self> {
        let tool = |tool: &'a ToolSpec| {
            let input_schema = Schema { json: tool.input_schema() };
            Tool {
                tool_spec: Spec {
                    name: &tool.name,
                    description: tool.description.trim(),
                    input_schema,
                },
            }
        };
        let is_required = request.model.tool_choice == ToolChoice::Required;
        let forced = request
            .forced_tool
            .as_ref()
            .map(|forced| json!({"tool": {"name": forced.name}}))
            .or_else(|| is_required.then(|| json!({"any": {}})))
            .filter(|_| family.forced_tools && may_force);
        (!request.tools.is_empty())
            .then(|| Self { tools: request.tools.iter().map(tool).collect(), tool_choice: forced })
    }
}
