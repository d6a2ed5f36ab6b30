//! The limit of a caller's requests, while other processes count requests of the same caller.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use aws_smithy_runtime_api::client::{
    http::{
        HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
    },
    orchestrator::HttpRequest,
    runtime_components::RuntimeComponents,
};
use serde_json::Value;
use smartspace_domain::{Time, rates::Rate};
use smartspace_embedded_table::{EmbeddedTable, NAME, TableCall, client_on, respond};
use smartspace_store::{Store, table::schema};

const RATE: Rate = Rate { per_second: 20, burst: 60 };

fn now() -> Time {
    Time::from_millis(1_795_000_000_000)
}

/// A table in which another process counts a request just before each of the first `rivals` writes.
#[derive(Clone, Debug)]
struct Contested {
    table: EmbeddedTable,
    rivals: u64,
    writes: Arc<AtomicU64>,
}

impl Contested {
    async fn store(rivals: u64) -> Store {
        let table = EmbeddedTable::in_memory().unwrap();
        schema::create_table(&table.client(), NAME).await.unwrap();
        let client = client_on(Self { table, rivals, writes: Arc::default() });
        Store::new(client, NAME, None, Arc::new(|| 4))
    }

    fn answer(&self, operation: &str, body: &[u8]) -> (u16, String) {
        let written = self.writes.load(Ordering::Relaxed);
        if operation == "PutItem" && written < self.rivals {
            self.writes.fetch_add(1, Ordering::Relaxed);
            let mut rival: Value = serde_json::from_slice(body).unwrap();
            let full_at = now() + Duration::from_millis(written + 1);
            rival["Item"]["fullAt"] = serde_json::json!({"S": full_at});
            for condition in [
                "ConditionExpression",
                "ExpressionAttributeNames",
                "ExpressionAttributeValues",
                "ReturnValuesOnConditionCheckFailure",
            ] {
                rival.as_object_mut().unwrap().remove(condition);
            }
            let (status, body) = self.table.answer(operation, rival.to_string().as_bytes());
            assert_eq!(status, 200, "{body}");
        }
        self.table.answer(operation, body)
    }
}

impl HttpClient for Contested {
    fn http_connector(
        &self,
        _: &HttpConnectorSettings,
        _: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Contested {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let TableCall { operation, body } = TableCall::of(&request);
        let (status, body) = self.answer(&operation, &body);
        HttpConnectorFuture::ready(respond(status, body))
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_loses_every_race_is_refused() {
    let store = Contested::store(1_000).await;
    let counted = store.rates().count_call("ent_1", RATE, now()).await;
    assert_eq!(counted, Err(Duration::from_millis(50)), "an uncounted request is refused");
}

#[tokio::test(start_paused = true)]
async fn a_request_that_loses_some_races_is_counted() {
    let store = Contested::store(3).await;
    assert_eq!(store.rates().count_call("ent_1", RATE, now()).await, Ok(()));
}
