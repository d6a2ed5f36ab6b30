//! A gate at which the model waits, or a server of tools, so that a test can look at what is there in the middle of an answer.

use std::time::Duration;

use tokio::{sync::watch, time::timeout};

use crate::waiting::patient;

/// Closed until a test opens it.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    open: watch::Sender<bool>,
    arrived: watch::Sender<usize>,
}

impl Gate {
    /// A gate that is closed.
    pub(crate) fn closed() -> Self {
        Self { open: watch::Sender::new(false), arrived: watch::Sender::new(0) }
    }

    /// Lets who waits go on, now and whoever comes here again.
    pub(crate) fn open(&self) {
        self.open.send_replace(true);
    }

    /// Whether it was opened.
    pub(crate) fn is_open(&self) -> bool {
        *self.open.borrow()
    }

    /// Waits until somebody has come here so many times.
    pub(crate) async fn reached(&self, times: usize) {
        let mut arrived = self.arrived.subscribe();
        let all = timeout(patient(Duration::from_secs(30)), arrived.wait_for(|arrived| *arrived >= times)).await;
        assert!(all.is_ok(), "the gate was come to {} times within 30 s, not {times} times", *self.arrived.borrow());
    }

    /// The side of the model, or of the server.
    pub(crate) async fn pass(&self) {
        self.arrived.send_modify(|arrived| *arrived += 1);
        // Fails only when the gate is gone, and with it its test.
        let _ = self.open.subscribe().wait_for(|open| *open).await;
    }
}
