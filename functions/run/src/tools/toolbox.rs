//! The tools of one agent: the built-in ones, and those of its configuration.

use std::{
    collections::BTreeSet,
    sync::{Arc, LazyLock},
    time::Duration,
};

use jsonschema::Validator;
use serde_json::Value;
use smartspace_domain::{
    agents::Builtins,
    approvals::{self, ApprovalRule},
    tools::{SEND_MESSAGE, Tool as ToolConfig},
};
use smartspace_models::port::ToolSpec;

use crate::tools::{
    builtin::{self, send_message::SendMessage},
    configured::Configured,
    tool::{CardTarget, Concurrency, Spec, TIME_LIMIT, Tool},
};

/// Stands behind the description of a tool that a rule of the agent may stop.
const ASKS: &str = "People may have to approve a call.";

/// What models do not read of the schemas of built-in tools.
const LEFT_OUT: [&str; 9] = [
    "additionalProperties",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "default",
    "anyOf",
];

/// A tool with its spec and its validator, which are made once.
pub(crate) struct Registered {
    pub(crate) tool: Box<dyn Tool>,
    pub(crate) spec: Spec,
    /// `None` if the tool checks its inputs itself.
    pub(crate) validator: Option<Validator>,
}

impl From<Box<dyn Tool>> for Registered {
    fn from(tool: Box<dyn Tool>) -> Self {
        let spec = tool.spec();
        let validator = match tool.own_schema() {
            None => jsonschema::validator_for(&spec.input).ok(),
            Some(_) => None,
        };
        Self { tool, spec, validator }
    }
}

impl Registered {
    /// The schema that an error about an input repeats.
    pub(crate) fn expected_schema(&self) -> &Value {
        self.tool.own_schema().unwrap_or(&self.spec.input)
    }

    fn for_models(&self) -> ToolSpec {
        ToolSpec::new(&*self.spec.name, &*self.spec.description, &self.spec.input)
    }

    /// The spec of a built-in tool without deprecated inputs and without limits, which a model
    /// rarely needs: the error about an input names the limit that it exceeds.
    fn for_models_in_short(&self) -> ToolSpec {
        let mut input = self.spec.input.clone();
        shorten(&mut input);
        ToolSpec::new(&*self.spec.name, &*self.spec.description, &input)
    }
}

/// Removes the limits and defaults from a schema, and properties that are deprecated. The server
/// checks the limits anyway.
fn shorten(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            for keyword in LEFT_OUT {
                fields.shift_remove(keyword);
            }
            fields.retain(|_, value| value["deprecated"] != true);
            fields.values_mut().for_each(shorten);
        }
        Value::Array(values) => values.iter_mut().for_each(shorten),
        _ => {}
    }
}

static BUILT_IN: LazyLock<Vec<Registered>> =
    LazyLock::new(|| builtin::all().into_iter().map(Registered::from).collect());

/// The built-in tools as models read them.
static BUILT_IN_SPECS: LazyLock<Vec<ToolSpec>> =
    LazyLock::new(|| BUILT_IN.iter().map(Registered::for_models_in_short).collect());

/// `send_message` of an agent whose runs end with their message.
static SEND_WITH_MORE: LazyLock<Registered> = LazyLock::new(|| {
    let tool: Box<dyn Tool> = Box::new(SendMessage { has_more: true });
    Registered::from(tool)
});

/// The tools of one agent.
pub(crate) struct Toolbox {
    builtins: Builtins,
    /// Whether a call of `send_message` can say that the run goes on.
    has_more: bool,
    configured: Vec<Registered>,
    specs: Arc<[ToolSpec]>,
    /// The agent's rules for approvals.
    rules: Vec<ApprovalRule>,
}

