//! The files of a project: two agents, a space and a plan, each with a text that changes.

use std::collections::BTreeMap;

use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Object {
    /// The agent that has the plan. It is always there.
    Keeper,
    /// The agent that comes and goes.
    Helper,
    Room,
    Report,
}

impl Object {
    const ALL: [Self; 4] = [Self::Keeper, Self::Helper, Self::Room, Self::Report];

    /// The field with its text.
    pub(super) fn pointer(self) -> &'static str {
        match self {
            Self::Keeper | Self::Helper => "/instructions",
            Self::Room => "/name",
            Self::Report => "/instruction",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Keeper => "keeper",
            Self::Helper => "helper",
            Self::Room => "room",
            Self::Report => "report",
        }
    }
}

#[derive(Clone)]
pub(super) struct Files {
    pub(super) project: &'static str,
    /// The objects of the files, with their texts.
    pub(super) texts: BTreeMap<Object, String>,
    /// Whether the file of the keeper has a description.
    pub(super) is_described: bool,
}

impl Files {
    pub(super) fn new(project: &'static str) -> Self {
        let texts = Object::ALL.map(|object| (object, format!("{project} at first")));
        Self { project, texts: texts.into(), is_described: false }
    }

    fn external_id(&self, object: Object) -> String {
        format!("{}-{}", self.project, object.word())
    }

    /// The object with this name.
    pub(super) fn object(&self, external_id: &str) -> Option<Object> {
        Object::ALL.into_iter().find(|object| self.external_id(*object) == external_id)
    }

    /// The body of a request to apply these files.
    pub(super) fn body(&self, force: bool, prune: bool) -> Value {
        let objects = self.texts.iter().map(|(object, text)| {
            let external_id = self.external_id(*object);
            let (kind, spec) = self.spec(*object, text);
            let path = format!("{kind}s/{external_id}.yaml");
            json!({"kind": kind, "externalId": external_id, "path": path, "spec": spec})
        });
        let objects: Vec<_> = objects.collect();
        json!({"project": self.project, "force": force, "prune": prune, "objects": objects})
    }

    fn spec(&self, object: Object, text: &str) -> (&'static str, Value) {
        let keeper = self.external_id(Object::Keeper);
        match object {
            Object::Keeper | Object::Helper => {
                let model = json!({"provider": "openai", "name": "chance"});
                let name = self.external_id(object);
                let mut spec = json!({"name": name, "instructions": text, "model": model});
                if object == Object::Keeper && self.is_described {
                    spec["description"] = json!("Keeps what it is given.");
                }
                ("agent", spec)
            }
            Object::Room => {
                let person = format!("{}-person", self.project);
                let mut members = vec![json!({"id": keeper}), json!({"id": person})];
                if self.texts.contains_key(&Object::Helper) {
                    members.push(json!({"id": self.external_id(Object::Helper)}));
                }
                ("space", json!({"name": text, "triggerPolicy": "mention", "members": members}))
            }
            // It never fires: the oracle of plans knows only those that were made by hand.
            Object::Report => {
                let cron = "0 9 * * *";
                let spec = json!({"agent": keeper, "name": "Report", "instruction": text,
                    "cron": cron, "status": "paused"});
                ("plan", spec)
            }
        }
    }
}
