//! Writes what is to do, each object in a transaction of its own.

use std::collections::{BTreeMap, BTreeSet};

use smartspace_domain::{
    Error, Result,
    agents::revisions::{RevisedAgent, RevisionSource},
    entities::Entity,
    ids::{EntityId, LeaseId, SpaceId},
    projects::{ManagedBy, ObjectAction, ObjectResult, PlanSpec, Spec},
    spaces::{Role, owner_limits::OperatorLimits},
};
use smartspace_store::{
    agents::{plans::SetPlan, state::ChangedBy},
    entities::{EntityRecord, revisions::Made},
    projects::{
        FromFile, ObjectId, ObjectRecord, changed_meanwhile, name_space, taken_from, unname_space,
    },
    spaces::lines::Reported,
    table::write::Write,
};

use super::{
    Applying,
    comparison::{Planned, SpaceWork, What, Work},
    found::{Existing, Found},
    members::Wanted,
    references::as_person,
    shown,
};
use crate::{
    Api,
    routes::{entities, spaces::announce_change},
};

/// A holder of the project's lock.
struct Writing<'a> {
    applying: Applying<'a>,
    found: &'a Found,
    token: LeaseId,
}

/// Writes all that is planned, and says what became of it.
pub(super) async fn write(
    applying: Applying<'_>,
    found: &Found,
    planned: Vec<Planned>,
) -> Result<Vec<ObjectResult>> {
    let Applying { api, apply, .. } = applying;
    let token = api.pipeline.token();
    let (projects, commit) = (api.pipeline.store.projects(), apply.source.commit.clone());
    projects.lock(&apply.project, &found.project, commit, &token, api.pipeline.now()).await?;
    let writing = Writing { applying, found, token };
    let results = writing.all(planned).await;
    projects.unlock(&apply.project, &writing.token).await?;
    Ok(results)
}

