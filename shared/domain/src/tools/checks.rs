//! The checks of configured tools and MCP servers.

mod requests;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use self::requests::{check_body, check_url};
use crate::{
    errors::{Error, Faults, Result},
    forms::check_asked_files,
    headers::{DUPLICATE, check_headers},
    templates::{self, TemplatePosition},
    tools::{AnswerBy, BUILT_IN, Execution, McpConfig, McpServer, Tool, image_input, images},
};

/// How many entities `answerBy` may name.
const ANSWERERS: usize = 100;

/// Adds all faults of an agent's tools.
pub(crate) fn check_tools(tools: &[Tool], faults: &mut Faults) {
    faults.check(tools.len() <= 100, "tools", "expected at most 100 tools");
    let mut names = BTreeSet::new();
    for (index, tool) in tools.iter().enumerate() {
        let is_unique = names.insert(&tool.name);
        faults.within("tools", |faults| {
            faults.within(index, |faults| tool.check(is_unique, faults));
        });
    }
}

impl Tool {
    /// Adds all faults of a tool that stands alone.
    pub fn add_faults(&self, faults: &mut Faults) {
        self.check(true, faults);
    }

    /// Fails if an input does not fit the schema.
    ///
    /// # Errors
    /// The first fault of the input.
    pub fn check_input(&self, input: &Value) -> Result<()> {
        let Ok(validator) = jsonschema::validator_for(&self.input_schema) else { return Ok(()) };
        match validator.iter_errors(input).next() {
            Some(error) => {
                let text = format!("expected an input that fits inputSchema: {error}");
                Err(Error::invalid(format!("/input{}", error.instance_path()), text))
            }
            None => Ok(()),
        }
    }

    fn check(&self, is_unique: bool, faults: &mut Faults) {
        faults.check(is_tool_name(&self.name), "name", "expected [A-Za-z_][A-Za-z0-9_]{0,63}");
        faults.check(
            !BUILT_IN.contains(&self.name.as_str()),
            "name",
            "expected another name: a built-in tool has this one",
        );
        faults.check(is_unique, "name", DUPLICATE);
        faults.check(self.description.len() <= 4_096, "description", "expected at most 4096 bytes");
        let title_fault = self.title.as_deref().and_then(templates::title_fault);
        faults.check(title_fault.is_none(), "title", title_fault.unwrap_or_default());
        check_schema(&self.input_schema, "inputSchema", faults);
        self.check_title_inputs(faults);
        let draws = matches!(self.execution, Execution::Image { .. });
        faults.check(
            !draws || self.input_schema == json!({}) || self.input_schema == image_input(),
            "inputSchema",
            "expected none: the input of a tool of the type image is {prompt}",
        );
        faults.within("execution", |faults| {
            self.execution.check(faults);
            self.check_inputs(faults);
        });
    }

    /// If the schema allows no other fields, a placeholder must name one of its fields. Otherwise
    /// a misspelled placeholder would be left out of every request without notice.
    fn check_inputs(&self, faults: &mut Faults) {
        let Execution::Http { url, headers, body, .. } = &self.execution else { return };
        let mut check = |text: &str, field: &str| {
            self.check_fields(templates::inputs_of(text), field, faults);
        };
        check(url, "url");
        for (name, value) in headers {
            check(value, &format!("headers/{name}"));
        }
        if let Some(body) = body {
            templates::texts_of_body(body, &mut |text, _| check(text, "body"));
        }
    }

    fn check_title_inputs(&self, faults: &mut Faults) {
        let title = self.title.as_deref().unwrap_or_default();
        self.check_fields(templates::inputs_of_title(title), "title", faults);
    }

    /// Adds a fault for each of these fields of the input that the schema does not allow.
    fn check_fields(&self, names: Vec<&str>, field: &str, faults: &mut Faults) {
        let schema = &self.input_schema;
        let closed = schema["additionalProperties"] == false;
        let Some(fields) = schema.get("properties").filter(|_| closed) else { return };
        for name in names {
            faults.check(
                fields.get(name).is_some(),
                field,
                format!("expected a field of inputSchema, got input.{name}"),
            );
        }
    }
}

