//! Which spaces a caller may read.

use std::collections::BTreeMap;

use smartspace_domain::{
    Error, Result,
    access::{Caller, KnownBy, SpaceAction},
    ids::SpaceId,
};

use crate::Pipeline;

/// The spaces that a caller may read. Each space is checked once.
#[derive(Debug)]
pub struct KnownSpaces {
    caller: Caller,
    known: BTreeMap<SpaceId, bool>,
}

impl KnownSpaces {
    /// No space is checked yet.
    pub fn of(caller: Caller) -> Self {
        Self { caller, known: BTreeMap::new() }
    }

    /// Whether the caller belongs to `known_by`.
    pub async fn has(&mut self, pipeline: &Pipeline, known_by: KnownBy) -> Result<bool> {
        let KnownBy::Members(space) = known_by else { return Ok(self.caller == Caller::Operator) };
        if let Some(known) = self.known.get(&space) {
            return Ok(*known);
        }
        let known = match pipeline.authorise(self.caller, SpaceAction::Read, space).await {
            Ok(()) => true,
            Err(Error::NotFound(_)) => false,
            Err(error) => return Err(error),
        };
        self.known.insert(space, known);
        Ok(known)
    }
}
