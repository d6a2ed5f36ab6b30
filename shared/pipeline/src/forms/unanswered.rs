//! Calls that are resolved without an answer: their form expires, their run ends, or their space is
//! deleted or left.

use smartspace_domain::{
    Error, Result, Time,
    approvals::{OnExpire, expired_output},
    ids::{EntityId, RunId, SpaceId},
    runs::EndReason,
    steps::CallStatus,
};
use smartspace_store::{
    messages::{MessageRecord, ToolCard},
    runs::{
        RunRecord,
        approvals::CallApproval,
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
        let mut ends = None;
        for (form, call) in self.store.forms().with_calls(run).await? {
            ends = ends.or(call.ends);
            if !call.waits_for_people() {
                continue;
            }
            if form.until > now {
                next = Some(next.map_or(form.until, |next: Time| next.min(form.until)));
            } else if let Some(approval) = &call.approval {
                ends = ends.or(self.expire_approval(&form, approval, now).await?);
            } else {
                // This uses the same reading of the clock, which may be set back at any moment.
                self.resolve_unanswered(&form.call, CallStatus::Expired, "expired", now).await?;
            }
        }
        // A decision that ends the run does not wait for the other cards.
        if let Some((reason, _)) = ends.zip(next) {
            match self.cancel(run, reason).await {
                Ok(_) | Err(Error::Conflict(_)) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        Ok(next)
    }

    /// Expires a call that nobody has decided in time. Returns the reason with which it ends the
    /// run, if its rule says so.
    async fn expire_approval(
        &self,
        form: &FormRecord,
        approval: &CallApproval,
        now: Time,
    ) -> Result<Option<EndReason>> {
        let mut approval = approval.clone();
        loop {
            let ends = (approval.rule.on_expire == OnExpire::End).then_some(EndReason::Declined);
            let expired = Resolution {
                approval: Some(approval.expired()),
                ends,
                ..Resolution::unanswered(CallStatus::Expired, expired_output(), self.token())
            };
            match self.store.forms().resolve(&form.call, &expired, now).await? {
                Resolved::Now => {
                    self.notify_resolved(&form.call).await;
                    return Ok(ends);
                }
                // A decision was stored at the same moment. If it was not the last one, the time is
                // over nevertheless.
                Resolved::Before(call) => match call.approval.clone() {
                    Some(changed) if call.waits_for_people() => approval = changed,
                    _ => return Ok(call.ends),
                },
                Resolved::RunOver | Resolved::FileGone(_) => return Ok(None),
            }
        }
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
        self.store.forms().all_calls_closed(run.id).await?;
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
        let resolution = Resolution::unanswered(status, output, self.token());
        // If an answer came first, it counts, and its request notifies the followers.
        if self.store.forms().resolve(open, &resolution, now).await? == Resolved::Now {
            self.notify_resolved(open).await;
        }
        Ok(())
    }
}