impl Writing<'_> {
    /// Agents come before the spaces that they join and the plans that they have.
    async fn all(&self, planned: Vec<Planned>) -> Vec<ObjectResult> {
        let mut order: Vec<usize> = (0..planned.len()).collect();
        order.sort_by_key(|index| planned[*index].turn());
        let mut works: Vec<Option<Box<Work>>> = Vec::with_capacity(planned.len());
        let mut results: Vec<ObjectResult> = Vec::with_capacity(planned.len());
        for Planned { result, work } in planned {
            works.push(work);
            results.push(result);
        }
        for index in order {
            let Some(work) = works[index].take() else { continue };
            let result = &mut results[index];
            match Box::pin(self.one(*work)).await {
                Ok((id, revision)) => {
                    result.id = Some(id);
                    result.revision = revision;
                }
                Err(error) => {
                    result.action = ObjectAction::Failed;
                    result.error = Some(shown(&error));
                }
            }
        }
        results
    }

    /// Writes one object. Returns its id and, for an agent, its revision.
    async fn one(&self, work: Work) -> Result<(String, Option<u64>)> {
        let Work { object, before, managed_by, other, what } = work;
        let project = &self.applying.apply.project;
        let id = object.id.shown();
        let from_file = || {
            let mut writes = vec![object.write(project, before.as_ref())?, self.has_lock()?];
            writes.extend(other.and_then(|other| taken_from(&other, object.id.kind())));
            Ok::<_, Error>(FromFile { managed_by, writes })
        };
        let mut revision = None;
        match what {
            What::End(existing) => {
                self.end(*existing, vec![object.end(project)?, self.has_lock()?]).await?;
            }
            What::Forget => {
                let projects = self.api().pipeline.store.projects();
                projects.forget(project, &object, self.has_lock()?).await?;
            }
            What::Agent { found, id, agent } => {
                let from_file = from_file()?;
                revision = self.agent(found.as_deref(), id, &agent, &object, from_file).await?;
            }
            What::Space(space) => {
                let from_file = from_file()?;
                self.space(*space, object, before, from_file).await?;
            }
            What::Plan { agent, seen, wanted } => {
                let from_file = from_file()?;
                self.plan(agent, seen.as_deref(), &wanted, &object, from_file).await?;
            }
        }
        Ok((id, revision))
    }

    fn api(&self) -> &Api {
        self.applying.api
    }

    /// The check that this apply still has the project's lock.
    fn has_lock(&self) -> Result<Write> {
        let projects = self.api().pipeline.store.projects();
        projects.has_lock(&self.applying.apply.project, &self.token)
    }

    async fn agent(
        &self,
        found: Option<&EntityRecord>,
        id: EntityId,
        agent: &RevisedAgent,
        object: &ObjectRecord,
        from_file: FromFile,
    ) -> Result<Option<u64>> {
        let api = self.api();
        let source = match from_file.managed_by.clone() {
            Some(ManagedBy { project, path, commit, .. }) => {
                RevisionSource::Apply { project, path, commit }
            }
            None => RevisionSource::Api,
        };
        let by = self.applying.caller.into();
        let made = Made { by, source, from_file: Some(from_file) };
        let settings = Spec::settings(agent, Some(object.external_id.clone()));
        let entity: Entity = if let Some(found) = found {
            entities::apply(api, found, settings, &made).await?
        } else {
            let now = api.pipeline.now();
            api.pipeline.store.entities().create_from_file(id, settings, &made, now).await?
        };
        Ok(entity.revision)
    }

    async fn space(
        &self,
        work: SpaceWork,
        object: ObjectRecord,
        before: Option<ObjectRecord>,
        mut from_file: FromFile,
    ) -> Result<()> {
        let ObjectId::Space { id } = object.id else { return Ok(()) };
        let Applying { api, caller, apply } = self.applying;
        let (store, now) = (&api.pipeline.store, api.pipeline.now());
        let name = store.projects().space_named(&object.external_id).await?;
        if name != Some(id) {
            from_file.writes.push(name_space(&object.external_id, id, name)?);
        }
        let SpaceWork { found, settings, patch, wanted } = work;
        let is_settled = before.as_ref().is_some_and(|it| it.fields == object.fields)
            && found.as_ref().is_some_and(|(record, _)| {
                let path = from_file.managed_by.as_ref().and_then(|it| it.path.as_ref());
                let managed = record.managed_by.as_ref();
                let is_managed = managed.is_some_and(|it| it.path.as_ref() == path);
                record.settings == settings && is_managed
            });
        let mut object = object;
        match &found {
            // Only members change.
            Some(_) if is_settled => object.rev -= 1,
            Some((record, roster)) if record.settings != settings => {
                let limits = record.operator_limits.after(&patch, &settings);
                let reported = Reported { space: id, roster, by: caller, at: now };
                let changed = store.spaces();
                changed.change(record, &settings, limits, reported, Some(from_file)).await?;
                announce_change(api, id, now).await?;
            }
            Some((record, _)) => store.spaces().manage(record, from_file).await?,
            None => {
                let limits = OperatorLimits::default();
                let limits = limits.after(&patch, &settings);
                store.spaces().create_from_file(id, settings, limits, from_file, now).await?;
            }
        }
        self.members(id, found.is_none(), &wanted).await?;
        if object.members != wanted.applied {
            let rev = object.rev + 1;
            let after = ObjectRecord { members: wanted.applied, rev, ..object.clone() };
            store.projects().put(&apply.project, &after, &object, self.has_lock()?).await?;
        }
        Ok(())
    }

    async fn plan(
        &self,
        agent: EntityId,
        seen: Option<&PlanSpec>,
        wanted: &PlanSpec,
        object: &ObjectRecord,
        from_file: FromFile,
    ) -> Result<()> {
        let (api, ObjectId::Plan { id, .. }) = (self.api(), object.id) else { return Ok(()) };
        let config = api.pipeline.store.entities().agent(agent).await?.agent;
        let set = SetPlan {
            id,
            known: seen.is_some(),
            change: wanted.change_since(seen),
            chain_depth: 0,
            max_chain_depth: config.map_or(0, |config| config.max_chain_depth),
            pointer: String::new(),
        };
        let FromFile { managed_by, writes } = from_file;
        let Some(managed_by) = managed_by else { return Ok(()) };
        let by = ChangedBy::File(api.pipeline.token(), writes);
        api.pipeline.set_plan_from_file(agent, &set, seen, &managed_by, &by).await
    }

    /// Ends an object that no file names any more.
    async fn end(&self, existing: Existing, writes: Vec<Write>) -> Result<()> {
        let api = self.api();
        let (store, now) = (&api.pipeline.store, api.pipeline.now());
        match existing {
            Existing::Agent(record) => {
                // It may have left a space of the same apply, which changes its record and not it.
                let current = store.entities().record(record.entity.id).await?;
                if current.entity.revision != record.entity.revision {
                    return Err(changed_meanwhile());
                }
                store.entities().retire_with(&current, &writes, now).await?;
                api.pipeline.settle_entity(record.entity.id).await
            }
            Existing::Space(record, _) => {
                let managed = record.managed_by.as_ref();
                let name = managed.and_then(|it| it.external_id.as_deref());
                let unnamed = name.map(|name| unname_space(name, record.id)).transpose()?;
                let writes = writes.into_iter().chain(unnamed).collect();
                store.spaces().manage(&record, FromFile { managed_by: None, writes }).await
            }
            Existing::Plan(agent, plan) => {
                let by = ChangedBy::File(api.pipeline.token(), writes);
                store.plans().delete(agent, &BTreeSet::from([plan.id]), &by).await.map(drop)
            }
        }
    }

    /// Adds and removes members of a space.
    async fn members(&self, space: SpaceId, is_new: bool, wanted: &Wanted) -> Result<()> {
        let Applying { api, caller, .. } = self.applying;
        let mut entities = Vec::with_capacity(wanted.named.len());
        for member in &wanted.named {
            if is_new || wanted.changes_member(member.id) {
                entities.push((self.entity(member.id).await?, member.role));
            }
        }
        if is_new {
            let roles: BTreeMap<EntityId, Role> =
                entities.iter().map(|(it, role)| (it.id, role.unwrap_or_default())).collect();
            let entities: Vec<_> = entities.into_iter().map(|(entity, _)| entity).collect();
            let role_of = |id| roles.get(&id).copied().unwrap_or_default();
            return api.pipeline.join_many(space, &entities, role_of).await;
        }
        for (entity, role) in entities {
            api.pipeline.admit(caller, space, &entity, role).await?;
        }
        for id in &wanted.dropped {
            match api.pipeline.dismiss(caller, space, *id).await {
                Ok(()) | Err(Error::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// A member. A person whom only files know yet is created.
    async fn entity(&self, id: EntityId) -> Result<Entity> {
        let entities = self.api().pipeline.store.entities();
        let Some(name) = self.found.names.new_person(id) else {
            return entities.get(id).await;
        };
        match entities.get(id).await {
            Err(Error::NotFound(_)) => {
                entities.create(id, as_person(name), None, self.api().pipeline.now()).await
            }
            found => found,
        }
    }
}

impl Planned {
    /// When it is written: agents first, then spaces, plans, and what ends.
    fn turn(&self) -> u8 {
        match self.work.as_ref().map(|work| &work.what) {
            Some(What::Agent { .. }) => 0,
            Some(What::Space(_)) => 1,
            Some(What::Plan { .. }) => 2,
            Some(What::End(_) | What::Forget) | None => 3,
        }
    }
}
