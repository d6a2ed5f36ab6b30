//! Locks that make one process change a space or an agent once at a time.

use smartspace_domain::ids::{EntityId, SpaceId};
use tokio::sync::Mutex;

/// Locks that let one process make its changes to a thing one after the other, in the order of
/// their arrival. Without them, these changes would only race with each other. Changes of different
/// processes do race.
pub(crate) struct Locks([Mutex<()>; Self::COUNT as usize]);

impl Default for Locks {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }
}

impl Locks {
    const COUNT: u8 = u8::MAX;

    /// The lock of a space. Spaces may share one, which only costs time.
    pub(crate) fn of_space(&self, space: SpaceId) -> &Mutex<()> {
        &self.0[usize::from(space.part_of(Self::COUNT))]
    }

    /// The lock of an agent. Agents may share one, as spaces do.
    pub(crate) fn of_agent(&self, agent: EntityId) -> &Mutex<()> {
        &self.0[usize::from(agent.part_of(Self::COUNT))]
    }
}
