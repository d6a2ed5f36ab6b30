//! Compares files with what there is: plans the changes of each object, and finds what people have
//! changed by hand.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::{Map, Value};
use smartspace_domain::{
    Error, Fault, Result,
    agents::revisions::RevisedAgent,
    entities::EntityType,
    errors::Faults,
    field_changes::{FieldChange, compare},
    ids::EntityId,
    mentions,
    projects::{
        AppliedFields, Drift, ManagedBy, ManagedObject, ObjectAction, ObjectKind, ObjectResult,
        PlanSpec, Spec, drift_of, leaves, merged,
    },
    spaces::SpaceSettings,
    templates::secrets_of,
};
use smartspace_store::{
    entities::EntityRecord,
    projects::{ObjectId, ObjectRecord},
    spaces::{SpaceRecord, rosters::Roster},
};

use super::{
    Applying,
    found::{Existing, Found, Target},
    members::Wanted,
    of_object,
};
use crate::{Api, routes::spaces::check_router};

/// The result of an object, and the work that leads to it.
pub(super) struct Planned {
    pub(super) result: ObjectResult,
    /// `None` if the object is as its file says.
    pub(super) work: Option<Box<Work>>,
}

/// A change of an object.
pub(super) struct Work {
    /// The record to store with the change. It has the new members only when all have joined.
    pub(super) object: ObjectRecord,
    pub(super) before: Option<ObjectRecord>,
    /// The files that manage the object after it. `None` if it ends.
    pub(super) managed_by: Option<ManagedBy>,
    /// The project that managed it before.
    pub(super) other: Option<ManagedBy>,
    pub(super) what: What,
}

pub(super) enum What {
    Agent {
        found: Option<Box<EntityRecord>>,
        id: EntityId,
        agent: Box<RevisedAgent>,
    },
    Space(Box<SpaceWork>),
    Plan {
        agent: EntityId,
        seen: Option<Box<PlanSpec>>,
        wanted: Box<PlanSpec>,
    },
    /// Ends an object that no file names any more.
    End(Box<Existing>),
    /// Deletes the record of an object that is gone already, or belongs to others.
    Forget,
}

pub(super) struct SpaceWork {
    pub(super) found: Option<(SpaceRecord, Arc<Roster>)>,
    pub(super) settings: SpaceSettings,
    /// The settings that the file names, as a patch.
    pub(super) patch: Map<String, Value>,
    pub(super) wanted: Wanted,
}

/// Plans the changes of all objects. Returns also the faults of the request.
pub(super) async fn plan(
    applying: Applying<'_>,
    found: &Found,
) -> Result<(Vec<Planned>, Vec<Fault>)> {
    let Applying { api, apply, .. } = applying;
    let mut planned = Vec::with_capacity(apply.objects.len());
    let mut faults = Vec::new();
    let mut names = AgentNames::default();
    for (index, (object, target)) in apply.objects.iter().zip(&found.targets).enumerate() {
        if let Some(wrong) = &target.wrong_id {
            faults.push(Fault::new(format!("/objects/{index}/id"), wrong.clone()));
            continue;
        }
        let (spec, wrong) = found.names.referred(object);
        if !wrong.is_empty() {
            faults.extend(of_object(index, Error::Invalid(wrong))?);
            continue;
        }
        match compared(applying, object, &spec, target) {
            Ok((it, wanted)) => {
                names.learn(&wanted, target);
                planned.push(it);
            }
            Err(error) => faults.extend(of_object(index, error)?),
        }
    }
    if !faults.is_empty() {
        return Ok((planned, faults));
    }
    for (index, it) in planned.iter().enumerate() {
        if let Some(What::Space(work)) = it.work.as_ref().map(|it| &it.what)
            && let Err(error) = names.check(api, found, work).await
        {
            faults.extend(of_object(index, error)?);
        }
    }
    Ok((planned, faults))
}

/// Adds who has made a drift, and which secrets this deployment lacks.
pub(super) async fn explain(api: &Api, planned: &mut [Planned]) -> Result<()> {
    for it in planned {
        warn_of_secrets(api, it).await?;
        explain_drift(api, &mut it.result).await?;
    }
    Ok(())
}

/// An object as it is and as it was applied last, beside what its file names.
struct Sides<'a> {
    target: &'a Target,
    /// The object as it is.
    now: Option<Map<String, Value>>,
    /// The record of the last apply, if it is about this object.
    applied: Option<&'a ObjectRecord>,
    /// The fields that the file names, and those that it named before.
    named: Vec<String>,
    dropped: Vec<String>,
}

