//! Changing and retiring entities.

use smartspace_domain::{
    Time,
    entities::{Entity, EntitySettings},
    projects::ManagedBy,
};

use crate::{
    Entities, Error, Result,
    entities::{
        EntityRecord, External, gate, no_such_entity,
        revisions::{self, Made},
        stored_entity::WholeConfig,
    },
    shared::member::MemberRecord,
    table::{WriteError, keys, refusal::Refusal, write::Write},
};

impl Entities<'_> {
    /// Changes an entity, if it is still at `record.rev`. What changes nothing writes nothing. If
    /// its name or description changes, the entity is due until its spaces have it (see
    /// [`crate::Members::rename`] and [`Entities::settled`]).
    pub async fn change(
        self,
        record: &EntityRecord,
        settings: EntitySettings,
        made: &Made,
        now: Time,
    ) -> Result<Entity> {
        let before = &record.entity;
        let EntitySettings { name, external_id, agent, .. } = settings;
        let after = Entity { name, external_id, agent, ..before.clone() };
        let is_revised = after != *before;
        if !is_revised && made.from_file.is_none() {
            return Ok(after);
        }
        let revision = before.revision.map(|revision| revision + u64::from(is_revised));
        let managed_by = managed_by(before, revision, made);
        let entity = Entity { revision, managed_by, ..after };
        // A person has no configuration to merge.
        let agent = if entity.agent.is_some() { self.merged(record, &entity).await? } else { None };
        let mut writes = vec![change_write(record, &entity, agent, now)?];
        if is_revised {
            writes.extend(revisions::next(before, &entity, made, now)?);
        }
        if let Some(from_file) = &made.from_file {
            writes.extend(from_file.writes.iter().cloned());
        }
        if let Some(agent) = &entity.agent {
            writes.push(gate::write(entity.id, agent)?);
            let max_runs = agent.concurrency.max_runs;
            if before.agent.as_ref().is_none_or(|it| it.concurrency.max_runs != max_runs) {
                writes.push(gate::write_slots(entity.id, agent)?);
            }
        }
        if entity.external_id != before.external_id {
            if let Some(old) = &before.external_id {
                writes.push(Write::delete(keys::external(old)));
            }
            if let Some(new) = &entity.external_id {
                writes.push(Write::put(keys::external(new), &External::of(&entity))?.if_absent());
            }
        } else if let Some(same) = &entity.external_id
            && External::of(&entity).is_closed != External::of(before).is_closed
        {
            writes.push(Write::put(keys::external(same), &External::of(&entity))?);
        }
        match self.store.table.transact(&writes).await {
            Ok(()) => Ok(entity),
            Err(WriteError::Other(error)) => Err(error),
            Err(WriteError::Refused(refusal)) => {
                expect_changed(record, &entity, made, &refusal).map(|()| entity)
            }
        }
    }

    /// The configuration to store. The parts that this version does not know stay as they are.
    async fn merged(self, record: &EntityRecord, entity: &Entity) -> Result<Option<String>> {
        let whole: Option<WholeConfig> =
            self.store.table.get(&keys::entity_meta(entity.id)).await?;
        let whole = whole.ok_or_else(no_such_entity)?;
        if whole.rev != record.rev {
            return Err(changed_meanwhile());
        }
        whole
            .changed(record.entity.agent.as_ref(), entity.agent.as_ref())
            .map_err(|error| Error::Internal(error.to_string()))
    }

    /// Retires an entity. It disappears at once, and is due until it has left its spaces.
    pub async fn retire(self, record: &EntityRecord, now: Time) -> Result<()> {
        self.retire_with(record, &[], now).await
    }

    /// The same with more writes in its transaction.
    pub async fn retire_with(self, record: &EntityRecord, more: &[Write], now: Time) -> Result<()> {
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
            writes.push(gate::close(id)?);
        }
        if let Some(external_id) = &record.entity.external_id {
            writes.push(Write::delete(keys::external(external_id)));
        }
        writes.extend(more.iter().cloned());
        match self.store.table.transact(&writes).await {
            Ok(()) => Ok(()),
            Err(WriteError::Refused(refusal)) => {
                match refusal.existing::<EntityRecord>(&keys::entity_meta(id)) {
                    Some(stored) if stored.retired_at == Some(now) => Ok(()),
                    Some(stored) if stored.retired_at.is_none() => Err(Error::Conflict(
                        "the entity was changed at the same time; repeat the call".into(),
                    )),
                    None if !refusal.names(&keys::entity_meta(id)) => Err(changed_meanwhile()),
                    _ => Err(no_such_entity()),
                }
            }
            Err(WriteError::Other(error)) => Err(error),
        }
    }
}

/// The files that manage an entity after a change. A change by hand leaves them as they are.
fn managed_by(before: &Entity, revision: Option<u64>, made: &Made) -> Option<ManagedBy> {
    match &made.from_file {
        None => before.managed_by.clone(),
        Some(from_file) => Some(ManagedBy { revision, ..from_file.managed_by.clone()? }),
    }
}

fn change_write(
    record: &EntityRecord,
    entity: &Entity,
    agent: Option<String>,
    now: Time,
) -> Result<Write> {
    let is_due = MemberRecord::shows_change(&record.entity, entity);
    let due = if is_due { ", #due = :due, #dueAt = :now REMOVE #settlesAt" } else { "" };
    let revision = if entity.revision.is_some() { ", #revision = :revision" } else { "" };
    let managed = if entity.managed_by.is_some() { ", #managedBy = :managedBy" } else { "" };
    let write = Write::update(
        keys::entity_meta(entity.id),
        format!(
            "SET #name = :name, #externalId = :externalId, #agent = :agent, \
             #rev = :next{revision}{managed}{due}"
        ),
    )
    .when("#rev = :rev AND attribute_not_exists(#retiredAt)")
    .value(":name", &entity.name)?
    .value(":externalId", &entity.external_id)?
    .value(":agent", agent)?
    .value(":rev", record.rev)?
    .value(":next", record.rev + 1)?;
    let write = match entity.revision {
        Some(revision) => write.value(":revision", revision)?,
        None => write,
    };
    let write = match &entity.managed_by {
        Some(managed_by) => write.value(":managedBy", managed_by)?,
        None => write,
    };
    if is_due {
        write.value(":due", keys::due(entity.id.part_of(keys::DUE_PARTS)))?.value(":now", now)
    } else {
        Ok(write)
    }
}

/// Fails unless the first try of a change took effect and its answer was lost.
fn expect_changed(
    record: &EntityRecord,
    entity: &Entity,
    made: &Made,
    refusal: &Refusal,
) -> Result<()> {
    let meta = keys::entity_meta(entity.id);
    match refusal.existing::<EntityRecord>(&meta) {
        Some(stored) if stored.rev == record.rev + 1 && stored.entity == *entity => Ok(()),
        None if !refusal.names(&meta) && made.from_file.is_none() => {
            Err(Error::Conflict("another entity has this externalId".into()))
        }
        _ => Err(changed_meanwhile()),
    }
}

fn changed_meanwhile() -> Error {
    Error::Conflict("the entity was changed at the same time; read it again".into())
}
