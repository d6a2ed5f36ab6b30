//! A store of which one write fails, and scenarios that run once for each fault of each write.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use aws_smithy_runtime_api::client::{
    http::{
        HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
    },
    orchestrator::{HttpRequest, HttpResponse},
    runtime_components::RuntimeComponents,
};
use aws_smithy_types::body::SdkBody;
use serde_json::json;
use smartspace_embedded_table::{EmbeddedTable, NAME, client_on};
use smartspace_store::{Store, table::schema};

/// A fault of one write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It takes effect, but the answer is lost.
    LostAnswer,
    /// It does not take effect.
    Refused,
    /// It fails because of a concurrent transaction.
    Conflict,
    /// Its answer is lost, and when it is repeated, all items whose condition fails, except the
    /// first one, are also in conflict with another transaction.
    LostAmongOthers,
}

/// A connector to the table that fails one write.
#[derive(Clone, Debug)]
struct FaultyConnector {
    pub(crate) table: EmbeddedTable,
    pub(crate) writes: Arc<AtomicUsize>,
    /// The number of the write that fails, and how.
    pub(crate) plan: Arc<Mutex<Option<(usize, Fault)>>>,
}

impl HttpClient for FaultyConnector {
    fn http_connector(
        &self,
        _: &HttpConnectorSettings,
        _: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for FaultyConnector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let target = request.headers().get("x-amz-target").unwrap_or_default().to_owned();
        let transaction = target.ends_with("TransactWriteItems");
        if !transaction
            && !["PutItem", "UpdateItem", "DeleteItem"].iter().any(|write| target.ends_with(write))
        {
            return self.table.call(request);
        }
        let number = self.writes.fetch_add(1, Ordering::Relaxed);
        let plan = *self.plan.lock().unwrap();
        let fault = plan.filter(|(at, _)| *at == number).map(|(_, fault)| fault);
        match fault {
            None if plan
                .is_some_and(|(at, fault)| fault == Fault::LostAmongOthers && at + 1 == number) =>
            {
                let done = self.table.call(request);
                HttpConnectorFuture::new(async move { Ok(with_conflicts(done.await?)) })
            }
            None => self.table.call(request),
            Some(Fault::LostAnswer | Fault::LostAmongOthers) => {
                let done = self.table.call(request);
                HttpConnectorFuture::new(async move {
                    done.await?;
                    Ok(answer(500, "InternalServerError", json!({})))
                })
            }
            Some(Fault::Conflict) if transaction => {
                let reasons = [json!({"Code": "TransactionConflict"}), json!({"Code": "None"})];
                let reasons = json!({"CancellationReasons": reasons});
                HttpConnectorFuture::ready(Ok(answer(400, "TransactionCanceledException", reasons)))
            }
            Some(Fault::Refused | Fault::Conflict) => {
                HttpConnectorFuture::ready(Ok(answer(500, "InternalServerError", json!({}))))
            }
        }
    }
}

/// Turns all failed conditions of a refused transaction except the first one into conflicts.
fn with_conflicts(refusal: HttpResponse) -> HttpResponse {
    let mut body: serde_json::Value =
        serde_json::from_slice(refusal.body().bytes().unwrap()).unwrap();
    let Some(reasons) =
        body.get_mut("CancellationReasons").and_then(serde_json::Value::as_array_mut)
    else {
        return refusal;
    };
    for reason in
        reasons.iter_mut().filter(|reason| reason["Code"] == "ConditionalCheckFailed").skip(1)
    {
        *reason = json!({"Code": "TransactionConflict"});
    }
    answer(400, "TransactionCanceledException", body)
}

fn answer(status: u16, kind: &str, mut body: serde_json::Value) -> HttpResponse {
    body["__type"] = format!("com.amazonaws.dynamodb.v20120810#{kind}").into();
    HttpResponse::new(status.try_into().unwrap(), SdkBody::from(body.to_string()))
}

/// A store on a table of which one write fails.
pub(crate) struct FaultyStore {
    pub(crate) store: Store,
    pub(crate) writes: Arc<AtomicUsize>,
    pub(crate) plan: Arc<Mutex<Option<(usize, Fault)>>>,
}

impl FaultyStore {
    pub(crate) async fn new() -> Self {
        let writes = Arc::new(AtomicUsize::new(0));
        let plan = Arc::new(Mutex::new(None));
        let connector = FaultyConnector {
            table: EmbeddedTable::in_memory().unwrap(),
            writes: Arc::clone(&writes),
            plan: Arc::clone(&plan),
        };
        let client = client_on(connector);
        schema::create_table(&client, NAME).await.unwrap();
        let store = Store::new(client, NAME, None, Arc::new(|| 4));
        Self { store, writes, plan }
    }

    /// Counts writes from now on, and fails one of them.
    pub(crate) fn fail(&self, fault: Option<(usize, Fault)>) {
        self.writes.store(0, Ordering::Relaxed);
        *self.plan.lock().unwrap() = fault;
    }

    /// The number of writes since [`Self::fail`].
    pub(crate) fn writes(&self) -> usize {
        self.writes.load(Ordering::Relaxed)
    }
}

/// Runs a scenario without a fault, and once for each fault of each write, and checks that it
/// always ends with the same contents. Returns these and the number of writes.
pub(crate) async fn assert_same_outcome(
    scenario: impl AsyncFn(Option<(usize, Fault)>) -> (String, usize),
) -> (String, usize) {
    let (expected, writes) = Box::pin(scenario(None)).await;
    for fault in [Fault::LostAnswer, Fault::Refused, Fault::Conflict, Fault::LostAmongOthers] {
        for number in 0..writes {
            let (stored, _) = Box::pin(scenario(Some((number, fault)))).await;
            assert!(
                stored == expected,
                "{fault:?} of write {number}:\n{stored}\ninstead of\n{expected}"
            );
        }
    }
    (expected, writes)
}

/// Like [`assert_same_outcome`], for a scenario without errors that has at least `least` writes.
pub(crate) async fn assert_same_success(
    scenario: impl AsyncFn(Option<(usize, Fault)>) -> (String, usize),
    least: usize,
) {
    let (expected, writes) = assert_same_outcome(scenario).await;
    assert!(writes >= least && !expected.contains("Err("), "{writes}: {expected}");
}
