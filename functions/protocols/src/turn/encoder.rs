//! The trait by which each protocol encodes a turn.

use serde::Serialize;

use crate::turn::{EndCause, TurnEnd, TurnEvent};

/// Encodes the events of a turn for a protocol.
pub(crate) trait TurnEncoder: Send + 'static {
    /// An event of the protocol.
    type Event: Serialize + Send;

    /// The data after the last event.
    const TRAILER: Option<&str> = None;

    /// Encodes an event.
    fn encode(&mut self, event: &TurnEvent) -> Vec<Self::Event>;

    /// Encodes the end of the turn.
    fn finish(&mut self, end: TurnEnd, cause: EndCause) -> Vec<Self::Event>;
}
