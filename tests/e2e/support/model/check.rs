//! The faults of a request, and the checks that all APIs share. Each fault fails the test, even if
//! the script answers the request.

pub(crate) mod blocks;
pub(crate) mod files;

use std::collections::HashSet;

use serde_json::Value;

use crate::support::model::request::ModelRequest;

/// The faults found so far.
#[derive(Default)]
pub(crate) struct Faults(pub(crate) Vec<String>);

impl Faults {
    pub(crate) fn unless(&mut self, fine: bool, fault: impl FnOnce() -> String) {
        if !fine {
            self.0.push(fault());
        }
    }

    /// Checks the key, which came in this header. Any key is right if the expected one is unknown.
    pub(crate) fn check_key(&mut self, request: &ModelRequest, key: Option<&str>, header: &str) {
        let authorized = key.map_or(!request.key().is_empty(), |key| request.key() == key);
        self.unless(authorized, || format!("wrong {header}: {:?}", request.key()));
    }

    /// Checks the list of tools. `is_tool` checks the form of one of them.
    pub(crate) fn check_tools(
        &mut self,
        request: &ModelRequest,
        tools: &Value,
        is_tool: impl Fn(&Value) -> bool,
    ) {
        let names = request.tools();
        self.unless(names.is_sorted(), || format!("tools are not sorted by name: {names:?}"));
        let distinct: HashSet<_> = names.iter().collect();
        self.unless(distinct.len() == names.len(), || format!("a tool is listed twice: {names:?}"));
        for tool in tools.as_array().into_iter().flatten() {
            self.unless(is_tool(tool), || format!("not a tool: {tool}"));
        }
    }
}
