//! Live streams and WebSocket frames.

pub(crate) mod memberships;
pub(crate) mod presence;
pub(crate) mod read_positions;
pub(crate) mod run_steps;
pub(crate) mod socket_frames;
pub(crate) mod socket_limits;
pub(crate) mod streams;
