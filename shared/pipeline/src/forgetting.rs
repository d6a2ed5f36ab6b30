//! Forgets deleted messages: what was stored elsewhere of them. A tombstone is due until that is
//! done, and each step may be repeated.
//!
//! Runs that may have read a message and are at work can still store its words. They are looked at
//! again until they have ended. The job looks twice at least, because the index of runs may not
//! show the latest ones at first.

use std::time::Duration;

use futures::future::try_join_all;
use smartspace_domain::{
    Error, Result, Time,
    ids::{EntityId, RunId, SpaceId},
    jobs::TriggerJob,
};
use smartspace_store::{
    messages::{
        Looked, MessageRecord,
        changing::{MessageChange, NewState},
    },
    runs::{
        RunRecord,
        cards::CardRef,
        forgetting::{DeletedMessage, Forgetting, Reader},
    },
};

use crate::Pipeline;

/// How long after one look the next one follows.
const AGAIN_AFTER: Duration = Duration::from_secs(30);
/// How late the index may show a run, with the difference of clocks.
const SHOWN_WITHIN: Duration = Duration::from_mins(5);
/// How many runs at work a tombstone names. With more, the next look begins anew.
const PENDING: usize = 200;
/// The runs of how many agents are read at the same time.
const AGENTS_AT_ONCE: usize = 8;

/// What a look at the runs of agents covers.
struct Look {
    agents: Vec<EntityId>,
    /// The runs that began then or later, besides those at work.
    since: Time,
    /// The runs that were at work before.
    pending: Vec<RunId>,
}

impl Pipeline {
    /// Removes what is stored elsewhere of a deleted message.
    pub async fn forget_message(&self, space: SpaceId, seq: u64) -> Result<()> {
        let Some(record) = self.store.messages().record(space, seq).await? else { return Ok(()) };
        let Some(deleted) = DeletedMessage::of(space, &record) else { return Ok(()) };
        let Some(forget) = record.forget.clone().filter(|_| record.due.is_some()) else {
            return Ok(());
        };
        let is_first = forget.looked.is_none();
        if is_first {
            self.follow_deletion(space, seq).await?;
        }
        for file in forget.files {
            if self.store.attachments().unname(space, file, seq, self.now()).await? {
                let job = TriggerJob::SettleFile { space_id: space, attachment_id: file };
                self.queue_triggers(vec![job]).await;
            }
        }
        let began = self.now();
        let mut agents = self.store.runs().agents_ever_in(space).await?;
        if !agents.contains(&deleted.sender) {
            agents.push(deleted.sender);
        }
        let look = match forget.looked {
            None => {
                let since = self.store.runs().may_have_begun(deleted.created_at);
                Look { agents, since, pending: Vec::new() }
            }
            Some(Looked { at, pending }) => Look { agents, since: at - SHOWN_WITHIN, pending },
        };
        let mut forgetting = Forgetting::message(deleted);
        let pending = self.forget_in(&look, &mut forgetting).await?;
        self.cut_cards(&forgetting.cards, seq).await?;
        if pending.is_empty() && !is_first {
            return self.store.messages().forgotten(space, seq).await;
        }
        self.forget_again(space, &record, began, pending).await
    }

    /// Removes the input from cards whose calls posted or edited a deleted message. May be
    /// repeated.
    async fn cut_cards(&self, cards: &[CardRef], deleted: u64) -> Result<()> {
        for CardRef { space, seq, .. } in cards.iter().copied() {
            let to = NewState::CardCut { deleted };
            let change = MessageChange { space, seq, to, by: None };
            match Box::pin(self.change_message(&change)).await {
                // Its space may be deleted.
                Ok(_) | Err(Error::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Looks at the readers of a message again, after a while.
    async fn forget_again(
        &self,
        space: SpaceId,
        record: &MessageRecord,
        began: Time,
        pending: Vec<RunId>,
    ) -> Result<()> {
        let then = self.now() + AGAIN_AFTER;
        let looked = (pending.len() <= PENDING).then_some(Looked { at: began, pending });
        self.store.messages().forget_later(space, record, looked, then).await?;
        let job = TriggerJob::ForgetMessage { space_id: space, seq: record.seq };
        self.alarms.set(then, job).await;
        Ok(())
    }

    /// Removes all messages of a deleted space from what runs have stored. Returns whether that is
    /// done: it is not as long as a run is at work that may have read one.
    pub(crate) async fn forget_space(&self, space: SpaceId) -> Result<bool> {
        let agents = self.store.runs().agents_ever_in(space).await?;
        let since = self.store.runs().may_have_begun(space.time());
        let look = Look { agents, since, pending: Vec::new() };
        let record = self.store.spaces().any_record(space).await?;
        let mut forgetting = Forgetting::space(space, record.and_then(|it| it.deleted_at));
        Ok(self.forget_in(&look, &mut forgetting).await?.is_empty())
    }

    /// Looks at the runs of agents. Those that have ended forget what is forgotten. Returns those
    /// that are still at work.
    async fn forget_in(&self, look: &Look, forgetting: &mut Forgetting) -> Result<Vec<RunId>> {
        let mut at_work = Vec::new();
        let before = self.store.runs().stored(&look.pending).await?;
        self.forget_runs(before, forgetting, &mut at_work).await?;
        for agents in look.agents.chunks(AGENTS_AT_ONCE) {
            let runs = agents.iter().map(|agent| async move {
                self.store.runs().of_agent_since(*agent, look.since).await
            });
            for runs in try_join_all(runs).await? {
                self.forget_runs(runs, forgetting, &mut at_work).await?;
            }
        }
        at_work.sort_unstable();
        at_work.dedup();
        Ok(at_work)
    }

    async fn forget_runs(
        &self,
        runs: Vec<RunRecord>,
        forgetting: &mut Forgetting,
        at_work: &mut Vec<RunId>,
    ) -> Result<()> {
        for run in runs {
            match forgetting.reader(&run, self.now()) {
                Reader::Other => {}
                Reader::AtWork => at_work.push(run.id),
                Reader::Done => self.store.runs().forget(&run, forgetting, self.now()).await?,
            }
        }
        Ok(())
    }
}
