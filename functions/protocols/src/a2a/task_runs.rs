//! A task as the runs and messages of a space make it up.

use smartspace_client::{Page, Refusal, Session as ApiSession, messages_path};
use smartspace_domain::{
    Time,
    ids::{RunId, SpaceId},
    messages::Message,
    runs::{Run, RunStatus},
    triggers::{Trigger, TriggerReference},
};

use crate::{
    a2a::{AgentCall, task_json::state_of},
    turn::{card_of, is_open_form},
};

/// How many messages are read for a task, from its first one on.
const MAX_MESSAGES: usize = 200;

/// A task, and the runs behind it.
#[derive(Debug)]
pub(super) struct TaskRun {
    pub(super) run: Run,
    /// The run that answers the task's message. It is another run than the task's if that was
    /// coalesced.
    pub(super) answering: Run,
    pub(super) space: SpaceId,
}

/// The messages of a space from the first one of a task on.
#[derive(Debug)]
pub(super) struct TaskMessages {
    /// Oldest first.
    pub(super) items: Vec<Message>,
    /// Whether these are all.
    is_complete: bool,
}

/// The status of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TaskStatus {
    pub(super) state: &'static str,
    /// Since when.
    pub(super) at: Time,
}

impl TaskRun {
    /// How the task is, if nothing is known of its messages.
    pub(super) fn status(&self) -> TaskStatus {
        let Run { status, finished_at, started_at, created_at, .. } = &self.answering;
        let at = finished_at.or(*started_at).unwrap_or(*created_at);
        TaskStatus { state: state_of(*status), at }
    }

    /// How the task is. Its messages say since when it waits.
    pub(super) fn status_with(&self, messages: &TaskMessages) -> TaskStatus {
        let status = self.status();
        if self.answering.status != RunStatus::WaitingTool {
            return status;
        }
        let cards = messages.of_run(self.answering.id).filter(|message| card_of(message).is_some());
        let open = cards.clone().filter(|card| is_open_form(card)).map(|card| card.created_at);
        if let Some(at) = open.max() {
            return TaskStatus { at, ..status };
        }
        // All its forms are answered, and its worker is about to go on.
        let answered = cards.map(|card| card.updated_at).max().filter(|_| messages.is_complete);
        match answered {
            Some(at) => TaskStatus { state: state_of(RunStatus::Running), at },
            None => status,
        }
    }

    /// The messages of the space from the first one that the task answers.
    pub(super) async fn messages(&self, api: &ApiSession) -> Result<TaskMessages, Refusal> {
        let joined = self.run.joined.iter().copied();
        let first = joined.chain([seq_of(&self.run)]).min().unwrap_or_default();
        let after = first.saturating_sub(1).to_string();
        let query = [("after", after), ("limit", MAX_MESSAGES.to_string())];
        let page: Page<Message> = api.get(&messages_path(self.space), &query).await?;
        Ok(TaskMessages { items: page.items, is_complete: page.next_cursor.is_none() })
    }

    /// Whether the task answers this message.
    pub(super) fn is_about(&self, message: &Message) -> bool {
        message.seq == seq_of(&self.run) || self.run.joined.contains(&message.seq)
    }
}

impl TaskMessages {
    pub(super) fn of_run(&self, run: RunId) -> impl Iterator<Item = &Message> + Clone {
        self.items.iter().filter(move |message| message.run_id == Some(run))
    }
}

/// The run that answers the message of a run: another one if the run was coalesced.
pub(super) async fn answering_run(call: &AgentCall, run: &Run) -> Result<Run, Refusal> {
    let Some(into) = run.into_run_id else { return Ok(run.clone()) };
    let read: Result<Run, Refusal> = call.api.get(&format!("/v1/runs/{into}"), &[]).await;
    match read {
        // It has expired, or the caller may not know it.
        Err(refusal) if refusal.status == 404 => Ok(run.clone()),
        read => read,
    }
}

/// The number of the message that triggered the run. Lists have only a reference to it.
fn seq_of(run: &Run) -> u64 {
    match &run.trigger {
        Trigger::SpaceMessage { seq, .. }
        | Trigger::Reference(TriggerReference::SpaceMessage { seq, .. }) => *seq,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use smartspace_domain::ids::CallId;

    use super::*;
    use crate::samples::{at, message, run};

    fn waiting_task() -> TaskRun {
        let run = *run(1, 1, "waiting_tool", &json!({"startedAt": at()}));
        TaskRun { answering: run.clone(), run, space: SpaceId::new(at(), 1) }
    }

    fn card(status: &str, asked: Time, changed: Time) -> Message {
        let mut card = serde_json::to_value(message(2, Some(1), Some(&[]))).unwrap();
        card["createdAt"] = json!(asked);
        card["updatedAt"] = json!(changed);
        card["parts"] = json!([{
            "type": "tool", "callId": CallId::new(at(), 1), "name": "ask",
            "input": {}, "output": null, "status": status, "ui": "form", "resultSchema": null,
            "answerBy": null, "resolvedBy": null, "expiresAt": null,
        }]);
        serde_json::from_value(card).unwrap()
    }

    #[test]
    fn a_task_waits_since_it_asks_and_works_once_it_is_answered() {
        let task = waiting_task();
        let later = |seconds: i64| Time::from_millis(at().as_millis() + seconds * 1000);
        let status = |items: Vec<Message>, is_complete| {
            task.status_with(&TaskMessages { items, is_complete })
        };
        let waits = "TASK_STATE_INPUT_REQUIRED";
        let open = status(vec![card("pending", later(5), later(7))], true);
        assert_eq!(open, TaskStatus { state: waits, at: later(5) });
        let answered = vec![card("completed", later(5), later(7))];
        let works = TaskStatus { state: "TASK_STATE_WORKING", at: later(7) };
        assert_eq!(status(answered.clone(), true), works);
        // A card that was not read may be open.
        assert_eq!(status(answered, false), TaskStatus { state: waits, at: at() });
        assert_eq!(status(Vec::new(), true), TaskStatus { state: waits, at: at() });
    }
}
