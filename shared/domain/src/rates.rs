//! Rate limits: a bucket that fills at a constant rate, stored as one point in time (GCRA).

use std::time::Duration;

use crate::Time;

/// A rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Calls per second in the long run, at most 1,000.
    pub per_second: u32,
    /// Calls at once after a pause.
    pub burst: u32,
}

/// The limit of an entity's calls.
pub const ENTITY: Rate = Rate { per_second: 20, burst: 60 };
/// How many bytes of an answer count as a call of its own.
pub const READ_BYTES: u64 = 64 * 1024;
/// The limit of a service's deliveries.
pub const SERVICE: Rate = Rate { per_second: 10, burst: 60 };
/// The limit of rejected or repeated deliveries that are listed. Anybody can send them.
pub const NOTED: Rate = Rate { per_second: 1, burst: 60 };
/// The limit of requests with a wrong credential, for each address and for each agent whose webhook
/// they are for. Requests with a right one are not counted, so nobody can use it up for others.
pub const REFUSED: Rate = Rate { per_second: 2, burst: 100 };
/// The limit of the searches of an entity, and of the operator.
pub const SEARCH: Rate = Rate { per_second: 1, burst: 10 };
/// The limit of the frames of a connection, in tokens.
pub const FRAMES: Rate = Rate { per_second: 10, burst: 40 };
/// The limit of the messages and the end of a run of a remote agent.
pub const REMOTE_ANSWERS: Rate = Rate { per_second: 10, burst: 20 };
/// The limit of the texts that a run of a remote agent streams.
pub const REMOTE_STREAM: Rate = Rate { per_second: 5, burst: 5 };
/// The limit of the model calls of routers that one entity's messages cause. With
/// [`ROUTER_CALL_TOKENS`] each, no minute has more than 60 calls, whenever it begins.
pub const ROUTER_CALLS: Rate = Rate { per_second: 1, burst: 60 };
/// The tokens that a model call of a router takes.
pub const ROUTER_CALL_TOKENS: u32 = 2;
/// The limit of counting again whatever seems to be full.
pub const RECOUNTS: Rate = Rate { per_second: 1, burst: 1 };

impl Rate {
    /// The time in which the bucket gains one token.
    pub fn token(self) -> Duration {
        Duration::from_millis(1_000 / u64::from(self.per_second.clamp(1, 1_000)))
    }

    /// Takes calls that have already happened out of the bucket, which may then hold less than
    /// nothing. Returns when it is full again.
    pub fn owe(self, full_at: Option<Time>, calls: u32, now: Time) -> Time {
        full_at.map_or(now, |full_at| full_at.max(now)) + self.token() * calls
    }

    /// Takes a call out of the bucket that is full again at `full_at`; `None` means that it is
    /// full. Returns when the bucket is full again after this call.
    ///
    /// # Errors
    /// How long to wait, if the bucket is empty.
    pub fn take(self, full_at: Option<Time>, now: Time) -> Result<Time, Duration> {
        self.take_tokens(full_at, 1, now)
    }

    /// The same for a call that takes so many tokens.
    ///
    /// # Errors
    /// How long to wait, if the bucket has too few.
    pub fn take_tokens(
        self,
        full_at: Option<Time>,
        tokens: u32,
        now: Time,
    ) -> Result<Time, Duration> {
        let each = self.token();
        let then = full_at.map_or(now, |full_at| full_at.max(now)) + each * tokens;
        let most = now + each * self.burst;
        if then > most { Err(then.since(most)) } else { Ok(then) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of the calls at these times are allowed.
    fn taken(rate: Rate, at: impl IntoIterator<Item = i64>) -> usize {
        let mut full_at = None;
        let taken = at.into_iter().filter(|at| match rate.take(full_at, Time::from_millis(*at)) {
            Ok(then) => {
                full_at = Some(then);
                true
            }
            Err(_) => false,
        });
        taken.count()
    }

    #[test]
    fn a_burst_is_followed_by_a_constant_rate() {
        let at_once = || std::iter::repeat_n(1_000, 100);
        assert_eq!(taken(ENTITY, at_once()), 60);
        assert_eq!(taken(ENTITY, at_once().chain(std::iter::repeat_n(2_000, 100))), 80);
        assert_eq!(
            taken(ENTITY, at_once().chain(std::iter::repeat_n(60_000, 100))),
            120,
            "a bucket holds no more than a burst"
        );
        assert_eq!(
            taken(SERVICE, (0..600).map(|tenth| tenth * 100)),
            600,
            "a caller within the rate is never refused"
        );
        assert_eq!(taken(SERVICE, (0..6_000).map(|hundredth| hundredth * 10)), 60 + 599);
    }

    #[test]
    fn no_minute_has_more_than_sixty_calls_of_routers() {
        let mut full_at = None;
        let mut asked = Vec::new();
        for at in (0..200_000).step_by(100) {
            let now = Time::from_millis(at);
            if let Ok(then) = ROUTER_CALLS.take_tokens(full_at, ROUTER_CALL_TOKENS, now) {
                full_at = Some(then);
                asked.push(at);
            }
        }
        assert_eq!(asked.iter().filter(|at| **at < 60_000).count(), 59);
        for begin in &asked {
            let minute = *begin..*begin + 60_000;
            assert!(asked.iter().filter(|at| minute.contains(at)).count() <= 60, "{begin}");
        }
    }

    #[test]
    fn what_was_read_delays_later_calls() {
        let now = Time::from_millis(10_000);
        let owed = ENTITY.owe(None, 80, now);
        assert_eq!(owed, now + Duration::from_secs(4));
        // The bucket holds three seconds of calls.
        assert_eq!(ENTITY.take(Some(owed), now), Err(Duration::from_millis(1_050)));
        let later = now + Duration::from_millis(1_050);
        assert!(ENTITY.take(Some(owed), later).is_ok());
        assert_eq!(ENTITY.owe(Some(owed), 20, now), now + Duration::from_secs(5));
    }

    #[test]
    fn a_refusal_says_how_long_to_wait_and_an_old_time_costs_nothing() {
        let now = Time::from_millis(10_000);
        let full_at = Some(now + Duration::from_secs(3));
        assert_eq!(ENTITY.take(full_at, now), Err(Duration::from_millis(50)));
        assert_eq!(
            ENTITY.take(full_at, now + Duration::from_millis(50)),
            Ok(now + Duration::from_millis(3_050))
        );
        assert_eq!(
            ENTITY.take(Some(Time::from_millis(0)), now),
            Ok(now + Duration::from_millis(50))
        );
    }
}
