//! Calls that are resolved without an answer: their form expires, their run ends, or their space is
//! deleted or left.

use smartspace_domain::{
    Result, Time,
    ids::{EntityId, RunId, SpaceId},
    steps::CallStatus,
};
use smartspace_store::{
    messages::{MessageRecord, ToolCard},
    runs::{
        RunRecord,
        cards::OpenCall,
        forms::{FormRecord, Resolution, Resolved},
    },
};

use crate::Pipeline;

impl Pipeline {
    /// Expires the forms of a run whose time is up. Returns the next expiry, or `None` if all forms
    /// are resolved.
    pub async fn expire_forms(&self, run: RunId) -> Result<Option<Time>> {
        let now = self.now();
        let mut next = None;
        for form in self.store.forms().open(run).await? {
            if form.until > now {
                next = Some(next.map_or(form.until, |next: Time| next.min(form.until)));
            } else {
                // This uses the same reading of the clock, which may be set back at any moment.
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
    /// runs that were triggered elsewhere wait for them.
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
    /// that were triggered elsewhere wait for them, and the agent may no longer read answers from
    /// that space.
    pub(crate) async fn withdraw_forms(&self, space: SpaceId, agent: EntityId) -> Result<()> {
        for active in self.store.agent_state().active(agent).await? {
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

    /// Fails a form that can no longer be answered. Its run continues.
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
}
