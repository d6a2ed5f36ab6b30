//! People and agents.

pub mod relationships;
mod stored_entity;

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    agents::AgentConfig,
    dispatch::WakeLimits,
    entities::{Entity, EntitySettings},
    goals::Goal,
    ids::{EntityId, SpaceId},
    memories::Memory,
    plans::Plan,
};

use crate::{
    Entities, Error, Result,
    agents::plans::PlanRecord,
    idempotency::PostKey,
    table::{
        Query, WriteError,
        indexes::Index,
        key_of, keys,
        pages::{Ask, Page},
        read,
        refusal::Refusal,
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
    /// Raised by each change.
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

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct External {
    entity_id: EntityId,
}

/// The part of an agent's configuration that a dispatch reads.
pub fn gate_of(agent: &AgentConfig) -> WakeLimits {
    let concurrency = &agent.concurrency;
    WakeLimits {
        paused: agent.paused,
        max_chain_depth: agent.max_chain_depth,
        mode: concurrency.mode,
        max_runs: concurrency.max_runs,
        runs_per_minute: agent.budget.runs_per_minute,
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
        let EntitySettings { kind, name, external_id, agent } = settings;
        let entity = Entity { id, kind, name, external_id, created_at: now, agent };
        let record = EntityRecord {
            entity: entity.clone(),
            rev: 1,
            retired_at: None,
            settles_at: None,
            g2pk: Some(keys::ENTITIES.to_owned()),
            g2sk: Some(id.to_string()),
        };
        let mut writes = vec![Write::put(keys::entity_meta(id), &record)?.if_absent()];
        if let Some(key) = key {
            writes.push(key.write(&id.to_string(), now)?);
        }
        if let Some(agent) = &entity.agent {
            writes.push(Write::put(keys::gate(id), &gate_of(agent))?);
        }
        if let Some(external_id) = &entity.external_id {
            writes.push(
                Write::put(keys::external(external_id), &External { entity_id: id })?.if_absent(),
            );
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

    /// The entity with an external id. A retired entity has none.
    pub async fn id_of_external(self, external_id: &str) -> Result<Option<EntityId>> {
        let external: Option<External> = self.store.table.get(&keys::external(external_id)).await?;
        Ok(external.map(|external| external.entity_id))
    }

    /// An entity.
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

    /// All entities, by age.
    pub async fn list(self, ask: &Ask) -> Result<Page<Entity>> {
        let query = Query::of_index(Index::LISTS, keys::ENTITIES.to_owned())
            .limit(ask.limit()?)
            .after(ask.after(Index::LISTS.keys, keys::ENTITIES)?);
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

    /// Changes an entity, if it is still at `record.rev`. If the name changes, the entity is due
    /// until its spaces have the new name (see [`crate::Members::rename`] and
    /// [`Entities::settled`]).
    pub async fn change(
        self,
        record: &EntityRecord,
        settings: EntitySettings,
        now: Time,
    ) -> Result<Entity> {
        let before = &record.entity;
        let EntitySettings { name, external_id, agent, .. } = settings;
        let entity = Entity { name, external_id, agent, ..before.clone() };
        let mut writes = vec![change_write(record, &entity, now)?];
        if let Some(agent) = &entity.agent {
            writes.push(Write::put(keys::gate(entity.id), &gate_of(agent))?);
        }
        if entity.external_id != before.external_id {
            if let Some(old) = &before.external_id {
                writes.push(Write::delete(keys::external(old)));
            }
            if let Some(new) = &entity.external_id {
                writes.push(
                    Write::put(keys::external(new), &External { entity_id: entity.id })?
                        .if_absent(),
                );
            }
        }
        match self.store.table.transact(&writes).await {
            Ok(()) => Ok(entity),
            Err(WriteError::Other(error)) => Err(error),
            Err(WriteError::Refused(refusal)) => {
                expect_changed(record, &entity, &refusal).map(|()| entity)
            }
        }
    }

    /// Retires an entity. It disappears at once, and is due until it has left its spaces.
    pub async fn retire(self, record: &EntityRecord, now: Time) -> Result<()> {
        let id = record.entity.id;
        let expression =
            "SET #retiredAt = :now, #due = :due, #dueAt = :now REMOVE #g2pk, #g2sk, #settlesAt";
        let meta = Write::update(keys::entity_meta(id), expression)
            .when("attribute_not_exists(#retiredAt) AND #rev = :rev")
            .value(":now", now)?
            .value(":due", keys::due(id.part_of(keys::DUE_PARTS)))?
            .value(":rev", record.rev)?;
        let mut writes = vec![meta];
        if record.entity.agent.is_some() {
            writes.push(Write::update(keys::gate(id), "SET #paused = :yes").value(":yes", true)?);
        }
        if let Some(external_id) = &record.entity.external_id {
            writes.push(Write::delete(keys::external(external_id)));
        }
        match self.store.table.transact(&writes).await {
            Ok(()) => Ok(()),
            Err(WriteError::Refused(refusal)) => {
                match refusal.existing::<EntityRecord>(&keys::entity_meta(id)) {
                    Some(stored) if stored.retired_at == Some(now) => Ok(()),
                    Some(stored) if stored.retired_at.is_none() => Err(Error::Conflict(
                        "the entity was changed at the same time; repeat the call".into(),
                    )),
                    _ => Err(no_such_entity()),
                }
            }
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Takes an entity off the due index, if it has not changed since it was read.
    pub async fn settled(self, record: &EntityRecord) -> Result<()> {
        self.store
            .table
            .write_where_it_holds(unchanged(record, "REMOVE #due, #dueAt, #dueCount, #settlesAt")?)
            .await
    }

    /// Makes an entity due for its last settling round at `at`. Returns false if it has changed
    /// since it was read, or is settled.
    pub async fn settle_again(self, record: &EntityRecord, at: Time) -> Result<bool> {
        let write = unchanged(record, "SET #dueAt = :at, #settlesAt = :at REMOVE #dueCount")?
            .when("attribute_exists(#due)");
        match self.store.table.write(write.value(":at", at)?).await {
            Ok(_) => Ok(true),
            Err(WriteError::Refused(_)) => Ok(false),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Candidates for the spaces of an entity, from the index. The member's item in each space
    /// decides whether it is a member.
    pub async fn spaces_of(self, id: EntityId) -> Result<Vec<SpaceId>> {
        let items =
            self.store.table.all(Query::of_index(Index::LISTS, keys::spaces_of(id))).await?;
        let keys = items.iter().map(key_of).collect::<Result<Vec<_>>>()?;
        Ok(keys.iter().filter_map(|key| key.pk.strip_prefix("SPACE#")?.parse().ok()).collect())
    }

    /// Everything that a prompt needs to know about an agent, in one read.
    pub async fn agent_context(self, id: EntityId) -> Result<AgentContext> {
        let (first, last) = keys::CONTEXT;
        let items = self.store.table.all(Query::of(keys::entity(id)).between(first, last)).await?;
        let mut context = AgentContext::default();
        for item in items {
            let key = key_of(&item)?;
            if key.sk == last {
                let record: EntityRecord = read(item)?;
                context.agent = Some(record)
                    .filter(|record| record.retired_at.is_none())
                    .map(|record| record.entity);
            } else if let Some(space) = key.sk.strip_prefix(keys::AGENT_SPACE) {
                context.spaces.extend(space.parse::<SpaceId>());
            } else if key.sk.starts_with(keys::ACTIVE_RUN) {
                context.active.push(read(item)?);
            } else if key.sk.starts_with(keys::MEMORY) {
                context.memories.push(read(item)?);
            } else if key.sk.starts_with(keys::GOAL) {
                context.goals.push(read(item)?);
            } else if key.sk.starts_with(keys::PLAN) {
                context.plans.push(read::<PlanRecord>(item)?.plan);
            }
        }
        Ok(context)
    }
}

/// Everything that a prompt needs to know about an agent.
#[derive(Clone, Debug, Default)]
pub struct AgentContext {
    /// The agent, unless it is retired.
    pub agent: Option<Entity>,
    /// The spaces that it is a member of, by id.
    pub spaces: Vec<SpaceId>,
    /// Its active runs, by age.
    pub active: Vec<crate::runs::ActiveRecord>,
    /// Its memories, by key.
    pub memories: Vec<Memory>,
    /// Its goals, by id.
    pub goals: Vec<Goal>,
    /// Its plans, by age.
    pub plans: Vec<Plan>,
}

/// The write of an entity's own item when its settings change.
fn change_write(record: &EntityRecord, entity: &Entity, now: Time) -> Result<Write> {
    let is_renamed = entity.name != record.entity.name;
    let due = if is_renamed { ", #due = :due, #dueAt = :now REMOVE #settlesAt" } else { "" };
    let agent = stored_entity::text(entity.agent.as_ref())
        .map_err(|error| Error::Internal(error.to_string()))?;
    let write = Write::update(
        keys::entity_meta(entity.id),
        format!("SET #name = :name, #externalId = :externalId, #agent = :agent, #rev = :next{due}"),
    )
    .when("#rev = :rev AND attribute_not_exists(#retiredAt)")
    .value(":name", &entity.name)?
    .value(":externalId", &entity.external_id)?
    .value(":agent", agent)?
    .value(":rev", record.rev)?
    .value(":next", record.rev + 1)?;
    if is_renamed {
        write.value(":due", keys::due(entity.id.part_of(keys::DUE_PARTS)))?.value(":now", now)
    } else {
        Ok(write)
    }
}

/// Fails unless the first try of a change took effect and its answer was lost.
fn expect_changed(record: &EntityRecord, entity: &Entity, refusal: &Refusal) -> Result<()> {
    let meta = keys::entity_meta(entity.id);
    match refusal.existing::<EntityRecord>(&meta) {
        Some(stored) if stored.rev == record.rev + 1 && stored.entity == *entity => Ok(()),
        None if !refusal.names(&meta) => {
            Err(Error::Conflict("another entity has this externalId".into()))
        }
        _ => Err(Error::Conflict("the entity was changed at the same time; read it again".into())),
    }
}

/// An update of an entity whose condition holds while the entity is as it was read. Retiring an
/// entity does not raise `rev`, so the condition names it too.
fn unchanged(record: &EntityRecord, expression: &str) -> Result<Write> {
    let write = Write::update(keys::entity_meta(record.entity.id), expression)
        .when("#rev = :rev")
        .value(":rev", record.rev)?;
    Ok(if record.retired_at.is_none() {
        write.when("attribute_not_exists(#retiredAt)")
    } else {
        write
    })
}

pub(crate) fn no_such_entity() -> Error {
    Error::NotFound("there is no such entity".into())
}
