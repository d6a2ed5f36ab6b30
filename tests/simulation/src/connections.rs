//! The open connections of people.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use smartspace_domain::ids::ConnectionId;

use crate::{locked, view::View};

/// The open connections, each with the view of the person at its other end.
#[derive(Default)]
pub struct Connections(Mutex<BTreeMap<ConnectionId, Arc<View>>>);

impl Connections {
    /// Opens a connection.
    pub fn open(&self, id: ConnectionId, view: Arc<View>) {
        locked(&self.0).insert(id, view);
    }

    /// Closes a connection. Returns whether it was open.
    pub fn close(&self, id: &ConnectionId) -> bool {
        locked(&self.0).remove(id).is_some()
    }

    /// Closes all connections.
    pub fn close_all(&self) {
        locked(&self.0).clear();
    }

    /// Whether a connection is open.
    pub fn is_open(&self, id: &ConnectionId) -> bool {
        locked(&self.0).contains_key(id)
    }

    /// The view of the person at the other end of a connection.
    pub(crate) fn view(&self, id: &ConnectionId) -> Option<Arc<View>> {
        locked(&self.0).get(id).cloned()
    }
}
