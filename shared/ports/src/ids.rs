//! Randomness: new ids, leases, jitter.

use std::sync::{
    LazyLock,
    atomic::{AtomicU16, Ordering},
};

/// A source of random numbers.
pub trait IdSource: Send + Sync {
    /// 128 random bits.
    fn random(&self) -> u128;
}

/// A cryptographic generator seeded by the operating system. Leases and tickets depend on it being
/// unpredictable.
///
/// The 16 bits that come first in an id, after its millisecond, count. So the ids that a process
/// makes in one millisecond grow, and lists show things in the order in which they were made. The
/// other bits are random.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomIds;

/// Where the counted bits begin: an id has 80 bits after its millisecond.
const COUNTED_FROM: u32 = 64;

impl IdSource for RandomIds {
    fn random(&self) -> u128 {
        // It begins anywhere, because ids should not say how many were made.
        static COUNT: LazyLock<AtomicU16> = LazyLock::new(|| AtomicU16::new(rand::random()));
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let others: u128 = rand::random();
        others & !(u128::from(u16::MAX) << COUNTED_FROM) | u128::from(count) << COUNTED_FROM
    }
}

#[cfg(test)]
mod tests {
    use smartspace_domain::{Time, ids::RunId};

    use super::*;

    #[test]
    fn ids_of_one_millisecond_grow() {
        let id = || RunId::new(Time::from_millis(1), RandomIds.random()).to_string();
        let ids: Vec<_> = (0..1_000).map(|_| id()).collect();
        // The count begins anew once, perhaps among these.
        let falls = ids.windows(2).filter(|pair| pair[0] >= pair[1]).count();
        assert!(falls <= 1, "{falls} ids are not after the one before");
    }
}
