//! The ports of a function, with their calls counted: the table, the queues, the connections, the
//! alarms and the clock.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use aws_smithy_runtime_api::client::{
    http::{
        HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
    },
    orchestrator::{HttpRequest, HttpResponse},
    result::ConnectorError,
    runtime_components::RuntimeComponents,
};
use futures::future::BoxFuture;
use serde_json::Value;
use smartspace_domain::{
    Time,
    ids::ConnectionId,
    jobs::{Job, TriggerJob},
};
use smartspace_embedded_table::{TableCall, respond};
use smartspace_ports::{
    alarms::Alarms,
    clock::Clock,
    queues::{Queue, QueueError, ReceivedJob},
    sockets::{CloseCode, PostError, PostPermits, Sockets},
};
use smartspace_simulation::units;
use tokio::time::{Instant, sleep};

use crate::{deployment::Deployment, ledger::Counter, locked, timeline::TEXT_FRAME};

/// Typical durations of calls on AWS.
const READ_TIME: Duration = Duration::from_millis(5);
const WRITE_TIME: Duration = Duration::from_millis(8);
const TRANSACTION_TIME: Duration = Duration::from_millis(15);
const QUEUE_TIME: Duration = Duration::from_millis(10);
const FRAME_TIME: Duration = Duration::from_millis(15);
/// SQS bills each 64 KB of a batch as a request.
const BILLED_BYTES: usize = 64 * 1024;

/// The ports of one environment. Calls are counted under its name.
#[derive(Clone)]
pub(crate) struct CountedPorts {
    pub(crate) deployment: Arc<Deployment>,
    /// The name of the function, or of its current work.
    pub(crate) name: Arc<Mutex<&'static str>>,
    pub(crate) post_permits: PostPermits,
}

impl CountedPorts {
    /// Adds to a count under the environment's name.
    pub(crate) fn count(&self, what: Counter, count: f64) {
        locked(&self.deployment.ledger).count(*locked(&self.name), what, count);
    }

    async fn call(self, call: TableCall) -> Result<HttpResponse, ConnectorError> {
        let TableCall { operation, body } = call;
        let begun = Instant::now();
        sleep(match operation.as_str() {
            "TransactWriteItems" => TRANSACTION_TIME,
            "PutItem" | "UpdateItem" | "DeleteItem" => WRITE_TIME,
            _ => READ_TIME,
        })
        .await;
        let table = &self.deployment.table;
        let mut request: Value = serde_json::from_slice(&body).unwrap_or_default();
        if !["CreateTable", "UpdateTimeToLive"].contains(&operation.as_str()) {
            request["ReturnConsumedCapacity"] = "INDEXES".into();
        }
        let before = units::before(table, &operation, &request);
        let (status, answer) = table.answer(&operation, request.to_string().as_bytes());
        let parsed: Value = serde_json::from_str(&answer).unwrap_or_default();
        let parts = if before.is_empty() {
            units::read(&operation, &request, &parsed)
        } else {
            units::written(table, &operation, &before)
        };
        let function = *locked(&self.name);
        self.deployment.note(begun, function, &operation);
        locked(&self.deployment.ledger).call(
            function,
            &operation,
            &parts,
            units::reported(&parsed),
        );
        respond(status, answer)
    }
}

impl std::fmt::Debug for CountedPorts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CountedPorts").field("name", &self.name).finish_non_exhaustive()
    }
}

impl HttpClient for CountedPorts {
    fn http_connector(
        &self,
        _: &HttpConnectorSettings,
        _: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for CountedPorts {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        HttpConnectorFuture::new(self.clone().call(TableCall::of(&request)))
    }
}

/// A queue. Each job becomes an invocation of its own.
pub(crate) struct CountedQueue<J> {
    pub(crate) ports: CountedPorts,
    pub(crate) deliver: fn(Arc<Deployment>, J) -> BoxFuture<'static, ()>,
}

#[async_trait]
impl<J: Job> Queue<J> for CountedQueue<J> {
    async fn send(&self, jobs: Vec<J>) -> Result<(), QueueError> {
        for batch in jobs.chunks(10) {
            let bytes: usize = batch
                .iter()
                .filter_map(|job| serde_json::to_vec(job).ok())
                .map(|body| body.len())
                .sum();
            self.ports.count(Counter::Send, bytes.div_ceil(BILLED_BYTES).max(1) as f64);
            let begun = Instant::now();
            sleep(QUEUE_TIME).await;
            self.ports.deployment.note(begun, *locked(&self.ports.name), "send to a queue");
        }
        for job in jobs {
            let deployment = Arc::clone(&self.ports.deployment);
            let working = deployment.works();
            let receiver = Arc::clone(&deployment);
            let delivered = (self.deliver)(deployment, job);
            tokio::spawn(async move {
                let begun = Instant::now();
                sleep(QUEUE_TIME).await;
                receiver.note(begun, "", "a poller receives");
                delivered.await;
                drop(working);
            });
        }
        Ok(())
    }
}

/// A job of the runs queue.
pub(crate) struct CountedJob {
    pub(crate) ports: CountedPorts,
    pub(crate) ends_at: Instant,
}

#[async_trait]
impl ReceivedJob for CountedJob {
    async fn hide(&self, _: Duration) {
        self.ports.count(Counter::Visibility, 1.0);
        sleep(QUEUE_TIME).await;
    }

    fn ends_at(&self) -> Option<Instant> {
        Some(self.ends_at)
    }
}

#[async_trait]
impl Sockets for CountedPorts {
    fn post_permits(&self) -> &PostPermits {
        &self.post_permits
    }

    async fn post(&self, _: &ConnectionId, frame: Arc<str>) -> Result<(), PostError> {
        self.count(Counter::Post, 1.0);
        let begun = Instant::now();
        sleep(FRAME_TIME).await;
        let what = if frame.contains("\"stream.delta\"") { TEXT_FRAME } else { "frame" };
        self.deployment.note(begun, *locked(&self.name), what);
        Ok(())
    }

    async fn close(&self, _: &ConnectionId, _: CloseCode) {}

    async fn is_open(&self, _: &ConnectionId) -> bool {
        true
    }
}

#[async_trait]
impl Alarms for CountedPorts {
    async fn set(&self, _: Time, _: TriggerJob) {
        self.count(Counter::Alarm, 1.0);
    }
}

impl Clock for CountedPorts {
    fn now(&self) -> Time {
        self.deployment.now()
    }
}
