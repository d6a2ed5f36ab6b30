//! People and agents.

mod changes;
mod gate;
pub mod revisions;
mod settling;
mod stored_entity;

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    agents::revisions::Actor,
    entities::{Entity, EntitySettings},
    ids::{EntityId, SpaceId},
    projects::ManagedBy,
};

use self::revisions::Made;
use crate::{
    Entities, Error, Result,
    idempotency::PostKey,
    projects::changed_meanwhile,
    table::{
        Query, WriteError,
        indexes::Index,
        key_of, keys,
        pages::{Page, PageRequest},
        write::Write,
    },
};

/// An entity, as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EntityRecord {
    /// The entity, as the API shows it.
    #[serde(flatten, with = "stored_entity")]
    pub entity: Entity,
    /// Raised by each change, and when the entity leaves a space.
    pub rev: u64,
    /// When it was retired. It may not have left all its spaces yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired_at: Option<Time>,
    /// Settling ends with the first round after this time that finds nothing to do. `None` until
    /// the first round since the last change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settles_at: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    g2pk: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    g2sk: Option<String>,
}

/// The entity with an external id.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct External {
    pub entity_id: EntityId,
    /// Whether no token may name it by its external id.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_closed: bool,
}

impl External {
    fn of(entity: &Entity) -> Self {
        let is_closed = entity.agent.as_ref().is_some_and(|agent| !agent.sign_in);
        Self { entity_id: entity.id, is_closed }
    }
}

impl EntityRecord {
    /// The record of a new entity.
    pub(crate) fn new(entity: Entity) -> Self {
        let g2sk = Some(entity.id.to_string());
        let g2pk = Some(keys::ENTITIES.to_owned());
        Self { entity, rev: 1, retired_at: None, settles_at: None, g2pk, g2sk }
    }
}

