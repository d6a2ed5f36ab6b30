//! The connections of people, and the port through which processes reach them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use smartspace_domain::ids::ConnectionId;
use smartspace_ports::sockets::{PostError, Sockets};
use tokio::time::sleep;

use crate::{life::Life, locked, view::View, world::World};

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

    fn view(&self, id: &ConnectionId) -> Option<Arc<View>> {
        locked(&self.0).get(id).cloned()
    }
}

/// The sockets port of one process.
pub struct SimSockets {
    pub(crate) world: Arc<World>,
    pub(crate) life: Arc<Life>,
}

#[async_trait]
impl Sockets for SimSockets {
    async fn post(&self, connection: &ConnectionId, frame: Arc<str>) -> Result<(), PostError> {
        let world = &self.world;
        let fault_rates = &world.plan.fault_rates;
        world.before_call(&self.life, "post").await;
        let place = format!("{connection}/frame");
        if world.chance.strikes(&format!("{connection}/dropped"), fault_rates.dropped) {
            world.history.note(&connection.0, || "the connection breaks".into());
            world.connections.close(connection);
        }
        let view = world.connections.view(connection).ok_or(PostError::Gone)?;
        if world.chance.strikes(&place, fault_rates.frame) {
            match world.chance.below(&place, 3) {
                0 => {}
                1 => view.see(&frame),
                _ => sleep(Duration::from_secs(3)).await,
            }
            world.history.note(&connection.0, || "a frame is not acknowledged".into());
            return Err(PostError::Failed("no answer".into()));
        }
        view.see(&frame);
        world.after_call(&self.life, "post").await;
        Ok(())
    }

    async fn close(&self, connection: &ConnectionId) {
        self.life.until_running().await;
        self.world.connections.close(connection);
    }
}
