//! An emulation of DynamoDB for tests. It is an HTTP connector of the SDK, so it answers the SDK's
//! calls as on AWS, without a socket.

mod http;

use aws_sdk_dynamodb::{
    Client, Config,
    config::{BehaviorVersion, Region, retry::RetryConfig, timeout::TimeoutConfig},
};
use aws_smithy_runtime_api::client::{
    http::{
        HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
    },
    orchestrator::HttpRequest,
    runtime_components::RuntimeComponents,
};
use dynoxide::{Database, DynoxideError};
use serde::{Serialize, de::DeserializeOwned};

pub use self::http::{TableCall, respond};

pub const NAME: &str = "smartspace";

#[derive(Clone)]
pub struct EmbeddedTable {
    database: Database,
}

impl EmbeddedTable {
    pub fn in_memory() -> Result<Self, String> {
        let database =
            Database::memory().map_err(|error| format!("the table can't be created: {error}"))?;
        Ok(Self { database })
    }

    /// An SDK client for this table.
    pub fn client(&self) -> Client {
        client_on(self.clone())
    }

    /// Answers a call as DynamoDB's HTTP interface does. `body` is the request; the result is the
    /// status and body of the response.
    pub fn answer(&self, operation: &str, body: &[u8]) -> (u16, String) {
        match answer(&self.database, operation, body) {
            Ok(body) => (200, body),
            Err(error) => (error.status_code(), error.to_json()),
        }
    }

    /// Deletes expired items, as DynamoDB does by itself. Blocks.
    pub fn delete_expired(&self) -> Result<usize, String> {
        self.database.sweep_ttl().map_err(|error| error.to_string())
    }
}

/// An SDK client on an HTTP connector.
pub fn client_on(http: impl HttpClient + 'static) -> Client {
    let config = Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("local"))
        .allow_no_auth()
        // No answer gets lost within a process, so a call that fails would fail again.
        .retry_config(RetryConfig::disabled())
        .timeout_config(TimeoutConfig::disabled())
        .stalled_stream_protection(
            aws_sdk_dynamodb::config::StalledStreamProtectionConfig::disabled(),
        )
        .endpoint_url("http://embedded.invalid")
        .http_client(http);
    Client::from_conf(config.build())
}

impl std::fmt::Debug for EmbeddedTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EmbeddedTable").finish_non_exhaustive()
    }
}

impl HttpClient for EmbeddedTable {
    fn http_connector(
        &self,
        _: &HttpConnectorSettings,
        _: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for EmbeddedTable {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let TableCall { operation, body } = TableCall::of(&request);
        tracing::trace!(operation, "table call");
        let (status, body) = self.answer(&operation, &body);
        HttpConnectorFuture::ready(respond(status, body))
    }
}

type TableResult = Result<String, DynoxideError>;

fn answer(database: &Database, operation: &str, body: &[u8]) -> TableResult {
    match operation {
        "GetItem" => call(body, |request| database.get_item(request)),
        "BatchGetItem" => call(body, |request| database.batch_get_item(request)),
        "Query" => call(body, |request| database.query(request)),
        "PutItem" => call(body, |request| database.put_item(request)),
        "UpdateItem" => call(body, |request| database.update_item(request)),
        "DeleteItem" => call(body, |request| database.delete_item(request)),
        "TransactWriteItems" => call(
            body,
            |request: dynoxide::actions::transact_write_items::TransactWriteItemsRequest| {
                // The database would store the request of every token for ten minutes, which uses
                // much memory. No answer gets lost here, so tokens are not needed.
                let mut request = request;
                request.client_request_token = None;
                database.transact_write_items(request)
            },
        ),
        "Scan" => call(body, |request| database.scan(request)),
        "CreateTable" => call(body, |request| database.create_table(request)),
        "DescribeTable" => call(body, |request| database.describe_table(request)),
        "UpdateTable" => call(body, |request| database.update_table(request)),
        "UpdateTimeToLive" => call(body, |request| database.update_time_to_live(request)),
        _ => {
            Err(DynoxideError::ValidationException(format!("the product does not use {operation}")))
        }
    }
}

fn call<Request: DeserializeOwned, Response: Serialize>(
    body: &[u8],
    act: impl FnOnce(Request) -> Result<Response, DynoxideError>,
) -> TableResult {
    let request = serde_json::from_slice(body).map_err(|error| {
        let text = error.to_string();
        match text.strip_prefix("VALIDATION:") {
            Some(text) => DynoxideError::ValidationException(text.to_owned()),
            None => DynoxideError::SerializationException(text),
        }
    })?;
    serde_json::to_string(&act(request)?)
        .map_err(|error| DynoxideError::InternalServerError(error.to_string()))
}
