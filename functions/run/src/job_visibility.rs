//! How long the runs queue hides a job while a worker has it.

use std::time::Duration;

use smartspace_domain::limits::lease;

/// If the worker dies, another one gets the job after this time. By then the lease has expired, so
/// that the next worker can claim the run at once.
pub(crate) const JOB_HIDDEN_FOR: Duration =
    Duration::from_secs(1 + lease::DURATION.as_secs() + lease::GRACE.as_secs());
