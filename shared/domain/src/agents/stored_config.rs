//! Reading a stored configuration that a later version may have written.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::{
    agents::{AgentConfig, ForkChanges, Provider, RuntimeType, WebhookScheme},
    stored::Stored,
    tools::{AnswerBy, Execution, ImageProvider},
};

impl AgentConfig {
    /// Reads a stored configuration, without what this version does not know:
    /// - unknown fields, and tools that are executed in an unknown way
    /// - webhooks with an unknown scheme, whose signatures could not be checked
    /// - fallback models of an unknown provider
    /// - a runtime of an unknown type: such an agent has neither model nor runtime
    ///
    /// A model of an unknown provider is read as a script that fails, so that a run continues with
    /// the fallback models. A form for an unknown group can be answered by the operator only.
    ///
    /// # Errors
    /// If the document is no configuration.
    pub fn read_stored(mut document: Value) -> serde_json::Result<Self> {
        if let Some(model) = document.get_mut("model") {
            read_model(model);
        }
        if let Value::Object(fields) = &mut document
            && fields.get("runtime").is_some_and(|it| !is_known::<RuntimeType>(&it["type"]))
        {
            fields.remove("runtime");
        }
        if let Some(Value::Array(tools)) = document.get_mut("tools") {
            tools.retain_mut(|tool| tool.get_mut("execution").is_some_and(read_execution));
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
    pub fn read_stored(mut document: Value) -> serde_json::Result<Self> {
        if let Some(model) = document.get_mut("model") {
            read_model(model);
        }
        let Stored(changes) = serde_json::from_value(document)?;
        Ok(changes)
    }
}

fn is_known<T: DeserializeOwned>(value: &Value) -> bool {
    T::deserialize(value).is_ok()
}

fn read_model(model: &mut Value) {
    if let Some(Value::Array(fallback)) = model.get_mut("fallback") {
        fallback.retain(|model| is_known::<Provider>(&model["provider"]));
    }
    if let Value::Object(model) = model
        && !model.get("provider").is_some_and(is_known::<Provider>)
    {
        model.insert("provider".into(), json!(Provider::Scripted));
        model.insert("script".into(), json!({"rules": [{"steps": [{"error": "bad_request"}]}]}));
    }
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
    fields.get("type") != Some(&json!("image"))
        || fields.get("provider").is_some_and(is_known::<ImageProvider>)
}

fn read_answer_by(execution: &mut Map<String, Value>) {
    if let Some(answer_by) = execution.get_mut("answerBy")
        && !is_known::<AnswerBy>(answer_by)
    {
        *answer_by = json!([]);
    }
}
