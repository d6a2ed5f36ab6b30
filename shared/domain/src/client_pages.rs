//! What the page of a member offers to the agents that a message of that member triggers: tools
//! that the page runs itself, and a text about what it shows.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{ToSchema, openapi::schema::Object};

use crate::{
    Result,
    agents::AgentConfig,
    errors::Faults,
    headers::DUPLICATE,
    limits::{PAGE_CONTEXT_BYTES, PAGE_TOOLS, PAGE_TOOLS_BYTES},
    schemas,
    tools::{BUILT_IN, check_schema},
};

/// The page of the member who sends a message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClientPage {
    /// Tools that the page runs. Together they have at most 16 KiB of JSON.
    #[serde(default)]
    #[schema(max_items = 20)]
    pub tools: Vec<PageTool>,
    /// What the page shows. Agents read it as data.
    #[serde(default)]
    #[schema(schema_with = context, required = false)]
    pub context: String,
}

/// A tool that a page runs. A call of it waits for at most ten minutes for the member's client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PageTool {
    /// `[A-Za-z_][A-Za-z0-9_-]{0,63}`, unique, and not the name of a tool of an agent in the space.
    #[schema(pattern = "^[A-Za-z_][A-Za-z0-9_-]{0,63}$")]
    pub name: String,
    /// What the model reads about the tool, at most 4,096 bytes.
    #[serde(default)]
    #[schema(max_length = 4096)]
    pub description: String,
    /// JSON Schema of the input.
    #[serde(default = "no_schema")]
    #[schema(schema_with = schemas::json_schema)]
    pub input_schema: Value,
}

fn no_schema() -> Value {
    json!({})
}

fn context() -> Object {
    schemas::with_at_most(PAGE_CONTEXT_BYTES, "What the page shows, at most 8 KiB without NUL.")
}

impl ClientPage {
    /// Whether it offers nothing.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.context.is_empty()
    }

    /// Checks it as far as that does not depend on the agents of the space. The pointers of the
    /// faults begin with `/page`.
    pub fn check(&self) -> Result<()> {
        let mut faults = Faults::default();
        faults.within("page", |faults| {
            let count = self.tools.len();
            let expected = format!("expected at most {PAGE_TOOLS} tools, got {count}");
            faults.check(count <= PAGE_TOOLS, "tools", expected);
            let bytes = json!(self.tools).to_string().len();
            let expected = format!("expected at most {PAGE_TOOLS_BYTES} bytes, got {bytes}");
            faults.check(bytes <= PAGE_TOOLS_BYTES, "tools", expected);
            let bytes = self.context.len();
            let expected = format!("expected at most {PAGE_CONTEXT_BYTES} bytes, got {bytes}");
            faults.check(bytes <= PAGE_CONTEXT_BYTES, "context", expected);
            faults.check(!self.context.contains('\0'), "context", "expected text without NUL");
        });
        // The schemas are only compiled if they are few and short.
        faults.done()?;
        self.check_tools(PageTool::check)
    }

    /// Checks that none of these agents, given by their names, has a tool with the name of one of
    /// the page's.
    pub fn check_names(&self, agents: &[(&str, &AgentConfig)]) -> Result<()> {
        self.check_tools(|tool, _, faults| {
            let taken = agents.iter().find(|(_, config)| has_tool(config, &tool.name));
            if let Some((agent, _)) = taken {
                let detail = format!("expected another name: a tool of {agent} has this one");
                faults.check(false, "name", detail);
            }
        })
    }

    fn check_tools(&self, check: impl Fn(&PageTool, bool, &mut Faults)) -> Result<()> {
        let mut faults = Faults::default();
        let mut names = BTreeSet::new();
        faults.within("page", |faults| {
            faults.within("tools", |faults| {
                for (index, tool) in self.tools.iter().enumerate() {
                    let is_unique = names.insert(tool.name.as_str());
                    faults.within(index, |faults| check(tool, is_unique, faults));
                }
            });
        });
        faults.done()
    }
}

