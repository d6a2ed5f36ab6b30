//! The local host: the demo, shutdown, two deployments, and what it takes from clients.

pub(crate) mod compression;
pub(crate) mod demo;
pub(crate) mod half_open;
pub(crate) mod headers;
pub(crate) mod idle_sockets;
pub(crate) mod other_users;
pub(crate) mod raw;
pub(crate) mod shutdown;
pub(crate) mod two_deployments;
