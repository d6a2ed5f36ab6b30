//! What an agent is to do later: once, or again and again.

use serde::{Deserialize, Serialize};

use crate::{Time, ids::PlanId};

/// A plan of an agent, as its prompts show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// Its id.
    pub id: PlanId,
    /// Its name.
    pub name: String,
    /// What is to be done.
    pub instruction: String,
    /// When.
    pub schedule: Schedule,
    /// When it fires next; none where it is paused or over.
    pub next_run_at: Option<Time>,
}

/// When a plan fires.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum Schedule {
    /// At one time.
    Once {
        /// The words in which it was set, such as "2 hours".
        run_after: Option<String>,
    },
    /// By the five fields of cron.
    Cron {
        /// The fields.
        cron: String,
        /// An IANA time zone.
        timezone: String,
    },
}
