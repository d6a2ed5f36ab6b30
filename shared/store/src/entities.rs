//! People and agents.

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    agents::AgentConfig,
    dispatch::Gate,
    entities::{Entity, EntitySettings},
    goals::Goal,
    ids::{EntityId, SpaceId},
    memories::Memory,
    plans::Plan,
};

use crate::{
    Error, Result, Store, keys,
    pages::{Ask, Page},
    plans::PlanRecord,
    posted::PostKey,
    table::{Query, WriteError, key_of, read},
    write::Write,
};

const LISTED: (&str, &str) = ("g2pk", "g2sk");

/// An entity, as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EntityRecord {
    /// It, as the API shows it.
    #[serde(flatten, with = "kept")]
    pub entity: Entity,
    /// Raised by each change.
    pub rev: u64,
    /// It is gone, or going.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired_at: Option<Time>,
    /// From then on a round that finds nothing left to settle is the last one. None while it was not settled once since its last change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settles_at: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    g2pk: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    g2sk: Option<String>,
}

/// An entity with its configuration as JSON's text: what a schema or a script may hold, the table's own numbers, names and depth do not.
mod kept {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
    use smartspace_domain::{
        Time,
        agents::AgentConfig,
        entities::{Entity, EntityType},
        ids::EntityId,
    };

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Kept {
        id: EntityId,
        #[serde(rename = "type")]
        kind: EntityType,
        name: String,
        #[serde(default)]
        external_id: Option<String>,
        created_at: Time,
        #[serde(default)]
        agent: Option<Agent>,
    }

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Agent {
        Text(String),
        /// As it was kept before.
        Map(Box<AgentConfig>),
    }

    /// A configuration as it is kept.
    pub(super) fn text(agent: Option<&AgentConfig>) -> serde_json::Result<Option<String>> {
        agent.map(serde_json::to_string).transpose()
    }