impl Toolbox {
    /// The built-in tools of these groups, the tools of a configuration, and those of its MCP
    /// servers and of a member's page. A configured tool takes precedence over one of these with
    /// the same name.
    pub(crate) fn new(
        builtins: Builtins,
        tools: &[ToolConfig],
        of_others: Vec<Configured>,
    ) -> Self {
        let names: BTreeSet<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        let of_others = of_others.into_iter().filter(|tool| !names.contains(&*tool.name));
        let configured: Vec<_> = tools
            .iter()
            .map(Configured::from)
            .chain(of_others)
            .map(|tool| Registered::from(Box::new(tool) as Box<dyn Tool>))
            .collect();
        // A tool that was configured before there was a built-in one of its name takes its place.
        let is_free = |name: &str| configured.iter().all(|tool| tool.spec.name != name);
        let built_in = BUILT_IN
            .iter()
            .zip(BUILT_IN_SPECS.iter())
            .filter(|(tool, spec)| tool.spec.is_in(builtins) && is_free(&spec.name))
            .map(|(_, spec)| spec.clone());
        let own = configured.iter().map(Registered::for_models);
        let mut specs: Vec<_> = built_in.chain(own).collect();
        // Sorted by name, so that the prompt begins with the same bytes in every space and
        // providers find it in their cache.
        specs.sort_by(|one, other| one.name.cmp(&other.name));
        Self { builtins, has_more: false, configured, specs: specs.into(), rules: Vec::new() }
    }

    /// The same tools for an agent whose runs may end with their message: a call of `send_message`
    /// can say that the run goes on. All runs of the agent have the same tools, so that providers
    /// find them in their cache.
    pub(crate) fn ending_after_send(mut self, is_set: bool) -> Self {
        if is_set && self.configured.iter().all(|tool| tool.spec.name != SEND_MESSAGE) {
            self.has_more = true;
            let mut specs = self.specs.to_vec();
            for spec in specs.iter_mut().filter(|spec| spec.name == SEND_MESSAGE) {
                *spec = SEND_WITH_MORE.for_models_in_short();
            }
            self.specs = specs.into();
        }
        self
    }

    /// The same tools, with rules for their calls. The description of a tool says if people may
    /// have to decide.
    pub(crate) fn with_rules(mut self, rules: &[ApprovalRule]) -> Self {
        if rules.is_empty() {
            return self;
        }
        self.rules = rules.to_vec();
        let mut specs = self.specs.to_vec();
        for spec in &mut specs {
            if self.names_of(&spec.name).any(|name| approvals::may_ask(rules, name)) {
                let before = std::mem::take(&mut spec.description);
                spec.description = [before.as_str(), ASKS].join(" ").trim_start().into();
            }
        }
        self.specs = specs.into();
        self
    }

    /// The agent's rules for approvals.
    pub(crate) fn rules(&self) -> &[ApprovalRule] {
        &self.rules
    }

    /// Whether a rule names the tool. Calls of all other tools are made as if there were no rules.
    pub(crate) fn is_ruled(&self, name: &str) -> bool {
        !self.rules.is_empty()
            && self.names_of(name).any(|name| approvals::names(&self.rules, name))
    }

