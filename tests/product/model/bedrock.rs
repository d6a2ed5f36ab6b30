//! The same model as Bedrock's `ConverseStream`.

mod check;
mod writing;

pub(super) use self::{
    check::faults,
    writing::{beats, refusal},
};
