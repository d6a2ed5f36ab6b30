//! The fake model in Anthropic's messages API.

mod check;
mod writing;

pub(crate) use crate::support::model::anthropic::{
    check::faults,
    writing::{beats, refusal},
};
