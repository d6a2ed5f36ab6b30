//! How far a run has read.

use std::collections::BTreeMap;

use smartspace_domain::ids::SpaceId;

/// The number of the last message that a run has read, for each space.
pub type Marks = BTreeMap<SpaceId, u64>;
