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
    /// The messages that it covers and that were edited after it was written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edited: Vec<u64>,
    /// How long a claim to write the next one lasts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_until: Option<Time>,
    /// The last message that the next one may cover, if it is claimed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_to: Option<u64>,
    /// The token of the worker that claimed or wrote it last.
    pub by: LeaseId,
}

impl SummaryRecord {
    pub(crate) fn is_written(&self) -> bool {
        self.to > 0
    }

    /// Whether it was made from a message.
    pub(crate) fn covers(&self, seq: u64) -> bool {
        self.is_written() && (self.from..=self.to).contains(&seq)
    }

    /// Whether a worker may be writing the next one.
    pub(crate) fn is_claimed(&self) -> bool {
        self.claimed_until.is_some()
    }
}

/// A claim to write the next summary of a space.
#[derive(Clone, Copy, Debug)]
pub struct SummaryClaim<'a> {
    /// The agent whose model writes it.
    pub agent: EntityId,
    /// The token of the worker.
    pub token: &'a LeaseId,
    /// The last message that it may cover.
    pub to: u64,
    /// How long the claim lasts.
    pub until: Time,
}

impl Summaries<'_> {
    /// The summary of a space, if there is one.
    pub async fn get(self, space: SpaceId) -> Result<Option<SummaryRecord>> {
        let record: Option<SummaryRecord> = self.store.table.get(&keys::summary(space)).await?;
        Ok(record.filter(SummaryRecord::is_written))
    }

    /// Claims the writing of the summary that follows `before`, so that only one model is paid for
    /// it. Returns whether the claim succeeded.
    pub async fn claim(
        self,
        space: SpaceId,
        before: Option<&SummaryRecord>,
        claim: &SummaryClaim<'_>,
        now: Time,
    ) -> Result<bool> {
        let SummaryClaim { agent, token, to, until } = *claim;
        let key = keys::summary(space);
        let free = "attribute_not_exists(#claimedUntil) OR #claimedUntil < :now";
        let write = if let Some(before) = before {
            // The text may have been deleted since it was read, with a message that it covers.
            // So the claim does not write it again.
            let expression = "SET #claimedUntil = :until, #claimedTo = :claimedTo, #by = :by";
            Write::update(key, expression)
                .when("#to = :to AND #updatedAt = :updatedAt")
                .when(free)
                .value(":until", until)?
                .value(":claimedTo", to)?
                .value(":by", token)?
                .value(":to", before.to)?
                .value(":updatedAt", before.updated_at)?
        } else {
            let first = SummaryRecord {
                from: 0,
                to: 0,
                text: String::new(),
                agent_id: agent,
                updated_at: now,
                edited: Vec::new(),
                claimed_until: Some(until),
                claimed_to: Some(to),
                by: token.clone(),
            };
            Write::fill(key, &first, &[])?
                .when(&format!("attribute_not_exists(PK) OR (#to = :to AND ({free}))"))
                .value(":to", 0)?
        };
        self.put_summary(space, write.value(":now", now)?, token).await
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
    /// claim has ended, another worker may have written one. An edit or a deletion of a message
    /// that it may cover ends the claim, so the summary has read what was edited before.
    pub async fn store(self, space: SpaceId, summary: &SummaryRecord) -> Result<bool> {
        let write =
            Write::fill(keys::summary(space), summary, &["claimedUntil", "claimedTo", "edited"])?
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
