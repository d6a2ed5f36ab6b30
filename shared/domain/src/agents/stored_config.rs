//! Reading a stored configuration that a later version may have written.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::{
    agents::{AgentConfig, ForkChanges, RuntimeType, WebhookScheme},
    approvals::ApprovalRule,
    stored::Stored,
    tools::{AnswerBy, Execution},
};

impl AgentConfig {
    /// Reads a stored configuration, without what this version does not know:
    /// - unknown fields, and tools that are executed in an unknown way
    /// - webhooks with an unknown scheme, whose signatures could not be checked
    /// - a runtime of an unknown type: such an agent has neither model nor runtime
    ///
    /// A form for an unknown group can be answered by the operator only. A rule for approvals that
    /// is not known whole refuses all calls of its tools.
    ///
    /// # Errors
    /// If the document is no configuration.
    pub fn read_stored(mut document: Value) -> serde_json::Result<Self> {
        if let Value::Object(fields) = &mut document
            && fields.get("runtime").is_some_and(|it| !is_known::<RuntimeType>(&it["type"]))
        {
            fields.remove("runtime");
        }
        if let Some(Value::Array(tools)) = document.get_mut("tools") {
            tools.retain_mut(|tool| tool.get_mut("execution").is_some_and(read_execution));
        }
        if let Some(rules) = document.get_mut("approvals") {
            *rules = serde_json::to_value(ApprovalRule::read_all_stored(rules.take()))?;
        }
        if let Some(Value::Object(webhooks)) = document.get_mut("webhooks") {
            webhooks.retain(|_, webhook| is_known::<WebhookScheme>(&webhook["scheme"]));
        }
        let Stored(config) = serde_json::from_value(document)?;
        Ok(config)
    }
}

impl ForkChanges {
    /// Reads stored changes like [`AgentConfig::read_stored`].
    ///
    /// # Errors
    /// If the document is none.
    pub fn read_stored(document: Value) -> serde_json::Result<Self> {
        let Stored(changes) = serde_json::from_value(document)?;
        Ok(changes)
    }
}

fn is_known<T: DeserializeOwned>(value: &Value) -> bool {
    T::deserialize(value).is_ok()
}

/// Removes unknown fields. Returns false if the tool is executed in an unknown way.
fn read_execution(execution: &mut Value) -> bool {
    let Value::Object(fields) = execution else { return false };
    let Some(known) = fields.get("type").and_then(Value::as_str).and_then(Execution::fields_of)
    else {
        return false;
    };
    fields.retain(|field, _| field == "type" || known.contains(&field.as_str()));
    read_answer_by(fields);
    true
}

fn read_answer_by(execution: &mut Map<String, Value>) {
    if let Some(answer_by) = execution.get_mut("answerBy")
        && !is_known::<AnswerBy>(answer_by)
    {
        *answer_by = json!([]);
    }
}
