//! Answers to forms, and the notification of followers when a form is resolved.

mod unanswered;

use std::collections::BTreeSet;

use futures::future::try_join_all;
use smartspace_domain::{
    Error, Result, Time,
    access::Caller,
    events::{AskedCall, EventKind},
    forms::{FormAnswer, no_such_form},
    ids::{CallId, EntityId, RunId},
    jobs::TriggerJob,
    messages::Message,
    runs::RunStatus,
    steps::CallStatus,
};
use smartspace_store::{
    attachments::{FileRecord, no_such_file},
    messages::MessageFile,
    runs::{
        cards::{CardRef, OpenCall},
        forms::{Resolution, Resolved},
        steps::CallRecord,
    },
    spaces::rosters::MemberRecord,
};

use crate::Pipeline;

impl Pipeline {
    /// Answers a form, once. On the card of a call that waits for approval, the answer is a
    /// decision, as [`Self::decide`] makes it.
    /// The run continues when all of its forms are resolved. The same caller
    /// may repeat the same answer. With `sender_id` the operator answers in the name of that
    /// entity. Fails with [`Error::Conflict`] if the form has another result, has expired, or was
    /// canceled with its run.
    pub async fn answer_form(
        &self,
        credential: Caller,
        sender_id: Option<EntityId>,
        run: RunId,
        call: CallId,
        answer: &FormAnswer,
    ) -> Result<()> {
        let caller = match sender_id {
            Some(_) => Caller::Entity(credential.speaks_as(sender_id)?),
            None => credential,
        };
        let form = self.store.forms().get(run, call).await?.ok_or_else(no_such_form)?;
        if form.approval.is_some() {
            return self.answer_approval(credential, sender_id, &form, answer).await;
        }
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
        let schema = Some(&form.result_schema).filter(|schema| !schema.is_null());
        answer.check(schema)?;
        let asked = answer.files(schema)?;
        let space = form.call.card.space;
        let found = asked.iter().map(|asked| self.file_asked([credential, caller], space, asked));
        let named: Vec<_> = try_join_all(found).await?.iter().map(FileRecord::named).collect();
        let now = self.now();
        if form.until <= now {
            self.wake(run).await;
            return Err(too_late());
        }
        let resolution = Resolution {
            by: member.map(|member| member.sender()),
            label: caller.label(),
            files: each_once(named),
            ..Resolution::unanswered(CallStatus::Completed, answer.output(), self.token())
        };
        match self.store.forms().resolve(&form.call, &resolution, now).await? {
            Resolved::Now => {
                self.wake(run).await;
                self.notify_resolved(&form.call).await;
                Ok(())
            }
            Resolved::Before(call) => already_resolved(&call, caller, answer),
            Resolved::RunOver => Err(run_over()),
            Resolved::FileGone(index) => {
                let gone = resolution.files[index].part.attachment_id;
                let asked = asked.iter().find(|asked| asked.id == gone);
                Err(asked.map_or_else(no_such_file, |asked| asked.unusable("it was deleted")))
            }
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

    pub(crate) async fn notify_resolved(&self, open: &OpenCall) {
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

/// The files without those that an earlier field of the answer names.
fn each_once(mut files: Vec<MessageFile>) -> Vec<MessageFile> {
    let mut seen = BTreeSet::new();
    files.retain(|file| seen.insert(file.part.attachment_id));
    files
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

pub(crate) fn too_late() -> Error {
    Error::Conflict("it has expired: nobody answered or decided in time".into())
}

pub(crate) fn run_over() -> Error {
    Error::Conflict("it was canceled: its run has ended".into())
}
