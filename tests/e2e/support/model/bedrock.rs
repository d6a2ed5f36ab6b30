//! The fake model in Bedrock's `ConverseStream` API.

mod check;
mod writing;

pub(crate) use crate::support::model::bedrock::{
    check::faults,
    writing::{beats, event, refusal},
};
