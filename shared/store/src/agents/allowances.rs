//! Allowances: remembered approvals of an agent's calls.
//!
//! Each one has two items: its own in the partition of its agent, and one that finds the agent by
//! the allowance's id. An index lists those of a space.

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    approvals::{Allowance, ApprovalRule, no_such_allowance},
    ids::{AllowanceId, EntityId, SpaceId},
};

use crate::{
    Allowances, Error, Result,
    table::{
        Query, WriteError,
        indexes::{Index, KeyNames},
        key_of, keys,
        pages::{Page, PageRequest},
        read,
        write::{Item, Write},
    },
};

/// How many allowances an agent may have.
pub const ALLOWANCES: usize = 100;

/// An allowance, as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AllowanceRecord {
    id: AllowanceId,
    agent_id: EntityId,
    tool: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    space_id: Option<SpaceId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    when: Option<String>,
    /// A rule that this version cannot read equals none that asks, so the allowance is void.
    #[serde(deserialize_with = "ApprovalRule::read_stored")]
    rule: ApprovalRule,
    tool_fingerprint: String,
    created_by: EntityId,
    created_by_name: String,
    created_at: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<Time>,
    /// When its item expires, in seconds since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<i64>,
    /// Index of a space's allowances.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    g2pk: Option<String>,
    /// Index of a space's allowances.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    g2sk: Option<String>,
}

/// Finds the agent of an allowance.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct OwnerRecord {
    agent_id: EntityId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<i64>,
}

impl From<&Allowance> for AllowanceRecord {
    fn from(of: &Allowance) -> Self {
        let of = of.clone();
        Self {
            g2pk: of.space_id.map(keys::allowances_of),
            g2sk: of.space_id.map(|_| of.id.to_string()),
            expires_at: of.expires_at.map(|end| end.as_seconds() + 1),
            until: of.expires_at,
            id: of.id,
            agent_id: of.agent_id,
            tool: of.tool,
            space_id: of.space_id,
            when: of.when,
            rule: of.rule,
            tool_fingerprint: of.tool_fingerprint,
            created_by: of.created_by,
            created_by_name: of.created_by_name,
            created_at: of.created_at,
        }
    }
}

impl From<AllowanceRecord> for Allowance {
    fn from(of: AllowanceRecord) -> Self {
        Self {
            id: of.id,
            agent_id: of.agent_id,
            tool: of.tool,
            space_id: of.space_id,
            when: of.when,
            rule: of.rule,
            tool_fingerprint: of.tool_fingerprint,
            created_by: of.created_by,
            created_by_name: of.created_by_name,
            created_at: of.created_at,
            expires_at: of.until,
        }
    }
}

impl Allowances<'_> {
    /// The allowances of an agent that have not ended, by age.
    pub async fn of_agent(self, agent: EntityId, now: Time) -> Result<Vec<Allowance>> {
        let items = self.store.table.all(all_of(agent)).await?;
        let read_all: Result<Vec<_>> = items.into_iter().map(allowance).collect();
        Ok(read_all?.into_iter().filter(|allowance| allowance.counts_at(now)).collect())
    }

    /// The writes that store a new allowance, for the transaction of the decision that it
    /// remembers.
    ///
    /// Fails with [`Error::Conflict`] if the agent has the maximum number of allowances. Decisions
    /// at the same moment can pass the maximum by a few.
    pub async fn writes(self, new: &Allowance, now: Time) -> Result<Vec<Write>> {
        if self.of_agent(new.agent_id, now).await?.len() >= ALLOWANCES {
            return Err(Error::Conflict(format!(
                "an agent has at most {ALLOWANCES} allowances; delete some first, or decide \
                 without remembering"
            )));
        }
        let record = AllowanceRecord::from(new);
        let owner = OwnerRecord { agent_id: new.agent_id, expires_at: record.expires_at };
        Ok(vec![
            Write::put(keys::allowance(new.agent_id, new.id), &record)?,
            Write::put(keys::allowance_owner(new.id), &owner)?,
        ])
    }

    /// A page of an agent's allowances that have not ended, by age.
    pub async fn list_of_agent(
        self,
        agent: EntityId,
        request: &PageRequest,
        now: Time,
    ) -> Result<Page<Allowance>> {
        let after = request.after(KeyNames::TABLE, &keys::entity(agent))?;
        let query = all_of(agent).limit(request.limit()?).after(after);
        let page = self.store.table.page(query).await?;
        let mut found = Vec::with_capacity(page.items.len());
        for item in page.items {
            found.push((item.clone(), allowance(item)?));
        }
        found.retain(|(_, allowance)| allowance.counts_at(now));
        Ok(Page::cut(found, page.next, KeyNames::TABLE.sk))
    }

    /// A page of a space's allowances that have not ended, by age. Those that count everywhere are
    /// not among them.
    pub async fn list_of_space(
        self,
        space: SpaceId,
        request: &PageRequest,
        now: Time,
    ) -> Result<Page<Allowance>> {
        let partition = keys::allowances_of(space);
        let after = request.after(Index::LISTS.keys, &partition)?;
        let query = Query::of_index(Index::LISTS, partition).limit(request.limit()?).after(after);
        let page = self.store.table.page(query).await?;
        let wanted = page.items.iter().map(key_of).collect::<Result<Vec<_>>>()?;
        let mut items = self.store.table.get_all(&wanted).await?;
        let mut found = Vec::with_capacity(wanted.len());
        for (key, entry) in wanted.iter().zip(page.items) {
            if let Some(record) = items.take::<AllowanceRecord>(key)? {
                found.push((entry, Allowance::from(record)));
            }
        }
        found.retain(|(_, allowance)| allowance.counts_at(now));
        Ok(Page::cut(found, page.next, Index::LISTS.keys.sk))
    }

    /// An allowance that has not ended.
    pub async fn get(self, id: AllowanceId, now: Time) -> Result<Allowance> {
        let owner: Option<OwnerRecord> = self.store.table.get(&keys::allowance_owner(id)).await?;
        let agent = owner.ok_or_else(no_such_allowance)?.agent_id;
        let found: Option<AllowanceRecord> =
            self.store.table.get(&keys::allowance(agent, id)).await?;
        found
            .map(Allowance::from)
            .filter(|allowance| allowance.counts_at(now))
            .ok_or_else(no_such_allowance)
    }

    /// Deletes an allowance. It may be repeated.
    pub async fn delete(self, agent: EntityId, id: AllowanceId) -> Result<()> {
        let writes =
            [Write::delete(keys::allowance(agent, id)), Write::delete(keys::allowance_owner(id))];
        match self.store.table.transact(&writes).await {
            Ok(()) | Err(WriteError::Refused(_)) => Ok(()),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Deletes the allowances of an agent in a space, or all that it has. It may be repeated.
    pub async fn delete_all(self, agent: EntityId, space: Option<SpaceId>) -> Result<()> {
        for item in self.store.table.all(all_of(agent)).await? {
            let allowance = allowance(item)?;
            if space.is_none() || allowance.space_id == space {
                self.delete(agent, allowance.id).await?;
            }
        }
        Ok(())
    }
}

fn all_of(agent: EntityId) -> Query {
    Query::of(keys::entity(agent)).begins_with(keys::ALLOWANCE)
}

fn allowance(item: Item) -> Result<Allowance> {
    read::<AllowanceRecord>(item).map(Allowance::from)
}
