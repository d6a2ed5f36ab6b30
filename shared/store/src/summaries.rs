//! What of a space's history stands before the window of its prompts, in short. One agent's model writes it, for all.

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    ids::{EntityId, LeaseId, SpaceId},
};

use crate::{Result, Store, keys, table::WriteError, write::Write};

/// A summary of older history, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SummaryRecord {
    /// The first message that it covers.
    pub from: u64,
    /// The last one; 0 where none is written yet.
    pub to: u64,
    /// What it says.
    pub text: String,
    /// Whose model wrote it.
    pub agent_id: EntityId,
    /// When.
    pub updated_at: Time,
    /// Until then the next one is somebody's to write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_until: Option<Time>,
    /// The token of whoever claimed or wrote it last.
    pub by: LeaseId,
}

impl SummaryRecord {
    /// Whether it says anything yet.
    pub(crate) fn is_written(&self) -> bool {
        self.to > 0
    }
}

impl Store {
    /// What is written of a space's older history; none where nothing is.
    pub async fn summary(&self, space: SpaceId) -> Result<Option<SummaryRecord>> {
        let record: Option<SummaryRecord> = self.table.get(&keys::summary(space)).await?;
        Ok(record.filter(SummaryRecord::is_written))
    }

    /// Claims the writing of what follows `before` until `until`, so that only one model is paid for it. Whether it is ours to write.
    pub async fn claim_summary(
        &self,
        space: SpaceId,
        agent: EntityId,
        before: Option<&SummaryRecord>,
        token: &LeaseId,
        (now, until): (Time, Time),
    ) -> Result<bool> {
        let first = SummaryRecord {
            from: 0,
            to: 0,
            text: String::new(),
            agent_id: agent,
            updated_at: now,
            claimed_until: Some(until),
            by: token.clone(),
        };
        let claimed = SummaryRecord { claimed_until: Some(until), by: token.clone(), ..before.cloned().unwrap_or(first) };
        let free = "attribute_not_exists(PK) OR (#to = :to AND (attribute_not_exists(#claimedUntil) OR #claimedUntil < :now))";
        let write = Write::put(keys::summary(space), &claimed)?.when(free).value(":to", claimed.to)?.value(":now", now)?;
        self.put_summary(space, write, token).await
    }

    /// Keeps a summary that was claimed with this token. Whether it was kept: another may have been written since the claim ended.
    pub async fn keep_summary(&self, space: SpaceId, summary: &SummaryRecord) -> Result<bool> {
        let write = Write::put(keys::summary(space), summary)?.when("#by = :by AND #to <= :to");
        self.put_summary(space, write.value(":by", &summary.by)?.value(":to", summary.to)?, &summary.by).await
    }

    async fn put_summary(&self, space: SpaceId, write: Write, token: &LeaseId) -> Result<bool> {
        let there = Write::check(keys::space_meta(space)).when("attribute_exists(PK) AND attribute_not_exists(#deleted)");
        match self.table.transact(&[write, there]).await {
            Ok(()) => Ok(true),
            Err(WriteError::Other(error)) => Err(error),
            // Our own token: the answer to the first try was lost.
            Err(WriteError::Refused(refusal)) => {
                Ok(refusal.there::<SummaryRecord>(&keys::summary(space)).is_some_and(|there| there.by == *token))
            }
        }
    }
}
