//! Watches what a client does not send: the rest of a frame, or anything at all.

use axum::extract::ws::Message;
use tokio::time::{Instant, sleep_until};

use crate::{client_stream::Arrived, time_limits::TimeLimits};

/// What a look at a connection finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// A frame has begun and does not end.
    HalfFrame,
    /// No request has come for a while.
    Idle,
}

pub(super) struct Watch {
    limits: TimeLimits,
    arrived: Arrived,
    /// How many bytes had arrived with the last whole frame.
    bytes: u64,
    /// Since when there are more bytes than that.
    half_since: Option<Instant>,
    /// Of the last request, or of the last look that found none.
    last_request: Instant,
    next_look: Instant,
}

impl Watch {
    pub(super) fn new(limits: TimeLimits, arrived: Arrived) -> Self {
        let now = Instant::now();
        let next_look = now + limits.frame() / 2;
        let bytes = arrived.bytes();
        Self { limits, arrived, bytes, half_since: None, last_request: now, next_look }
    }

    /// A whole frame has arrived.
    pub(super) fn arrived(&mut self, message: &Message) {
        self.bytes = self.arrived.bytes();
        self.half_since = None;
        if matches!(message, Message::Text(_) | Message::Binary(_)) {
            self.last_request = Instant::now();
        }
    }

    /// Waits until there is something to find. It may be dropped at any time.
    pub(super) async fn look(&mut self) -> Finding {
        loop {
            sleep_until(self.next_look).await;
            let now = Instant::now();
            self.next_look = now + self.limits.frame() / 2;
            if self.arrived.bytes() > self.bytes {
                let since = *self.half_since.get_or_insert(now);
                if now - since >= self.limits.frame() {
                    return Finding::HalfFrame;
                }
            }
            if now - self.last_request >= self.limits.idle_socket() {
                self.last_request = now;
                return Finding::Idle;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::{sleep, timeout};

    use super::*;

    const LIMITS: TimeLimits = TimeLimits(1.0);

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_sends_nothing_is_idle_again_and_again() {
        let mut watch = Watch::new(LIMITS, Arrived::default());
        for minutes in [2, 4] {
            assert_eq!(watch.look().await, Finding::Idle);
            assert_eq!(watch.last_request.elapsed(), Duration::ZERO, "{minutes}");
        }
        // Only requests count: a client can send control frames without a reason.
        sleep(Duration::from_secs(100)).await;
        watch.arrived(&Message::Ping("".into()));
        assert_eq!(timeout(Duration::from_secs(30), watch.look()).await, Ok(Finding::Idle));
        sleep(Duration::from_secs(100)).await;
        watch.arrived(&Message::Text("{}".into()));
        assert!(timeout(Duration::from_secs(100), watch.look()).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_frame_has_ten_seconds() {
        let arrived = Arrived::default();
        let mut watch = Watch::new(LIMITS, arrived.clone());
        let began = Instant::now();
        arrived.add(1);
        assert_eq!(watch.look().await, Finding::HalfFrame);
        assert!((10..=15).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
        // A frame that ends in time begins a new time.
        watch.arrived(&Message::Text("{}".into()));
        arrived.add(1);
        assert!(timeout(Duration::from_secs(9), watch.look()).await.is_err());
        watch.arrived(&Message::Text("{}".into()));
        assert!(timeout(Duration::from_mins(1), watch.look()).await.is_err());
    }
}
