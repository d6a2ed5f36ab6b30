//! The faults that strike a call of the table, and the errors that they return.

use std::{sync::Arc, time::Duration};

use aws_smithy_runtime_api::client::result::ConnectorError;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    conditions,
    ports::table::SimTable,
    table_errors::{RawResponse, conflict, problem},
};

pub(super) const WRITES: [&str; 4] = ["TransactWriteItems", "PutItem", "UpdateItem", "DeleteItem"];

/// A call with the faults that may strike it.
pub(super) struct Call<'a> {
    table: &'a SimTable,
    operation: &'a str,
    /// The keys of its items, for the history.
    about: String,
}

impl<'a> Call<'a> {
    /// The call of an operation.
    pub(super) fn new(table: &'a SimTable, operation: &'a str, request: &Value) -> Self {
        Self { table, operation, about: about(operation, request) }
    }

    /// Whether a fault strikes, which the history then shows.
    pub(super) fn strikes(&self, name: &str, rate: u64) -> bool {
        let Self { table: SimTable { env, life }, operation, about } = self;
        let strikes = env.chance.strikes(&format!("{}/{operation}/{name}", life.name), rate);
        if strikes {
            env.history.note(&life.name, || format!("table: {operation} {about} {name}"));
        }
        strikes
    }

    /// Fails before the call takes effect, or with an effect that comes later.
    pub(super) fn fails(&self, request: &Value) -> Option<Result<RawResponse, ConnectorError>> {
        let rates = &self.table.env.parameters.fault_rates;
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

    /// Waits until another write makes the call's condition fail, or does nothing. Then drops the
    /// clause that the mutant drops; only the writes that have it wait for that.
    pub(super) async fn hold(&self, request: &mut Value) {
        let SimTable { env, life } = self.table;
        let is_held = self.strikes("held", env.parameters.fault_rates.held);
        if !is_held && env.dropped.is_none() {
            return;
        }
        let Some(checks) = conditions::checks(self.operation, request, env.dropped.as_ref()) else {
            return;
        };
        if is_held {
            let most = env.chance.time("held", Duration::from_millis(100), Duration::from_secs(10));
            let items = conditions::items("TransactWriteItems", &mut checks.clone());
            env.storage.held_writes.wait(items, most, || !env.storage.holds(&checks)).await;
            life.until_running().await;
        }
        if let Some(dropped) = &env.dropped {
            let is_lost = !env.storage.holds(&checks);
            dropped.drop_from(self.operation, request);
            let rest = conditions::checks(self.operation, request, None);
            if is_lost && rest.is_none_or(|rest| env.storage.holds(&rest)) {
                env.history.note(&life.name, || format!("writes without {dropped}"));
                env.conditions.count(dropped.clone());
            }
        }
    }

    fn take_effect_later(&self, request: &Value) {
        let env = Arc::clone(&self.table.env);
        let operation = self.operation.to_owned();
        let body = request.to_string().into_bytes();
        let late =
            env.chance.time("late effect", Duration::from_millis(100), Duration::from_secs(4));
        tokio::spawn(async move {
            sleep(late).await;
            env.storage.answer(&operation, &body);
        });
    }

    /// Lowers the limit of a page, or does nothing.
    pub(super) fn shorten_page(&self, request: &mut Value) {
        let env = &self.table.env;
        if self.operation == "Query"
            && self.strikes("short page", env.parameters.fault_rates.short_page)
        {
            let most = request["Limit"].as_u64().unwrap_or(u64::MAX);
            request["Limit"] = most.min(1 + env.chance.below("short page", 3)).into();
        }
    }
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
