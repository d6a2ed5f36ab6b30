//! The order of messages, history, prompts and cursors.

pub(crate) mod auto_replies;
pub(crate) mod chains;
pub(crate) mod changes;
pub(crate) mod conversations;
pub(crate) mod cursors;
pub(crate) mod deletion;
pub(crate) mod forgotten;
pub(crate) mod gate;
pub(crate) mod mentions;
pub(crate) mod order;
pub(crate) mod other_spaces;
pub(crate) mod partner;
pub(crate) mod pins;
pub(crate) mod prompt;
pub(crate) mod questions;
pub(crate) mod reactions;
pub(crate) mod remains;
pub(crate) mod replies;
pub(crate) mod routing;
pub(crate) mod summaries;
pub(crate) mod wakes;