/// How an object differs from its file.
struct Differences {
    /// The named fields, as they will be. Without members.
    fields: AppliedFields,
    changes: Vec<FieldChange>,
    drift: Vec<Drift>,
    /// The members of a space.
    members: Option<Wanted>,
}

impl<'a> Sides<'a> {
    fn of(object: &ManagedObject, spec: &Map<String, Value>, target: &'a Target) -> Result<Self> {
        let now =
            target.existing.as_ref().map(|it| it.document().ok_or_else(|| other_kind(object)));
        let now = now.transpose()?;
        let record = target.record.as_ref();
        // The record of an object that is gone does not count for a new one.
        let applied = record.filter(|record| target.id == Some(record.id) && now.is_some());
        let named = leaves(spec);
        let before = applied.into_iter().flat_map(|it| it.fields.keys().cloned());
        let dropped = before.filter(|pointer| !named.contains(pointer)).collect();
        Ok(Self { target, now, applied, named, dropped })
    }

    fn roster(&self) -> Option<&'a Roster> {
        match &self.target.existing {
            Some(Existing::Space(_, roster)) => Some(roster),
            _ => None,
        }
    }

    fn differences(&self, wanted: &Spec) -> Differences {
        let after = wanted.document();
        let fields = self.named.iter();
        let fields = fields.map(|pointer| (pointer.clone(), value_at(&after, pointer))).collect();
        let mut changes = Vec::new();
        let mut drift = Vec::new();
        if let Some(now) = &self.now {
            changes = compare(now, &after);
            let applied = self.applied.map(|it| &it.fields);
            let of = |applied| drift_of(applied, |it| value_at(now, it), |it| value_at(&after, it));
            drift.extend(applied.map(of).unwrap_or_default());
        }
        let members = match wanted {
            Spec::Space(_, members) => {
                let applied = self.applied.map(|it| &it.members);
                Some(Wanted::of(members.clone(), applied, self.roster()))
            }
            _ => None,
        };
        if let (Some(members), Some(_)) = (&members, &self.now) {
            drift.extend(members.drift.clone());
            changes.extend(members.changes.clone());
        }
        Differences { fields, changes, drift, members }
    }
}

/// Compares a file, what was applied last, and what there is now.
fn compared(
    applying: Applying<'_>,
    object: &ManagedObject,
    spec: &Map<String, Value>,
    target: &Target,
) -> Result<(Planned, Spec)> {
    let mut settings = spec.clone();
    settings.shift_remove("members");
    let sides = Sides::of(object, &settings, target)?;
    let wanted = Spec::read(object.kind, sides.now.as_ref(), spec, &sides.dropped)?;
    check(applying, &wanted, target)?;
    let differences = sides.differences(&wanted);
    let managed = target.existing.as_ref().and_then(Existing::managed_by);
    let is_own =
        managed.is_some_and(|it| it.is(applying.apply.project.as_str(), &object.external_id));
    let result = result_of(object, &sides, &differences, managed, is_own);
    let empty = AppliedFields::new();
    let members = differences.members.as_ref().map_or(&empty, |it| &it.applied);
    let is_same = result.action == ObjectAction::Unchanged
        && sides
            .applied
            .is_some_and(|it| it.fields == differences.fields && it.members == *members)
        && managed.is_some_and(|it| it.path == object.path);
    let work = if is_same {
        None
    } else {
        let patch = merged(settings, &sides.dropped);
        let before = target.record.clone();
        let other = managed.filter(|_| !is_own).cloned();
        let managed_by = Some(managed_by(applying, object));
        work_of(object, target, &wanted, differences, patch)?
            .map(|(object, what)| Box::new(Work { object, before, managed_by, other, what }))
    };
    Ok((Planned { result, work }, wanted))
}

