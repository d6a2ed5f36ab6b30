//! What all six mains share: configuration, tracing, AWS events into domain jobs.