impl Execution {
    fn check(&self, faults: &mut Faults) {
        match self {
            Self::Http { method, url, headers, body, timeout_ms } => {
                let known = ["GET", "POST", "PUT", "PATCH", "DELETE"].contains(&method.as_str());
                faults.check(known, "method", "expected GET, POST, PUT, PATCH or DELETE");
                check_url(url, TemplatePosition::Address, faults);
                check_headers(headers, TemplatePosition::Value, faults);
                if let Some(body) = body {
                    check_body(body, faults);
                }
                faults.check_range(timeout_ms, 1..=300_000, "timeoutMs");
            }
            Self::Space { ui, result_schema, expires_after, answer_by } => {
                faults.check(
                    (1..=64).contains(&ui.chars().count()),
                    "ui",
                    "expected form, buttons, or a component's name",
                );
                if let Some(schema) = result_schema {
                    check_schema(schema, "resultSchema", faults);
                    check_asked_files(schema, "resultSchema", faults);
                }
                let is_within_a_week = expires_after
                    .as_ref()
                    .is_none_or(|after| after.length().as_secs() <= 7 * 86_400);
                faults.check(is_within_a_week, "expiresAfter", "expected at most 7 days");
                let is_allowed = match answer_by {
                    AnswerBy::Entities(ids) => (1..=ANSWERERS).contains(&ids.len()),
                    AnswerBy::Group(_) => true,
                };
                faults.check(
                    is_allowed,
                    "answerBy",
                    format!("expected humans, anyone, or 1 to {ANSWERERS} ids"),
                );
            }
            Self::Compute { expression } => {
                let checked = smartspace_cel::check(expression, &["input"]);
                let wrong = checked.as_ref().err().map_or("", String::as_str);
                faults.check(
                    checked.is_ok(),
                    "expression",
                    format!("expected a CEL expression over input: {wrong}"),
                );
            }
            Self::Image { provider, model, .. } => {
                let model_error = images::model_error(provider, model.as_deref());
                faults.check(model_error.is_none(), "model", model_error.unwrap_or_default());
            }
            Self::Static { .. } => {}
        }
    }
}

impl McpConfig {
    /// Adds all faults of the servers.
    pub fn check(&self, faults: &mut Faults) {
        faults.check(self.servers.len() <= 10, "servers", "expected at most 10 servers");
        let mut names = BTreeSet::new();
        for (index, server) in self.servers.iter().enumerate() {
            let is_unique = names.insert(&server.name);
            faults.within("servers", |faults| {
                faults.within(index, |faults| server.check(is_unique, faults));
            });
        }
    }
}

impl McpServer {
    /// Adds all faults of a server that stands alone.
    pub fn add_faults(&self, faults: &mut Faults) {
        self.check(true, faults);
    }

    fn check(&self, is_unique: bool, faults: &mut Faults) {
        faults.check(is_server_name(&self.name), "name", SERVER_NAME);
        faults.check(is_unique, "name", DUPLICATE);
        check_url(&self.url, TemplatePosition::WithoutInput, faults);
        faults.check(!self.url.contains("${"), "url", "expected no secret: headers may hold one");
        check_headers(&self.headers, TemplatePosition::WithoutInput, faults);
        faults.check_range(&self.timeout_ms, 1..=300_000, "timeoutMs");
    }
}

fn is_tool_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
}

/// The fault of a text that is not the name of a server.
const SERVER_NAME: &str =
    "expected [A-Za-z_][A-Za-z0-9_]{0,63}, without two underscores in a row or one at the end";

/// Whether this is the name of a server. The tools of two servers must not get the same name.
fn is_server_name(name: &str) -> bool {
    is_tool_name(name) && !name.contains("__") && !name.ends_with('_')
}

/// Adds the fault of a value that is not a JSON Schema, at `field`.
pub(crate) fn check_schema(schema: &Value, field: &str, faults: &mut Faults) {
    let Err(error) = jsonschema::validator_for(schema) else { return };
    let place = error.instance_path().to_string();
    // The library only says that none of two schemas fits.
    let is_unknown_type = place.ends_with("/type") && error.instance().is_string();
    let what = if is_unknown_type {
        format!("{} is no type: expected {TYPES}", error.instance())
    } else {
        error.to_string()
    };
    let place = if place.is_empty() { String::new() } else { format!(" at {place}") };
    faults.check(false, field, format!("expected a JSON Schema{place}: {what}"));
}

/// The types of a JSON Schema.
const TYPES: &str = "string, number, integer, boolean, array, object or null";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_fault_of_a_schema_says_where_it_is_and_what_was_expected() {
        let fault = |schema: Value| {
            let mut faults = Faults::default();
            check_schema(&schema, "inputSchema", &mut faults);
            faults.done().unwrap_err().to_string()
        };
        let of_type = fault(json!({"properties": {"city": {"type": "strng"}}}));
        let expected = "at /properties/city/type: \"strng\" is no type: expected string, number";
        assert!(of_type.contains(expected), "{of_type}");
        let other = fault(json!({"properties": {"city": {"minLength": -1}}}));
        assert!(other.contains("expected a JSON Schema at /properties/city/minLength"), "{other}");
        check_schema(&json!({"type": "object"}), "inputSchema", &mut Faults::default());
    }
}
