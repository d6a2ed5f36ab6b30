//! All random numbers and faults of one seed.
//!
//! A number depends only on the seed, on the name of the place that asks for it, and on how often
//! that place has asked. So one fault can be suppressed without moving the others, which is how
//! histories are shortened. It also means that renaming a place changes the history of every seed.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crate::locked;

/// A fault that struck: its place, and how often the place was passed before.
pub type Fault = (String, u64);

/// The numbers and faults of one seed.
#[derive(Debug)]
pub struct Chance {
    seed: u64,
    passed: Mutex<BTreeMap<String, u64>>,
    faults: Mutex<Vec<Fault>>,
    suppressed: BTreeSet<Fault>,
    calm: AtomicBool,
}

impl Chance {
    /// The numbers of `seed`. The faults in `suppressed` do not strike.
    pub fn new(seed: u64, suppressed: BTreeSet<Fault>) -> Self {
        Self {
            seed,
            passed: Mutex::default(),
            faults: Mutex::default(),
            suppressed,
            calm: AtomicBool::new(false),
        }
    }

    /// The next number of a place.
    pub fn number(&self, place: &str) -> u64 {
        self.at(place, self.pass(place))
    }

    /// The next number of a place, below `end`.
    pub fn below(&self, place: &str, end: u64) -> u64 {
        self.number(place) % end.max(1)
    }

    /// Whether an event of this probability happens. The event is not a fault.
    pub fn happens(&self, place: &str, per_mille: u64) -> bool {
        self.below(place, 1_000) < per_mille
    }

    /// Whether a fault of this probability strikes. In a calm phase none does.
    pub fn strikes(&self, place: &str, per_100_000: u64) -> bool {
        let pass = self.pass(place);
        if self.is_calm() || self.at(place, pass) % 100_000 >= per_100_000 {
            return false;
        }
        let fault = (place.to_owned(), pass);
        if self.suppressed.contains(&fault) {
            return false;
        }
        locked(&self.faults).push(fault);
        true
    }

    /// A time from `from` to `to`, in whole milliseconds.
    pub fn time(&self, place: &str, from: Duration, to: Duration) -> Duration {
        let span = (to.saturating_sub(from)).as_millis() as u64;
        from + Duration::from_millis(self.below(place, span + 1))
    }

    /// Begins or ends a calm phase, in which no fault strikes.
    pub fn set_calm(&self, calm: bool) {
        self.calm.store(calm, Ordering::Relaxed);
    }

    /// Whether this is a calm phase.
    pub fn is_calm(&self) -> bool {
        self.calm.load(Ordering::Relaxed)
    }

    /// The faults that struck so far.
    pub fn faults(&self) -> Vec<Fault> {
        locked(&self.faults).clone()
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
        let place = place.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
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
