//! Access control: the access tables of routes and sockets, tokens, rate limits.

pub(crate) mod access_table;
pub(crate) mod credentials;
pub(crate) mod identity_provider;
pub(crate) mod me;
pub(crate) mod rates;
pub(crate) mod signing_in;
pub(crate) mod socket_access_table;
pub(crate) mod socket_credentials;
