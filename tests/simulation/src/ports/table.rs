//! The table as a process reaches it: the SDK's own client on a connector that behaves like
//! DynamoDB at its worst.
//!
//! Index reads are up to two seconds old. Calls are refused, throttled or in conflict. Batches and
//! pages come in parts. A call may take effect without an answer, or after it seemed to fail.

use std::{sync::Arc, time::Duration};

use aws_smithy_runtime_api::client::{
    http::{
        HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
    },
    orchestrator::{HttpRequest, HttpResponse},
    result::ConnectorError,
    runtime_components::RuntimeComponents,
};
use aws_smithy_types::body::SdkBody;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{life::Life, locked, world::World};

const WRITES: [&str; 4] = ["TransactWriteItems", "PutItem", "UpdateItem", "DeleteItem"];

/// The connector of one process.
#[derive(Clone)]
pub struct SimTable {
    world: Arc<World>,
    life: Arc<Life>,
}

/// A response: its status and its body.
type RawResponse = (u16, String);

impl SimTable {
    /// The connector of the process with this `life`.
    pub fn new(world: Arc<World>, life: Arc<Life>) -> Self {
        Self { world, life }
    }

    async fn act(self, operation: String, body: Vec<u8>) -> Result<HttpResponse, ConnectorError> {
        let (status, body) = self.answer(&operation, body).await?;
        let status =
            status.try_into().map_err(|error: aws_smithy_runtime_api::http::HttpError| {
                ConnectorError::other(error.into(), None)
            })?;
        Ok(HttpResponse::new(status, SdkBody::from(body)))
    }

    async fn answer(&self, operation: &str, body: Vec<u8>) -> Result<RawResponse, ConnectorError> {
        let world = &self.world;
        world.before_call(&self.life, operation).await;
        let writes = WRITES.contains(&operation);
        let mut request: Value = serde_json::from_slice(&body).unwrap_or_default();
        if let Some(mutant) = world.mutant
            && let Some(answer) = mutant.before(world, operation, &mut request)
        {
            world.after_call(&self.life, operation).await;
            return Ok(answer);
        }
        let call = Call { table: self, operation, about: about(operation, &request) };
        if let Some(failure) = call.fails(&request) {
            return failure;
        }
        let rest = self.make_partial(operation, &mut request);
        call.shorten_page(&mut request);
        let (status, mut answer) = self.take_effect(operation, &request);
        if !writes && world.fixed_latency.is_some() {
            let read = &mut locked(&world.ledger).read;
            *read = (read.0 + items(&answer), read.1 + answer.len());
        }
        if writes && call.strikes("lost answer", world.plan.fault_rates.lost_answer) {
            world.after_call(&self.life, operation).await;
            return Err(ConnectorError::io("the connection was reset".into()));
        }
        if let Some(rest) = rest
            && let Ok(mut parsed) = serde_json::from_str::<Value>(&answer)
        {
            parsed["UnprocessedKeys"] = rest;
            answer = parsed.to_string();
        }
        if let Some(mutant) = world.mutant {
            mutant.after(operation, &request, &mut answer);
            if mutant.dies(&request) {
                world.kill(&self.life, "between two writes");
            }
        }
        world.after_call(&self.life, operation).await;
        Ok((status, answer))
    }

    /// Lets a call take effect. Reads that need not be consistent come from the lagging copy.
    fn take_effect(&self, operation: &str, request: &Value) -> RawResponse {
        let world = &self.world;
        let body = request.to_string().into_bytes();
        if operation == "Query" && request["ConsistentRead"] != json!(true) {
            let lag = world.chance.time("lag", Duration::ZERO, Duration::from_secs(2));
            world.storage.answer_stale(lag, operation, &body)
        } else {
            world.storage.answer(operation, &body)
        }
    }

