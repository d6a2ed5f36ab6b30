//! The ports of the product to the outside, each in one file with its AWS adapter (feature `aws`).
//! The local host and the tests have their own adapters.

pub mod alarms;
pub mod cancel_signal;
pub mod clock;
pub mod envelope;
pub mod files;
pub mod ids;
pub mod key_sets;
pub mod log;
pub mod model_servers;
pub mod otlp;
pub mod queues;
pub mod resolver;
pub mod secrets;
pub mod sockets;
pub mod trace;
