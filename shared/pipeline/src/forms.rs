//! Forms: a person answers one, it expires, or its run ends; then followers are notified.

use smartspace_domain::{
    Error, Result, Time,
    access::Caller,
    events::{AskedCall, EventKind},
    forms::{FormAnswer, no_such_form},
    ids::{CallId, EntityId, RunId, SpaceId},
    jobs::TriggerJob,
    messages::Message,
    runs::RunStatus,
    steps::CallStatus,
};
use smartspace_store::{
    messages::{MessageRecord, ToolCard},
    runs::{
        RunRecord,
        cards::{CardRef, OpenCall},
        forms::{FormRecord, Resolution, Resolved},
        steps::CallRecord,
    },
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
        caller.may_answer(&form.answer_by, self.membership(caller, form.call.card.space).await?)?;
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
        let by = if let Caller::Entity(entity) = caller { Some(entity) } else { None };
        let resolution = Resolution {
            status: CallStatus::Completed,
            output: answer.output(),
            by,
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

    /// Expires the forms of a run whose time is up. Returns the next expiry, or `None` if all forms
    /// are resolved.
    pub async fn expire_forms(&self, run: RunId) -> Result<Option<Time>> {
        let now = self.now();
        let mut next = None;
        for form in self.store.forms().open(run).await? {
            if form.until > now {
                next = Some(next.map_or(form.until, |next: Time| next.min(form.until)));
            } else {
                // With the same reading of the clock, which may be set back at any moment.
                self.resolve_unanswered(&form.call, CallStatus::Expired, "expired", now).await?;
            }
        }
        Ok(next)
    }

    /// Closes the calls that an ended run left open: forms, and external calls in progress. It may
    /// be repeated.
    pub async fn close_calls(&self, run: &RunRecord) -> Result<()> {
        if run.open_calls.is_none()
            || run.status.is_active()
            || self.store.forms().calls_closed(run.id).await?
        {
            return Ok(());
        }
        for open in self.store.calls().open(run.id).await? {
            let error = if open.asks {
                "canceled"
            } else {
                "the run ended while this was under way; whether it took effect is not known"
            };
            self.resolve_unanswered(&open, CallStatus::Canceled, error, self.now()).await?;
        }
        self.store.forms().calls_closed(run.id).await?;
        Ok(())
    }

    /// Like [`Self::close_calls`], but only logs an error: the calls are due in the table and are
    /// closed later.
    pub async fn close_calls_now(&self, run: &RunRecord) {
        if let Err(error) = self.close_calls(run).await {
            tracing::warn!(
                run = %run.id,
                %error,
                "the open calls of an ended run are not closed yet"
            );
        }
    }

    /// Resolves the open forms in these messages of a deleted space. Nobody can answer them, and
    /// runs that were woken elsewhere wait for them.
    pub(crate) async fn drop_forms(&self, messages: &[MessageRecord]) -> Result<()> {
        for card in messages
            .iter()
            .filter(|message| message.is_open())
            .filter_map(|message| message.run_id.zip(message.card.as_ref()))
        {
            let (run, ToolCard { call_id, .. }) = card;
            let Some(form) = self.store.forms().get(run, *call_id).await? else { continue };
            self.give_up(&form, "the space that showed this was deleted").await?;
        }
        Ok(())
    }

    /// Resolves the open forms that an agent's runs show in a space that the agent has left. Runs
    /// that were woken elsewhere wait for them, and the agent may no longer read answers from that
    /// space.
    pub(crate) async fn withdraw_forms(&self, space: SpaceId, agent: EntityId) -> Result<()> {
        for active in self.store.agent_state().context(agent).await?.active {
            for form in self
                .store
                .forms()
                .open(active.run_id)
                .await?
                .iter()
                .filter(|form| form.call.card.space == space)
            {
                self.give_up(form, "you are not a member of the space that showed this any more")
                    .await?;
            }
        }
        Ok(())
    }

    /// Fails a form that nobody can answer any longer. Its run continues.
    async fn give_up(&self, form: &FormRecord, error: &str) -> Result<()> {
        self.resolve_unanswered(&form.call, CallStatus::Failed, error, self.now()).await?;
        self.wake(form.call.run_id).await;
        Ok(())
    }

    /// Resolves a call without an answer. The model gets `error` as its output.
    async fn resolve_unanswered(
        &self,
        open: &OpenCall,
        status: CallStatus,
        error: &str,
        now: Time,
    ) -> Result<()> {
        let output = serde_json::json!({"error": error});
        let resolution =
            Resolution { status, output, by: None, label: String::new(), token: self.token() };
        // If an answer came first, it counts, and its request notifies the followers.
        if self.store.forms().resolve(open, &resolution, now).await? == Resolved::Now {
            self.notify_resolved(open).await;
        }
        Ok(())
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
            && call.answered.as_ref().is_some_and(|answered| answered.by == caller.label()) =>
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
