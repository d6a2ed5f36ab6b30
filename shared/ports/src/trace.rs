//! W3C trace context: connects the log lines of a request through functions, queues and schedules.
//! Nothing but the log depends on it.

use std::fmt;

/// A `traceparent`: the trace that some work belongs to, and the step that caused it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceParent {
    trace: u128,
    parent: u64,
    flags: u8,
}

tokio::task_local! {
    static CURRENT: TraceParent;
}

impl TraceParent {
    /// Starts a new trace, sampled.
    pub fn begin() -> Self {
        // Not from the seeded ids: a trace must not change the course of a simulation.
        Self { trace: rand::random::<u128>() | 1, parent: rand::random::<u64>() | 1, flags: 1 }
    }

    /// The next step after a received header, or a new trace if the header is missing or not valid.
    pub fn following(sent: Option<&str>) -> Self {
        sent.and_then(Self::read).map_or_else(Self::begin, |sent| sent.next())
    }

    /// Reads a header of <https://www.w3.org/TR/trace-context/>, also of later versions. Returns
    /// `None` if it is not valid.
    pub fn read(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('-');
        let version = hex(parts.next()?, 2)?;
        let trace = hex(parts.next()?, 32)?;
        let parent = hex(parts.next()?, 16)?;
        let flags = hex(parts.next()?, 2)?;
        let is_known = version < 0xff && (version > 0 || parts.next().is_none());
        (is_known && trace != 0 && parent != 0).then_some(Self {
            trace,
            parent: u64::try_from(parent).ok()?,
            flags: u8::try_from(flags).ok()?,
        })
    }

    /// The next step of the same trace.
    #[must_use]
    pub fn next(&self) -> Self {
        Self { parent: rand::random::<u64>() | 1, ..self.clone() }
    }

    /// The id of the trace, as the log shows it.
    pub fn trace_id(&self) -> String {
        format!("{:032x}", self.trace)
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.trace, self.parent, self.flags)
    }
}

/// Reads exactly `digits` lower-case hexadecimal digits.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let is_hex =
        text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_hex.then(|| u128::from_str_radix(text, 16).ok()).flatten()
}

/// Does `work` as part of a trace. The jobs that it queues carry the trace on.
pub async fn within<T>(trace: TraceParent, work: impl Future<Output = T>) -> T {
    CURRENT.scope(trace, work).await
}

/// The trace of the current task, if any. A spawned task has none.
pub fn current() -> Option<TraceParent> {
    CURRENT.try_with(Clone::clone).ok()
}

#[cfg(test)]
mod tests;
