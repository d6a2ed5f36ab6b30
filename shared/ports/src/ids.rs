//! Randomness: new ids, leases, jitter.

/// A source of random numbers.
pub trait IdSource: Send + Sync {
    /// 128 random bits.
    fn random(&self) -> u128;
}

/// A cryptographic generator seeded by the operating system. Leases and tickets depend on it being
/// unpredictable.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomIds;

impl IdSource for RandomIds {
    fn random(&self) -> u128 {
        rand::random()
    }
}
