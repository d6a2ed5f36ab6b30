//! Locks that make one process change a space or an agent once at a time.

use smartspace_domain::{
    Time,
    ids::{EntityId, SpaceId},
};
use tokio::{
    sync::{Mutex, MutexGuard},
    time::Instant,
};

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

    /// Locks a space for a change that begins at `now`. Returns also the time after the wait for
    /// the lock: `now` itself if nobody held it, so that times do not depend on the speed of the
    /// machine.
    pub(crate) async fn lock_space(&self, space: SpaceId, now: Time) -> (MutexGuard<'_, ()>, Time) {
        let lock = self.of_space(space);
        if let Ok(locked) = lock.try_lock() {
            return (locked, now);
        }
        let began = Instant::now();
        let locked = lock.lock().await;
        (locked, now + began.elapsed())
    }

    /// The lock of an agent. Agents may share one, as spaces do.
    pub(crate) fn of_agent(&self, agent: EntityId) -> &Mutex<()> {
        &self.0[usize::from(agent.part_of(Self::COUNT))]
    }
}
