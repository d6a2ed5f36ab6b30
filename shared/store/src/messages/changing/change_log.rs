//! The last changes of a space's messages, for runs at work that were shown the old ones.

use serde::{Deserialize, Serialize};
use smartspace_domain::ids::SpaceId;

use crate::{
    Messages, Result,
    table::{keys, write::Write},
};

/// How many changes are kept.
const KEPT: usize = 20;

/// The last edits and deletions in a space, oldest first: `CHANGES`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeLog {
    #[serde(default)]
    pub last: Vec<Change>,
}

/// An edit or a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// `HEAD.changed` after it.
    pub at: u64,
    /// The number of the message.
    pub seq: u64,
}

impl ChangeLog {
    /// The log with one more change.
    pub(super) fn with(mut self, change: Change) -> Self {
        self.last.push(change);
        let surplus = self.last.len().saturating_sub(KEPT);
        self.last.drain(..surplus);
        self
    }

    /// Writes the log. The same transaction raises `HEAD.changed` from the value that was read with
    /// it, so no other change comes between.
    pub(super) fn write(&self, space: SpaceId) -> Result<Write> {
        Write::put(keys::changes(space), self)
    }

    /// The numbers of the messages that were edited or deleted after `HEAD.changed` had the value
    /// `since`, each once. `None` if the log does not reach that far back.
    pub fn since(&self, since: u64) -> Option<Vec<u64>> {
        let newer: Vec<_> = self.last.iter().filter(|change| change.at > since).collect();
        // A full log may have lost older ones.
        if newer.len() == KEPT {
            return None;
        }
        let mut seqs: Vec<_> = newer.iter().map(|change| change.seq).collect();
        seqs.sort_unstable();
        seqs.dedup();
        Some(seqs)
    }
}

impl Messages<'_> {
    /// The last edits and deletions in a space.
    pub async fn changes(self, space: SpaceId) -> Result<ChangeLog> {
        let log: Option<ChangeLog> = self.store.table.get(&keys::changes(space)).await?;
        Ok(log.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_says_if_it_may_have_lost_changes() {
        let log =
            (1..=25).fold(ChangeLog::default(), |log, at| log.with(Change { at, seq: at % 3 }));
        assert_eq!(log.last.len(), KEPT);
        assert_eq!(log.since(25), Some(Vec::new()));
        assert_eq!(log.since(24), Some(vec![1]));
        assert_eq!(log.since(20), Some(vec![0, 1, 2]));
        assert_eq!(log.since(5), None, "change 5 or an earlier one may be lost");
    }
}
