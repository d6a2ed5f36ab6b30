//! Forms: who answers one, what becomes of it when its time is up or its run ends, and who is told.

use smartspace_domain::{
    Error, Result, Time,
    access::Caller,
    events::{AskedCall, Happening},
    forms::{FormAnswer, no_such_form},
    ids::{CallId, EntityId, RunId, SpaceId},
    jobs::TriggerJob,
    messages::Message,
    runs::RunStatus,
    steps::CallStatus,
};
use smartspace_store::{
    cards::{CardPlace, OpenCall},
    forms::{FormRecord, Resolution, Resolved},
    messages::{MessageRecord, ToolCard},
    runs::RunRecord,
    steps::CallRecord,
};

use crate::Pipeline;

impl Pipeline {
    /// Takes a caller's answer to a form, once. The run goes on with it when all of its forms are resolved. The same answer of the same caller
    /// again is fine; [`Error::Conflict`] where the form was resolved otherwise, has expired, or went with its run.
    pub async fn answer_form(&self, caller: Caller, run: RunId, call: CallId, answer: &FormAnswer) -> Result<()> {
        let form = self.store.form(run, call).await?.ok_or_else(no_such_form)?;
        caller.may_answer(&form.answer_by, self.place_of(caller, form.call.card.space).await?)?;
        let stands = self.store.form_call(&form).await?.ok_or_else(no_such_form)?;
        if stands.status != CallStatus::Pending {
            return taken_before(&stands, caller, answer);
        }
        answer.check(Some(&form.result_schema).filter(|schema| !schema.is_null()))?;
        let now = self.now();
        if form.until <= now {
            self.wake(run).await;
            return Err(too_late());
        }
        let by = if let Caller::Entity(entity) = caller { Some(entity) } else { None };
        let resolution =
            Resolution { status: CallStatus::Completed, output: answer.output(), by, label: caller.label(), token: self.token() };
        match self.store.resolve(&form.call, &resolution, now).await? {
            Resolved::Now => {
                self.wake(run).await;
                self.tell_resolved(&form.call).await;
                Ok(())
            }
            Resolved::Before(call) => taken_before(&call, caller, answer),
            Resolved::RunOver => Err(run_over()),
        }
    }

    /// Lets those forms of a run expire whose time is up. When the next one's is; none where all are resolved.
    pub async fn expire_forms(&self, run: RunId) -> Result<Option<Time>> {
        let (now, mut next) = (self.now(), None);
        for form in self.store.open_forms(run).await? {
            if form.until > now {
                next = Some(next.map_or(form.until, |next: Time| next.min(form.until)));
            } else {
                // By the same look at the clock, which may be set back any moment.
                self.resolve_alone(&form.call, CallStatus::Expired, "expired", now).await?;
            }
        }
        Ok(next)
    }

    /// Closes the calls that a run which has ended left open: forms, and what was under way outside. May be repeated.
    pub async fn close_calls(&self, run: &RunRecord) -> Result<()> {
        if run.open_calls.is_none() || run.status.is_active() || self.store.calls_closed(run.id).await? {
            return Ok(());
        }
        for open in self.store.open_calls(run.id).await? {
            let error = if open.asks { "canceled" } else { "the run ended while this was under way; whether it took effect is not known" };
            self.resolve_alone(&open, CallStatus::Canceled, error, self.now()).await?;
        }
        self.store.calls_closed(run.id).await?;
        Ok(())
    }

    /// The same where nobody waits for it: what is not closed now is found again by what is due.
    pub async fn close_calls_now(&self, run: &RunRecord) {
        if let Err(error) = self.close_calls(run).await {
            tracing::warn!(run = %run.id, %error, "the calls that an ended run left open are not closed yet");
        }
    }

