//! Which spaces a caller may read.

use std::collections::BTreeMap;

use smartspace_domain::{
    Result,
    access::{Caller, KnownBy, Membership, SpaceAction},
    ids::SpaceId,
};

use crate::Pipeline;

/// The spaces that a caller may read or govern. Each membership is read once.
#[derive(Debug)]
pub struct KnownSpaces {
    caller: Caller,
    known: BTreeMap<SpaceId, Option<Membership>>,
}

impl KnownSpaces {
    /// No space is checked yet.
    pub fn of(caller: Caller) -> Self {
        Self { caller, known: BTreeMap::new() }
    }

    /// Whether the caller is the operator, who knows everything.
    pub fn is_operator(&self) -> bool {
        self.caller == Caller::Operator
    }

    /// Whether the caller belongs to `known_by`.
    pub async fn has(&mut self, pipeline: &Pipeline, known_by: KnownBy) -> Result<bool> {
        let (space, action) = match known_by {
            KnownBy::Operator => return Ok(self.caller == Caller::Operator),
            KnownBy::Members(space) => (space, SpaceAction::Read),
            KnownBy::Owners(space) => (space, SpaceAction::Govern),
        };
        let membership = match self.known.get(&space) {
            Some(membership) => *membership,
            None => pipeline.membership(self.caller, space).await?,
        };
        self.known.insert(space, membership);
        Ok(self.caller.may_in_space(action, membership).is_ok())
    }
}