impl PageTool {
    fn check(&self, is_unique: bool, faults: &mut Faults) {
        faults.check(is_name(&self.name), "name", "expected [A-Za-z_][A-Za-z0-9_-]{0,63}");
        faults.check(
            !BUILT_IN.contains(&self.name.as_str()),
            "name",
            "expected another name: a built-in tool has this one",
        );
        faults.check(is_unique, "name", DUPLICATE);
        faults.check(self.description.len() <= 4_096, "description", "expected at most 4096 bytes");
        check_schema(&self.input_schema, "inputSchema", faults);
    }
}

/// Whether a tool of the configuration, or of one of its MCP servers, may have this name.
fn has_tool(config: &AgentConfig, name: &str) -> bool {
    let is_of_server =
        |server: &str| name.strip_prefix(server).is_some_and(|rest| rest.starts_with("__"));
    config.tools.iter().any(|tool| tool.name == name)
        || config.mcp.servers.iter().any(|server| is_of_server(&server.name))
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_' || char == '-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    fn page(page: Value) -> ClientPage {
        serde_json::from_value(page).unwrap()
    }

    fn pointers(checked: Result<()>) -> Vec<String> {
        match checked {
            Ok(()) => Vec::new(),
            Err(Error::Invalid(faults)) => faults.into_iter().map(|fault| fault.pointer).collect(),
            Err(error) => panic!("{error}"),
        }
    }

    fn tools(count: usize, description: &str) -> ClientPage {
        let tool = |number| json!({"name": format!("tool_{number}"), "description": description});
        page(json!({"tools": (0..count).map(tool).collect::<Vec<_>>()}))
    }

    #[test]
    fn a_page_has_few_and_short_tools() {
        assert_eq!(tools(20, "").check(), Ok(()));
        assert_eq!(pointers(tools(21, "").check()), ["/page/tools"]);
        assert_eq!(tools(3, &"x".repeat(4_096)).check(), Ok(()));
        assert_eq!(pointers(tools(4, &"x".repeat(4_096)).check()), ["/page/tools"]);
        assert_eq!(page(json!({"context": "x".repeat(8_192)})).check(), Ok(()));
        for wrong in ["x".repeat(8_193), "a\0b".to_owned()] {
            assert_eq!(pointers(page(json!({"context": wrong})).check()), ["/page/context"]);
        }
    }

    #[test]
    fn each_tool_has_a_name_of_its_own_and_a_schema() {
        let schema = json!({"type": "object", "properties": {"color": {"type": "string"}}});
        let fine = json!({"name": "set-color", "inputSchema": schema});
        assert_eq!(page(json!({"tools": [fine.clone()]})).check(), Ok(()));
        for (tool, expected) in [
            (json!({"name": "set color"}), "/page/tools/1/name"),
            (json!({"name": "1st"}), "/page/tools/1/name"),
            (json!({"name": "send_message"}), "/page/tools/1/name"),
            (fine.clone(), "/page/tools/1/name"),
            (json!({"name": "a", "description": "x".repeat(4_097)}), "/page/tools/1/description"),
            (json!({"name": "a", "inputSchema": {"type": 1}}), "/page/tools/1/inputSchema"),
        ] {
            let page = page(json!({"tools": [fine.clone(), tool.clone()]}));
            assert_eq!(pointers(page.check()), [expected], "{tool}");
        }
    }

    #[test]
    fn no_tool_has_the_name_of_a_tool_of_an_agent() {
        let config: AgentConfig = serde_json::from_value(json!({
            "model": {"provider": "scripted", "name": "m"},
            "tools": [{
                "name": "price",
                "description": "",
                "execution": {"type": "static", "output": 1},
            }],
            "mcp": {"servers": [{"name": "shop", "url": "https://shop.example/mcp"}]},
        }))
        .unwrap();
        let agents = [("Guide", &config)];
        let check = |name: &str| {
            let page = page(json!({"tools": [{"name": name}]}));
            pointers(page.check_names(&agents))
        };
        for free in ["prices", "shop", "shop_price", "shopping__list"] {
            assert!(check(free).is_empty(), "{free}");
        }
        for taken in ["price", "shop__price"] {
            assert_eq!(check(taken), ["/page/tools/0/name"], "{taken}");
        }
    }
}
