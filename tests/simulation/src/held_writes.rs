//! Writes that wait until their condition fails.
//!
//! Between the read of an item and the write that depends on it there are milliseconds. A write
//! that waits until another write makes its condition fail loses the race that the condition is
//! there for.

use std::{
    sync::{Arc, Mutex, Weak},
    time::Duration,
};

use serde_json::Value;
use tokio::{sync::Notify, time::timeout};

use crate::{conditions, locked};

/// The writes that wait, in the order in which they began to wait.
#[derive(Debug, Default)]
pub struct HeldWrites {
    waiting: Mutex<Vec<(Vec<String>, Weak<Notify>)>>,
}

impl HeldWrites {
    /// Waits until a change of `items` makes `lost` true, but not longer than `most`.
    pub async fn wait(&self, items: Vec<String>, most: Duration, lost: impl Fn() -> bool) {
        let changed = Arc::new(Notify::new());
        locked(&self.waiting).push((items, Arc::downgrade(&changed)));
        let is_lost = async {
            while !lost() {
                changed.notified().await;
            }
        };
        let _ = timeout(most, is_lost).await;
    }

    /// Wakes the writes that wait for a change of the items that a call has written.
    pub fn wake(&self, operation: &str, body: &[u8]) {
        let mut waiting = locked(&self.waiting);
        if waiting.is_empty() {
            return;
        }
        let mut request: Value = serde_json::from_slice(body).unwrap_or_default();
        let written = conditions::items(operation, &mut request);
        waiting.retain(|(items, changed)| {
            let Some(changed) = changed.upgrade() else { return false };
            if items.iter().any(|item| written.contains(item)) {
                changed.notify_one();
            }
            true
        });
    }
}