impl Entities<'_> {
    /// Creates an entity. If the `key` was used before, returns the entity that was created then.
    pub async fn create(
        self,
        id: EntityId,
        settings: EntitySettings,
        key: Option<&PostKey>,
        now: Time,
    ) -> Result<Entity> {
        let (entity, mut writes) = new_entity(id, settings, &Made::by_api(Actor::AdminKey), now)?;
        if let Some(key) = key {
            writes.push(key.write(&id.to_string(), now)?);
        }
        match self.store.table.transact(&writes).await {
            Ok(()) => Ok(entity),
            Err(WriteError::Other(error)) => Err(error),
            // The first try took effect and its answer was lost.
            Err(WriteError::Refused(refusal)) if refusal.names(&keys::entity_meta(id)) => {
                Ok(entity)
            }
            Err(WriteError::Refused(refusal)) => match PostKey::made(key, &refusal)? {
                Some(made) => self.get(made).await,
                None => Err(Error::Conflict("another entity has this externalId".into())),
            },
        }
    }

    /// Creates an entity as a file says.
    pub async fn create_from_file(
        self,
        id: EntityId,
        settings: EntitySettings,
        made: &Made,
        now: Time,
    ) -> Result<Entity> {
        let (entity, writes) = new_entity(id, settings, made, now)?;
        match self.store.table.transact(&writes).await {
            Ok(()) => Ok(entity),
            Err(WriteError::Other(error)) => Err(error),
            // The first try took effect and its answer was lost.
            Err(WriteError::Refused(refusal)) if refusal.names(&keys::entity_meta(id)) => {
                Ok(entity)
            }
            Err(WriteError::Refused(_)) => Err(changed_meanwhile()),
        }
    }

    /// The entity with an external id. A retired entity has none.
    pub async fn with_external_id(self, external_id: &str) -> Result<Option<External>> {
        self.store.table.get(&keys::external(external_id)).await
    }

    pub async fn get(self, id: EntityId) -> Result<Entity> {
        Ok(self.record(id).await?.entity)
    }

    /// An entity, as it is stored, unless it is retired.
    pub async fn record(self, id: EntityId) -> Result<EntityRecord> {
        let record: Option<EntityRecord> = self.store.table.get(&keys::entity_meta(id)).await?;
        record.filter(|record| record.retired_at.is_none()).ok_or_else(no_such_entity)
    }

    /// An agent, unless it is retired. Fails with [`Error::NotFound`] if the id is a person's.
    pub async fn agent(self, id: EntityId) -> Result<Entity> {
        let entity = self.get(id).await?;
        if entity.agent.is_none() {
            return Err(Error::NotFound(format!("{id} is a person; only agents have this")));
        }
        Ok(entity)
    }

    /// An entity, retired or not, for settling it.
    pub async fn any_record(self, id: EntityId) -> Result<Option<EntityRecord>> {
        self.store.table.get(&keys::entity_meta(id)).await
    }

    /// The agents with these ids, each at most once, without those that are retired.
    pub async fn agents(self, ids: &[EntityId]) -> Result<Vec<Entity>> {
        let wanted: Vec<_> = ids.iter().map(|id| keys::entity_meta(*id)).collect();
        let mut found = self.store.table.get_all(&wanted).await?;
        let mut agents = Vec::with_capacity(wanted.len());
        for key in &wanted {
            let record: Option<EntityRecord> = found.take(key)?;
            let record = record.filter(|record| record.retired_at.is_none());
            agents.extend(record.map(|record| record.entity).filter(|it| it.agent.is_some()));
        }
        Ok(agents)
    }

    pub async fn list(self, request: &PageRequest) -> Result<Page<Entity>> {
        let query = Query::of_index(Index::LISTS, keys::ENTITIES.to_owned())
            .limit(request.limit()?)
            .after(request.after(Index::LISTS.keys, keys::ENTITIES)?);
        let page = self.store.table.page(query).await?;
        let wanted = page.items.iter().map(key_of).collect::<Result<Vec<_>>>()?;
        let mut found = self.store.table.get_all(&wanted).await?;
        let mut items = Vec::with_capacity(wanted.len());
        for (key, entry) in wanted.iter().zip(page.items) {
            let record: Option<EntityRecord> = found.take(key)?;
            items.extend(
                record
                    .filter(|record| record.retired_at.is_none())
                    .map(|record| (entry, record.entity)),
            );
        }
        Ok(Page::cut(items, page.next, Index::LISTS.keys.sk))
    }

    /// Candidates for the spaces of an entity, from the index. The member's item in each space
    /// decides whether it is a member.
    pub async fn spaces_of(self, id: EntityId) -> Result<Vec<SpaceId>> {
        let items =
            self.store.table.all(Query::of_index(Index::LISTS, keys::spaces_of(id))).await?;
        let keys = items.iter().map(key_of).collect::<Result<Vec<_>>>()?;
        Ok(keys.iter().filter_map(|key| key.pk.strip_prefix("SPACE#")?.parse().ok()).collect())
    }
}

/// A new entity, and the writes that store it.
fn new_entity(
    id: EntityId,
    settings: EntitySettings,
    made: &Made,
    now: Time,
) -> Result<(Entity, Vec<Write>)> {
    let EntitySettings { kind, name, external_id, agent } = settings;
    let (created_at, guest_of) = (now, None);
    let revision = agent.is_some().then_some(1);
    let managed_by = made.from_file.as_ref().and_then(|it| it.managed_by.clone());
    let managed_by = managed_by.map(|managed_by| ManagedBy { revision, ..managed_by });
    let entity =
        Entity { id, kind, name, external_id, created_at, agent, revision, managed_by, guest_of };
    let record = EntityRecord::new(entity.clone());
    let mut writes = vec![Write::put(keys::entity_meta(id), &record)?.if_absent()];
    writes.extend(revisions::first(&entity, made, now)?);
    if let Some(agent) = &entity.agent {
        writes.push(gate::write(id, agent)?);
        writes.push(gate::write_slots(id, agent)?);
    }
    if let Some(external_id) = &entity.external_id {
        writes.push(Write::put(keys::external(external_id), &External::of(&entity))?.if_absent());
    }
    if let Some(from_file) = &made.from_file {
        writes.extend(from_file.writes.iter().cloned());
    }
    Ok((entity, writes))
}

/// The check of a transaction that an entity exists and is not retired.
pub(crate) fn not_retired(entity: EntityId) -> Write {
    Write::check(keys::entity_meta(entity))
        .when("attribute_exists(PK) AND attribute_not_exists(#retiredAt)")
}

pub(crate) fn no_such_entity() -> Error {
    Error::NotFound("there is no such entity".into())
}
