//! What lies outside of the product, as small ports, each beside its AWS adapter (feature `aws`).
//! The local host and the tests bring their own.

pub mod alarms;
pub mod bell;
pub mod clock;
pub mod envelope;
pub mod ids;
pub mod key_sets;
pub mod log;
pub mod names;
pub mod queues;
pub mod secrets;
pub mod sockets;
pub mod trace;
