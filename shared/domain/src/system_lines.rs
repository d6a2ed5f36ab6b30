//! System lines: they stand between the messages of a space and say what has changed in it.
//!
//! They are no messages: they have no `seq`, nobody has to read them, no search finds them, and
//! they wake nobody.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Time, identity::Sender, ids::LineId, stored::tolerant};

/// What a line reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", remote = "Self")]
pub enum LineKind {
    /// A member joined.
    Joined,
    /// A member left, or was removed.
    Left,
    /// A member or the space has another name.
    Renamed,
    /// The space was paused.
    Paused,
    /// The space is no longer paused.
    Resumed,
    /// The space's `triggerPolicy` changed.
    PolicyChanged,
    /// A chain was stopped.
    ChainStopped,
    /// The space was paused, and all of its runs were canceled.
    Stopped,
}

tolerant!(LineKind);

/// A line between the messages of a space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SystemLine {
    /// The line's id.
    pub id: LineId,
    /// The `seq` of the newest message at that time, 0 if there was none. Lines after the same
    /// message are in the order of their ids.
    pub after_seq: u64,
    /// When it happened.
    pub at: Time,
    /// Who did it; null for the operator.
    #[schema(required)]
    pub by: Option<Sender>,
    /// What the line reports.
    pub kind: LineKind,
    /// The member that joined, left or was renamed. Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<Sender>,
    /// The name or the policy before. Absent if the line reports no such change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The name or the policy after. Absent if the line reports no such change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The message whose chain was stopped. Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
}

impl SystemLine {
    /// A line without details.
    pub fn new(id: LineId, after_seq: u64, at: Time, by: Option<Sender>, kind: LineKind) -> Self {
        Self { id, after_seq, at, by, kind, member: None, from: None, to: None, seq: None }
    }
}
