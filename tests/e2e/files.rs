//! Files of spaces.

pub(crate) mod drawing;
pub(crate) mod messages;
pub(crate) mod prompts;
pub(crate) mod returned;
pub(crate) mod uploads;
