//! An operator who applies the files of two projects, changes by hand what they manage, and looks
//! at the outcome each time.
//!
//! `files` has the files of a project, and `requests` the requests about them.

mod files;
mod requests;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures::future::join_all;
use serde_json::Value;
use tokio::time::sleep;

use self::files::{Files, Object};
use crate::deployment::Deployment;

const PROJECTS: [&str; 2] = ["red", "blue"];
/// Promise 17: files overwrite no change by hand without force.
const PROMISE: u8 = 17;
/// How long an apply checks its files, mostly.
const LONGEST_CHECK: Duration = Duration::from_millis(25);

/// Applies the files of all projects, at the same time.
pub(crate) async fn apply_files(deployment: Arc<Deployment>) {
    let operators = PROJECTS.map(|project| {
        Applier {
            deployment: Arc::clone(&deployment),
            files: Files::new(project),
            ids: BTreeMap::new(),
            revisions: BTreeMap::new(),
        }
        .perform_actions()
    });
    join_all(operators).await;
}

/// An operator of one project. Nobody else changes what its files manage.
struct Applier {
    deployment: Arc<Deployment>,
    files: Files,
    /// The ids of the objects that exist.
    ids: BTreeMap<Object, String>,
    /// The revisions of the agents, as the last apply has named them.
    revisions: BTreeMap<Object, u64>,
}

impl Applier {
    async fn perform_actions(mut self) {
        let deployment = Arc::clone(&self.deployment);
        let project = self.files.project;
        for action in 0..4 + deployment.env.chance.below(project, 4) {
            let place = format!("{project}/{action}");
            let pause = [0, 3, 30, 90][deployment.env.chance.below(&place, 4) as usize];
            sleep(deployment.env.chance.time(&place, Duration::ZERO, Duration::from_secs(pause)))
                .await;
            match deployment.env.chance.below(&format!("{place}/what"), 100) {
                _ if action == 0 => self.change_files(&place).await,
                0..25 => self.change_files(&place).await,
                25..50 => self.overwrite_a_change(&place).await,
                50..70 => self.race_with_a_change(&place).await,
                70..85 => self.apply_twice_at_once(&place).await,
                _ => self.remove_an_agent(&place).await,
            }
            if self.ids.is_empty() {
                return;
            }
        }
    }

    fn report(&self, text: String) {
        self.deployment.env.report(PROMISE, format!("{}: {text}", self.files.project));
    }

    /// One of the objects that exist.
    fn choose(&self, place: &str) -> Object {
        let objects: Vec<_> = self.files.texts.keys().copied().collect();
        objects[self.deployment.env.chance.below(place, objects.len() as u64) as usize]
    }

    /// Changes a text, and now and then adds or removes a field.
    fn edit(&mut self, place: &str) {
        let object = self.choose(place);
        self.files.texts.insert(object, place.to_owned());
        if self.deployment.env.chance.happens(&format!("{place}/described"), 400) {
            self.files.is_described = !self.files.is_described;
        }
    }

    async fn change_files(&mut self, place: &str) {
        self.edit(place);
        self.apply_unhindered(false, false).await;
    }

    /// Applies files that nobody has hindered, looks at the outcome, and applies them again.
    async fn apply_unhindered(&mut self, force: bool, prune: bool) {
        let Some((status, answer)) = self.apply(&self.files, force, prune).await else { return };
        if status != 200 {
            self.report(format!("an apply is refused, although nobody hinders it: {answer}"));
            return;
        }
        self.learn(&answer);
        self.compare().await;
        let before = self.revisions.clone();
        let Some((_, again)) = self.apply(&self.files, false, false).await else { return };
        let summary = &again["summary"];
        self.learn(&again);
        if summary["unchanged"] != self.files.texts.len() || self.revisions != before {
            self.report(format!("the same files again change something: {again}"));
        }
    }

