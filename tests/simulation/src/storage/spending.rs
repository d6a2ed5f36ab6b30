//! The most that each budget has counted at any time.

use std::collections::BTreeMap;

use serde_json::Value;

/// The most tokens that the counter of each scope has had, by its key.
#[derive(Debug, Default)]
pub(super) struct Spending(pub(super) BTreeMap<String, u64>);

impl Spending {
    /// Looks at a counter after a write.
    pub(super) fn note(&mut self, counter: &Value) {
        let key = counter["PK"].as_str().unwrap_or_default().to_owned();
        let most = self.0.entry(key).or_default();
        *most = (*most).max(counter["tokens"].as_u64().unwrap_or(0));
    }
}
