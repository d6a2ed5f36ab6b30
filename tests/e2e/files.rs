//! Files of spaces.

pub(crate) mod messages;
pub(crate) mod prompts;
pub(crate) mod uploads;
