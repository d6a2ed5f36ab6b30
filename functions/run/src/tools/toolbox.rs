//! The tools that an agent's model is told of: the built-in ones, and those of the agent's configuration.

use std::{
    collections::BTreeSet,
    sync::{Arc, LazyLock, OnceLock},
    time::Duration,
};

use futures::future::BoxFuture;
use jsonschema::Validator;
use serde_json::{Value, json};
use smartspace_domain::{
    Result,
    ids::SpaceId,
    limits::FORM_WAITS,
    tools::{AnswerBy, Execution, Tool},
};
use smartspace_models::port::ToolSpec;

use super::{
    Calling, Outcome, TIME_LIMIT, absorb_run, delegate, delete_goals, delete_memories, delete_plans, enter_space, get_memories,
    get_my_runs, get_plans,
    http::HttpTool,
    mcp::{self, McpTool},
    read_messages, send_message, set_goals, set_memories, set_plans, skip_response, stop_run,
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
    /// Does it: the input fits the schema. What the model did wrong is an outcome, an error is trouble of ours.
    pub(crate) call: for<'a> fn(&'a Calling<'a>, &'a Value) -> BoxFuture<'a, Result<Outcome>>,
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
        delete_plans::spec(),
        enter_space::spec(),
        get_memories::spec(),
        get_my_runs::spec(),
        get_plans::spec(),
        read_messages::spec(),
        send_message::spec(),
        set_goals::spec(),
        set_memories::spec(),
        set_plans::spec(),
        skip_response::spec(),
        stop_run::spec(),
    ];
    specs.map(|spec| BuiltIn { validator: jsonschema::validator_for(&spec.input).ok(), spec }).into()
});

/// What a model is told of the built-in tools, which most agents have nothing beside.
static BUILT_IN_SPECS: LazyLock<Arc<[ToolSpec]>> = LazyLock::new(|| BUILT_IN.iter().map(|tool| told(&tool.spec)).collect());

fn told(spec: &Spec) -> ToolSpec {
    ToolSpec::new(spec.name, spec.description, &spec.input)
}

/// A tool that the agent's configuration brings: its own, or one of an MCP server.
pub(crate) struct Configured {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) input_schema: Value,
    /// Its calls are shown as cards.
    pub(crate) is_visible: bool,
    pub(crate) is_read_only: bool,
    pub(crate) is_idempotent: bool,
    /// Where its cards go instead of the active space.
    pub(crate) target: Option<SpaceId>,
    pub(crate) does: Does,
    pub(super) validator: OnceLock<Option<Validator>>,
}

/// What a call of a configured tool does.
pub(crate) enum Does {
    /// Shows a form, and people answer.
    Ask(Form),
    /// Gives this.
    Say(Value),
    /// Evaluates this expression.
    Compute(String),
    /// Sends a request.
    Http(HttpTool),
    /// Calls a tool of an MCP server.
    Mcp(McpTool),
}

/// What a form shows, and who answers it.
pub(crate) struct Form {
    pub(crate) ui: String,
    pub(crate) result_schema: Option<Value>,
    pub(crate) waits: Duration,
    pub(crate) answer_by: AnswerBy,
}

impl From<&Tool> for Configured {
    fn from(tool: &Tool) -> Self {
        let does = match tool.execution.clone() {
            Execution::Space { ui, result_schema, expires_after, answer_by } => {
                let waits = expires_after.map_or(FORM_WAITS, |after| after.length());
                Does::Ask(Form { ui, result_schema, waits, answer_by })
            }
            Execution::Static { output } => Does::Say(output),
            Execution::Compute { expression } => Does::Compute(expression),
            Execution::Http { method, url, headers, body, timeout_ms } => {
                let limit = Duration::from_millis(u64::from(timeout_ms));
                Does::Http(HttpTool { method, url, headers, body, limit })
            }
        };
        Self {
            name: tool.name.clone(),
            description: tool.description.clone(),
            input_schema: tool.input_schema.clone(),
            is_visible: tool.visible || matches!(does, Does::Ask(_)),
            is_read_only: tool.read_only,
            is_idempotent: tool.idempotent,
            target: tool.target_space_id,
            does,
            validator: OnceLock::new(),
        }
    }
}

