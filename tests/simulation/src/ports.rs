//! The ports of one process, each with its faults.

pub mod alarms;
pub mod files;
pub mod model;
pub mod queue;
pub mod sockets;
mod sqs;
pub mod table;
pub mod transport;
