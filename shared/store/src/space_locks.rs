//! Locks on spaces, for the appends of one process.

use smartspace_domain::ids::SpaceId;
use tokio::sync::{Mutex, MutexGuard};

/// Locks that serialize the appends of one process to a space, in the order of their arrival.
/// Without them, these appends would only race for the next number. Appends of different processes
/// do race.
pub(crate) struct SpaceLocks([Mutex<()>; 256]);

impl Default for SpaceLocks {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }
}

impl SpaceLocks {
    /// Locks a space. Spaces may share a lock, which only costs time.
    pub(crate) async fn wait(&self, space: SpaceId) -> MutexGuard<'_, ()> {
        self.0[usize::from(space.part_of(u8::MAX))].lock().await
    }
}
