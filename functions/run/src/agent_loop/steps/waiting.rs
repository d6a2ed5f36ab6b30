//! Waits while a space is full: it accepts only so many messages in a second. A call whose message
//! is one too many waits for a later second, so that a run never fails because others write a lot.

use std::time::Duration;

use smartspace_domain::{events::StreamEnd, runs::EndReason};
use tokio::time::{Instant, sleep};

use crate::agent_loop::steps::{
    AgentLoop,
    run_end::{LoopExit, RunEnd},
};

/// The longest random addition to the first wait, in milliseconds. It doubles with each further
/// wait, so that many waiting runs do not all try in the first moment of every second.
const MAX_JITTER_MS: u64 = 500;
/// How often the addition doubles.
const MAX_DOUBLINGS: u32 = 3;

impl AgentLoop<'_> {
    /// Waits for a later second. `waits` says how often this call has waited before. Nothing is
    /// locked meanwhile, so the lease is renewed and a cancellation is noticed.
    /// Returns how the loop ends if the run's time would be over by then.
    pub(super) async fn wait_for_next_second(
        &self,
        next_second: Duration,
        waits: u32,
        deadline: Instant,
    ) -> Option<LoopExit> {
        let most = MAX_JITTER_MS << waits.min(MAX_DOUBLINGS);
        let jitter = self.context.pipeline.ids.random() % u128::from(most);
        let wait = next_second + Duration::from_millis(jitter as u64);
        if Instant::now() + wait >= deadline {
            self.context.streams.end_all(Some(StreamEnd::Failed));
            return Some(RunEnd::completed(EndReason::TimeLimit).exit());
        }
        if !self.context.has_time_for(wait) {
            return Some(LoopExit::HandOver(None));
        }
        tracing::debug!(run = %self.context.run.id, ?wait, "a call waits: its space is full");
        sleep(wait).await;
        None
    }
}
