//! Live streams and WebSocket frames.

pub(crate) mod socket_frames;
pub(crate) mod streams;