    /// Resolves the open forms that these messages of a deleted space show: nobody can answer them any more, and runs that were woken elsewhere wait for
    /// them.
    pub(crate) async fn drop_forms(&self, messages: &[MessageRecord]) -> Result<()> {
        for card in messages.iter().filter(|message| message.is_open()).filter_map(|message| message.run_id.zip(message.card.as_ref())) {
            let (run, ToolCard { call_id, .. }) = card;
            let Some(form) = self.store.form(run, *call_id).await? else { continue };
            self.give_up(&form, "the space that showed this was deleted").await?;
        }
        Ok(())
    }

    /// Resolves the open forms that an agent's runs, woken elsewhere, show in a space that it has left: what is said there is not for it any more.
    pub(crate) async fn withdraw_forms(&self, space: SpaceId, agent: EntityId) -> Result<()> {
        for active in self.store.agent_context(agent).await?.active {
            for form in self.store.open_forms(active.run_id).await?.iter().filter(|form| form.call.card.space == space) {
                self.give_up(form, "you are not a member of the space that showed this any more").await?;
            }
        }
        Ok(())
    }

    /// Resolves a form that nobody can answer any more; its run goes on.
    async fn give_up(&self, form: &FormRecord, error: &str) -> Result<()> {
        self.resolve_alone(&form.call, CallStatus::Failed, error, self.now()).await?;
        self.wake(form.call.run_id).await;
        Ok(())
    }

    /// Resolves a call that nobody answered. `error` is what the model is given.
    async fn resolve_alone(&self, open: &OpenCall, status: CallStatus, error: &str, now: Time) -> Result<()> {
        let output = serde_json::json!({"error": error});
        let resolution = Resolution { status, output, by: None, label: String::new(), token: self.token() };
        // Where somebody was faster that counts, and who was tells of it.
        if self.store.resolve(open, &resolution, now).await? == Resolved::Now {
            self.tell_resolved(open).await;
        }
        Ok(())
    }

    /// Sees to it that somebody looks at a run that waits for people, once the time of a form is up.
    pub async fn wake_at(&self, run_id: RunId, at: Time) {
        self.alarms.set(at, TriggerJob::WakeRun { run_id }).await;
    }

    /// Queues a run that waits, for people or for its model's next try, so that it is seen whether it can go on. It is due: whatever goes wrong here
    /// only takes longer.
    pub async fn wake(&self, run: RunId) {
        match self.store.run_record(run).await {
            Ok(record) if record.status == RunStatus::WaitingTool || record.is_given_back() => self.queue_runs(vec![record.job()]).await,
            // Who works on it looks at its forms before it pauses.
            Ok(_) => {}
            Err(error) => tracing::warn!(%run, %error, "a run whose form was resolved is not queued yet"),
        }
    }

    async fn tell_resolved(&self, open: &OpenCall) {
        let Some(card) = self.tell_card(&open.card).await else { return };
        if let Some(asked) = AskedCall::of(&card) {
            self.announce(open.card.space, Happening::ToolResolved(Box::new(asked))).await;
        }
    }

    /// Tells everyone who follows its space how a card is now.
    pub async fn tell_card(&self, place: &CardPlace) -> Option<Message> {
        match self.store.card(place).await {
            Ok(Some(card)) => {
                self.announce(place.space, Happening::MessageUpdated { message: card.clone() }).await;
                Some(card)
            }
            Ok(None) => None,
            Err(error) => {
                tracing::warn!(space = %place.space, seq = place.seq, %error, "nobody was told of a card's change");
                None
            }
        }
    }
}

/// A form that has its result already.
fn taken_before(call: &CallRecord, caller: Caller, answer: &FormAnswer) -> Result<()> {
    match call.status {
        CallStatus::Expired => Err(too_late()),
        CallStatus::Canceled => Err(run_over()),
        _ if call.output == answer.output() && call.answered.as_ref().is_some_and(|answered| answered.by == caller.label()) => Ok(()),
        _ => Err(Error::Conflict("the form was answered already".into())),
    }
}

fn too_late() -> Error {
    Error::Conflict("the form has expired: its time was up before anybody answered".into())
}

fn run_over() -> Error {
    Error::Conflict("the form was canceled: its run has ended".into())
}
