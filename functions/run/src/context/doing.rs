//! What another run has done so far, as far as its last calls show it.

use smartspace_domain::ids::{MessageId, RunId, SpaceId};
use smartspace_store::{Result, Store, steps::CallRecord};

use crate::tools;

/// Calls of a run that are looked at.
const CALLS: usize = 20;

/// What a run has done so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Doing {
    /// Where it would speak, once a call said so.
    pub(crate) active_space: Option<SpaceId>,
    /// Tools that it used, besides `send_message`, each once, in their order.
    pub(crate) tools_used: Vec<String>,
    /// What it said, newest first.
    pub(crate) sent: Vec<Sent>,
}

/// A message that a run sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    /// Where.
    pub(crate) space: Option<SpaceId>,
    /// The message.
    pub(crate) message: MessageId,
    /// Its first 200 characters.
    pub(crate) text: String,
}

impl Doing {
    /// Reads the last calls of a run.
    pub(crate) async fn of(store: &Store, run: RunId) -> Result<Self> {
        Ok(Self::told_by(store.last_calls(run, CALLS).await?))
    }

    /// From its last calls, newest first.
    fn told_by(calls: Vec<CallRecord>) -> Self {
        let mut doing = Self { active_space: calls.iter().find_map(|call| call.active_space), ..Self::default() };
        for call in calls.iter().rev() {
            if tools::counts_as_used(call) && !doing.tools_used.contains(&call.name) {
                doing.tools_used.push(call.name.clone());
            }
        }
        doing.sent = calls
            .into_iter()
            .filter_map(|call| Some(Sent { space: call.active_space, message: MessageId::of_call(call.call_id), text: call.said? }))
            .collect();
        doing
    }
}