    /// The names by which rules know a tool: the one that models see, and the whole name at its MCP
    /// server, if models see a shorter one.
    pub(crate) fn names_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let whole = self.find(name).and_then(|tool| tool.tool.whole_name());
        std::iter::once(name).chain(whole)
    }

    /// The tools as models read them.
    pub(crate) fn specs(&self) -> Arc<[ToolSpec]> {
        Arc::clone(&self.specs)
    }

    /// How many characters the tools take in a request.
    pub(crate) fn characters(&self) -> usize {
        let length = |spec: &ToolSpec| {
            spec.name.len() + spec.description.len() + spec.input_schema().get().len()
        };
        self.specs.iter().map(length).sum()
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Registered> {
        let with_more = self.has_more.then_some(&*SEND_WITH_MORE);
        let built_in = BUILT_IN.iter().filter(|tool| tool.spec.is_in(self.builtins));
        let own = self.configured.iter().chain(with_more);
        own.chain(built_in).find(|tool| tool.spec.name == name)
    }

    /// The names of all tools, sorted.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.specs.iter().map(|spec| spec.name.as_str()).collect()
    }

    /// Which neighbours a call of this tool may run with.
    pub(crate) fn concurrency(&self, name: &str) -> Concurrency {
        self.find(name).map_or(Concurrency::Alone, |tool| tool.tool.concurrency())
    }

    /// How long a call of this tool may take.
    pub(crate) fn time_limit(&self, name: &str) -> Duration {
        self.find(name).map_or(TIME_LIMIT, |tool| tool.tool.time_limit())
    }

    /// Whether this tool may change the active space.
    pub(crate) fn changes_space(&self, name: &str) -> bool {
        self.find(name).is_some_and(|tool| tool.spec.changes_space)
    }

    /// Whether this tool changes nothing. An unknown tool changes nothing either.
    pub(crate) fn is_read_only(&self, name: &str) -> bool {
        self.find(name).is_none_or(|tool| tool.spec.read_only)
    }

    /// Whether a call of this tool may be repeated if it is unknown whether it took effect.
    pub(crate) fn is_repeatable(&self, name: &str) -> bool {
        self.find(name).is_some_and(|tool| tool.tool.is_repeatable())
    }

    /// The target of the cards that show calls of this tool. `None` if they are not shown.
    pub(crate) fn card(&self, name: &str) -> Option<CardTarget> {
        self.find(name)?.tool.card()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use smartspace_domain::tools::SEARCH_MESSAGES;

    use super::*;
    use crate::tools::configured::target::TARGET;

    fn tool(tool: &Value) -> ToolConfig {
        serde_json::from_value(tool.clone()).unwrap()
    }

    #[test]
    fn built_in_tools_are_sorted_and_their_schemas_hold() {
        assert!(BUILT_IN.is_sorted_by_key(|tool| &*tool.spec.name));
        assert!(BUILT_IN.iter().all(|tool| tool.validator.is_some()));
        assert!(
            BUILT_IN
                .iter()
                .all(|tool| smartspace_domain::tools::BUILT_IN.contains(&&*tool.spec.name))
        );
    }

    /// As a provider counts them: name, description and schema of each.
    #[test]
    fn the_built_in_tools_are_short() {
        let tokens = tiktoken_rs::o200k_base_singleton();
        let count_of = |spec: &ToolSpec| {
            let text = format!(
                r#"{{"name":{:?},"description":{:?},"parameters":{}}}"#,
                spec.name,
                spec.description,
                spec.input_schema()
            );
            tokens.encode_ordinary(&text).len()
        };
        let count: usize = BUILT_IN_SPECS.iter().map(count_of).sum();
        assert!(count <= 1_260, "{count} tokens");
        let search = BUILT_IN_SPECS.iter().find(|spec| spec.name == SEARCH_MESSAGES).unwrap();
        let count = count_of(search);
        assert!(count <= 75, "{count} tokens of {SEARCH_MESSAGES}");
    }

    #[test]
    fn an_agent_has_only_its_groups_of_built_in_tools() {
        let none = Builtins {
            messages: false,
            memories: false,
            goals: false,
            plans: false,
            runs: false,
            search: false,
            delegate: false,
        };
        let toolbox = Toolbox::new(none, &[], Vec::new());
        assert_eq!(
            toolbox.names(),
            ["enter_space", "read_attachment", "read_messages", "send_message", "skip_response"]
        );
        assert!(toolbox.find("set_memories").is_none());
        let all = Toolbox::new(Builtins::default(), &[], Vec::new());
        assert_eq!(all.names().len(), BUILT_IN.len());
    }

    #[test]
    fn only_an_agent_whose_runs_end_with_their_message_can_say_more() {
        let input = json!({"text": "On it.", "more": true});
        for is_set in [false, true] {
            let toolbox = Toolbox::new(Builtins::default(), &[], Vec::new());
            let toolbox = toolbox.ending_after_send(is_set);
            let tool = toolbox.find(SEND_MESSAGE).unwrap();
            assert_eq!(tool.validator.as_ref().unwrap().is_valid(&input), is_set);
            let specs = toolbox.specs();
            assert_eq!(specs.len(), BUILT_IN.len());
            let shown = specs.iter().find(|spec| spec.name == SEND_MESSAGE).unwrap();
            let shown = shown.input_schema().get();
            assert_eq!(shown.contains("You go on working after this message."), is_set, "{shown}");
        }
    }

    #[test]
    fn a_visible_tool_is_offered_a_target_unless_it_has_one_of_its_own() {
        let schema = json!({
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "additionalProperties": false
        });
        let made = |name: &str, schema: &Value, visible: bool, execution: Value| {
            tool(&json!({
                "name": name,
                "description": "",
                "inputSchema": schema,
                "visible": visible,
                "execution": execution
            }))
        };
        let fixed = || json!({"type": "static", "output": 1});
        let tools = [
            made("hidden", &schema, false, fixed()),
            made("asks", &json!({}), false, json!({"type": "space"})),
            made("Shown", &schema, true, fixed()),
            made("own", &json!({"properties": {TARGET: {}}}), true, fixed()),
        ];
        let toolbox = Toolbox::new(Builtins::default(), &tools, Vec::new());
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

    #[test]
    fn only_a_tool_that_a_rule_asks_about_says_so() {
        let rules: Vec<ApprovalRule> = serde_json::from_value(json!([
            {"tools": ["send_*"]},
            {"tools": ["get_goals", "set_goals"], "action": "deny"},
        ]))
        .unwrap();
        let plain = Toolbox::new(Builtins::default(), &[], Vec::new());
        let ruled = Toolbox::new(Builtins::default(), &[], Vec::new()).with_rules(&rules);
        let changed: Vec<_> = plain
            .specs()
            .iter()
            .zip(ruled.specs().iter())
            .filter(|(before, after)| before != after)
            .map(|(_, after)| after.description.clone())
            .collect();
        assert_eq!(
            changed,
            ["Post a message to the active space. People may have to approve a call."]
        );
        let is_ruled = |name: &str| ruled.is_ruled(name);
        assert_eq!(["send_message", "set_goals", "enter_space"].map(is_ruled), [true, true, false]);
        assert!(!plain.is_ruled("send_message"));
        let none = plain.specs();
        assert_eq!(
            Toolbox::new(Builtins::default(), &[], Vec::new()).with_rules(&[]).specs(),
            none
        );
    }

    /// A tool of which models see another name than its server has.
    struct Renamed;

    #[async_trait::async_trait]
    impl Tool for Renamed {
        fn spec(&self) -> Spec {
            Spec {
                name: "docs__a_b_1234abcd".into(),
                description: "".into(),
                input: json!({}),
                read_only: false,
                changes_space: false,
                group: None,
            }
        }

        async fn call<'a>(
            &'a self,
            _: &'a crate::tools::calling::Calling<'a>,
            _: Value,
        ) -> smartspace_domain::Result<crate::tools::tool::StartedCall<'a>> {
            unreachable!("nobody calls it")
        }

        fn whole_name(&self) -> Option<&str> {
            Some("docs__a/b")
        }
    }

    #[test]
    fn a_rule_names_a_tool_by_either_of_its_names() {
        for (pattern, expected) in
            [("docs__a_b_*", true), ("docs__a*b", true), ("*_1234abcd", true), ("docs__b*", false)]
        {
            let rules: Vec<ApprovalRule> =
                serde_json::from_value(json!([{"tools": [pattern]}])).unwrap();
            let mut toolbox = Toolbox::new(Builtins::default(), &[], Vec::new());
            toolbox.configured.push(Registered::from(Box::new(Renamed) as Box<dyn Tool>));
            let toolbox = toolbox.with_rules(&rules);
            assert_eq!(toolbox.is_ruled("docs__a_b_1234abcd"), expected, "{pattern}");
        }
    }
}
