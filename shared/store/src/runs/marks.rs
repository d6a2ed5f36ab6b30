//! How far a run has read.

use std::collections::BTreeMap;

use smartspace_domain::ids::SpaceId;

/// The number of the last message that a run has read, for each space.
pub type Marks = BTreeMap<SpaceId, u64>;

/// How far a run has read a space once it has posted the message at `seq`, if it had read up to
/// `read`. A message right after the last one that it has read counts as read.
pub(crate) fn after_post(read: u64, seq: u64) -> u64 {
    if read + 1 == seq { seq } else { read }
}
