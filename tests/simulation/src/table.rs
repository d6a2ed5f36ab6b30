//! The table as a process reaches it: the SDK's own calls, behind a connector that behaves like the real thing at its worst.
//!
//! Index reads are up to two seconds old, calls are refused, throttled or in conflict, batches and pages come in parts, and a call may take
//! effect without its answer, or after it was thought to have failed.

use std::{sync::Arc, time::Duration};

use aws_smithy_runtime_api::client::{
    http::{HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector},
    orchestrator::{HttpRequest, HttpResponse},
    result::ConnectorError,
    runtime_components::RuntimeComponents,
};
use aws_smithy_types::body::SdkBody;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{life::Life, locked, world::World};

const WRITES: [&str; 4] = ["TransactWriteItems", "PutItem", "UpdateItem", "DeleteItem"];

/// One process's way to the table.
#[derive(Clone)]
pub struct SimTable {
    world: Arc<World>,
    life: Arc<Life>,
}

type Answer = (u16, String);

impl SimTable {
    /// The way of the process with this `life`.
    pub fn new(world: Arc<World>, life: Arc<Life>) -> Self {
        Self { world, life }
    }

    async fn act(self, operation: String, body: Vec<u8>) -> Result<HttpResponse, ConnectorError> {
        let (status, body) = self.answer(&operation, body).await?;
        let status =
            status.try_into().map_err(|error: aws_smithy_runtime_api::http::HttpError| ConnectorError::other(error.into(), None))?;
        Ok(HttpResponse::new(status, SdkBody::from(body)))
    }

    async fn answer(&self, operation: &str, body: Vec<u8>) -> Result<Answer, ConnectorError> {
        let (world, weather) = (&self.world, &self.world.plan.weather);
        world.begins(&self.life, operation).await;
        let writes = WRITES.contains(&operation);
        let mut request: Value = serde_json::from_slice(&body).unwrap_or_default();
        if let Some(planted) = world.planted
            && let Some(answer) = planted.before(world, operation, &mut request)
        {
            world.ends(&self.life, operation).await;
            return Ok(answer);
        }
        let about = what(operation, &request);
        let fault = |name: &str, rate: u64| {
            let strikes = world.chance.strikes(&format!("{}/{operation}/{name}", self.life.name), rate);
            if strikes {
                world.history.note(&self.life.name, || format!("table: {operation} {about} {name}"));
            }
            strikes
        };
        if fault("refused", weather.refused) {
            return Ok(problem(500, "InternalServerError", json!({})));
        }
        if fault("throttled", weather.throttled) {
            return Ok(problem(400, "ProvisionedThroughputExceededException", json!({})));
        }
        if writes && fault("conflict", weather.conflict) {
            return Ok(conflict(operation, &request));
        }
        if writes && fault("late effect", weather.late_effect) {
            let (world, operation, body) = (Arc::clone(world), operation.to_owned(), request.to_string().into_bytes());
            let late = world.chance.time("late effect", Duration::from_millis(100), Duration::from_secs(4));
            tokio::spawn(async move {
                sleep(late).await;
                world.storage.answer(&operation, &body);
            });
            return Err(ConnectorError::timeout("it took too long".into()));
        }
        let rest = self.make_partial(operation, &mut request);
        if operation == "Query" && fault("short page", weather.short_page) {
            let most = request["Limit"].as_u64().unwrap_or(u64::MAX);
            request["Limit"] = most.min(1 + world.chance.below("short page", 3)).into();
        }
        let body = request.to_string().into_bytes();
        let stale = operation == "Query" && request["ConsistentRead"] != json!(true);
        let (status, mut answer) = if stale {
            let lag = world.chance.time("lag", Duration::ZERO, Duration::from_secs(2));
            world.storage.answer_stale(lag, operation, &body)
        } else {
            world.storage.answer(operation, &body)
        };
        if !writes && world.fixed_latency.is_some() {
            let read = &mut locked(&world.ledger).read;
            *read = (read.0 + items(&answer), read.1 + answer.len());
        }
        if writes && fault("lost answer", weather.lost_answer) {
            world.ends(&self.life, operation).await;
            return Err(ConnectorError::io("the connection was reset".into()));
        }
        if let Some(rest) = rest
            && let Ok(mut parsed) = serde_json::from_str::<Value>(&answer)
        {
            parsed["UnprocessedKeys"] = rest;
            answer = parsed.to_string();
        }
        if let Some(planted) = world.planted {
            planted.after(operation, &request, &mut answer);
            if planted.dies(&request) {
                world.kill(&self.life, "between two writes");
            }
        }
        world.ends(&self.life, operation).await;
        Ok((status, answer))
    }

