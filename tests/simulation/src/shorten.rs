//! Makes a failing seed as short as it can: without the faults and the deeds that it does not need.

use std::collections::BTreeSet;

use crate::{Outcome, plan::Setup, simulate};

/// A shorter setup that breaks the same promise, and what comes of it, after at most `plays` plays.
pub fn shorten(setup: &Setup, outcome: &Outcome, plays: usize) -> Result<(Setup, Outcome), String> {
    let Some(promise) = outcome.complaints.first().map(|(promise, _)| *promise) else { return Ok((setup.clone(), outcome.clone())) };
    let (mut best, mut left) = ((setup.clone(), outcome.clone()), plays);
    let fails = |setup: &Setup, left: &mut usize| -> Result<Option<Outcome>, String> {
        *left -= 1;
        let outcome = simulate(setup)?;
        Ok(outcome.complaints.iter().any(|(broken, _)| *broken == promise).then_some(outcome))
    };
    // What people do: each deed by itself.
    let deeds: Vec<(usize, usize)> = (0..5).flat_map(|person| (0..12).map(move |deed| (person, deed))).collect();
    for some in deeds.chunks(4).map(<[_]>::to_vec).chain(deeds.iter().map(|deed| vec![*deed])) {
        if left == 0 || some.iter().all(|deed| best.0.undone.contains(deed)) {
            continue;
        }
        let mut setup = best.0.clone();
        setup.undone.extend(some);
        if let Some(outcome) = fails(&setup, &mut left)? {
            best = (setup, outcome);
        }
    }
    // What struck: halves, quarters, and so on down to one.
    let mut size = best.1.struck.len().div_ceil(2).max(1);
    while left > 0 {
        let struck: BTreeSet<_> = best.1.struck.iter().cloned().collect();
        for some in struck.into_iter().collect::<Vec<_>>().chunks(size) {
            if left == 0 {
                break;
            }
            let mut setup = best.0.clone();
            setup.spared.extend(some.iter().cloned());
            if let Some(outcome) = fails(&setup, &mut left)? {
                best = (setup, outcome);
            }
        }
        if size == 1 {
            break;
        }
        size = size.div_ceil(2);
    }
    let setup = Setup { history: true, ..best.0 };
    let outcome = simulate(&setup)?;
    Ok((setup, outcome))
}
