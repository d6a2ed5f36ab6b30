//! Routers that are not asked for a while, because they did not answer in time. Each message would
//! wait for them in vain.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use smartspace_domain::ids::SpaceId;
use tokio::time::Instant;

/// Why a router was not asked.
pub(super) const REASON: &str =
    "it was not asked: it did not answer in time three times in a row, less than a minute ago";

/// So many late answers in a row begin a pause.
const LATE: u32 = 3;
/// How long a router is not asked.
const PAUSE: Duration = Duration::from_mins(1);
/// The most spaces that are remembered. The oldest are forgotten, and their routers are asked.
const MOST_SPACES: usize = 10_000;

/// The late answers of the routers that this process has asked.
#[derive(Debug, Default)]
pub(super) struct Pauses(Mutex<HashMap<SpaceId, Lateness>>);

#[derive(Clone, Copy, Debug)]
struct Lateness {
    in_a_row: u32,
    since: Instant,
}

impl Pauses {
    /// Whether the router of a space is not asked now.
    pub(super) fn is_pausing(&self, space: SpaceId) -> bool {
        let spaces = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        spaces.get(&space).is_some_and(|late| late.in_a_row >= LATE && late.since.elapsed() < PAUSE)
    }

    /// Notes whether an answer came too late. After a pause one late answer begins the next one.
    pub(super) fn note(&self, space: SpaceId, is_late: bool) {
        let mut spaces = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_late {
            spaces.remove(&space);
            return;
        }
        if spaces.len() >= MOST_SPACES {
            spaces.retain(|_, late| late.since.elapsed() < PAUSE);
        }
        let late = spaces.entry(space).or_insert(Lateness { in_a_row: 0, since: Instant::now() });
        *late = Lateness { in_a_row: late.in_a_row.saturating_add(1), since: Instant::now() };
    }
}

#[cfg(test)]
mod tests {
    use smartspace_domain::Time;
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_router_pauses_for_a_minute_after_three_late_answers_in_a_row() {
        let pauses = Pauses::default();
        let [slow, other] = [1, 2].map(|number| SpaceId::new(Time::from_millis(1), number));
        for is_late in [true, true, false, true, true] {
            pauses.note(slow, is_late);
            assert!(!pauses.is_pausing(slow));
        }
        pauses.note(slow, true);
        assert!(pauses.is_pausing(slow) && !pauses.is_pausing(other));
        advance(PAUSE).await;
        assert!(!pauses.is_pausing(slow));
        pauses.note(slow, true);
        assert!(pauses.is_pausing(slow));
        advance(PAUSE).await;
        pauses.note(slow, false);
        pauses.note(slow, true);
        assert!(!pauses.is_pausing(slow));
    }
}
