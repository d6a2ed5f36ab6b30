//! The open connections of people. On AWS they end as those of API Gateway do: after ten minutes
//! without a frame, and after two hours.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use smartspace_domain::ids::{ConnectionId, SpaceId};
use tokio::time::Instant;

use crate::{locked, view::View};

/// How long a connection without frames in either direction stays open on AWS.
const IDLE: Duration = Duration::from_mins(10);
/// How long a connection stays open on AWS.
const LONGEST: Duration = Duration::from_hours(2);

/// The open connections, each with the view of the person at its other end.
pub struct Connections {
    /// Whether connections end by themselves.
    end: bool,
    open: Mutex<BTreeMap<ConnectionId, Open>>,
}

struct Open {
    view: Arc<View>,
    since: Instant,
    /// When the last frame was sent, in either direction.
    used: Instant,
}

/// A connection that subscribed in the middle of an answer.
pub struct Latecomer {
    /// The number of the person.
    pub person: usize,
    pub connection: ConnectionId,
    pub space: SpaceId,
    /// When it had subscribed.
    pub since: Instant,
    pub view: Arc<View>,
}

impl Connections {
    /// No connections, of API Gateway or of a local host.
    pub fn new(local: bool) -> Self {
        Self { end: !local, open: Mutex::default() }
    }

    /// Opens a connection.
    pub fn open(&self, id: ConnectionId, view: Arc<View>) {
        let now = Instant::now();
        locked(&self.open).insert(id, Open { view, since: now, used: now });
    }

    /// Closes a connection. Returns whether it was open.
    pub fn close(&self, id: &ConnectionId) -> bool {
        locked(&self.open).remove(id).is_some()
    }

    /// Closes all connections.
    pub fn close_all(&self) {
        locked(&self.open).clear();
    }

    /// Whether a connection is open.
    pub fn is_open(&self, id: &ConnectionId) -> bool {
        self.remove_ended();
        locked(&self.open).contains_key(id)
    }

    pub(crate) fn all(&self) -> Vec<(ConnectionId, Arc<View>)> {
        self.remove_ended();
        let open = locked(&self.open);
        open.iter().map(|(id, it)| (id.clone(), Arc::clone(&it.view))).collect()
    }

    /// Notes a frame over a connection. Returns the view of the person at its other end, or `None`
    /// if it is closed.
    pub(crate) fn carry(&self, id: &ConnectionId) -> Option<Arc<View>> {
        self.remove_ended();
        let mut open = locked(&self.open);
        let connection = open.get_mut(id)?;
        connection.used = Instant::now();
        Some(Arc::clone(&connection.view))
    }

    fn remove_ended(&self) {
        if self.end {
            locked(&self.open)
                .retain(|_, it| it.used.elapsed() < IDLE && it.since.elapsed() < LONGEST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_connection_of_api_gateway_ends_when_it_is_idle_or_old() {
        let [gateway, host] = [false, true].map(Connections::new);
        let [idle, used] = ["idle", "used"].map(|id| ConnectionId(id.into()));
        for connections in [&gateway, &host] {
            connections.open(idle.clone(), Arc::default());
            connections.open(used.clone(), Arc::default());
        }
        let mut minutes = 0;
        while gateway.carry(&used).is_some() {
            tokio::time::advance(Duration::from_mins(5)).await;
            minutes += 5;
            assert_eq!(gateway.is_open(&idle), minutes < 10);
        }
        assert_eq!(minutes, 120);
        assert!(host.is_open(&idle) && host.is_open(&used));
    }
}
