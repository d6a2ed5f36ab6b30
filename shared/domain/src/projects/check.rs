//! Reads what a file says of an object, together with what the object is now, and checks it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::{PartialSchema, ToSchema};

use super::{ObjectKind, merged};
use crate::{
    Error, Result, Time,
    agents::revisions::RevisedAgent,
    entities::{EntitySettings, EntityType},
    field_changes::pointer_to,
    ids::{EntityId, PlanId},
    limits,
    memories::MemoryValue,
    names::Name,
    plans::{Plan, PlanChange, PlanStatus, Schedule},
    request_json::{self, shaped},
    spaces::{Role, SpaceSettings, naming_members},
};

/// An object as a file wants it, with the fields that the file does not name as they are now.
#[derive(Clone, Debug, PartialEq)]
pub enum Spec {
    /// An agent.
    Agent(Box<RevisedAgent>),
    /// A space, with the members that the file names.
    Space(Box<SpaceSettings>, Vec<MemberSpec>),
    /// A plan.
    Plan(PlanSpec),
}

/// A member of a space, as a file names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MemberSpec {
    /// The member.
    pub id: EntityId,
    /// Its role. Without one, a new member gets `member` and an existing one keeps its role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
}

/// A plan, as a file says it. It always repeats: a one-time plan disappears when it fires.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanSpec {
    /// The agent that the plan wakes.
    pub agent: EntityId,
    /// The plan's name, 1 to 128 characters.
    #[schema(schema_with = Name::schema)]
    pub name: String,
    /// What the agent is to do, 1 to 4,000 characters.
    #[schema(min_length = 1, max_length = 4000)]
    pub instruction: String,
    /// When the plan fires: the five fields of cron, at most 200 bytes.
    #[schema(max_length = 200)]
    pub cron: String,
    /// The IANA time zone of `cron`.
    #[serde(default = "utc")]
    #[schema(default = utc)]
    pub timezone: String,
    /// Whether the plan fires.
    #[serde(default)]
    #[schema(default = PlanStatus::default)]
    pub status: PlanStatus,
}

fn utc() -> String {
    "UTC".to_owned()
}

impl PlanSpec {
    /// A plan of an agent, if it repeats.
    pub fn of(agent: EntityId, plan: &Plan) -> Option<Self> {
        let Schedule::Cron { cron, timezone } = plan.schedule.clone() else { return None };
        let Plan { name, instruction, status, .. } = plan.clone();
        Some(Self { agent, name, instruction, cron, timezone, status })
    }

    /// The change that makes a plan so. A time that stays the same is not set anew, since a firing
    /// that is due now would be lost.
    pub fn change_since(&self, before: Option<&Self>) -> PlanChange {
        let Self { name, instruction, cron, timezone, status, .. } = self.clone();
        let is_timed = before.is_some_and(|it| it.cron == cron && it.timezone == timezone);
        let (cron, timezone) = if is_timed { (None, None) } else { (Some(cron), Some(timezone)) };
        let (name, instruction, status) = (Some(name), Some(instruction), Some(status));
        PlanChange { name, instruction, cron, timezone, status, ..PlanChange::default() }
    }
}

impl Spec {
    /// Reads a file whose external ids are ids. `now` is the object's document, without its
    /// members, and `dropped` are the fields that the file named before.
    ///
    /// # Errors
    /// `invalid`, with the place in the file.
    pub fn read(
        kind: ObjectKind,
        now: Option<&Map<String, Value>>,
        spec: &Map<String, Value>,
        dropped: &[String],
    ) -> Result<Self> {
        let now = now.cloned().unwrap_or_default();
        let mut spec = spec.clone();
        match kind {
            ObjectKind::Agent => {
                let (before, patch) = (agent_body(now), agent_body(merged(spec, dropped)));
                let settings: EntitySettings =
                    request_json::merged(Value::Object(before), &patch).map_err(of_agent)?;
                let EntitySettings { name, agent, .. } = settings;
                let Some(agent) = agent else { return Err(Error::invalid("", "no agent")) };
                Ok(Self::Agent(Box::new(RevisedAgent { name, agent })))
            }
            ObjectKind::Space => {
                let members = members(spec.remove("members"))?;
                let patch = merged(spec, dropped);
                let settings = request_json::merged(Value::Object(now), &patch);
                Ok(Self::Space(Box::new(settings.map_err(naming_members)?), members))
            }
            ObjectKind::Plan => {
                for once in ["runAfter", "scheduledAt"] {
                    if spec.contains_key(once) {
                        let detail = "expected none: a one-time plan disappears when it fires, so \
                                      files manage plans with `cron` only";
                        return Err(Error::invalid(pointer_to("", once), detail));
                    }
                }
                let patch = merged(spec, dropped);
                request_json::merged(Value::Object(now), &patch).map(Self::Plan)
            }
        }
    }

    /// Checks it as the routes that change such an object do. `before` are the settings of a space
    /// that exists.
    ///
    /// # Errors
    /// `invalid`, with the places in the file.
    pub fn check(&self, before: Option<&SpaceSettings>, now: Time) -> Result<()> {
        match self {
            Self::Agent(agent) => Self::settings(agent, None).check().map_err(of_agent),
            Self::Space(settings, _) => settings.check(before),
            Self::Plan(plan) => {
                Name::check(&plan.name).map_err(|error| error.at("/name"))?;
                MemoryValue::check(&plan.instruction).map_err(|error| error.at("/instruction"))?;
                plan.change_since(None).apply(PlanId::new(now, 0), None, now, "").map(drop)
            }
        }
    }

    /// The settings of an agent.
    pub fn settings(agent: &RevisedAgent, external_id: Option<String>) -> EntitySettings {
        let RevisedAgent { name, agent } = agent.clone();
        EntitySettings { kind: EntityType::Agent, name, external_id, agent: Some(agent) }
    }

    /// The object as one document, without a space's members.
    pub fn document(&self) -> Map<String, Value> {
        let value = match self {
            Self::Agent(agent) => return agent.fields(),
            Self::Space(settings, _) => serde_json::to_value(settings),
            Self::Plan(plan) => serde_json::to_value(plan),
        };
        match value {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        }
    }
}

/// The members of a file, each once.
fn members(written: Option<Value>) -> Result<Vec<MemberSpec>> {
    let Some(written) = written.filter(|written| !written.is_null()) else {
        return Ok(Vec::new());
    };
    let members: Vec<MemberSpec> = shaped(written).map_err(|error| error.within("/members"))?;
    if members.len() > limits::MEMBERS {
        let expected = format!("expected at most {} members", limits::MEMBERS);
        return Err(Error::invalid("/members", expected));
    }
    for (index, member) in members.iter().enumerate() {
        if members[..index].iter().any(|before| before.id == member.id) {
            return Err(Error::invalid(format!("/members/{index}"), "expected each member once"));
        }
    }
    Ok(members)
}

fn agent_body(mut spec: Map<String, Value>) -> Map<String, Value> {
    let mut body = Map::from_iter([("type".to_owned(), json!("agent"))]);
    body.extend(spec.shift_remove_entry("name"));
    body.insert("agent".to_owned(), Value::Object(spec));
    body
}

/// An error of an agent's body, as one of its file.
fn of_agent(error: Error) -> Error {
    let Error::Invalid(mut faults) = error else { return error };
    for fault in &mut faults {
        if let Some(rest) = fault.pointer.strip_prefix("/agent") {
            fault.pointer = rest.to_owned();
            let (first, with_name) =
                ("expected one of `description`", "expected one of `name`, `description`");
            fault.detail = fault.detail.replace(first, with_name);
        }
    }
    Error::Invalid(faults)
}
