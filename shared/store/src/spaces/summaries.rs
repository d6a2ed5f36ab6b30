//! Summaries of the messages of a space that are too old for its prompts. The model of one agent
//! writes a summary for all agents.

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    ids::{EntityId, LeaseId, SpaceId},
};

use crate::{
    Result, Summaries,
    table::{WriteError, keys, write::Write},
};

/// A summary, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SummaryRecord {
    /// The first message that it covers.
    pub from: u64,
    /// The last message that it covers. 0 until a summary is written.
    pub to: u64,
    pub text: String,
    /// The agent whose model wrote it.
    pub agent_id: EntityId,
    /// When it was written.
    pub updated_at: Time,
    /// How long a claim to write the next one lasts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_until: Option<Time>,
    /// The token of the worker that claimed or wrote it last.
    pub by: LeaseId,
}

impl SummaryRecord {
    pub(crate) fn is_written(&self) -> bool {
        self.to > 0
    }
}

impl Summaries<'_> {
    /// The summary of a space, if there is one.
    pub async fn get(self, space: SpaceId) -> Result<Option<SummaryRecord>> {
        let record: Option<SummaryRecord> = self.store.table.get(&keys::summary(space)).await?;
        Ok(record.filter(SummaryRecord::is_written))
    }

    /// Claims the writing of the summary that follows `before`, until the time `until`, so that
    /// only one model is paid for it. Returns whether the claim succeeded.
    pub async fn claim(
        self,
        space: SpaceId,
        agent: EntityId,
        before: Option<&SummaryRecord>,
        token: &LeaseId,
        now: Time,
        until: Time,
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
        let claimed = SummaryRecord {
            claimed_until: Some(until),
            by: token.clone(),
            ..before.cloned().unwrap_or(first)
        };
        let free = "attribute_not_exists(PK) OR (#to = :to AND \
                    (attribute_not_exists(#claimedUntil) OR #claimedUntil < :now))";
        let write = Write::fill(keys::summary(space), &claimed, &[])?
            .when(free)
            .value(":to", claimed.to)?
            .value(":now", now)?;
        self.put_summary(space, write, token).await
    }

    /// Renews a claim until the time `until`. Returns whether it still belongs to this token.
    pub async fn renew(self, space: SpaceId, token: &LeaseId, until: Time) -> Result<bool> {
        let write = Write::update(keys::summary(space), "SET #claimedUntil = :until")
            .when("#by = :by AND attribute_exists(#claimedUntil)")
            .value(":until", until)?
            .value(":by", token)?;
        match self.store.table.write(write).await {
            Ok(_) => Ok(true),
            Err(WriteError::Refused(_)) => Ok(false),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Stores a summary that was claimed with its token. Returns whether it was stored: after the
    /// claim has ended, another worker may have written one.
    pub async fn store(self, space: SpaceId, summary: &SummaryRecord) -> Result<bool> {
        let write = Write::fill(keys::summary(space), summary, &["claimedUntil"])?
            .when("#by = :by AND #to <= :to");
        self.put_summary(
            space,
            write.value(":by", &summary.by)?.value(":to", summary.to)?,
            &summary.by,
        )
        .await
    }

    async fn put_summary(self, space: SpaceId, write: Write, token: &LeaseId) -> Result<bool> {
        let exists = Write::check(keys::space_meta(space))
            .when("attribute_exists(PK) AND attribute_not_exists(#deleted)");
        match self.store.table.transact(&[write, exists]).await {
            Ok(()) => Ok(true),
            Err(WriteError::Other(error)) => Err(error),
            // Our own token: the first try took effect and its answer was lost.
            Err(WriteError::Refused(refusal)) => Ok(refusal
                .existing::<SummaryRecord>(&keys::summary(space))
                .is_some_and(|summary| summary.by == *token)),
        }
    }
}
