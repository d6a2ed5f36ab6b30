//! The ids that stand for names in files: of objects of the request, and of entities and spaces
//! that exist.

use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt, TryStreamExt, stream};
use serde_json::{Map, Value};
use smartspace_domain::{
    Error, Fault, Result,
    entities::{EntitySettings, EntityType},
    ids::{EntityId, SpaceId},
    projects::{Apply, ManagedObject, ObjectKind, Referred, refer},
};
use unicode_normalization::UnicodeNormalization;

use crate::Api;

/// How many items are read at the same time.
pub(super) const AT_ONCE: usize = 8;

/// Names in files, with their ids.
#[derive(Debug, Default)]
pub(super) struct Names {
    entities: BTreeMap<String, EntityId>,
    spaces: BTreeMap<String, SpaceId>,
    /// People that members name and that do not exist yet.
    new_people: BTreeMap<String, EntityId>,
}

impl Names {
    pub(super) fn name_agent(&mut self, object: &ManagedObject, id: EntityId) {
        self.entities.insert(object.external_id.clone(), id);
    }

    pub(super) fn name_space(&mut self, object: &ManagedObject, id: SpaceId) {
        self.spaces.insert(object.external_id.clone(), id);
    }

    pub(super) fn agent(&self, name: &str) -> Option<EntityId> {
        self.entities.get(&normal(name)).copied()
    }

    /// The name of a person who does not exist yet.
    pub(super) fn new_person(&self, id: EntityId) -> Option<&str> {
        self.new_people.iter().find(|(_, new)| **new == id).map(|(name, _)| name.as_str())
    }

    /// Looks up the names that no object of the request has. Members that nobody knows are new
    /// people.
    pub(super) async fn look_up(&mut self, api: &Api, apply: &Apply) -> Result<()> {
        let (mut entities, mut spaces, mut members) =
            (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for object in &apply.objects {
            refer(object.kind, &mut object.spec.clone(), &mut |referred, pointer, name| {
                let name = normal(name);
                match referred {
                    Referred::Entity if pointer.starts_with("/members/") => {
                        members.insert(name.clone());
                        entities.insert(name)
                    }
                    Referred::Entity => entities.insert(name),
                    Referred::Space => spaces.insert(name),
                };
                None
            });
        }
        entities.retain(|name| !self.entities.contains_key(name));
        spaces.retain(|name| !self.spaces.contains_key(name));
        let store = &api.pipeline.store;
        let mut reads = Vec::with_capacity(entities.len());
        for name in entities {
            reads.push(async move {
                let known = store.entities().with_external_id(&name).await?;
                Ok::<_, Error>((name, known.map(|known| known.entity_id)))
            });
        }
        let found: Vec<_> = stream::iter(reads).buffer_unordered(AT_ONCE).try_collect().await?;
        for (name, id) in found {
            match id {
                Some(id) => {
                    self.entities.insert(name, id);
                }
                None if members.contains(&name) && as_person(&name).check().is_ok() => {
                    let id = EntityId::new(api.pipeline.now(), api.pipeline.ids.random());
                    self.new_people.insert(name, id);
                }
                None => {}
            }
        }
        for name in spaces {
            if let Some(id) = store.projects().space_named(&name).await? {
                self.spaces.insert(name, id);
            }
        }
        Ok(())
    }

    /// What a file says, with ids in place of names.
    pub(super) fn referred(&self, object: &ManagedObject) -> (Map<String, Value>, Vec<Fault>) {
        let mut spec = object.spec.clone();
        let faults = refer(object.kind, &mut spec, &mut |referred, pointer, name| {
            let name = normal(name);
            match referred {
                Referred::Space => self.spaces.get(&name).map(ToString::to_string),
                Referred::Entity => {
                    let is_member = pointer.starts_with("/members/");
                    let new = self.new_people.get(&name).filter(|_| is_member);
                    self.entities.get(&name).or(new).map(ToString::to_string)
                }
            }
        });
        (spec, faults)
    }
}

/// The name of the agent of a plan, as its file says it.
pub(super) fn agent_named(object: &ManagedObject) -> Option<&str> {
    (object.kind == ObjectKind::Plan).then_some(())?;
    object.spec.get("agent")?.as_str()
}

/// A person who is known by a name in files only.
pub(super) fn as_person(name: &str) -> EntitySettings {
    EntitySettings {
        kind: EntityType::Human,
        name: name.to_owned(),
        external_id: Some(name.to_owned()),
        agent: None,
    }
}

fn normal(name: &str) -> String {
    name.nfc().collect()
}
