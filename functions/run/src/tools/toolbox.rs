//! The tools that an agent's model is told of: the built-in ones, and those of the agent's configuration.

use std::sync::{Arc, LazyLock, OnceLock};

use jsonschema::Validator;
use serde_json::{Value, json};
use smartspace_domain::tools::{Execution, Tool};
use smartspace_models::port::ToolSpec;

use super::{
    absorb_run, delegate, delete_goals, delete_memories, enter_space, get_memories, get_my_runs, read_messages, send_message, set_goals,
    set_memories, skip_response, stop_run,
};

/// Where a visible call's card goes instead of the active space: offered to the model, and taken out before the call.
pub(crate) const TARGET: &str = "targetSpaceId";

/// A built-in tool.
pub(crate) struct Spec {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) input: Value,
    /// It changes nothing that others see.
    pub(crate) read_only: bool,
    /// After it another space may be active.
    pub(crate) changes_space: bool,
    /// Neighbours of this kind are called side by side: it makes no difference which is first.
    pub(crate) side_by_side: bool,
}

/// A built-in tool with its input's schema ready.
pub(crate) struct BuiltIn {
    pub(crate) spec: Spec,
    pub(crate) validator: Option<Validator>,
}

/// Sorted by name, as models are told of them.
static BUILT_IN: LazyLock<Vec<BuiltIn>> = LazyLock::new(|| {
    let specs = [
        absorb_run::spec(),
        delegate::spec(),
        delete_goals::spec(),
        delete_memories::spec(),
        enter_space::spec(),
        get_memories::spec(),
        get_my_runs::spec(),
        read_messages::spec(),
        send_message::spec(),
        set_goals::spec(),
        set_memories::spec(),
        skip_response::spec(),
        stop_run::spec(),
    ];
    specs.map(|spec| BuiltIn { validator: jsonschema::validator_for(&spec.input).ok(), spec }).into()
});

/// What a model is told of the built-in tools, which most agents have nothing beside.
static BUILT_IN_SPECS: LazyLock<Arc<[ToolSpec]>> = LazyLock::new(|| BUILT_IN.iter().map(|tool| told(&tool.spec)).collect());

fn told(spec: &Spec) -> ToolSpec {
    ToolSpec { name: spec.name.to_owned(), description: spec.description.to_owned(), input_schema: spec.input.clone() }
}

/// A tool of the agent's configuration.
pub(crate) struct Configured {
    pub(crate) tool: Tool,
    validator: OnceLock<Option<Validator>>,
}

impl Configured {
    /// Whether its calls are shown as cards.
    pub(crate) fn is_visible(&self) -> bool {
        self.tool.visible || matches!(self.tool.execution, Execution::Space { .. })
    }

    /// Whether the model may say where its card goes. A tool with an input of that name keeps it.
    pub(crate) fn takes_target(&self) -> bool {
        let properties = self.tool.input_schema.get("properties");
        self.is_visible() && self.tool.input_schema.is_object() && properties.is_none_or(|properties| properties.get(TARGET).is_none())
    }

    /// What its input must look like; none where the schema is none, which its configuration was checked for.
    pub(crate) fn validator(&self) -> Option<&Validator> {
        self.validator.get_or_init(|| jsonschema::validator_for(&self.tool.input_schema).ok()).as_ref()
    }

    fn told(&self) -> ToolSpec {
        let mut input_schema = self.tool.input_schema.clone();
        if self.takes_target()
            && let Some(schema) = input_schema.as_object_mut()
        {
            schema.entry("type").or_insert_with(|| json!("object"));
            let about = "The id of another space of yours where this is to be shown, instead of the active one. Write it first.";
            if let Some(properties) = schema.entry("properties").or_insert_with(|| json!({})).as_object_mut() {
                properties.insert(TARGET.to_owned(), json!({"type": "string", "description": about}));
            }
        }
        ToolSpec { name: self.tool.name.clone(), description: self.tool.description.clone(), input_schema }
    }
}

