//! A store that counts the calls to its table and the bytes of the answers.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use aws_smithy_runtime_api::client::{
    http::{
        HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
    },
    orchestrator::HttpRequest,
    runtime_components::RuntimeComponents,
};
use smartspace_embedded_table::{EmbeddedTable, NAME, client_on};
use smartspace_store::{Store, table::schema};

#[derive(Clone, Debug)]
struct CountingConnector {
    table: EmbeddedTable,
    calls: Arc<AtomicUsize>,
    bytes: Arc<AtomicUsize>,
}

impl HttpClient for CountingConnector {
    fn http_connector(
        &self,
        _: &HttpConnectorSettings,
        _: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for CountingConnector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let answer = self.table.call(request);
        let bytes = Arc::clone(&self.bytes);
        HttpConnectorFuture::new(async move {
            let answer = answer.await?;
            let length = answer.body().bytes().map_or(0, <[u8]>::len);
            bytes.fetch_add(length, Ordering::Relaxed);
            Ok(answer)
        })
    }
}

/// The cost of an operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    pub(super) calls: usize,
    /// The bytes of the table's answers.
    pub(super) bytes: usize,
}

/// A store on a table of its own.
pub(super) struct CountedStore {
    pub(super) store: Store,
    calls: Arc<AtomicUsize>,
    bytes: Arc<AtomicUsize>,
}

impl CountedStore {
    pub(super) async fn new() -> Self {
        let connector = CountingConnector {
            table: EmbeddedTable::in_memory().unwrap(),
            calls: Arc::default(),
            bytes: Arc::default(),
        };
        let calls = Arc::clone(&connector.calls);
        let bytes = Arc::clone(&connector.bytes);
        let client = client_on(connector);
        schema::create_table(&client, NAME).await.unwrap();
        Self { store: Store::new(client, NAME, None, Arc::new(|| 4)), calls, bytes }
    }

    /// The result and the cost of an operation.
    pub(super) async fn cost_of<T>(&self, operation: impl Future<Output = T>) -> (T, Cost) {
        self.calls.store(0, Ordering::Relaxed);
        self.bytes.store(0, Ordering::Relaxed);
        let result = operation.await;
        let calls = self.calls.load(Ordering::Relaxed);
        (result, Cost { calls, bytes: self.bytes.load(Ordering::Relaxed) })
    }
}
