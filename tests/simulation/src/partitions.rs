//! The throughput of each partition, limited as DynamoDB limits it, at its worst: a partition has
//! no burst beyond one second.
//!
//! A partition of an index has limits of its own. If it has used up its units, the table refuses
//! the write of the item.

use std::{
    collections::HashMap,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use serde_json::{Value, json};
use smartspace_embedded_table::{EmbeddedTable, NAME};
use tokio::time::Instant;

use crate::{
    locked,
    table_errors::{RawResponse, canceled, problem},
    units::{self, Before, Part, Units},
};

/// More partitions than this are not remembered: those that have all of their units are forgotten.
const REMEMBERED: usize = 10_000;

/// DynamoDB's limits of a partition: write and read units per second.
pub const DYNAMODB: Units = Units { write: 1_000.0, read: 3_000.0 };

/// The units that a partition had left at a time. A large call may take more than were left.
#[derive(Clone, Copy)]
struct Bucket {
    left: Units,
    at: Instant,
}

/// The partitions of a table.
pub struct Partitions {
    limits: Units,
    buckets: Mutex<HashMap<String, Bucket>>,
    throttled: AtomicU64,
}

impl Partitions {
    /// Partitions with these units per second.
    pub fn new(limits: Units) -> Self {
        Self { limits, buckets: Mutex::default(), throttled: AtomicU64::new(0) }
    }

    /// How many calls were throttled, in whole or in part.
    pub fn throttled(&self) -> u64 {
        self.throttled.load(Ordering::Relaxed)
    }

    /// Answers a call by `act`, unless one of its partitions has no units left. A batch is answered
    /// without the keys of such partitions.
    pub fn answer(
        &self,
        table: &EmbeddedTable,
        operation: &str,
        request: &Value,
        act: impl FnOnce(&Value) -> RawResponse,
    ) -> RawResponse {
        match operation {
            "GetItem" | "BatchGetItem" | "Query" => self.read(operation, request, act),
            _ => self.write(table, operation, request, act),
        }
    }

    fn write(
        &self,
        table: &EmbeddedTable,
        operation: &str,
        request: &Value,
        act: impl FnOnce(&Value) -> RawResponse,
    ) -> RawResponse {
        let before = units::before(table, operation, request);
        let throttled: Vec<bool> = before.iter().map(|write| self.throttles_write(write)).collect();
        if throttled.contains(&true) {
            self.throttled.fetch_add(1, Ordering::Relaxed);
            return if operation == "TransactWriteItems" {
                canceled(&throttled, "ThrottlingError")
            } else {
                problem(400, "ProvisionedThroughputExceededException", json!({}))
            };
        }
        let answer = act(request);
        self.charge(&units::written(table, operation, &before));
        answer
    }

    fn read(
        &self,
        operation: &str,
        request: &Value,
        act: impl FnOnce(&Value) -> RawResponse,
    ) -> RawResponse {
        let mut allowed = request.clone();
        let mut rest = Vec::new();
        let throttles = match operation {
            "GetItem" => self.left(text(&request["Key"]["PK"])).read <= 0.0,
            "Query" => self.left(&units::queried(request)).read <= 0.0,
            _ => {
                if let Some(keys) = allowed["RequestItems"][NAME]["Keys"].as_array_mut() {
                    rest = keys
                        .extract_if(.., |key| self.left(text(&key["PK"])).read <= 0.0)
                        .collect();
                    keys.is_empty()
                } else {
                    false
                }
            }
        };
        if throttles || !rest.is_empty() {
            self.throttled.fetch_add(1, Ordering::Relaxed);
        }
        if throttles {
            return problem(400, "ThrottlingException", json!({}));
        }
        let (status, answer) = act(&allowed);
        let mut parsed: Value = serde_json::from_str(&answer).unwrap_or_default();
        self.charge(&units::read(operation, &allowed, &parsed));
        if rest.is_empty() {
            return (status, answer);
        }
        let consistent = &request["RequestItems"][NAME]["ConsistentRead"];
        parsed["UnprocessedKeys"] = json!({NAME: {"Keys": rest, "ConsistentRead": consistent}});
        (status, parsed.to_string())
    }

    fn throttles_write(&self, write: &Before) -> bool {
        write.partitions().iter().any(|partition| self.left(partition).write <= 0.0)
    }

    /// The units that a partition has left now.
    fn left(&self, partition: &str) -> Units {
        self.refilled(locked(&self.buckets).get(partition).copied())
    }

    fn refilled(&self, bucket: Option<Bucket>) -> Units {
        let Some(Bucket { left, at }) = bucket else { return self.limits };
        let seconds = at.elapsed().as_secs_f64();
        let refilled = |left: f64, limit: f64| (left + seconds * limit).min(limit);
        Units {
            write: refilled(left.write, self.limits.write),
            read: refilled(left.read, self.limits.read),
        }
    }

    fn charge(&self, parts: &[Part]) {
        let now = Instant::now();
        let mut buckets = locked(&self.buckets);
        if buckets.len() > REMEMBERED {
            buckets.retain(|_, bucket| self.refilled(Some(*bucket)) != self.limits);
        }
        for (partition, units) in parts.iter().flat_map(|part| &part.partitions) {
            let mut left = self.refilled(buckets.get(partition).copied());
            left.write -= units.write;
            left.read -= units.read;
            buckets.insert(partition.clone(), Bucket { left, at: now });
        }
    }
}

fn text(value: &Value) -> &str {
    value["S"].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests;