/// A tool that there is.
pub(crate) enum Known<'a> {
    BuiltIn(&'static BuiltIn),
    Configured(&'a Configured),
}

/// The tools of one agent.
pub(crate) struct Toolbox {
    configured: Vec<Configured>,
    specs: Arc<[ToolSpec]>,
}

impl Toolbox {
    /// With those of its configuration that can be run.
    pub(crate) fn new(tools: &[Tool]) -> Self {
        // Sorted by name: the same bytes in every space, so that providers need not read them again.
        let runs = |tool: &&Tool| !matches!(tool.execution, Execution::Http { .. });
        let configured: Vec<_> =
            tools.iter().filter(runs).map(|tool| Configured { tool: tool.clone(), validator: OnceLock::new() }).collect();
        if configured.is_empty() {
            return Self { configured, specs: Arc::clone(&BUILT_IN_SPECS) };
        }
        let mut specs: Vec<_> = BUILT_IN_SPECS.iter().cloned().chain(configured.iter().map(Configured::told)).collect();
        specs.sort_by(|one, other| one.name.cmp(&other.name));
        Self { configured, specs: specs.into() }
    }

    /// As models are told of them.
    pub(crate) fn specs(&self) -> Arc<[ToolSpec]> {
        Arc::clone(&self.specs)
    }

    /// The tool with this name.
    pub(crate) fn find(&self, name: &str) -> Option<Known<'_>> {
        let built_in = BUILT_IN.iter().find(|tool| tool.spec.name == name).map(Known::BuiltIn);
        built_in.or_else(|| self.configured(name).map(Known::Configured))
    }

    /// The tool of the configuration with this name.
    pub(crate) fn configured(&self, name: &str) -> Option<&Configured> {
        self.configured.iter().find(|configured| configured.tool.name == name)
    }

    /// The names of all.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.specs.iter().map(|spec| spec.name.as_str()).collect()
    }

    /// Whether neighbouring calls of this tool and others like it are made side by side. What is shown has an order.
    pub(crate) fn is_side_by_side(&self, name: &str) -> bool {
        match self.find(name) {
            Some(Known::BuiltIn(tool)) => tool.spec.side_by_side,
            Some(Known::Configured(configured)) => {
                matches!(configured.tool.execution, Execution::Compute { .. }) && !configured.is_visible()
            }
            None => false,
        }
    }

    /// Whether after this tool another space may be active.
    pub(crate) fn changes_space(&self, name: &str) -> bool {
        matches!(self.find(name), Some(Known::BuiltIn(tool)) if tool.spec.changes_space)
    }

    /// Whether this tool changes nothing. An unknown one changes nothing either.
    pub(crate) fn is_read_only(&self, name: &str) -> bool {
        match self.find(name) {
            Some(Known::BuiltIn(tool)) => tool.spec.read_only,
            Some(Known::Configured(configured)) => configured.tool.read_only,
            None => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(tool: &Value) -> Tool {
        serde_json::from_value(tool.clone()).unwrap()
    }

    #[test]
    fn built_in_tools_are_sorted_and_their_schemas_hold() {
        assert!(BUILT_IN.is_sorted_by_key(|tool| tool.spec.name));
        assert!(BUILT_IN.iter().all(|tool| tool.validator.is_some()));
        assert!(BUILT_IN.iter().all(|tool| smartspace_domain::tools::BUILT_IN.contains(&tool.spec.name)));
    }

    #[test]
    fn a_visible_tool_is_offered_a_target_unless_it_has_one_of_its_own() {
        let execution = json!({"type": "static", "output": 1});
        let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "additionalProperties": false});
        let tools = [
            tool(&json!({"name": "hidden", "description": "", "inputSchema": schema, "execution": execution})),
            tool(&json!({"name": "asks", "description": "", "inputSchema": {}, "execution": {"type": "space"}})),
            tool(&json!({"name": "Shown", "description": "", "inputSchema": schema, "visible": true, "execution": execution})),
            tool(
                &json!({"name": "own", "description": "", "inputSchema": {"properties": {TARGET: {}}}, "visible": true, "execution": execution}),
            ),
        ];
        let toolbox = Toolbox::new(&tools);
        let specs = toolbox.specs();
        assert!(specs.is_sorted_by_key(|spec| spec.name.clone()));
        let offers = |name: &str| {
            let spec = specs.iter().find(|spec| spec.name == name).unwrap();
            assert!(jsonschema::validator_for(&spec.input_schema).is_ok());
            spec.input_schema["properties"][TARGET]["type"] == "string"
        };
        assert_eq!(["hidden", "asks", "Shown", "own"].map(offers), [false, true, true, false]);
    }
}
