//! Answers to forms, and the notification of followers when a form is resolved.

mod unanswered;

use smartspace_domain::{
    Error, Result, Time,
    access::Caller,
    events::{AskedCall, EventKind},
    forms::{FormAnswer, no_such_form},
    ids::{CallId, RunId},
    jobs::TriggerJob,
    messages::Message,
    runs::RunStatus,
    steps::CallStatus,
};
use smartspace_store::{
    runs::{
        cards::{CardRef, OpenCall},
        forms::{Resolution, Resolved},
        steps::CallRecord,
    },
    spaces::rosters::MemberRecord,
};

use crate::Pipeline;

impl Pipeline {
    /// Answers a form, once. The run continues when all of its forms are resolved. The same caller
    /// may repeat the same answer. Fails with [`Error::Conflict`] if the form has another result,
    /// has expired, or was canceled with its run.
    pub async fn answer_form(
        &self,
        caller: Caller,
        run: RunId,
        call: CallId,
        answer: &FormAnswer,
    ) -> Result<()> {
        let form = self.store.forms().get(run, call).await?.ok_or_else(no_such_form)?;
        let member = match caller {
            Caller::Operator => None,
            Caller::Entity(entity) => {
                self.store.members().get(form.call.card.space, entity).await?
            }
        };
        caller.may_answer(&form.answer_by, member.as_ref().map(MemberRecord::membership))?;
        let recorded = self.store.forms().call(&form).await?.ok_or_else(no_such_form)?;
        if recorded.status != CallStatus::Pending {
            return already_resolved(&recorded, caller, answer);
        }
        answer.check(Some(&form.result_schema).filter(|schema| !schema.is_null()))?;
        let now = self.now();
        if form.until <= now {
            self.wake(run).await;
            return Err(too_late());
        }
        let resolution = Resolution {
            status: CallStatus::Completed,
            output: answer.output(),
            by: member.map(|member| member.sender()),
            label: caller.label(),
            token: self.token(),
        };
        match self.store.forms().resolve(&form.call, &resolution, now).await? {
            Resolved::Now => {
                self.wake(run).await;
                self.notify_resolved(&form.call).await;
                Ok(())
            }
            Resolved::Before(call) => already_resolved(&call, caller, answer),
            Resolved::RunOver => Err(run_over()),
        }
    }

    /// Sets an alarm that wakes a waiting run when the time of a form is up.
    pub async fn wake_at(&self, run_id: RunId, at: Time) {
        self.alarms.set(at, TriggerJob::WakeRun { run_id }).await;
    }

    /// Queues a run that waits for people or for the next attempt of its model, so that a worker
    /// checks whether it can continue. The run is also due in the table, so a failure here only
    /// delays it.
    pub async fn wake(&self, run: RunId) {
        match self.store.runs().record(run).await {
            Ok(record) if record.status == RunStatus::WaitingTool || record.is_given_back() => {
                self.queue_runs(vec![record.job()]).await;
            }
            // Its worker checks the forms before it pauses.
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(%run, %error, "a run whose form was resolved is not queued yet");
            }
        }
    }

    async fn notify_resolved(&self, open: &OpenCall) {
        let Some(card) = self.announce_card(&open.card).await else { return };
        if let Some(asked) = AskedCall::of(&card) {
            self.announce(open.card.space, EventKind::ToolResolved(Box::new(asked))).await;
        }
    }

    /// Notifies the followers of a card's space of its current state.
    pub async fn announce_card(&self, card: &CardRef) -> Option<Message> {
        match self.store.calls().card(card).await {
            Ok(Some(message)) => {
                self.announce(card.space, EventKind::MessageUpdated { message: message.clone() })
                    .await;
                Some(message)
            }
            Ok(None) => None,
            Err(error) => {
                tracing::warn!(
                    space = %card.space,
                    seq = card.seq,
                    %error,
                    "nobody was notified of a card's change"
                );
                None
            }
        }
    }
}

/// The result of an answer to a form that is already resolved.
fn already_resolved(call: &CallRecord, caller: Caller, answer: &FormAnswer) -> Result<()> {
    match call.status {
        CallStatus::Expired => Err(too_late()),
        CallStatus::Canceled => Err(run_over()),
        _ if call.output == answer.output()
            && call.answer.as_ref().is_some_and(|answered| answered.by == caller.label()) =>
        {
            Ok(())
        }
        _ => Err(Error::Conflict("the form was already answered".into())),
    }
}

fn too_late() -> Error {
    Error::Conflict("the form has expired: nobody answered in time".into())
}

fn run_over() -> Error {
    Error::Conflict("the form was canceled: its run has ended".into())
}
