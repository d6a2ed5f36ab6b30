//! What the models of one provider refuse. A refusal that names a field of the request is obeyed at
//! once: the request is repeated without that field, and later requests of this process are sent in
//! that form from the beginning.

mod changes;
mod schemas;
mod thinking;

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Mutex, PoisonError},
};

use serde::{Serialize, Serializer};
use serde_json::Value;
use smartspace_domain::{agents::ModelConfig, runs::FailureCode};

use self::changes::Change;
use crate::{port::ModelError, refusals::Refusal};

/// Of so many models the refusals are remembered.
const MODELS: usize = 1_000;

/// What each model of one provider has refused, by the model's name.
#[derive(Debug, Default)]
pub(crate) struct Adaptations(Mutex<HashMap<String, BTreeSet<Change>>>);

/// The body of a request as it is sent.
pub(crate) enum Body<'a, B> {
    AsWritten(&'a B),
    Changed(Value),
}

impl<B: Serialize> Serialize for Body<'_, B> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::AsWritten(body) => body.serialize(serializer),
            Self::Changed(body) => body.serialize(serializer),
        }
    }
}

/// A request to a model, in the form that the model accepts as far as that is known.
pub(crate) struct AdaptedRequest<'a, B> {
    adaptations: &'a Adaptations,
    model: &'a ModelConfig,
    body: &'a B,
    changes: BTreeSet<Change>,
}

impl<'a, B: Serialize> AdaptedRequest<'a, B> {
    /// The body to send now.
    pub(crate) fn body(&self) -> Result<Body<'a, B>, ModelError> {
        if self.changes.is_empty() {
            return Ok(Body::AsWritten(self.body));
        }
        self.changed().map(Body::Changed)
    }

    /// Changes the request as a refusal asks. Fails with the refusal if it names no field that the
    /// request still has; otherwise the request is sent again.
    pub(crate) fn obey(&mut self, refusal: Refusal) -> Result<(), ModelError> {
        let more = self.named(&refusal);
        if more.is_empty() {
            return Err(refusal.error);
        }
        self.adaptations.learn(self.model, &more);
        self.changes.extend(more);
        Ok(())
    }

    fn changed(&self) -> Result<Value, ModelError> {
        let mut value = serde_json::to_value(self.body).map_err(|error| {
            let text = format!("the request could not be made: {error}");
            ModelError::new(FailureCode::BadRequest, text)
        })?;
        self.changes.iter().for_each(|change| change.apply(&mut value));
        Ok(value)
    }

    /// The changes for which a refusal asks, and that make a difference to the request.
    fn named(&self, refusal: &Refusal) -> Vec<Change> {
        if refusal.error.code != FailureCode::BadRequest {
            return Vec::new();
        }
        let Ok(sent) = self.changed() else { return Vec::new() };
        let is_new = |change: &Change| {
            !self.changes.contains(change) && change.is_named_by(refusal, &sent) && {
                let mut after = sent.clone();
                change.apply(&mut after);
                after != sent
            }
        };
        Change::ALL.into_iter().filter(is_new).collect()
    }
}

impl Adaptations {
    /// A request in the form that its model accepts as far as that is known.
    pub(crate) fn adapt<'a, B: Serialize>(
        &'a self,
        model: &'a ModelConfig,
        body: &'a B,
    ) -> AdaptedRequest<'a, B> {
        AdaptedRequest { adaptations: self, model, body, changes: self.known(&model.name) }
    }

    fn known(&self, model: &str) -> BTreeSet<Change> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(model).cloned().unwrap_or_default()
    }

    fn learn(&self, model: &ModelConfig, changes: &[Change]) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MODELS {
            known.clear();
        }
        let of_model = known.entry(model.name.clone()).or_default();
        for change in changes {
            if of_model.insert(*change) {
                let model = model.full_name();
                tracing::info!(%model, ?change, "the model refuses a field; requests change");
            }
        }
    }
}

#[cfg(test)]
mod tests;
