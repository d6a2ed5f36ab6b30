//! Live streams and WebSocket frames.

pub(crate) mod memberships;
pub(crate) mod socket_frames;
pub(crate) mod streams;
