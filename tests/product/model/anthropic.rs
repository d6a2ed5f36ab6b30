//! The same model as Anthropic's messages.

mod check;
mod writing;

pub(super) use self::{
    check::faults,
    writing::{beats, refusal},
};
