//! Revisions of agents. Each is written in the transaction of the change that makes it, so their
//! numbers have no gap.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use smartspace_domain::{
    Time,
    agents::{
        AgentConfig,
        revisions::{Actor, REVISIONS, RevisedAgent, Revision, RevisionSource},
    },
    entities::Entity,
    field_changes::FieldChange,
    ids::EntityId,
};

use crate::{
    Entities, Error, Result,
    projects::FromFile,
    shared::packed::Packed,
    table::{Query, keys, read, write::Write},
};

/// Who makes a change, and how.
#[derive(Clone, Debug)]
pub struct Made {
    pub by: Actor,
    pub source: RevisionSource,
    /// What is stored with it, if files are applied.
    pub from_file: Option<FromFile>,
}

impl Made {
    /// A change by a call of the API.
    pub fn by_api(by: impl Into<Actor>) -> Self {
        Self { by: by.into(), source: RevisionSource::Api, from_file: None }
    }
}

/// A revision, as it is stored.
#[derive(Serialize, Deserialize)]
struct RevisionRecord {
    revision: u64,
    at: Time,
    by: Actor,
    source: RevisionSource,
    /// [`Content`], compressed.
    packed: Packed,
}

#[derive(Serialize, Deserialize)]
struct Content {
    changes: Vec<FieldChange>,
    name: String,
    /// The configuration, which another version may have written.
    agent: Value,
}

impl Content {
    fn of(changes: Vec<FieldChange>, RevisedAgent { name, agent }: RevisedAgent) -> Result<Self> {
        let agent = serde_json::to_value(agent);
        let agent = agent.map_err(|error| Error::Internal(error.to_string()))?;
        Ok(Self { changes, name, agent })
    }
}

/// The write of the first revision of an agent. People have none.
pub(super) fn first(entity: &Entity, made: &Made, now: Time) -> Result<Option<Write>> {
    let Some(revised) = revised(entity) else { return Ok(None) };
    write(entity.id, 1, made, &Content::of(Vec::new(), revised)?, now).map(Some)
}

/// The writes of the revision that a change makes, and of the end of the oldest one.
pub(super) fn next(before: &Entity, after: &Entity, made: &Made, now: Time) -> Result<Vec<Write>> {
    let (Some(number), Some(old), Some(revised)) =
        (after.revision, revised(before), revised(after))
    else {
        return Ok(Vec::new());
    };
    let changes = revised.changes_since(&old);
    let mut writes = vec![write(after.id, number, made, &Content::of(changes, revised)?, now)?];
    if number > REVISIONS {
        writes.push(Write::delete(keys::revision(after.id, number - REVISIONS)));
    }
    Ok(writes)
}

fn write(
    agent: EntityId,
    revision: u64,
    made: &Made,
    content: &Content,
    now: Time,
) -> Result<Write> {
    let Made { by, source, .. } = made.clone();
    let packed = Packed::small(content)?;
    let record = RevisionRecord { revision, at: now, by, source, packed };
    Write::put(keys::revision(agent, revision), &record)
}

fn revised(entity: &Entity) -> Option<RevisedAgent> {
    let agent = entity.agent.clone()?;
    Some(RevisedAgent { name: entity.name.clone(), agent })
}

impl RevisionRecord {
    /// The revision, and the name and the configuration of the agent then, as they are stored.
    fn opened(self) -> Result<(Revision, String, Value)> {
        let Self { revision, at, by, source, packed } = self;
        let Content { changes, name, agent } = packed.read()?;
        Ok((Revision { revision, at, by, source, changes }, name, agent))
    }
}

impl Entities<'_> {
    /// The kept revisions of an agent, newest first.
    pub async fn revisions(self, agent: EntityId) -> Result<Vec<Revision>> {
        let query = Query::of(keys::entity(agent)).begins_with(keys::REVISION).newest_first();
        let items = self.store.table.all(query).await?;
        let opened = items.into_iter().map(|item| read::<RevisionRecord>(item)?.opened());
        opened.map(|opened| opened.map(|(revision, ..)| revision)).collect()
    }

    /// A revision of an agent, with what the agent was then.
    pub async fn revision(self, agent: EntityId, number: u64) -> Result<(Revision, RevisedAgent)> {
        let record: Option<RevisionRecord> =
            self.store.table.get(&keys::revision(agent, number)).await?;
        let (revision, name, agent) = record.ok_or_else(|| no_such_revision(number))?.opened()?;
        let agent = AgentConfig::read_stored(agent);
        let agent = agent.map_err(|error| Error::Internal(error.to_string()))?;
        Ok((revision, RevisedAgent { name, agent }))
    }
}

fn no_such_revision(number: u64) -> Error {
    let kept = format!("the last {REVISIONS} are kept");
    Error::NotFound(format!("the agent has no revision {number}; {kept}"))
}
