//! A connection has a bucket of 40 tokens, which gains ten a second. `subscribe` and `snapshot`
//! cost five of them, and any other frame one. Whoever stays below is never refused, and a flood
//! is.

use std::time::Duration;

use crate::oracle::Evidence;

const BURST: f64 = 40.0;
const PER_SECOND: f64 = 10.0;
/// What a flood may get beyond its tokens, since a table that fails refuses nobody.
const TOLERANCE: f64 = 10.0;
/// A frame that is counted again after a lost answer costs its tokens twice. A connection that has
/// used less than this of them is never refused.
const QUIET: u32 = 18;
/// The time in which an empty bucket is full again.
const WINDOW: Duration = Duration::from_secs(4);

pub(super) fn only_floods_are_refused(evidence: &mut Evidence<'_>) {
    // A clock that jumps or differs fills buckets, or keeps them empty.
    let parameters = &evidence.env.parameters;
    if parameters.fault_rates.clock > 0 || !parameters.clock_spread.is_zero() {
        return;
    }
    let mut found = Vec::new();
    for flood in &evidence.ledger.floods {
        let most = BURST + PER_SECOND * flood.took.as_secs_f64() + TOLERANCE;
        if flood.answered as f64 > most {
            found.push(format!(
                "{} got {} answers to a flood in {:?}",
                flood.connection, flood.answered, flood.took
            ));
        }
    }
    for (connection, at) in &evidence.ledger.refused_frames {
        let sent = evidence.ledger.frames.get(connection).into_iter().flatten();
        // A frame may be under way for a while.
        let recent = sent.filter(|sent| sent.at <= *at && sent.at + 2 * WINDOW >= *at);
        let used: u32 = recent.map(|sent| sent.tokens).sum();
        if used < QUIET {
            found.push(format!("a frame of {connection} is refused, which used {used} tokens"));
        }
    }
    for text in found {
        evidence.report(10, text);
    }
}
