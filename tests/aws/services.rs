//! The services of AWS that the functions call, each as far as they use it, on one address: the table (embedded, as on one machine), queues, the secret,
//! the scheduler, and the connections of browsers. Queues deliver nothing. Beside them answers a model.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    Router,
    body::{Bytes, to_bytes},
    extract::{Request, State},
    http::{StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use smartspace::embedded_table::EmbeddedTable;

use crate::{Result, Served, model};

/// The stack's secret.
pub const SECRET: &str = r#"{"adminKey": "the-operators-own-key", "jwtSecret": "", "OPENAI_API_KEY": "a-key-of-openai", "ANTHROPIC_API_KEY": "", "CI_HOOK": "the-secret-of-ci"}"#;
/// The operator's key in it.
pub const ADMIN_KEY: &str = "the-operators-own-key";

/// A call of a service.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Which service.
    pub service: &'static str,
    /// As the service names it.
    pub operation: String,
    /// What was said: the request's JSON, with what its path says.
    pub said: Value,
}

/// All of them.
#[derive(Debug)]
pub struct Services {
    served: Served,
    heard: Arc<Heard>,
}

#[derive(Debug)]
struct Heard {
    table: EmbeddedTable,
    calls: Mutex<Vec<Call>>,
}

impl Services {
    /// On any free port.
    pub async fn start(table: EmbeddedTable) -> Result<Self> {
        Self::at("127.0.0.1:0", table).await
    }

    /// At this address.
    pub async fn at(address: &str, table: EmbeddedTable) -> Result<Self> {
        let heard = Arc::new(Heard { table, calls: Mutex::default() });
        let router = Router::new()
            .route(&format!("/v1{}", model::PATH), model::answering(Duration::ZERO))
            .fallback(answer)
            .with_state(Arc::clone(&heard));
        Ok(Self { served: Served::at(address, router).await?, heard })
    }

    /// Where they are.
    pub fn url(&self) -> String {
        format!("http://{}", self.served.address)
    }

    /// What they were asked since they were last asked for it, in order.
    pub fn calls(&self) -> Vec<Call> {
        std::mem::take(&mut self.heard.calls.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Heard {
    fn keep(&self, service: &'static str, operation: &str, said: Value) {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(Call { service, operation: operation.to_owned(), said });
    }
}

async fn answer(State(heard): State<Arc<Heard>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, usize::MAX).await else { return StatusCode::BAD_REQUEST.into_response() };
    let target = parts.headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    let said = serde_json::from_slice(&body).unwrap_or_default();
    match target.split_once('.') {
        Some(("DynamoDB_20120810", operation)) => {
            heard.keep("dynamodb", operation, said);
            // A long answer of the table would hold up others.
            let (table, operation) = (heard.table.clone(), operation.to_owned());
            match tokio::task::spawn_blocking(move || table.answer(&operation, &body)).await {
                Ok((status, body)) => json_of(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), body),
                Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
            }
        }
        Some(("AmazonSQS", operation)) => {
            let answer = queued(operation, &said);
            heard.keep("sqs", operation, said);
            json_of(StatusCode::OK, answer.to_string())
        }
        Some(("secretsmanager", "GetSecretValue")) => {
            let answer = json!({"ARN": said["SecretId"], "Name": "stack", "VersionId": "1", "SecretString": SECRET});
            heard.keep("secretsmanager", "GetSecretValue", said);
            json_of(StatusCode::OK, answer.to_string())
        }
        _ => rest(&heard, &parts, &body, said),
    }
}

/// What is called by its path.
fn rest(heard: &Heard, parts: &Parts, body: &Bytes, mut said: Value) -> Response {
    let path = percent_decode_str(parts.uri.path()).decode_utf8_lossy();
    if let Some((_, connection)) = path.split_once("/@connections/") {
        let operation = if parts.method == "DELETE" { "DeleteConnection" } else { "PostToConnection" };
        let frame = if said.is_null() { String::from_utf8_lossy(body).into() } else { said };
        heard.keep("connections", operation, json!({"connection": connection, "frame": frame}));
        return StatusCode::OK.into_response();
    }
    if let (Some(name), true) = (path.strip_prefix("/schedules/"), parts.method == "POST") {
        said["Name"] = name.into();
        let answer = json!({"ScheduleArn": format!("arn:aws:scheduler:eu-central-1:123456789012:schedule/{name}")});
        heard.keep("scheduler", "CreateSchedule", said);
        return json_of(StatusCode::OK, answer.to_string());
    }
    heard.keep("unknown", &format!("{} {path}", parts.method), said);
    StatusCode::NOT_FOUND.into_response()
}

/// What a queue answers.
fn queued(operation: &str, said: &Value) -> Value {
    // Its clients do not look at it.
    let digest = "0".repeat(32);
    match operation {
        "SendMessageBatch" => {
            let taken = |entry: &Value| json!({"Id": entry["Id"], "MessageId": entry["Id"], "MD5OfMessageBody": digest});
            json!({"Successful": said["Entries"].as_array().into_iter().flatten().map(taken).collect::<Vec<_>>(), "Failed": []})
        }
        "SendMessage" => json!({"MessageId": "1", "MD5OfMessageBody": digest}),
        _ => json!({}),
    }
}

fn json_of(status: StatusCode, body: String) -> Response {
    (status, [(header::CONTENT_TYPE, "application/x-amz-json-1.0")], body).into_response()
}
