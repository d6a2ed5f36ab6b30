//! What there is of the objects of a request.

use std::sync::Arc;

use futures::{StreamExt, TryFutureExt, TryStreamExt, stream};
use serde_json::{Map, Value};
use smartspace_domain::{
    Error, Result,
    agents::revisions::RevisedAgent,
    entities::Entity,
    ids::{EntityId, PlanId, SpaceId},
    plans::Plan,
    projects::{Apply, ManagedBy, ManagedObject, ObjectKind, PlanSpec},
};
use smartspace_store::{
    entities::EntityRecord,
    projects::{ObjectId, ObjectRecord, ProjectRecord},
    spaces::{SpaceRecord, rosters::Roster},
};

use super::references::{AT_ONCE, Names, agent_named};
use crate::Api;

/// An object that exists.
#[derive(Clone, Debug)]
pub(super) enum Existing {
    Agent(Box<EntityRecord>),
    Space(Box<SpaceRecord>, Arc<Roster>),
    Plan(EntityId, Box<Plan>),
}

/// What there is of an object of the request.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// The id that it has, or gets. Absent for a plan of an agent that nobody knows.
    pub(super) id: Option<ObjectId>,
    pub(super) existing: Option<Existing>,
    /// What this project applied last, to an object that may be gone.
    pub(super) record: Option<ObjectRecord>,
    /// Why its `id` names no object.
    pub(super) wrong_id: Option<String>,
}

/// What there is of a request.
pub(super) struct Found {
    pub(super) project: ProjectRecord,
    /// In the order of the objects.
    pub(super) targets: Vec<Target>,
    pub(super) names: Names,
}

impl Found {
    pub(super) async fn read(api: &Api, apply: &Apply, is_dry: bool) -> Result<Self> {
        let project = api.pipeline.store.projects().get(&apply.project).await?;
        if !is_dry {
            project.must_be_free(api.pipeline.now())?;
        }
        let mut names = Names::default();
        let mut targets: Vec<Option<Target>> = vec![None; apply.objects.len()];
        // A plan's id follows from its agent's.
        for kinds in [&[ObjectKind::Agent, ObjectKind::Space][..], &[ObjectKind::Plan]] {
            let mut reads = Vec::new();
            for (index, object) in apply.objects.iter().enumerate() {
                if kinds.contains(&object.kind) {
                    let record = project.object(object.kind, &object.external_id).cloned();
                    let target = target(api, object, record, &names);
                    reads.push(target.map_ok(move |target| (index, target)));
                }
            }
            let read = stream::iter(reads).buffer_unordered(AT_ONCE);
            let read: Vec<_> = read.try_collect().await?;
            for (index, target) in read {
                match target.id {
                    Some(ObjectId::Agent { id }) => names.name_agent(&apply.objects[index], id),
                    Some(ObjectId::Space { id }) => names.name_space(&apply.objects[index], id),
                    _ => {}
                }
                targets[index] = Some(target);
            }
            if kinds.contains(&ObjectKind::Agent) {
                names.look_up(api, apply).await?;
            }
        }
        Ok(Self { project, targets: targets.into_iter().flatten().collect(), names })
    }
}

async fn target(
    api: &Api,
    object: &ManagedObject,
    record: Option<ObjectRecord>,
    names: &Names,
) -> Result<Target> {
    let none = Target { id: None, existing: None, record: record.clone(), wrong_id: None };
    if let Some(record) = &record
        && let Some(existing) = existing(api, record.id).await?
    {
        return Ok(Target { id: Some(record.id), existing: Some(existing), ..none });
    }
    if let Some(text) = &object.id {
        let id = match given_id(object, text, names) {
            Some(id) => existing(api, id).await?.map(|existing| (id, existing)),
            None => None,
        };
        return Ok(if let Some((id, existing)) = id {
            Target { id: Some(id), existing: Some(existing), ..none }
        } else {
            let kind = object.kind.as_str();
            let wrong = format!("there is no {kind} {text:?}; leave `id` out to create one");
            Target { wrong_id: Some(wrong), ..none }
        });
    }
    let named = named(api, object, names).await?;
    let existing = match named {
        Some(id) => existing(api, id).await?,
        None => None,
    };
    // The name of an agent or a space that is gone is free for a new one.
    let is_kept = existing.is_some() || object.kind == ObjectKind::Plan;
    let id = if is_kept { named } else { new_id(api, object.kind) };
    Ok(Target { id, existing, ..none })
}

