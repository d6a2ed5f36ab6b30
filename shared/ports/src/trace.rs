//! W3C trace context: connects the log lines of a request through functions, queues and schedules,
//! and the runs that it causes.
//!
//! The only spans are those of runs, their model calls and their tools, which are exported when a
//! run has ended. Their ids follow from the ids of the run and its calls, so nothing has to be
//! stored for them.

use std::fmt;

use sha2::{Digest, Sha256};

/// A `traceparent`: the trace that some work belongs to, and the span that caused it.
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
    /// Starts a new trace, sampled. No span has caused it, so its parent is the lower half of its
    /// id, by which [`Self::parent_span`] knows it.
    pub fn begin() -> Self {
        // Not from the seeded ids: a trace must not change the course of a simulation.
        let trace = rand::random::<u128>() | 1;
        Self { trace, parent: trace as u64, flags: 1 }
    }

    /// The trace of a received header, or a new one if the header is missing or not valid.
    pub fn following(sent: Option<&str>) -> Self {
        sent.and_then(Self::read).unwrap_or_else(Self::begin)
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

    /// The same trace, for what this span causes.
    #[must_use]
    pub fn caused_by(&self, span: u64) -> Self {
        Self { parent: span, ..self.clone() }
    }

    /// The id of the trace, as the log shows it.
    pub fn trace_id(&self) -> String {
        format!("{:032x}", self.trace)
    }

    /// The span that caused the work. `None` if the trace began with it.
    pub fn parent_span(&self) -> Option<u64> {
        Some(self.parent).filter(|parent| *parent != self.trace as u64)
    }

    /// Whether the caller that began the trace wants it to be recorded.
    pub fn is_sampled(&self) -> bool {
        self.flags & 1 == 1
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.trace, self.parent, self.flags)
    }
}

/// The `traceparent` of the current task, or of a new trace.
pub fn current_or_new() -> String {
    current().unwrap_or_else(TraceParent::begin).to_string()
}

/// The id of the span of what has this id: a run, a call, or a step of a run.
pub fn span_of(id: &str) -> u64 {
    let digest = Sha256::digest(format!("span|{id}"));
    digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte)).max(1)
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
