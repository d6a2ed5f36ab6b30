//! What operations of the store cost, in calls and in bytes, on a table in memory.

mod active_runs;
mod counted;
mod members;
mod runs_by_day;
mod webhooks;

use smartspace_domain::Time;

fn at(seconds: i64) -> Time {
    Time::from_millis(1_771_427_220_000 + seconds * 1_000)
}

fn read<T: serde::de::DeserializeOwned>(value: serde_json::Value) -> T {
    serde_json::from_value(value).unwrap()
}