    /// An apply refuses to overwrite a change by hand, and writes nothing else. With force it
    /// overwrites it.
    async fn overwrite_a_change(&mut self, place: &str) {
        let object = self.choose(place);
        let by_hand = format!("by hand {place}");
        if !self.change_by_hand(object, &by_hand).await {
            return;
        }
        self.edit(&format!("{place}/file"));
        let Some((status, answer)) = self.apply(&self.files, false, false).await else { return };
        let pointers: Vec<_> = drift(&answer).collect();
        if status != 409 || !pointers.contains(&object.pointer()) {
            self.report(format!("an apply passes over {object:?}, changed by hand: {answer}"));
        }
        if self.shown(object).await.is_some_and(|shown| shown.text != by_hand) {
            self.report(format!("a refused apply has overwritten {object:?}"));
        }
        self.apply_unhindered(true, false).await;
    }

    /// A change by hand that was answered stays: an apply at the same time either sees it, or
    /// writes before it.
    async fn race_with_a_change(&mut self, place: &str) {
        let object = self.choose(place);
        let by_hand = format!("by hand {place}");
        self.files.texts.insert(object, place.to_owned());
        let change = async {
            sleep(self.deployment.env.chance.time(place, Duration::ZERO, LONGEST_CHECK)).await;
            self.change_by_hand(object, &by_hand).await
        };
        let (is_changed, answer) = tokio::join!(change, self.apply(&self.files, false, false));
        let shown = self.shown(object).await;
        if is_changed && shown.is_some_and(|shown| shown.text != by_hand) {
            self.report(format!("an apply at the same time overwrites {object:?}: {answer:?}"));
        }
        self.apply_unhindered(true, false).await;
    }

    /// Of two applies at once each is whole, or refused.
    async fn apply_twice_at_once(&mut self, place: &str) {
        self.edit(place);
        let mut other = self.files.clone();
        other.texts.insert(self.choose(place), format!("{place}/other"));
        tokio::join!(self.apply(&self.files, false, false), self.apply(&other, true, false));
        self.apply_unhindered(true, false).await;
    }

    /// Files without an agent leave it alone. With prune they end it, and nothing else.
    async fn remove_an_agent(&mut self, place: &str) {
        if self.files.texts.remove(&Object::Helper).is_none() {
            self.files.texts.insert(Object::Helper, place.to_owned());
            self.apply_unhindered(false, false).await;
            return;
        }
        let id = self.ids.remove(&Object::Helper);
        self.revisions.remove(&Object::Helper);
        self.apply_unhindered(false, false).await;
        let Some(id) = id else { return };
        if self.exists(&id).await == Some(false) {
            self.report(format!("{id} is gone without prune"));
        }
        self.apply_unhindered(false, true).await;
        if self.exists(&id).await == Some(true) {
            self.report(format!("{id} is there after a prune"));
        }
    }

    /// Remembers the ids and revisions in an answer.
    fn learn(&mut self, answer: &Value) {
        for result in answer["results"].as_array().into_iter().flatten() {
            let external = result["externalId"].as_str().unwrap_or_default();
            let Some(object) = self.files.object(external) else { continue };
            if let Some(id) = result["id"].as_str() {
                self.ids.insert(object, id.to_owned());
            }
            if let Some(revision) = result["revision"].as_u64() {
                self.revisions.insert(object, revision);
            }
        }
    }

    /// Compares all objects with their files.
    async fn compare(&self) {
        for (object, text) in &self.files.texts {
            let Some(shown) = self.shown(*object).await else { continue };
            let is_described = *object == Object::Keeper && self.files.is_described;
            if shown.text != *text
                || shown.project.as_deref() != Some(self.files.project)
                || shown.is_described != is_described
            {
                self.report(format!("{object:?} is {shown:?} after an apply of {text}"));
            }
        }
    }
}

/// The pointers of the fields that were changed by hand.
fn drift(answer: &Value) -> impl Iterator<Item = &str> {
    let results = answer["results"].as_array().into_iter().flatten();
    let drifts = results.flat_map(|result| result["drift"].as_array().into_iter().flatten());
    drifts.filter_map(|drift| drift["pointer"].as_str())
}
