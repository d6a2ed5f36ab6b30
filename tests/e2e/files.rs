//! Files of spaces.

pub(crate) mod deletion;
pub(crate) mod drawing;
pub(crate) mod listing;
pub(crate) mod messages;
pub(crate) mod prompts;
pub(crate) mod quotas;
pub(crate) mod returned;
pub(crate) mod uploads;
