//! What moved a score.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::stored::tolerant;

/// What moved a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", remote = "Self")]
pub enum Because {
    /// The message has the agent's name, or does not.
    Named,
    /// The message names other members.
    OtherNamed,
    /// Whether the agent wrote to the sender, and how long ago.
    AskedSender,
    /// Whether the sender wrote to the agent, and how long ago.
    SenderWrote,
    /// Whether the sender talks with another member.
    OtherTalk,
    /// The agent and the sender spoke in turn, or did not.
    Turns,
    /// How long ago the agent spoke.
    Recent,
    /// The agent has not spoken in the last 50 messages.
    Absent,
    /// How many of the last messages are the agent's.
    Share,
    /// How long ago the sender spoke, and how often.
    Sender,
    /// Rare words that the message shares with the agent's messages and description.
    Words,
    /// The form of the message: question, length, link, code, file.
    Form,
    /// What the agent does in the talk: how often it asks, answers and names others.
    Role,
    /// How many speak at once.
    Crowd,
}

tolerant!(Because);