fn result_of(
    object: &ManagedObject,
    sides: &Sides<'_>,
    differences: &Differences,
    managed: Option<&ManagedBy>,
    is_own: bool,
) -> ObjectResult {
    let Target { id, existing, record, .. } = sides.target;
    let is_adopted = existing.is_some() && !is_own;
    let is_equal = differences.changes.is_empty();
    let error = match (existing, managed, record) {
        (None, _, Some(_)) => Some(
            "it was retired or deleted by hand: force creates it anew, without its history"
                .to_owned(),
        ),
        (Some(_), Some(other), _) if is_adopted && !is_equal => {
            Some(format!("the project {} manages it: force takes it over", other.project))
        }
        (Some(_), None, _) if is_adopted && !is_equal => {
            Some("it was made by hand and differs: force makes it as the file says".to_owned())
        }
        _ => None,
    };
    let action = match existing {
        None => ObjectAction::Created,
        Some(_) if is_equal && !is_adopted => ObjectAction::Unchanged,
        Some(_) => ObjectAction::Changed,
    };
    let mut warnings = Vec::new();
    if is_adopted && error.is_none() {
        warnings.push("it existed already: this project manages it from now on".to_owned());
    }
    ObjectResult {
        kind: object.kind,
        external_id: object.external_id.clone(),
        id: existing.as_ref().and(id.map(ObjectId::shown)),
        action,
        revision: existing.as_ref().and_then(Existing::revision),
        changes: differences.changes.clone(),
        drift: differences.drift.clone(),
        warnings,
        error,
    }
}

/// The work on an object, with its record after that. `None` for an object without an id.
fn work_of(
    object: &ManagedObject,
    target: &Target,
    wanted: &Spec,
    differences: Differences,
    patch: Map<String, Value>,
) -> Result<Option<(ObjectRecord, What)>> {
    let Differences { fields, members, .. } = differences;
    let Some(id) = target.id else { return Ok(None) };
    let rev = target.record.as_ref().map_or(0, |record| record.rev) + 1;
    let applied = target.record.as_ref().filter(|record| record.id == id);
    let stored = applied.map(|it| it.members.clone()).unwrap_or_default();
    let external_id = object.external_id.clone();
    let record = ObjectRecord { external_id, id, fields, members: stored, rev };
    let what = match (wanted, id) {
        (Spec::Agent(agent), ObjectId::Agent { id }) => {
            let found = match &target.existing {
                Some(Existing::Agent(found)) => Some(found.clone()),
                _ => None,
            };
            What::Agent { found, id, agent: agent.clone() }
        }
        (Spec::Space(settings, _), ObjectId::Space { .. }) => {
            let found = match &target.existing {
                Some(Existing::Space(found, roster)) => Some(((**found).clone(), roster.clone())),
                _ => None,
            };
            let (settings, wanted) = ((**settings).clone(), members.unwrap_or_default());
            What::Space(Box::new(SpaceWork { found, settings, patch, wanted }))
        }
        (Spec::Plan(plan), ObjectId::Plan { agent, .. }) => {
            if agent != plan.agent {
                let expected = "can't be changed: give the plan another file name";
                return Err(Error::invalid("/agent", expected));
            }
            let seen = match &target.existing {
                Some(Existing::Plan(agent, plan)) => PlanSpec::of(*agent, plan),
                _ => None,
            };
            What::Plan { agent, seen: seen.map(Box::new), wanted: Box::new(plan.clone()) }
        }
        _ => return Ok(None),
    };
    Ok(Some((record, what)))
}

fn managed_by(applying: Applying<'_>, object: &ManagedObject) -> ManagedBy {
    let Applying { api, apply, .. } = applying;
    ManagedBy {
        project: apply.project.as_str().to_owned(),
        path: object.path.clone(),
        external_id: Some(object.external_id.clone()),
        commit: apply.source.commit.clone(),
        applied_at: Some(api.pipeline.now()),
        revision: None,
    }
}

fn other_kind(object: &ManagedObject) -> Error {
    let detail = match object.kind {
        ObjectKind::Agent => format!("expected an agent: {:?} is a person", object.external_id),
        _ => "expected a plan that repeats: one-time plans are not managed by files".to_owned(),
    };
    Error::invalid("", detail)
}

/// The checks of the routes that change such an object.
fn check(applying: Applying<'_>, wanted: &Spec, target: &Target) -> Result<()> {
    let api = applying.api;
    let before = match &target.existing {
        Some(Existing::Space(record, _)) => Some(&record.settings),
        _ => None,
    };
    wanted.check(before, api.pipeline.now())?;
    match wanted {
        Spec::Agent(agent) => {
            let mut faults = Faults::default();
            agent.agent.check_providers(&api.providers, &mut faults);
            faults.done()
        }
        Spec::Space(settings, _) => check_router(api, before, settings),
        Spec::Plan(_) => Ok(()),
    }
}

