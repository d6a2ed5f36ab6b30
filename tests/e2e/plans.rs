//! Plans that operators and agents set, and the runs that they trigger.

pub(crate) mod operator;
pub(crate) mod runs;
pub(crate) mod tools;
