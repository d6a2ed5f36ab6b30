//! Spaces, their members, and visibility between entities.

pub(crate) mod hundred_spaces;
pub(crate) mod lifecycle;
pub(crate) mod members;
pub(crate) mod removals;
pub(crate) mod visibility;
