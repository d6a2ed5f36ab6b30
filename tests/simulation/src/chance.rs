//! Everything that is left to chance, from one seed.
//!
//! A number depends on the seed, on the name of the place that asks, and on how often that place has asked: nothing else. So a fault can be
//! taken out of a history without moving the others, which is how histories are made short.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crate::locked;

/// A fault that struck: its place, and the how-manieth time the place was passed.
pub type Strike = (String, u64);

/// Numbers and faults of one seed.
#[derive(Debug)]
pub struct Chance {
    seed: u64,
    passed: Mutex<BTreeMap<String, u64>>,
    struck: Mutex<Vec<Strike>>,
    spared: BTreeSet<Strike>,
    calm: AtomicBool,
}

impl Chance {
    /// The numbers of `seed`. The faults in `spared` do not strike.
    pub fn new(seed: u64, spared: BTreeSet<Strike>) -> Self {
        Self { seed, passed: Mutex::default(), struck: Mutex::default(), spared, calm: AtomicBool::new(false) }
    }

    /// The next number of this place.
    pub fn number(&self, place: &str) -> u64 {
        self.at(place, self.pass(place))
    }

    /// The next number of this place, below `end`.
    pub fn below(&self, place: &str, end: u64) -> u64 {
        self.number(place) % end.max(1)
    }

    /// Whether something of this likelihood happens, which is no fault.
    pub fn happens(&self, place: &str, per_mille: u64) -> bool {
        self.below(place, 1_000) < per_mille
    }

    /// Whether a fault of this likelihood strikes. In the calm at the end none does.
    pub fn strikes(&self, place: &str, per_100_000: u64) -> bool {
        let pass = self.pass(place);
        if self.is_calm() || self.at(place, pass) % 100_000 >= per_100_000 {
            return false;
        }
        let strike = (place.to_owned(), pass);
        if self.spared.contains(&strike) {
            return false;
        }
        locked(&self.struck).push(strike);
        true
    }

    /// A time between two, in whole milliseconds.
    pub fn time(&self, place: &str, from: Duration, to: Duration) -> Duration {
        let span = (to.saturating_sub(from)).as_millis() as u64;
        from + Duration::from_millis(self.below(place, span + 1))
    }

    /// Whether from now on nothing strikes.
    pub fn calm(&self, calm: bool) {
        self.calm.store(calm, Ordering::Relaxed);
    }

    /// Whether nothing strikes any more.
    pub fn is_calm(&self) -> bool {
        self.calm.load(Ordering::Relaxed)
    }

    /// What struck so far.
    pub fn struck(&self) -> Vec<Strike> {
        locked(&self.struck).clone()
    }

    fn pass(&self, place: &str) -> u64 {
        let mut passed = locked(&self.passed);
        if let Some(times) = passed.get_mut(place) {
            *times += 1;
            return *times;
        }
        passed.insert(place.to_owned(), 0);
        0
    }

    fn at(&self, place: &str, pass: u64) -> u64 {
        let place = place.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        mixed(mixed(self.seed ^ place).wrapping_add(pass.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }
}

/// `SplitMix64`'s finaliser.
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}
