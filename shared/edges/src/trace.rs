//! W3C trace context: which request something was done for, through functions, queues and schedules. For the log alone: nothing is decided by it.

use std::fmt;

/// A `traceparent`: the trace that work belongs to, and who caused it.
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
    /// A trace of its own, sampled.
    pub fn begin() -> Self {
        // Drawn here, not from the seeded ids: a trace must not change what a seed plays.
        Self { trace: rand::random::<u128>() | 1, parent: rand::random::<u64>() | 1, flags: 1 }
    }

    /// One step on from the header that was sent; a trace of its own where that is none.
    pub fn following(sent: Option<&str>) -> Self {
        sent.and_then(Self::read).map_or_else(Self::begin, |sent| sent.next())
    }

    /// Reads a header of <https://www.w3.org/TR/trace-context/>, also of later versions. None for what is none.
    pub fn read(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('-');
        let version = hex(parts.next()?, 2)?;
        let (trace, parent, flags) = (hex(parts.next()?, 32)?, hex(parts.next()?, 16)?, hex(parts.next()?, 2)?);
        let is_known = version < 0xff && (version > 0 || parts.next().is_none());
        (is_known && trace != 0 && parent != 0).then_some(Self {
            trace,
            parent: u64::try_from(parent).ok()?,
            flags: u8::try_from(flags).ok()?,
        })
    }

    /// The same trace, one step on.
    #[must_use]
    pub fn next(&self) -> Self {
        Self { parent: rand::random::<u64>() | 1, ..self.clone() }
    }

    /// What all of a trace has in common, as the log shows it.
    pub fn trace_id(&self) -> String {
        format!("{:032x}", self.trace)
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.trace, self.parent, self.flags)
    }
}

/// Lower-case hexadecimal digits, exactly so many.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let is_hex = text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_hex.then(|| u128::from_str_radix(text, 16).ok()).flatten()
}

/// Does `work` as part of a trace: what it queues carries it on.
pub async fn within<T>(trace: TraceParent, work: impl Future<Output = T>) -> T {
    CURRENT.scope(trace, work).await
}

/// The trace of what is being done, if any. A task that was spawned has none.
pub fn current() -> Option<TraceParent> {
    CURRENT.try_with(Clone::clone).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_and_written_as_it_is() {
        let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let read = TraceParent::read(text).unwrap();
        assert_eq!((read.to_string(), read.trace_id()), (text.to_owned(), "4bf92f3577b34da6a3ce929d0e0e4736".to_owned()));
        let next = read.next();
        assert_eq!(next.trace_id(), read.trace_id());
        assert_ne!(next, read);
        // A later version may say more behind it.
        assert!(TraceParent::read("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more").is_some());
    }

    #[test]
    fn what_is_no_trace_is_none() {
        let zeros = "0".repeat(32);
        for wrong in [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            &format!("00-{zeros}-00f067aa0ba902b7-01"),
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ] {
            assert_eq!(TraceParent::read(wrong), None, "{wrong}");
        }
    }

    #[tokio::test]
    async fn work_knows_its_trace_and_nothing_else_does() {
        let trace = TraceParent::begin();
        assert_eq!(within(trace.clone(), async { current() }).await, Some(trace));
        assert_eq!(current(), None);
    }
}
