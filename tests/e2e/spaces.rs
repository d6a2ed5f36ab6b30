//! Spaces, their members, and visibility between entities.

pub(crate) mod activity;
pub(crate) mod agent_configuration;
pub(crate) mod guest_names;
pub(crate) mod hundred_spaces;
pub(crate) mod idempotency;
pub(crate) mod invites;
pub(crate) mod lifecycle;
pub(crate) mod lines;
pub(crate) mod members;
pub(crate) mod owner_limits;
pub(crate) mod pages;
pub(crate) mod removals;
pub(crate) mod visibility;
