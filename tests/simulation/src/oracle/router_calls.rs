//! Promise 10 for the calls of routers: the messages of one entity ask them at most 60 times in any
//! minute.

use std::time::Duration;

use crate::oracle::Evidence;

const MINUTE: Duration = Duration::from_mins(1);
const MOST: usize = 60;
/// What a minute may have beyond that: a call waits for its budgets after it was counted, and a
/// table that fails refuses nobody.
const TOLERANCE: usize = 10;

pub(super) fn a_minute_asks_routers_sixty_times(evidence: &mut Evidence<'_>) {
    // A clock that jumps or differs fills buckets.
    let parameters = &evidence.env.parameters;
    if parameters.fault_rates.clock > 0 || !parameters.clock_spread.is_zero() {
        return;
    }
    let mut found = Vec::new();
    for (sender, times) in &evidence.ledger.router_calls {
        let in_minute = |(first, begin): (usize, &_)| {
            times[first..].iter().take_while(|at| **at < *begin + MINUTE).count()
        };
        let most = times.iter().enumerate().map(in_minute).max().unwrap_or_default();
        if most > MOST + TOLERANCE {
            found.push(format!("messages from {sender} asked routers {most} times in a minute"));
        }
    }
    for text in found {
        evidence.report(10, text);
    }
}