    /// Leaves away some of a batch's keys; those that were left away.
    fn make_partial(&self, operation: &str, request: &mut Value) -> Option<Value> {
        let chance = &self.world.chance;
        if operation != "BatchGetItem" || !chance.strikes(&format!("{}/partial", self.life.name), self.world.plan.weather.partial) {
            return None;
        }
        let (table, asked) = request["RequestItems"].as_object_mut()?.iter_mut().next()?;
        let keys = asked["Keys"].as_array_mut()?;
        if keys.len() < 2 {
            return None;
        }
        let rest = keys.split_off(1 + chance.below("partial", keys.len() as u64 - 1) as usize);
        Some(json!({table.as_str(): {"Keys": rest, "ConsistentRead": true}}))
    }
}

/// How many items a read was answered with.
fn items(answer: &str) -> usize {
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    let of_query = answer["Items"].as_array().map_or(0, Vec::len);
    let of_batch = answer["Responses"].as_object().into_iter().flat_map(|tables| tables.values()).filter_map(Value::as_array).map(Vec::len);
    of_query + of_batch.sum::<usize>() + usize::from(answer["Item"].is_object())
}

impl std::fmt::Debug for SimTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimTable").finish_non_exhaustive()
    }
}

impl HttpClient for SimTable {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for SimTable {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let operation = request.headers().get("x-amz-target").and_then(|target| target.rsplit('.').next()).unwrap_or_default().to_owned();
        let body = request.body().bytes().unwrap_or_default().to_vec();
        HttpConnectorFuture::new(self.clone().act(operation, body))
    }
}

/// An error as DynamoDB answers it.
pub fn problem(status: u16, kind: &str, mut body: Value) -> Answer {
    body["__type"] = format!("com.amazonaws.dynamodb.v20120810#{kind}").into();
    (status, body.to_string())
}

/// Another transaction was faster.
fn conflict(operation: &str, request: &Value) -> Answer {
    if operation != "TransactWriteItems" {
        return problem(400, "TransactionConflictException", json!({}));
    }
    let parts = request["TransactItems"].as_array().map_or(1, Vec::len);
    let reasons: Vec<_> = (0..parts).map(|part| json!({"Code": if part == 0 { "TransactionConflict" } else { "None" }})).collect();
    problem(400, "TransactionCanceledException", json!({"CancellationReasons": reasons}))
}

/// What a call is about, in short.
fn what(operation: &str, request: &Value) -> String {
    let key = |key: &Value| format!("{}/{}", key["PK"]["S"].as_str().unwrap_or("?"), key["SK"]["S"].as_str().unwrap_or("?"));
    match operation {
        "TransactWriteItems" => {
            let parts = request["TransactItems"].as_array().into_iter().flatten().filter_map(|part| part.as_object()?.values().next());
            parts.map(|part| key(if part["Item"].is_null() { &part["Key"] } else { &part["Item"] })).collect::<Vec<_>>().join(" ")
        }
        "PutItem" => key(&request["Item"]),
        "GetItem" | "UpdateItem" | "DeleteItem" => key(&request["Key"]),
        _ => String::new(),
    }
}
