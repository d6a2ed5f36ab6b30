//! The local host: the demo, shutdown, two deployments.

pub(crate) mod demo;
pub(crate) mod shutdown;
pub(crate) mod two_deployments;
