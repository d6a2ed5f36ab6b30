//! The counted seconds of spaces, as last seen by this process. A message that is certainly too
//! much is refused without a call, and before it waits for the lock of its space. So a flood in a
//! space does not delay the space's other senders.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use smartspace_domain::{
    Error, Time,
    append_limits::AppendWindow,
    ids::{EntityId, SpaceId},
};

use crate::Store;

/// How many spaces a process remembers.
const SPACES: usize = 10_000;

/// The last counted second of each space.
#[derive(Debug, Default)]
pub(crate) struct SecondsSeen(Mutex<HashMap<SpaceId, AppendWindow>>);

impl SecondsSeen {
    /// Remembers the second of a space.
    pub(crate) fn saw(&self, space: SpaceId, second: Option<&AppendWindow>) {
        let Some(second) = second else { return };
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= SPACES {
            seen.clear();
        }
        seen.insert(space, second.clone());
    }
}

impl Store {
    /// The error of a message of `bytes` that is certainly too much for its space in this second.
    pub(crate) fn refusal_of(
        &self,
        space: SpaceId,
        sender: EntityId,
        bytes: usize,
        now: Time,
    ) -> Option<Error> {
        let limit = self.append_limit?;
        let seen = self.seconds.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get(&space)?.refusal(limit, sender, bytes, now)
    }
}
