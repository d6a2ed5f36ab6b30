//! Randomness: new ids, leases, jitter.

/// Gives random numbers.
pub trait Ids: Send + Sync {
    /// 128 random bits.
    fn random(&self) -> u128;
}

/// The operating system's randomness, stretched by a cryptographic generator: leases and tickets are made of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomIds;

impl Ids for RandomIds {
    fn random(&self) -> u128 {
        rand::random()
    }
}
