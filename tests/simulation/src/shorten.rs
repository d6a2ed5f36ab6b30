//! Shortens a failing history: suppresses the faults and skips the actions that it does not need.

use std::collections::BTreeSet;

use crate::{Outcome, input::Input, simulate};

/// Returns a shorter input that breaks the same promise, and its outcome. Plays at most `plays`
/// times to find it.
pub fn shorten(input: &Input, outcome: &Outcome, plays: usize) -> Result<(Input, Outcome), String> {
    let Some(promise) = outcome.violations.first().map(|(promise, _)| *promise) else {
        return Ok((input.clone(), outcome.clone()));
    };
    let mut best = (input.clone(), outcome.clone());
    let mut left = plays;
    let fails = |input: &Input, left: &mut usize| -> Result<Option<Outcome>, String> {
        *left -= 1;
        let outcome = simulate(input)?;
        Ok(outcome.violations.iter().any(|(broken, _)| *broken == promise).then_some(outcome))
    };
    // First the actions: in groups, then each by itself.
    let actions: Vec<(usize, usize)> =
        (0..5).flat_map(|person| (0..12).map(move |action| (person, action))).collect();
    let groups = actions.chunks(4).map(<[_]>::to_vec);
    let single = actions.iter().map(|action| vec![*action]);
    for some in groups.chain(single) {
        if left == 0 || some.iter().all(|action| best.0.skipped.contains(action)) {
            continue;
        }
        let mut input = best.0.clone();
        input.skipped.extend(some);
        if let Some(outcome) = fails(&input, &mut left)? {
            best = (input, outcome);
        }
    }
    // Then the faults: halves, quarters, and so on down to one fault.
    let mut size = best.1.faults.len().div_ceil(2).max(1);
    while left > 0 {
        let faults: BTreeSet<_> = best.1.faults.iter().cloned().collect();
        for some in faults.into_iter().collect::<Vec<_>>().chunks(size) {
            if left == 0 {
                break;
            }
            let mut input = best.0.clone();
            input.suppressed.extend(some.iter().cloned());
            if let Some(outcome) = fails(&input, &mut left)? {
                best = (input, outcome);
            }
        }
        if size == 1 {
            break;
        }
        size = size.div_ceil(2);
    }
    let input = Input { history: true, ..best.0 };
    let outcome = simulate(&input)?;
    Ok((input, outcome))
}
