//! The table as a process reaches it: the SDK's own client on a connector that behaves like
//! DynamoDB at its worst.
//!
//! Index reads are up to two seconds old. Calls are refused, throttled or in conflict. Batches and
//! pages come in parts. A call may take effect without an answer, or after it seemed to fail.

mod faults;

use std::{sync::Arc, time::Duration};

use aws_smithy_runtime_api::client::{
    http::{
        HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
    },
    orchestrator::{HttpRequest, HttpResponse},
    result::ConnectorError,
    runtime_components::RuntimeComponents,
};
use serde_json::{Value, json};
use smartspace_embedded_table::{NAME, TableCall, respond};
use tokio::time::sleep;

use crate::{
    env::Env,
    locked,
    parameters::Parameters,
    ports::table::faults::{Call, WRITES},
    process_life::ProcessLife,
    table_errors::RawResponse,
};

/// The connector of one process.
#[derive(Clone)]
pub struct SimTable {
    env: Arc<Env>,
    life: Arc<ProcessLife>,
}

impl SimTable {
    /// The connector of the process with this `life`.
    pub fn new(env: Arc<Env>, life: Arc<ProcessLife>) -> Self {
        Self { env, life }
    }

    async fn act(self, call: TableCall) -> Result<HttpResponse, ConnectorError> {
        let (status, body) = self.answer(&call.operation, call.body).await?;
        respond(status, body)
    }

    async fn answer(&self, operation: &str, body: Vec<u8>) -> Result<RawResponse, ConnectorError> {
        let env = &self.env;
        env.before_call(&self.life, operation).await;
        let writes = WRITES.contains(&operation);
        let mut request: Value = serde_json::from_slice(&body).unwrap_or_default();
        env.conditions.note(operation, &mut request);
        if let Some(mutant) = env.mutant
            && let Some(answer) = mutant.before(&env.chance, &env.storage, operation, &mut request)
        {
            env.after_call(&self.life, operation).await;
            return Ok(answer);
        }
        if let Some(delay) = env.mutant.and_then(|mutant| mutant.delays(operation, &request)) {
            let env = Arc::clone(env);
            tokio::spawn(async move {
                sleep(delay).await;
                env.storage.answer("TransactWriteItems", &body);
            });
            return Ok((200, "{}".into()));
        }
        let call = Call::new(self, operation, &request);
        if writes {
            call.hold(&mut request).await;
        }
        if let Some(failure) = call.fails(&request) {
            return failure;
        }
        let rest = self.make_partial(operation, &mut request);
        call.shorten_page(&mut request);
        let (status, mut answer) = self.take_effect(operation, &request);
        if status != 200 && writes {
            env.conditions
                .note_refusal(operation, &request, &answer, |checks| env.storage.holds(checks));
        }
        if !writes && env.fixed_latency.is_some() {
            let read = &mut locked(&env.ledger).read;
            *read = (read.0 + items(&answer), read.1 + answer.len());
        }
        if writes && call.strikes("lost answer", env.parameters.fault_rates.lost_answer) {
            env.after_call(&self.life, operation).await;
            return Err(ConnectorError::io("the connection was reset".into()));
        }
        if let Some(rest) = rest
            && let Ok(mut parsed) = serde_json::from_str::<Value>(&answer)
        {
            add_unprocessed(&mut parsed, rest);
            answer = parsed.to_string();
        }
        if let Some(mutant) = env.mutant {
            mutant.after(operation, &request, &mut answer, env.clock_of(&self.life));
            if mutant.dies(&request) {
                env.kill(&self.life, "between two writes");
            }
        }
        self.die_in_deletion(&call, status, &request);
        env.after_call(&self.life, operation).await;
        Ok((status, answer))
    }

    /// Lets the process die after a step of a deletion.
    fn die_in_deletion(&self, call: &Call<'_>, status: u16, request: &Value) {
        let Parameters { changes, fault_rates, .. } = &self.env.parameters;
        if *changes
            && status == 200
            && is_of_deletion(request)
            && call.strikes("in a deletion", fault_rates.in_deletion)
        {
            self.env.kill(&self.life, "in a deletion");
        }
    }

    /// Lets a call take effect, unless the limits of its partitions throttle it.
    fn take_effect(&self, operation: &str, request: &Value) -> RawResponse {
        let env = &self.env;
        let Some(partitions) = &env.partitions else { return self.act_on(operation, request) };
        let before = partitions.throttled();
        let answer = partitions.answer(env.storage.table(), operation, request, |request| {
            self.act_on(operation, request)
        });
        if partitions.throttled() > before {
            env.history.note(&self.life.name, || format!("table: {operation} is throttled"));
        }
        answer
    }

    /// Lets a call take effect. Reads that need not be consistent come from the lagging copy.
    fn act_on(&self, operation: &str, request: &Value) -> RawResponse {
        let env = &self.env;
        let body = request.to_string().into_bytes();
        if operation == "Query" && request["ConsistentRead"] != json!(true) {
            let lag = env.chance.time("lag", Duration::ZERO, Duration::from_secs(2));
            env.storage.answer_stale(lag, operation, &body)
        } else {
            env.storage.answer(operation, &body)
        }
    }

    /// Removes some keys from a batch. Returns the removed keys.
    fn make_partial(&self, operation: &str, request: &mut Value) -> Option<Vec<Value>> {
        let chance = &self.env.chance;
        if operation != "BatchGetItem"
            || !chance.strikes(
                &format!("{}/partial", self.life.name),
                self.env.parameters.fault_rates.partial,
            )
        {
            return None;
        }
        let (_, asked) = request["RequestItems"].as_object_mut()?.iter_mut().next()?;
        let keys = asked["Keys"].as_array_mut()?;
        if keys.len() < 2 {
            return None;
        }
        Some(keys.split_off(1 + chance.below("partial", keys.len() as u64 - 1) as usize))
    }
}

/// Whether a write is a step of a deletion: it makes a tombstone, takes words out of what is stored
/// for models, or finishes a tombstone.
fn is_of_deletion(request: &Value) -> bool {
    let text = request.to_string();
    ["#deleted", "[deleted]", "#redactedAt", "#forget"].iter().any(|mark| text.contains(mark))
}

/// Adds keys to those that an answer to a batch leaves unprocessed.
fn add_unprocessed(answer: &mut Value, mut rest: Vec<Value>) {
    let left = &mut answer["UnprocessedKeys"][NAME]["Keys"];
    rest.extend(left.as_array_mut().map(std::mem::take).unwrap_or_default());
    answer["UnprocessedKeys"][NAME] = json!({"Keys": rest, "ConsistentRead": true});
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
        HttpConnectorFuture::new(self.clone().act(TableCall::of(&request)))
    }
}