    pub(super) fn serialize<S: Serializer>(entity: &Entity, serializer: S) -> Result<S::Ok, S::Error> {
        let Entity { id, kind, name, external_id, created_at, agent } = entity.clone();
        let agent = text(agent.as_ref()).map_err(ser::Error::custom)?.map(Agent::Text);
        Kept { id, kind, name, external_id, created_at, agent }.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Entity, D::Error> {
        let Kept { id, kind, name, external_id, created_at, agent } = Kept::deserialize(deserializer)?;
        let agent = match agent {
            Some(Agent::Text(text)) => Some(serde_json::from_str(&text).map_err(de::Error::custom)?),
            Some(Agent::Map(agent)) => Some(*agent),
            None => None,
        };
        Ok(Entity { id, kind, name, external_id, created_at, agent })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct External {
    entity_id: EntityId,
}

/// What a dispatch reads of an agent.
pub fn gate_of(agent: &AgentConfig) -> Gate {
    let concurrency = &agent.concurrency;
    Gate {
        paused: agent.paused,
        max_chain_depth: agent.max_chain_depth,
        mode: concurrency.mode,
        max_runs: concurrency.max_runs,
        runs_per_minute: agent.budget.runs_per_minute,
    }
}

impl Store {
    /// Makes an entity. With a `key` that was used before: the entity that was made then.
    pub async fn create_entity(&self, id: EntityId, settings: EntitySettings, key: Option<&PostKey>, now: Time) -> Result<Entity> {
        let EntitySettings { kind, name, external_id, agent } = settings;
        let entity = Entity { id, kind, name, external_id, created_at: now, agent };
        let (g2pk, g2sk) = (Some(keys::ENTITIES.to_owned()), Some(id.to_string()));
        let record = EntityRecord { entity: entity.clone(), rev: 1, retired_at: None, settles_at: None, g2pk, g2sk };
        let mut writes = vec![Write::put(keys::entity_meta(id), &record)?.if_absent()];
        if let Some(key) = key {
            writes.push(key.write(&id.to_string(), now)?);
        }
        if let Some(agent) = &entity.agent {
            writes.push(Write::put(keys::gate(id), &gate_of(agent))?);
        }
        if let Some(external_id) = &entity.external_id {
            writes.push(Write::put(keys::external(external_id), &External { entity_id: id })?.if_absent());
        }
        match self.table.transact(&writes).await {
            Ok(()) => Ok(entity),
            Err(WriteError::Other(error)) => Err(error),
            // The answer to the first try was lost.
            Err(WriteError::Refused(refusal)) if refusal.names(&keys::entity_meta(id)) => Ok(entity),
            Err(WriteError::Refused(refusal)) => match PostKey::made(key, &refusal)? {
                Some(made) => self.entity(made).await,
                None => Err(Error::Conflict("another entity has this externalId".into())),
            },
        }
    }

    /// Who has an external id. It is given up with its entity, so who has one is not retired.
    pub async fn entity_with(&self, external_id: &str) -> Result<Option<EntityId>> {
        let external: Option<External> = self.table.get(&keys::external(external_id)).await?;
        Ok(external.map(|external| external.entity_id))
    }

    /// An entity.
    pub async fn entity(&self, id: EntityId) -> Result<Entity> {
        Ok(self.entity_record(id).await?.entity)
    }

    /// An entity, as it is kept, unless it is retired.
    pub async fn entity_record(&self, id: EntityId) -> Result<EntityRecord> {
        let record: Option<EntityRecord> = self.table.get(&keys::entity_meta(id)).await?;
        record.filter(|record| record.retired_at.is_none()).ok_or_else(no_such_entity)
    }

    /// An agent, unless it is retired. [`Error::NotFound`] also where a person has this id.
    pub async fn agent(&self, id: EntityId) -> Result<Entity> {
        let entity = self.entity(id).await?;
        if entity.agent.is_none() {
            return Err(Error::NotFound(format!("{id} is a person; only agents have this")));
        }
        Ok(entity)
    }

    /// An entity, retired or not; what is left to do for it is done from this.
    pub async fn any_entity(&self, id: EntityId) -> Result<Option<EntityRecord>> {
        self.table.get(&keys::entity_meta(id)).await
    }

    /// All entities, by age.
    pub async fn entities(&self, ask: &Ask) -> Result<Page<Entity>> {
        let query =
            Query::of_index("GSI2", LISTED, keys::ENTITIES.to_owned()).limit(ask.limit()?).after(ask.after(LISTED, keys::ENTITIES)?);
        let page = self.table.page(query).await?;
        let wanted = page.items.iter().map(key_of).collect::<Result<Vec<_>>>()?;
        let mut found = self.table.get_all(&wanted).await?;
        let mut items = Vec::with_capacity(wanted.len());
        for (key, entry) in wanted.iter().zip(page.items) {
            let record: Option<EntityRecord> = found.take(key)?;
            items.extend(record.filter(|record| record.retired_at.is_none()).map(|record| (entry, record.entity)));
        }
        Ok(Page::cut(items, page.next, "g2sk"))
    }

    /// Changes an entity, if it is still at `record.rev`. Where the name changes it becomes due, until its spaces know
    /// ([`Store::rename_member`], then [`Store::entity_settled`]).
    pub async fn change_entity(&self, record: &EntityRecord, settings: EntitySettings, now: Time) -> Result<Entity> {
        let before = &record.entity;
        let EntitySettings { name, external_id, agent, .. } = settings;
        let entity = Entity { name, external_id, agent, ..before.clone() };
        let mut set = "SET #name = :name, #externalId = :externalId, #agent = :agent, #rev = :next".to_owned();
        if entity.name != before.name {
            set.push_str(", #due = :due, #dueAt = :now REMOVE #settlesAt");
        }
        let mut meta = Write::update(keys::entity_meta(entity.id), set)
            .when("#rev = :rev AND attribute_not_exists(#retiredAt)")
            .value(":name", &entity.name)?
            .value(":externalId", &entity.external_id)?
            .value(":agent", kept::text(entity.agent.as_ref()).map_err(|error| Error::Internal(error.to_string()))?)?
            .value(":rev", record.rev)?
            .value(":next", record.rev + 1)?;
        if entity.name != before.name {
            meta = meta.value(":due", keys::due(entity.id.part_of(keys::DUE_PARTS)))?.value(":now", now)?;
        }
        let mut writes = vec![meta];
        if let Some(agent) = &entity.agent {
            writes.push(Write::put(keys::gate(entity.id), &gate_of(agent))?);
        }
        if entity.external_id != before.external_id {
            if let Some(old) = &before.external_id {
                writes.push(Write::delete(keys::external(old)));
            }
            if let Some(new) = &entity.external_id {
                writes.push(Write::put(keys::external(new), &External { entity_id: entity.id })?.if_absent());
            }
        }
        match self.table.transact(&writes).await {
            Ok(()) => Ok(entity),
            Err(WriteError::Other(error)) => Err(error),
            Err(WriteError::Refused(refusal)) => {
                let meta = keys::entity_meta(entity.id);
                match refusal.there::<EntityRecord>(&meta) {
                    // What we wrote is there: the answer to the first try was lost.
                    Some(there) if there.rev == record.rev + 1 && there.entity == entity => Ok(entity),
                    None if !refusal.names(&meta) => Err(Error::Conflict("another entity has this externalId".into())),
                    _ => Err(Error::Conflict("the entity was changed at the same time; read it again".into())),
                }
            }
        }
    }

    /// Retires an entity: it is gone for everyone at once, and due until it has left its spaces.
    pub async fn retire_entity(&self, record: &EntityRecord, now: Time) -> Result<()> {
        let id = record.entity.id;
        let expression = "SET #retiredAt = :now, #due = :due, #dueAt = :now REMOVE #g2pk, #g2sk, #settlesAt";
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
        match self.table.transact(&writes).await {
            Ok(()) => Ok(()),
            Err(WriteError::Refused(refusal)) => match refusal.there::<EntityRecord>(&keys::entity_meta(id)) {
                Some(there) if there.retired_at == Some(now) => Ok(()),
                Some(there) if there.retired_at.is_none() => {
                    Err(Error::Conflict("the entity was changed at the same time; repeat the call".into()))
                }
                _ => Err(no_such_entity()),
            },
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Ends the duty to come back to an entity, if it has not changed since it was read.
    pub async fn entity_settled(&self, record: &EntityRecord) -> Result<()> {
        self.table.write_where_it_holds(unchanged(record, "REMOVE #due, #dueAt, #dueCount, #settlesAt")?).await
    }

    /// Puts the last look at an entity off until `at`. False where it has changed since it was read, or is settled.
    pub async fn settle_again(&self, record: &EntityRecord, at: Time) -> Result<bool> {
        let write = unchanged(record, "SET #dueAt = :at, #settlesAt = :at REMOVE #dueCount")?.when("attribute_exists(#due)");
        match self.table.write(write.value(":at", at)?).await {
            Ok(_) => Ok(true),
            Err(WriteError::Refused(_)) => Ok(false),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// The spaces of an entity: candidates from the index; whether it is a member there, the member's item decides.
    pub async fn spaces_of(&self, id: EntityId) -> Result<Vec<SpaceId>> {
        let items = self.table.all(Query::of_index("GSI2", LISTED, keys::spaces_of(id))).await?;
        let keys = items.iter().map(key_of).collect::<Result<Vec<_>>>()?;
        Ok(keys.iter().filter_map(|key| key.pk.strip_prefix("SPACE#")?.parse().ok()).collect())
    }

    /// What a prompt needs of an agent, in one read: its configuration, its spaces, its active runs.
    pub async fn agent_context(&self, id: EntityId) -> Result<AgentContext> {
        let (first, last) = keys::CONTEXT;
        let items = self.table.all(Query::of(keys::entity(id)).between(first, last)).await?;
        let mut context = AgentContext::default();
        for item in items {
            let key = key_of(&item)?;
            if key.sk == last {
                let record: EntityRecord = read(item)?;
                context.agent = Some(record).filter(|record| record.retired_at.is_none()).map(|record| record.entity);
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

/// What a prompt needs of an agent.
#[derive(Clone, Debug, Default)]
pub struct AgentContext {
    /// It; none where it is retired.
    pub agent: Option<Entity>,
    /// Where it is a member, by id.
    pub spaces: Vec<SpaceId>,
    /// Its active runs, by age.
    pub active: Vec<crate::runs::ActiveRecord>,
    /// What it remembers, by key.
    pub memories: Vec<Memory>,
    /// What it works towards, by id.
    pub goals: Vec<Goal>,
    /// What it is to do later, by age.
    pub plans: Vec<Plan>,
}

/// A write of an entity's duty that holds while the entity is as it was read. Retiring does not raise `rev`.
fn unchanged(record: &EntityRecord, expression: &str) -> Result<Write> {
    let write = Write::update(keys::entity_meta(record.entity.id), expression).when("#rev = :rev").value(":rev", record.rev)?;
    Ok(if record.retired_at.is_none() { write.when("attribute_not_exists(#retiredAt)") } else { write })
}

pub(crate) fn no_such_entity() -> Error {
    Error::NotFound("there is no such entity".into())
}