/// The value of a field. Null stands for no value.
pub(super) fn value_at(document: &Map<String, Value>, pointer: &str) -> Value {
    let rest = pointer.strip_prefix('/').unwrap_or(pointer);
    let (first, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let first = first.replace("~1", "/").replace("~0", "~");
    document.get(&first).and_then(|value| value.pointer(rest)).cloned().unwrap_or(Value::Null)
}

/// The names of agents, which are unique within a space.
#[derive(Default)]
struct AgentNames(BTreeMap<EntityId, String>);

impl AgentNames {
    /// Learns the name that a file gives an agent.
    fn learn(&mut self, wanted: &Spec, target: &Target) {
        if let (Spec::Agent(agent), Some(ObjectId::Agent { id })) = (wanted, target.id) {
            self.0.insert(id, agent.name.clone());
        }
    }

    /// Checks the members of a space: that they exist, that no two agents have one name, and that
    /// the admin is an agent among them.
    async fn check(&mut self, api: &Api, found: &Found, work: &SpaceWork) -> Result<()> {
        let roster = work.found.as_ref().map(|(_, roster)| &**roster);
        let mut names = BTreeSet::new();
        let mut agents = BTreeSet::new();
        for id in work.wanted.all(roster) {
            if found.names.new_person(id).is_some() {
                continue;
            }
            let member = roster.and_then(|roster| roster.member(id));
            let name = match (self.0.get(&id), member) {
                (Some(name), _) => Some(name.clone()),
                (None, Some(member)) => {
                    (member.kind == EntityType::Agent).then(|| member.name.clone())
                }
                (None, None) => match api.pipeline.store.entities().get(id).await {
                    Ok(entity) => entity.agent.is_some().then_some(entity.name),
                    Err(Error::NotFound(_)) => {
                        let at = work.wanted.named.iter().position(|member| member.id == id);
                        let pointer = format!("/members/{}/id", at.unwrap_or_default());
                        return Err(Error::invalid(pointer, format!("there is no entity {id}")));
                    }
                    Err(error) => return Err(error),
                },
            };
            let Some(name) = name else { continue };
            agents.insert(id);
            if !names.insert(mentions::fold(&name)) {
                let detail = format!("two of the agents would be named {name:?} in this space");
                return Err(Error::invalid("/members", detail));
            }
        }
        if work.settings.admin_agent_id.is_some_and(|admin| !agents.contains(&admin)) {
            return Err(Error::invalid("/adminAgentId", "expected an agent among the members"));
        }
        Ok(())
    }
}

/// Names the secrets of an agent that this deployment does not have.
async fn warn_of_secrets(api: &Api, planned: &mut Planned) -> Result<()> {
    let Some(What::Agent { agent, .. }) = planned.work.as_ref().map(|it| &it.what) else {
        return Ok(());
    };
    let mut named = BTreeSet::new();
    for webhook in agent.agent.webhooks.values() {
        named.extend(webhook.secrets.iter().cloned());
    }
    let config = serde_json::to_value(&agent.agent);
    collect_secrets(&config.unwrap_or_default(), &mut named);
    if named.is_empty() {
        return Ok(());
    }
    let known = api.secrets.known().await.map_err(|error| Error::Retry(error.to_string()))?;
    let missing = named.into_iter().filter(|name| known.get(name).is_none());
    let warnings = missing.map(|name| format!("the secret {name} is not set here"));
    planned.result.warnings.extend(warnings);
    Ok(())
}

fn collect_secrets(value: &Value, named: &mut BTreeSet<String>) {
    match value {
        Value::String(text) if text.contains("${secret.") => {
            named.extend(secrets_of(text).into_iter().map(str::to_owned));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_secrets(item, named)),
        Value::Object(fields) => fields.values().for_each(|field| collect_secrets(field, named)),
        _ => {}
    }
}

/// Says which revision of an agent has made each drift, and who.
async fn explain_drift(api: &Api, result: &mut ObjectResult) -> Result<()> {
    let agent = result.id.as_ref().and_then(|id| id.parse::<EntityId>().ok());
    let (Some(agent), false) = (agent, result.drift.is_empty()) else { return Ok(()) };
    let revisions = api.pipeline.store.entities().revisions(agent).await?;
    for drift in &mut result.drift {
        let is_same = |pointer: &str| {
            let (one, other) = (format!("{pointer}/"), format!("{}/", drift.pointer));
            one.starts_with(&other) || other.starts_with(&one)
        };
        let made = revisions.iter().find(|it| it.changes.iter().any(|it| is_same(&it.pointer)));
        if let Some(made) = made {
            (drift.revision, drift.at, drift.by) =
                (Some(made.revision), Some(made.at), Some(made.by));
        }
    }
    Ok(())
}
