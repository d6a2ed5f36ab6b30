//! The port through which processes reach people. A frame may get lost, and a connection may break.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use smartspace_domain::ids::ConnectionId;
use smartspace_ports::sockets::{CloseCode, PostError, PostPermits, Sockets};
use tokio::time::{Instant, sleep};

use crate::{env::Env, locked, process_life::ProcessLife};

/// The processor time of a post. The posts of a process wait for each other that long.
const COST_OF_POST: Duration = Duration::from_millis(1);

/// The sockets port of one process.
pub struct SimSockets {
    pub(crate) env: Arc<Env>,
    pub(crate) life: Arc<ProcessLife>,
    pub(crate) post_permits: PostPermits,
}

#[async_trait]
impl Sockets for SimSockets {
    fn post_permits(&self) -> &PostPermits {
        &self.post_permits
    }

    async fn post(&self, connection: &ConnectionId, frame: Arc<str>) -> Result<(), PostError> {
        let env = &self.env;
        let fault_rates = &env.parameters.fault_rates;
        env.before_call(&self.life, "post").await;
        if frame.starts_with(r#"{"detail":"too many frames"#) {
            let refused = (connection.0.clone(), Instant::now());
            locked(&env.ledger).refused_frames.push(refused);
        }
        let place = format!("{connection}/frame");
        if env.chance.strikes(&format!("{connection}/dropped"), fault_rates.dropped) {
            env.history.note(&connection.0, || "the connection breaks".into());
            env.connections.close(connection);
        }
        if env.fixed_latency.is_none() {
            self.life.compute(COST_OF_POST).await;
        }
        let view = env.connections.carry(connection).ok_or(PostError::Gone)?;
        if env.chance.strikes(&place, fault_rates.frame) {
            match env.chance.below(&place, 3) {
                0 => {}
                1 => view.see(&frame),
                _ => sleep(Duration::from_secs(3)).await,
            }
            env.history.note(&connection.0, || "a frame is not acknowledged".into());
            return Err(PostError::Failed("no answer".into()));
        }
        view.see(&frame);
        env.after_call(&self.life, "post").await;
        Ok(())
    }

    async fn close(&self, connection: &ConnectionId, _code: CloseCode) {
        self.life.until_running().await;
        self.env.connections.close(connection);
    }

    async fn is_open(&self, connection: &ConnectionId) -> bool {
        self.life.until_running().await;
        self.env.connections.is_open(connection)
    }
}
