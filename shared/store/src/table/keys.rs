//! The keys of all items.
//!
//! Numbers in keys are padded, so that the order of the keys is the order of the numbers.
//! [`crate::table::indexes`] names the key attributes of the indexes, and `partitions` their
//! partitions.

mod entities;
mod partitions;
mod projects;
mod requests;
mod runs;
mod spaces;

use sha2::{Digest, Sha256};

pub use self::{entities::*, partitions::*, projects::*, requests::*, runs::*, spaces::*};

/// How many partitions the index of due items has.
pub const DUE_PARTS: u8 = 16;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    pub pk: String,
    pub sk: String,
}

impl Key {
    fn new(pk: impl Into<String>, sk: impl Into<String>) -> Self {
        Self { pk: pk.into(), sk: sk.into() }
    }
}

/// SHA-256 over `parts`, in hex. The length of each part is hashed before it, so that different
/// lists of parts never give the same input.
pub fn hash(parts: &[&str]) -> String {
    use std::fmt::Write as _;
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part.as_bytes());
    }
    digest.finalize().iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a String can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
