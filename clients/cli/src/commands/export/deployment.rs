//! Reads all agents, spaces and plans of a deployment.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value};
use smartspace_client::Session;
use smartspace_domain::{
    agents::revisions::RevisedAgent,
    entities::Entity,
    plans::Plan,
    projects::{ManagedBy, ObjectKind, PlanSpec, Spec},
    spaces::{Member, Role, Space},
};

use crate::{connection::all, folder::is_external_id, output::Stop};

/// An object of a deployment.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) kind: ObjectKind,
    pub(super) id: String,
    name: String,
    /// Its name in files.
    pub(super) external_id: String,
    /// Whether the deployment knows it by that name.
    pub(super) is_known: bool,
    /// The project that manages it.
    pub(super) project: Option<String>,
    /// All of it as one document, with ids.
    pub(super) document: Map<String, Value>,
    /// The members of a space.
    pub(super) members: Vec<(String, Role)>,
}

impl Object {
    pub(super) fn is_named(&self, name: &str) -> bool {
        [&self.id, &self.name, &self.external_id].into_iter().any(|own| own == name)
    }
}

/// What a deployment has.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) objects: Vec<Object>,
    /// The names in files of entities and spaces, by id.
    pub(super) names: BTreeMap<String, String>,
    taken: BTreeSet<(ObjectKind, String)>,
}

#[derive(Debug, Deserialize)]
struct Listed {
    id: String,
}

pub(super) async fn read(session: &Session) -> Result<Found, Stop> {
    let mut found = Found::default();
    let entities: Vec<Entity> = all(session, "/v1/entities").await?;
    let listed: Vec<Listed> = all(session, "/v1/spaces").await?;
    let mut spaces: Vec<Space> = Vec::with_capacity(listed.len());
    for Listed { id } in listed {
        spaces.push(session.get(&format!("/v1/spaces/{id}"), &[]).await?);
    }
    for entity in &entities {
        if let Some(external_id) = &entity.external_id {
            found.names.insert(entity.id.to_string(), external_id.clone());
            found.taken.insert((ObjectKind::Agent, external_id.clone()));
        }
    }
    for space in &spaces {
        if let Some(external_id) = named(space.managed_by.as_ref()) {
            found.taken.insert((ObjectKind::Space, external_id));
        }
    }
    let mut plans = Vec::new();
    for entity in entities {
        let Entity { id, name, external_id, agent, managed_by, .. } = entity;
        let Some(agent) = agent else { continue };
        let of_agent: Vec<Plan> = all(session, &format!("/v1/agents/{id}/plans")).await?;
        let known = external_id.or_else(|| named(managed_by.as_ref()));
        let document = RevisedAgent { name: name.clone(), agent }.fields();
        let (kind, id) = (ObjectKind::Agent, id.to_string());
        let agent = found.add(kind, id, &name, known, managed_by, document, Vec::new());
        plans.extend(of_agent.into_iter().map(|plan| (agent.clone(), plan)));
    }
    for space in spaces {
        let (name, known) = (space.settings.name.clone(), named(space.managed_by.as_ref()));
        let settings = Spec::Space(Box::new(space.all_settings()), Vec::new());
        let members = space.members.iter().filter(|member| !member.guest);
        let members = members.map(|Member { id, role, .. }| (id.to_string(), *role)).collect();
        let (kind, id) = (ObjectKind::Space, space.id.to_string());
        found.add(kind, id, &name, known, space.managed_by, settings.document(), members);
    }
    for ((agent, agent_id), plan) in plans {
        let Ok(agent_id) = agent_id.parse() else { continue };
        // A one-time plan is no matter of files.
        let Some(spec) = PlanSpec::of(agent_id, &plan) else { continue };
        let known = named(plan.managed_by.as_ref());
        let document = Spec::Plan(spec).document();
        let (kind, id) = (ObjectKind::Plan, plan.id.to_string());
        let name = format!("{agent}-{}", plan.name);
        found.add(kind, id, &name, known, plan.managed_by, document, Vec::new());
    }
    Ok(found)
}

impl Found {
    /// Adds an object, under a name of its own if the deployment has none for it. Returns that name
    /// and the id.
    #[expect(clippy::too_many_arguments, reason = "the parts of an object")]
    fn add(
        &mut self,
        kind: ObjectKind,
        id: String,
        name: &str,
        known: Option<String>,
        managed_by: Option<ManagedBy>,
        document: Map<String, Value>,
        members: Vec<(String, Role)>,
    ) -> (String, String) {
        let is_known = known.is_some();
        let external_id = known.unwrap_or_else(|| self.free(kind, &slug(name, kind)));
        if kind != ObjectKind::Plan {
            self.names.insert(id.clone(), external_id.clone());
        }
        self.taken.insert((kind, external_id.clone()));
        let shown = (external_id.clone(), id.clone());
        let (name, project) = (name.to_owned(), managed_by.map(|it| it.project));
        self.objects.push(Object {
            kind,
            id,
            name,
            external_id,
            is_known,
            project,
            document,
            members,
        });
        shown
    }

    fn free(&self, kind: ObjectKind, slug: &str) -> String {
        let is_free = |name: &String| !self.taken.contains(&(kind, name.clone()));
        let numbered = (2..).map(|number| format!("{slug}-{number}"));
        let mut names = std::iter::once(slug.to_owned()).chain(numbered);
        names.find(is_free).unwrap_or_default()
    }
}

fn named(managed_by: Option<&ManagedBy>) -> Option<String> {
    managed_by?.external_id.clone()
}

/// A name that may be a file's: `Help desk` becomes `help-desk`.
pub(super) fn slug(name: &str, kind: ObjectKind) -> String {
    let mut slug = String::new();
    for char in name.chars() {
        if char.is_ascii_alphanumeric() {
            slug.push(char.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let mut slug = slug.trim_end_matches('-');
    if slug.len() > 60 {
        slug = slug[..60].trim_end_matches('-');
    }
    if is_external_id(slug) { slug.to_owned() } else { kind.as_str().to_owned() }
}
