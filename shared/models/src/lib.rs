//! The model port and its providers.

pub mod port;