impl Configured {
    /// Whether the model may say where its card goes. A tool with an input of that name keeps it.
    pub(crate) fn takes_target(&self) -> bool {
        let properties = self.input_schema.get("properties");
        self.is_visible && self.input_schema.is_object() && properties.is_none_or(|properties| properties.get(TARGET).is_none())
    }

    /// What its input must look like; none where the schema is none, or its server's to check.
    pub(crate) fn validator(&self) -> Option<&Validator> {
        let make = || match self.does {
            Does::Mcp(_) => mcp::validator(&self.input_schema),
            _ => jsonschema::validator_for(&self.input_schema).ok(),
        };
        self.validator.get_or_init(make).as_ref()
    }

    /// Whether a call that was begun may be made again.
    pub(crate) fn may_be_repeated(&self) -> bool {
        self.is_idempotent && matches!(self.does, Does::Http(_) | Does::Mcp(_))
    }

    /// How long a call may take: who has less time left does not begin it.
    fn limit(&self) -> Duration {
        match &self.does {
            Does::Http(http) => http.limit + TIME_LIMIT,
            Does::Mcp(mcp) => mcp.limit + TIME_LIMIT,
            _ => TIME_LIMIT,
        }
    }

    fn told(&self) -> ToolSpec {
        let mut input_schema = self.input_schema.clone();
        if self.takes_target()
            && let Some(schema) = input_schema.as_object_mut()
        {
            schema.entry("type").or_insert_with(|| json!("object"));
            let about = "The id of another space of yours where this is to be shown, instead of the active one. Write it first.";
            if let Some(properties) = schema.entry("properties").or_insert_with(|| json!({})).as_object_mut() {
                properties.insert(TARGET.to_owned(), json!({"type": "string", "description": about}));
            }
        }
        ToolSpec::new(self.name.as_str(), self.description.as_str(), &input_schema)
    }
}

/// With which neighbours a call is made side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Company {
    /// With none.
    Alone,
    /// With others that only read what is kept: it makes no difference which is first.
    Reading,
    /// With others that reach outside, or compute: they begin in their order.
    Outside,
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
    /// With those of its configuration, and those of its servers that have no name of them.
    pub(crate) fn new(tools: &[Tool], of_servers: Vec<Configured>) -> Self {
        let mut configured: Vec<_> = tools.iter().map(Configured::from).collect();
        let names: BTreeSet<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        configured.extend(of_servers.into_iter().filter(|tool| !names.contains(tool.name.as_str())));
        // Sorted by name: the same bytes in every space, so that providers need not read them again.
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
        self.configured.iter().find(|configured| configured.name == name)
    }

    /// The names of all.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.specs.iter().map(|spec| spec.name.as_str()).collect()
    }

    /// With which neighbours a call of this tool is made side by side.
    pub(crate) fn company(&self, name: &str) -> Company {
        match self.find(name) {
            Some(Known::BuiltIn(tool)) if tool.spec.side_by_side => Company::Reading,
            Some(Known::Configured(Configured { does: Does::Compute(_) | Does::Http(_) | Does::Mcp(_), .. })) => Company::Outside,
            _ => Company::Alone,
        }
    }

    /// How long a call of this tool may take.
    pub(crate) fn limit(&self, name: &str) -> Duration {
        self.configured(name).map_or(TIME_LIMIT, Configured::limit)
    }

    /// Whether after this tool another space may be active.
    pub(crate) fn changes_space(&self, name: &str) -> bool {
        matches!(self.find(name), Some(Known::BuiltIn(tool)) if tool.spec.changes_space)
    }

    /// Whether this tool changes nothing. An unknown one changes nothing either.
    pub(crate) fn is_read_only(&self, name: &str) -> bool {
        match self.find(name) {
            Some(Known::BuiltIn(tool)) => tool.spec.read_only,
            Some(Known::Configured(configured)) => configured.is_read_only,
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
        let toolbox = Toolbox::new(&tools, Vec::new());
        let specs = toolbox.specs();
        assert!(specs.is_sorted_by_key(|spec| spec.name.clone()));
        let offers = |name: &str| {
            let spec = specs.iter().find(|spec| spec.name == name).unwrap();
            let schema: Value = serde_json::from_str(spec.input_schema().get()).unwrap();
            assert!(jsonschema::validator_for(&schema).is_ok());
            schema["properties"][TARGET]["type"] == "string"
        };
        assert_eq!(["hidden", "asks", "Shown", "own"].map(offers), [false, true, true, false]);
    }
}
