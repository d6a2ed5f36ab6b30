//! The rate of each kind of fault.
//!
//! Seeds differ in which faults they have at all. With every fault in every seed most histories
//! would look alike, and no history would have one kind of fault in an otherwise quiet deployment.

use crate::chance::Chance;

/// The rate of each kind of fault, per 100,000 calls. By default there are no faults.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FaultRates {
    /// A process dies before a call takes effect.
    pub killed_before: u64,
    /// A process dies after a call takes effect, before it gets the answer.
    pub killed_after: u64,
    /// A process stalls for a while.
    pub stalled: u64,
    /// The table refuses a call.
    pub refused: u64,
    /// The table throttles a call.
    pub throttled: u64,
    /// The table reports a conflict.
    pub conflict: u64,
    /// A call takes effect, and its answer is lost.
    pub lost_answer: u64,
    /// A call seems to fail, and takes effect later.
    pub late_effect: u64,
    /// A conditional write waits until another write makes its condition fail.
    pub held: u64,
    /// A batch is answered in part.
    pub partial: u64,
    /// A page is shorter than its limit.
    pub short_page: u64,
    pub slow: u64,
    /// A queue does not take a job, or takes it and reports a failure.
    pub queue: u64,
    /// A job is delivered again.
    pub twice: u64,
    /// A job is delivered late.
    pub late_job: u64,
    /// An alarm is lost, late, early, or rings twice.
    pub alarm: u64,
    /// The storage of files does not answer, or its answer is lost.
    pub files: u64,
    /// A frame is not delivered, or delivered and not acknowledged.
    pub frame: u64,
    pub dropped: u64,
    /// A request over HTTP, or its answer, is lost.
    pub request: u64,
    /// A model fails, hangs or is cut off.
    pub model: u64,
    /// A server that a tool calls is slow, fails, loses its answer, or is not reached.
    pub outside: u64,
    /// A process dies or stalls while an external call is under way.
    pub under_way: u64,
    /// A process dies after a write of a deletion.
    pub in_deletion: u64,
    /// The wall clock jumps, back and forth.
    pub clock: u64,
}

impl FaultRates {
    /// Draws the rates of a seed.
    pub(crate) fn from_seed(chance: &Chance) -> Self {
        // Each fault is absent, rare or frequent.
        let rate = |name: &str, rare: u64, frequent: u64| match chance
            .below(&format!("fault rates/{name}"), 4)
        {
            0 | 1 => 0,
            2 => rare,
            _ => frequent,
        };
        Self {
            killed_before: rate("killed_before", 60, 300),
            killed_after: rate("killed_after", 60, 300),
            stalled: rate("stalled", 20, 100),
            refused: rate("refused", 500, 3_000),
            throttled: rate("throttled", 500, 3_000),
            conflict: rate("conflict", 1_000, 10_000),
            lost_answer: rate("lost_answer", 500, 5_000),
            late_effect: rate("late_effect", 100, 1_000),
            held: rate("held", 500, 5_000),
            partial: rate("partial", 2_000, 20_000),
            short_page: rate("short_page", 2_000, 20_000),
            slow: rate("slow", 200, 1_000),
            queue: rate("queue", 2_000, 15_000),
            twice: rate("twice", 2_000, 20_000),
            late_job: rate("late_job", 1_000, 10_000),
            alarm: rate("alarm", 10_000, 60_000),
            files: rate("files", 1_000, 10_000),
            frame: rate("frame", 1_000, 10_000),
            dropped: rate("dropped", 100, 500),
            request: rate("request", 2_000, 15_000),
            model: rate("model", 2_000, 10_000),
            outside: rate("outside", 10_000, 40_000),
            under_way: rate("under_way", 5_000, 20_000),
            in_deletion: rate("in_deletion", 3_000, 20_000),
            clock: rate("clock", 10, 50),
        }
    }
}
