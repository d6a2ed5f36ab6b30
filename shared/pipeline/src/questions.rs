//! Looks after questions: if every agent that a question triggered stayed silent, and nobody else
//! has posted since, the best of these agents runs once more.

use smartspace_domain::{
    Error, Result, Time,
    ids::{RunId, SpaceId},
    jobs::TriggerJob,
    limits,
};
use smartspace_store::{
    messages::Range,
    runs::{RunRecord, questions::Asked},
};

use crate::Pipeline;

impl Pipeline {
    /// Looks after the questions that an ended run has left to silence. It may be repeated: the run
    /// is due until then.
    pub async fn look_after(&self, run: &RunRecord) -> Result<()> {
        let Some(place) = run.place().filter(|_| run.owes_look()) else { return Ok(()) };
        let mut again: Option<Time> = None;
        for asked in self.store.runs().asked(run).await? {
            if let Some(at) = self.answer_if_silent(place.space_id, &asked).await? {
                again = Some(again.map_or(at, |sooner| sooner.min(at)));
            }
        }
        let Some(at) = again else { return self.store.runs().looked_after(run.id).await };
        self.store.runs().look_after_at(run.id, at).await?;
        self.alarms.set(at, TriggerJob::SettleRun { run_id: run.id }).await;
        Ok(())
    }

    /// Like [`Self::look_after`], but only logs an error: the run is due, and the sweep repeats it.
    pub async fn look_after_now(&self, run: &RunRecord) {
        // In a box, because it would make the futures of all that end runs large.
        if let Err(error) = Box::pin(self.look_after(run)).await {
            tracing::warn!(run = %run.id, %error, "a question is not looked after yet");
        }
    }

    /// Lets an agent answer a question that was met with silence. Returns when to look again, if
    /// other people still have time to answer.
    async fn answer_if_silent(&self, space: SpaceId, asked: &Asked) -> Result<Option<Time>> {
        let Some(since) = asked.silent_since() else { return Ok(None) };
        let (asker, seq) = (asked.message.sender.id, asked.message.seq);
        let later = Range::After(seq);
        let read = futures::try_join!(
            self.store.spaces().record(space),
            self.store.members().roster(space),
            self.store.messages().records(space, later, limits::LATER_MESSAGES)
        );
        let (record, roster, later) = match read {
            // The space was deleted.
            Err(Error::NotFound(_)) => return Ok(None),
            read => read?,
        };
        // A person who asks again gets one answer, to the newest question.
        let is_over = !record.settings.answers_questions()
            || asked.message.deleted.is_some()
            || record.stops(asked.message.chain_id(), self.now())
            || roster.member(asker).is_none()
            || later.iter().any(|message| message.sender.id != asker || message.asks);
        if is_over {
            return Ok(None);
        }
        let at = since + limits::UNANSWERED_AFTER;
        let now = self.now();
        if now < at && !roster.is_only_person(asker) {
            return Ok(Some(at));
        }
        let placed = self.store.runs().answer_unanswered(space, asked, &roster, now).await?;
        let chain = asked.message.chain_id();
        let created = [RunId::of_unanswered(asked.message.id, asked.message.created_at)];
        let placed = self.unless_stopped(space, chain, &created, vec![placed]).await?;
        for placed in placed {
            self.follow_placement(placed).await;
        }
        Ok(None)
    }
}
