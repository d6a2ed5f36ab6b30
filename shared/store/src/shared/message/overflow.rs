//! The parts of messages that have items of their own, since they are too long for the message's
//! item.

use serde::{Deserialize, Serialize};
use smartspace_domain::{dispatch::Dispatch, gate::Gate, stored};

/// The parts of a message that are too long for its item: `TEXT#`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Overflow {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// The input of a card, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) input: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) result_schema: Option<String>,
}

/// Decisions on more agents than fit in a message's item: `WOKEN#`.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct LongDispatch {
    pub(crate) dispatch: Vec<Dispatch>,
    /// The scores of as many agents.
    #[serde(default, deserialize_with = "stored::read_if_known")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) gate: Option<Gate>,
}
