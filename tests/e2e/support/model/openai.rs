//! The fake model in `OpenAI`'s chat completions API.

mod check;
mod writing;

pub(crate) use crate::support::model::openai::{
    check::faults,
    writing::{beats, refusal},
};
