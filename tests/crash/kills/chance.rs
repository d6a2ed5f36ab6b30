//! A random number generator whose sequence can be repeated from its seed: `SplitMix64`.

use std::{
    hash::{BuildHasher, RandomState},
    ops::Range,
    time::Duration,
};

pub(crate) fn seed() -> u64 {
    RandomState::new().hash_one("kills") % 1_000_000
}

/// A sequence of random numbers.
#[derive(Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// A duration in this range of milliseconds.
    pub(crate) fn millis(&mut self, range: Range<u64>) -> Duration {
        Duration::from_millis(range.start + self.below(range.end - range.start))
    }

    pub(crate) fn branch(&mut self) -> Self {
        Self(self.next())
    }
}
