//! The shares and the costs of the prompts of a conversation.

use std::time::Duration;

use crate::support::model::{Bill, Cache, ModelRequest, blocks};

pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The length of the common prefix of two prompts, as a share of the earlier one.
pub(super) fn shared(earlier: &ModelRequest, later: &ModelRequest) -> f64 {
    let text = |request: &ModelRequest| -> String {
        blocks(request).into_iter().map(|(text, _)| text).collect()
    };
    let earlier = text(earlier);
    let later = text(later);
    let common = earlier.chars().zip(later.chars()).take_while(|(one, other)| one == other).count();
    common as f64 / earlier.chars().count() as f64
}

/// Like [`shared`], but only up to the last cache point of the earlier prompt in the common prefix.
pub(super) fn shared_to_a_cache_point(earlier: &ModelRequest, later: &ModelRequest) -> f64 {
    let earlier = blocks(earlier);
    let later = blocks(later);
    let same = earlier.iter().zip(&later).take_while(|((one, _), (other, _))| one == other).count();
    let length = |count: usize| {
        earlier[..count].iter().map(|(text, _)| text.chars().count()).sum::<usize>() as f64
    };
    let mark = (1..=same).rev().find(|count| earlier[count - 1].1).unwrap_or(0);
    length(mark) / length(earlier.len())
}

/// The cost of all requests with and without caching, and the tokens. `pace` is the time between
/// two messages.
pub(super) fn bills(requests: &[ModelRequest], pace: Duration) -> (f64, f64, Bill) {
    let mut cache = Cache::default();
    let mut with = 0.0;
    let mut without = 0.0;
    let mut sum = Bill::default();
    for (request, number) in requests.iter().zip(0..) {
        // The second step of a run follows the first one at once.
        let bill = cache.bill(request, pace * (number / 2));
        with += bill.cost(request.api);
        without += bill.all() as f64;
        sum = Bill {
            plain: sum.plain + bill.plain,
            cached: sum.cached + bill.cached,
            written: sum.written + bill.written,
        };
    }
    (with, without, sum)
}
