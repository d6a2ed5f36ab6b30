//! A log of what happened, for people who debug a failure.

use std::{fmt::Write, sync::Mutex};

use tokio::time::Instant;

use crate::locked;

#[derive(Debug)]
pub struct History {
    begun: Instant,
    lines: Mutex<Vec<String>>,
    digest: Mutex<u64>,
    whole: bool,
}

impl History {
    /// An empty log. It stores its lines only if `whole` is set; it always computes its digest.
    pub fn new(whole: bool) -> Self {
        Self { begun: Instant::now(), lines: Mutex::default(), digest: Mutex::new(0), whole }
    }

    /// Adds what `who` did, or what happened to it.
    pub fn note(&self, who: &str, what: impl FnOnce() -> String) {
        let what = what();
        let at = self.begun.elapsed().as_millis();
        let mut digest = locked(&self.digest);
        for byte in who.bytes().chain(what.bytes()).chain(at.to_be_bytes()) {
            *digest = (*digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(5);
        }
        drop(digest);
        if self.whole {
            locked(&self.lines)
                .push(format!("{:>10.3} {who:<12} {what}", self.begun.elapsed().as_secs_f64()));
        }
    }

    /// A hash of all notes: the same each time a seed is played.
    pub fn digest(&self) -> u64 {
        *locked(&self.digest)
    }

    pub fn text(&self) -> String {
        locked(&self.lines).iter().fold(String::new(), |mut text, line| {
            // Writing to a `String` can't fail.
            let _ = writeln!(text, "{line}");
            text
        })
    }
}