    /// Removes some keys from a batch. Returns the removed keys.
    fn make_partial(&self, operation: &str, request: &mut Value) -> Option<Value> {
        let chance = &self.world.chance;
        if operation != "BatchGetItem"
            || !chance.strikes(
                &format!("{}/partial", self.life.name),
                self.world.plan.fault_rates.partial,
            )
        {
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

/// A call with the faults that may strike it.
struct Call<'a> {
    table: &'a SimTable,
    operation: &'a str,
    /// The keys of its items, for the history.
    about: String,
}

impl Call<'_> {
    /// Whether a fault strikes, which the history then shows.
    fn strikes(&self, name: &str, rate: u64) -> bool {
        let Self { table: SimTable { world, life }, operation, about } = self;
        let strikes = world.chance.strikes(&format!("{}/{operation}/{name}", life.name), rate);
        if strikes {
            world.history.note(&life.name, || format!("table: {operation} {about} {name}"));
        }
        strikes
    }

    /// Fails before the call takes effect, or with an effect that comes later.
    fn fails(&self, request: &Value) -> Option<Result<RawResponse, ConnectorError>> {
        let rates = &self.table.world.plan.fault_rates;
        let writes = WRITES.contains(&self.operation);
        if self.strikes("refused", rates.refused) {
            return Some(Ok(problem(500, "InternalServerError", json!({}))));
        }
        if self.strikes("throttled", rates.throttled) {
            return Some(Ok(problem(400, "ProvisionedThroughputExceededException", json!({}))));
        }
        if writes && self.strikes("conflict", rates.conflict) {
            return Some(Ok(conflict(self.operation, request)));
        }
        if writes && self.strikes("late effect", rates.late_effect) {
            self.take_effect_later(request);
            return Some(Err(ConnectorError::timeout("it took too long".into())));
        }
        None
    }

    fn take_effect_later(&self, request: &Value) {
        let world = Arc::clone(&self.table.world);
        let operation = self.operation.to_owned();
        let body = request.to_string().into_bytes();
        let late =
            world.chance.time("late effect", Duration::from_millis(100), Duration::from_secs(4));
        tokio::spawn(async move {
            sleep(late).await;
            world.storage.answer(&operation, &body);
        });
    }

    /// Lowers the limit of a page, or does nothing.
    fn shorten_page(&self, request: &mut Value) {
        let world = &self.table.world;
        if self.operation == "Query"
            && self.strikes("short page", world.plan.fault_rates.short_page)
        {
            let most = request["Limit"].as_u64().unwrap_or(u64::MAX);
            request["Limit"] = most.min(1 + world.chance.below("short page", 3)).into();
        }
    }
}

/// The number of items in the answer to a read.
fn items(answer: &str) -> usize {
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    let of_query = answer["Items"].as_array().map_or(0, Vec::len);
    let of_batch = answer["Responses"]
        .as_object()
        .into_iter()
        .flat_map(|tables| tables.values())
        .filter_map(Value::as_array)
        .map(Vec::len);
    of_query + of_batch.sum::<usize>() + usize::from(answer["Item"].is_object())
}

impl std::fmt::Debug for SimTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimTable").finish_non_exhaustive()
    }
}

impl HttpClient for SimTable {
    fn http_connector(
        &self,
        _: &HttpConnectorSettings,
        _: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for SimTable {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let operation = request
            .headers()
            .get("x-amz-target")
            .and_then(|target| target.rsplit('.').next())
            .unwrap_or_default()
            .to_owned();
        let body = request.body().bytes().unwrap_or_default().to_vec();
        HttpConnectorFuture::new(self.clone().act(operation, body))
    }
}

/// An error in the form in which DynamoDB returns it.
pub fn problem(status: u16, kind: &str, mut body: Value) -> RawResponse {
    body["__type"] = format!("com.amazonaws.dynamodb.v20120810#{kind}").into();
    (status, body.to_string())
}

/// The error after a conflict with another transaction.
fn conflict(operation: &str, request: &Value) -> RawResponse {
    if operation != "TransactWriteItems" {
        return problem(400, "TransactionConflictException", json!({}));
    }
    let parts = request["TransactItems"].as_array().map_or(1, Vec::len);
    let reasons: Vec<_> = (0..parts)
        .map(|part| json!({"Code": if part == 0 { "TransactionConflict" } else { "None" }}))
        .collect();
    problem(400, "TransactionCanceledException", json!({"CancellationReasons": reasons}))
}

/// The keys of the items that a call names.
fn about(operation: &str, request: &Value) -> String {
    let key = |key: &Value| {
        format!(
            "{}/{}",
            key["PK"]["S"].as_str().unwrap_or("?"),
            key["SK"]["S"].as_str().unwrap_or("?")
        )
    };
    match operation {
        "TransactWriteItems" => {
            let parts = request["TransactItems"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|part| part.as_object()?.values().next());
            parts
                .map(|part| key(if part["Item"].is_null() { &part["Key"] } else { &part["Item"] }))
                .collect::<Vec<_>>()
                .join(" ")
        }
        "PutItem" => key(&request["Item"]),
        "GetItem" | "UpdateItem" | "DeleteItem" => key(&request["Key"]),
        _ => String::new(),
    }
}
