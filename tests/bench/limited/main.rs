//! The product on a table whose partitions are limited as DynamoDB limits them, without any burst.
//! The load program starts it with `--partition-limits`.
//!
//! Each throttled call writes a line to standard error, which the load program counts.

use std::{io::Write, path::Path, process::ExitCode, sync::Arc};

use aws_smithy_runtime_api::client::{
    http::{
        HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
    },
    orchestrator::HttpRequest,
    result::ConnectorError,
    runtime_components::RuntimeComponents,
};
use serde_json::{Value, json};
use smartspace::LocalTable;
use smartspace_embedded_table::{EmbeddedTable, NAME, TableCall, client_on, respond};
use smartspace_simulation::partitions::{DYNAMODB, Partitions};
use smartspace_store::table::{dynamodb::DynamoDb, schema};

fn main() -> ExitCode {
    smartspace::main_on(|path| Box::pin(open(path)))
}

/// Opens a table in memory, wherever the other data is.
async fn open(_: Option<&Path>) -> Result<LocalTable, String> {
    let table = EmbeddedTable::in_memory()?;
    schema::create_table(&table.client(), NAME).await.map_err(|error| error.to_string())?;
    let client = client_on(LimitedTable::new(&table));
    Ok(LocalTable {
        database: Arc::new(DynamoDb::new(client, NAME)),
        delete_expired: Arc::new(move || table.delete_expired().map(drop)),
    })
}

/// The table with the limits of its partitions.
#[derive(Clone)]
struct LimitedTable {
    table: EmbeddedTable,
    partitions: Arc<Partitions>,
}

impl LimitedTable {
    fn new(table: &EmbeddedTable) -> Self {
        Self { table: table.clone(), partitions: Arc::new(Partitions::new(DYNAMODB)) }
    }

    fn answer(&self, operation: &str, body: &[u8]) -> (u16, String) {
        let request: Value = serde_json::from_slice(body).unwrap_or_default();
        let before = self.partitions.throttled();
        let answer = self.partitions.answer(&self.table, operation, &request, |request| {
            self.table.answer(operation, request.to_string().as_bytes())
        });
        if self.partitions.throttled() > before {
            // Without a reader there is nothing to count.
            let _ = writeln!(std::io::stderr(), "{}", json!({"throttled": operation}));
        }
        answer
    }
}

impl std::fmt::Debug for LimitedTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LimitedTable").finish_non_exhaustive()
    }
}

impl HttpClient for LimitedTable {
    fn http_connector(
        &self,
        _: &HttpConnectorSettings,
        _: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for LimitedTable {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let TableCall { operation, body } = TableCall::of(&request);
        let table = self.clone();
        HttpConnectorFuture::new(async move {
            let answered =
                tokio::task::spawn_blocking(move || table.answer(&operation, &body)).await;
            let (status, body) =
                answered.map_err(|error| ConnectorError::other(error.into(), None))?;
            respond(status, body)
        })
    }
}
