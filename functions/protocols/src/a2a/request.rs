//! The parameters of the methods of A2A.
//!
//! They are JSON of Protocol Buffers: null stands for a field that is not set, and a field may also
//! be named as in the `.proto` file.

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error},
};
use serde_json::{Map, Value};
use smartspace_domain::{Time, ids::RunId};

use crate::a2a::{
    parts::{ClientPart, parts_of},
    rpc::RpcError,
};

/// The role of a client's messages.
const USER: &str = "ROLE_USER";

/// The parameters of `SendMessage` and `SendStreamingMessage`.
#[derive(Debug, Deserialize)]
pub(super) struct SendMessage {
    #[serde(deserialize_with = "object")]
    pub(super) message: ClientMessage,
    #[serde(default, deserialize_with = "object_or_default")]
    pub(super) configuration: Configuration,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Configuration {
    #[serde(alias = "return_immediately", deserialize_with = "or_default")]
    pub(super) return_immediately: bool,
    /// The maximum number of messages in the history of the task.
    #[serde(alias = "history_length")]
    pub(super) history_length: Option<usize>,
    #[serde(alias = "task_push_notification_config")]
    task_push_notification_config: Option<Value>,
}

/// A message of a client.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClientMessage {
    #[serde(alias = "message_id")]
    pub(super) message_id: String,
    #[serde(default, alias = "context_id", deserialize_with = "or_default")]
    pub(super) context_id: String,
    #[serde(default, alias = "task_id", deserialize_with = "or_default")]
    pub(super) task_id: String,
    #[serde(default, deserialize_with = "or_default")]
    role: String,
    #[serde(default, deserialize_with = "or_default")]
    parts: Vec<Value>,
}

/// The parameters of the methods for one task.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TaskRequest {
    pub(super) id: String,
    /// The maximum number of messages in the history of the task.
    #[serde(alias = "history_length")]
    pub(super) history_length: Option<usize>,
}

/// The parameters of `ListTasks`. Without any, all tasks are listed.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct TaskListRequest {
    #[serde(alias = "context_id", deserialize_with = "or_default")]
    pub(super) context_id: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) status: String,
    #[serde(alias = "page_size")]
    pub(super) page_size: Option<usize>,
    #[serde(alias = "page_token", deserialize_with = "or_default")]
    pub(super) page_token: String,
    #[serde(alias = "history_length")]
    pub(super) history_length: Option<usize>,
    #[serde(alias = "include_artifacts", deserialize_with = "or_default")]
    pub(super) include_artifacts: bool,
    #[serde(alias = "status_timestamp_after")]
    pub(super) status_timestamp_after: Option<Time>,
}

impl SendMessage {
    /// Refuses what cannot be done with any message.
    pub(super) fn check(&self) -> Result<(), RpcError> {
        if self.configuration.task_push_notification_config.is_some() {
            return Err(RpcError::no_push());
        }
        let ClientMessage { message_id, role, .. } = &self.message;
        if message_id.is_empty() {
            return Err(RpcError::invalid("message.messageId: expected an id, got an empty text"));
        }
        if role != USER {
            return Err(RpcError::invalid(format!("message.role: expected {USER:?}")));
        }
        Ok(())
    }
}

impl ClientMessage {
    /// The parts, at least one.
    pub(super) fn parts(&self) -> Result<Vec<ClientPart>, RpcError> {
        parts_of(&self.parts)
    }
}

impl TaskRequest {
    pub(super) fn run(&self) -> Result<RunId, RpcError> {
        self.id.parse().map_err(|_| RpcError::no_task())
    }
}

/// Reads a field that may be null.
pub(super) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Reads an object. Without this, a type with fields could be read from a list as well.
fn object<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    of_object(Map::deserialize(deserializer)?)
}

fn object_or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + DeserializeOwned,
{
    Option::deserialize(deserializer)?.map_or_else(|| Ok(T::default()), of_object)
}

fn of_object<T: DeserializeOwned, E: Error>(fields: Map<String, Value>) -> Result<T, E> {
    serde_path_to_error::deserialize(Value::Object(fields)).map_err(|error| {
        let path = error.path().to_string();
        let error = error.into_inner();
        // The path of an error of the object itself is a dot.
        if path == "." { E::custom(error) } else { E::custom(format!("{path}: {error}")) }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sent(params: Value) -> Result<SendMessage, String> {
        serde_json::from_value(params).map_err(|error| error.to_string())
    }

    fn refused(params: Value) -> Value {
        let sent = sent(params).unwrap();
        sent.check().unwrap_err().json()["message"].clone()
    }

    #[test]
    fn a_message_is_an_object_of_the_user() {
        let message = json!({"messageId": "1", "role": "ROLE_USER", "parts": [{"text": "Hi"}]});
        let with = |name: &str, value: Value| {
            let mut changed = message.clone();
            changed[name] = value;
            json!({"message": changed})
        };
        assert!(sent(json!({"message": message})).unwrap().check().is_ok());
        assert_eq!(
            refused(with("role", json!("ROLE_AGENT"))),
            "message.role: expected \"ROLE_USER\""
        );
        assert_eq!(refused(with("role", Value::Null)), "message.role: expected \"ROLE_USER\"");
        assert!(refused(with("messageId", json!(""))).as_str().unwrap().contains("messageId"));
        assert!(sent(json!({"message": ["1"]})).is_err());
        assert!(sent(json!({"message": message, "configuration": [true]})).is_err());
        let error = sent(with("contextId", json!(5))).unwrap_err();
        assert!(error.starts_with("contextId: invalid type"), "{error}");
    }

    #[test]
    fn fields_may_be_null_or_have_their_other_name() {
        let message = json!({
            "message_id": "1", "context_id": null, "taskId": null, "role": "ROLE_USER",
            "parts": [{"text": "Hi"}], "metadata": null,
        });
        let configuration = json!({"history_length": 3, "returnImmediately": null});
        let sent = sent(json!({"message": message, "configuration": configuration})).unwrap();
        assert_eq!((sent.message.message_id.as_str(), sent.message.context_id.as_str()), ("1", ""));
        assert_eq!(sent.configuration.history_length, Some(3));
        let push = json!({"taskPushNotificationConfig": {"url": "https://a.example"}});
        let push = refused(json!({"message": message, "configuration": push}));
        assert!(push.as_str().unwrap().starts_with("push notifications"));
    }
}
