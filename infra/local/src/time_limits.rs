//! The limits of time of what clients send and take. A client that keeps to none of them would hold
//! a connection, memory or a file for as long as it likes.

use std::time::Duration;

/// The limits, times the factor of `--time-limits`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeLimits(pub(crate) f64);

/// The least rate of a body, in bytes a second, after the first [`TimeLimits::next_bytes`].
pub(crate) const LEAST_RATE: u64 = 16 * 1024;

impl TimeLimits {
    /// How long a new connection may take for its first request.
    pub(crate) fn first_request(self) -> Duration {
        self.times(10)
    }

    /// How long the headers of a later request may take, with the pause before them.
    pub(crate) fn headers(self) -> Duration {
        self.times(60)
    }

    /// How long the next bytes of a body may take.
    pub(crate) fn next_bytes(self) -> Duration {
        self.times(30)
    }

    /// How long a client may take none of the bytes that wait for it.
    pub(crate) fn reading(self) -> Duration {
        self.times(30)
    }

    /// How long a WebSocket frame may take from its first byte to its last.
    pub(crate) fn frame(self) -> Duration {
        self.times(10)
    }

    /// How long a WebSocket that follows no space may send nothing.
    pub(crate) fn idle_socket(self) -> Duration {
        self.times(120)
    }

    fn times(self, seconds: u32) -> Duration {
        Duration::from_secs(seconds.into()).mul_f64(self.0)
    }
}
