//! A gate that stops the fake model or the tool server, so that a test can look at the product in
//! the middle of an answer.

use std::time::Duration;

use tokio::{sync::watch, time::timeout};

use crate::support::waiting::patient;

/// A gate. It is closed until the test opens it.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    open: watch::Sender<bool>,
    arrived: watch::Sender<usize>,
}

impl Gate {
    pub(crate) fn closed() -> Self {
        Self { open: watch::Sender::new(false), arrived: watch::Sender::new(0) }
    }

    /// Opens the gate for good.
    pub(crate) fn open(&self) {
        self.open.send_replace(true);
    }

    pub(crate) fn is_open(&self) -> bool {
        *self.open.borrow()
    }

    /// Waits until the gate was reached `times` times.
    pub(crate) async fn reached(&self, times: usize) {
        let mut arrived = self.arrived.subscribe();
        let all = timeout(
            patient(Duration::from_secs(30)),
            arrived.wait_for(|arrived| *arrived >= times),
        )
        .await;
        assert!(
            all.is_ok(),
            "the gate was reached {} times within 30 s, expected {times}",
            *self.arrived.borrow()
        );
    }

    /// Waits until the gate is open. The model and the tool server call this.
    pub(crate) async fn pass(&self) {
        self.arrived.send_modify(|arrived| *arrived += 1);
        // Fails only if the gate was dropped, which means that the test is over.
        let _ = self.open.subscribe().wait_for(|open| *open).await;
    }
}
