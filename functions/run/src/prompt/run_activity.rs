//! Derives from the last calls of a run what it has done so far.

use serde_json::Value;
use smartspace_domain::{
    approvals::ApprovalState,
    forms::first_text,
    ids::{MessageId, RunId, SpaceId},
    jobs::MessageRef,
    steps::CallStatus,
    tools::SEND_MESSAGE,
};
use smartspace_store::{
    Result, Store,
    messages::CutJson,
    runs::{cards::CardRef, steps::CallRecord},
};

/// The number of calls that are read.
const MAX_CALLS: usize = 20;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunActivity {
    /// The active space after the newest call that names one.
    pub(crate) active_space: Option<SpaceId>,
    /// The tools it used, each once, oldest first. `send_message` is not among them.
    pub(crate) tools_used: Vec<String>,
    /// The messages it sent, newest first.
    pub(crate) sent: Vec<SentMessage>,
    pub(crate) waiting: Option<Waiting>,
}

/// A form that nobody has answered yet, or a call that waits for approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) tool: String,
    /// The space in which it asks.
    pub(crate) space: SpaceId,
    /// The number of its card there.
    pub(crate) seq: u64,
    /// The question: the first text of its input.
    pub(crate) question: Option<String>,
    /// People decide whether the call is made.
    pub(crate) is_approval: bool,
}

/// A message that a run sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SentMessage {
    pub(crate) space: Option<SpaceId>,
    pub(crate) message: MessageId,
    /// Where it is, if that is known.
    pub(crate) place: Option<MessageRef>,
    /// The first 200 characters of the message.
    pub(crate) text: String,
}

impl RunActivity {
    /// Reads the last calls of a run.
    pub(crate) async fn of(store: &Store, run: RunId) -> Result<Self> {
        let calls = store.steps().last_calls(run, MAX_CALLS).await?;
        let open = calls
            .iter()
            .rev()
            .filter(|call| call.status == CallStatus::Pending && !call.is_under_way())
            .filter(|call| !call.is_approved())
            .find_map(|call| Some((call, call.card.as_ref()?)));
        let waiting = match open {
            Some((call, CardRef { space, seq, .. })) => {
                let card = store.messages().record(*space, *seq).await?;
                let question = card.and_then(|message| question(&message.card?.input));
                let is_approval = call.approval.is_some();
                let tool = call.name.clone();
                Some(Waiting { tool, space: *space, seq: *seq, question, is_approval })
            }
            None => None,
        };
        Ok(Self { waiting, ..Self::from_calls(calls) })
    }

    /// `calls` are the last ones of the run, newest first.
    fn from_calls(calls: Vec<CallRecord>) -> Self {
        let mut activity = Self {
            active_space: calls.iter().find_map(|call| call.active_space),
            ..Self::default()
        };
        for call in calls.iter().rev() {
            if counts_as_used(call) && !activity.tools_used.contains(&call.name) {
                activity.tools_used.push(call.name.clone());
            }
        }
        activity.sent = calls
            .into_iter()
            .filter_map(|call| {
                Some(SentMessage {
                    space: call.active_space,
                    message: call.message_id(),
                    place: call.sent_to(),
                    text: call.sent_excerpt?,
                })
            })
            .collect();
        activity
    }
}

/// Whether a prompt lists the call's tool among those that a run used.
/// A failed call does not count, nor one that people have not approved, nor a message, which is
/// listed by its text.
pub(crate) fn counts_as_used(call: &CallRecord) -> bool {
    let is_made = call.approval.as_ref().is_none_or(|it| it.state == ApprovalState::Approved);
    call.status == CallStatus::Completed && is_made && call.name != SEND_MESSAGE
}

/// The first text of a form's input. Its JSON may be cut.
fn question(input: &CutJson) -> Option<String> {
    let input: Value = serde_json::from_str(&input.text).ok()?;
    first_text(&input).map(str::to_owned)
}