fn new_id(api: &Api, kind: ObjectKind) -> Option<ObjectId> {
    let (now, random) = (api.pipeline.now(), api.pipeline.ids.random());
    match kind {
        ObjectKind::Agent => Some(ObjectId::Agent { id: EntityId::new(now, random) }),
        ObjectKind::Space => Some(ObjectId::Space { id: SpaceId::new(now, random) }),
        ObjectKind::Plan => None,
    }
}

/// The id that an object names itself.
fn given_id(object: &ManagedObject, text: &str, names: &Names) -> Option<ObjectId> {
    match object.kind {
        ObjectKind::Agent => Some(ObjectId::Agent { id: text.parse().ok()? }),
        ObjectKind::Space => Some(ObjectId::Space { id: text.parse().ok()? }),
        ObjectKind::Plan => {
            let agent = agent_of(object, names)?;
            Some(ObjectId::Plan { agent, id: text.parse().ok()? })
        }
    }
}

/// The id of the object that has this name, or of the plan that gets it.
async fn named(api: &Api, object: &ManagedObject, names: &Names) -> Result<Option<ObjectId>> {
    let (store, name) = (&api.pipeline.store, object.external_id.as_str());
    Ok(match object.kind {
        ObjectKind::Agent => {
            let known = store.entities().with_external_id(name).await?;
            known.map(|known| ObjectId::Agent { id: known.entity_id })
        }
        ObjectKind::Space => {
            store.projects().space_named(name).await?.map(|id| ObjectId::Space { id })
        }
        ObjectKind::Plan => agent_of(object, names)
            .map(|agent| ObjectId::Plan { agent, id: PlanId::of_file(agent, name) }),
    })
}

fn agent_of(object: &ManagedObject, names: &Names) -> Option<EntityId> {
    let name = agent_named(object)?;
    name.parse().ok().or_else(|| names.agent(name))
}

/// An object as it is, if it exists.
pub(super) async fn existing(api: &Api, id: ObjectId) -> Result<Option<Existing>> {
    let store = &api.pipeline.store;
    let found = match id {
        ObjectId::Agent { id } => {
            store.entities().record(id).await.map(|it| Existing::Agent(Box::new(it)))
        }
        ObjectId::Space { id } => {
            let both = futures::try_join!(store.spaces().record(id), store.members().roster(id));
            both.map(|(record, roster)| Existing::Space(Box::new(record), roster))
        }
        ObjectId::Plan { agent, id } => {
            store.plans().get(agent, id).await.map(|it| Existing::Plan(agent, Box::new(it)))
        }
    };
    match found {
        Err(Error::NotFound(_)) => Ok(None),
        found => found.map(Some),
    }
}

impl Existing {
    pub(super) fn managed_by(&self) -> Option<&ManagedBy> {
        match self {
            Self::Agent(record) => record.entity.managed_by.as_ref(),
            Self::Space(record, _) => record.managed_by.as_ref(),
            Self::Plan(_, plan) => plan.managed_by.as_ref(),
        }
    }

    pub(super) fn revision(&self) -> Option<u64> {
        match self {
            Self::Agent(record) => record.entity.revision,
            _ => None,
        }
    }

    /// The object as one document, without a space's members. `None` for a person, and for a plan
    /// that fires once.
    pub(super) fn document(&self) -> Option<Map<String, Value>> {
        let value = match self {
            Self::Agent(record) => {
                let Entity { name, agent, .. } = record.entity.clone();
                return Some(RevisedAgent { name, agent: agent? }.fields());
            }
            Self::Space(record, _) => serde_json::to_value(&record.settings),
            Self::Plan(agent, plan) => serde_json::to_value(PlanSpec::of(*agent, plan)?),
        };
        match value {
            Ok(Value::Object(fields)) => Some(fields),
            _ => None,
        }
    }
}
