//! Forgetting: the words of a deleted message are cut out of what the runs that have read it have
//! stored.
//!
//! Every step may be repeated. The words end together with their place, so nothing is cut twice.
//! Two messages may be cut out of one item at the same moment: each write counts the `cuts` of its
//! item, and is refused if another one came first.

mod cuts;
mod deleted_message;
mod items;
mod parts;

use std::{collections::BTreeSet, time::Duration};

use smartspace_domain::{
    Time,
    entities::EntityType,
    ids::{EntityId, RunId, SpaceId},
    jobs::MessageRef,
    runs::RunStatus,
};

pub use self::deleted_message::DeletedMessage;
use self::items::Body;
use crate::{
    Result, Runs,
    runs::{RunRecord, card_ref::CardRef, places::Forgotten},
    shared::member::MemberRecord,
    table::{Query, keys, read, write::Write},
};

/// How long after its end a run still counts as at work: a worker that was canceled stores what its
/// model had written.
const LATE: Duration = Duration::from_secs(15);
/// How far the clocks of processes may differ.
const CLOCKS_DIFFER: Duration = Duration::from_mins(5);
/// How long a run may wait or work before its steps expire, besides the time that they are kept.
const WORK_LASTS: Duration = Duration::from_hours(7 * 24);

/// What a job forgets, and the shared parts of prompts that it has looked at.
#[derive(Debug)]
pub struct Forgetting {
    pub what: Forgotten,
    /// The message that is forgotten, if it is one message.
    pub deleted: Option<DeletedMessage>,
    /// When the message or the space was deleted, if that is known.
    deleted_at: Option<Time>,
    /// The hashes of parts that had words of it.
    parts: BTreeSet<String>,
    /// The cards that show its words, as the input of the calls that posted or edited it.
    pub cards: Vec<CardRef>,
}

/// Whether a run can still store what is forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// It has not read it.
    Other,
    /// It is at work, and may have read it. It is looked at again after its end.
    AtWork,
    /// It has ended, or waits for people and has stored all that it has read.
    Done,
}

impl Forgetting {
    /// Forgets a deleted message.
    pub fn message(deleted: DeletedMessage) -> Self {
        let DeletedMessage { space_id, seq, .. } = deleted;
        let what = Forgotten::Message(MessageRef { space_id, seq });
        let deleted_at = Some(deleted.deleted_at);
        Self { what, deleted: Some(deleted), deleted_at, parts: BTreeSet::new(), cards: Vec::new() }
    }

    /// Forgets all messages of a deleted space.
    pub fn space(space: SpaceId, deleted_at: Option<Time>) -> Self {
        let what = Forgotten::Space(space);
        Self { what, deleted: None, deleted_at, parts: BTreeSet::new(), cards: Vec::new() }
    }

    /// Whether the run posted the message.
    fn is_of(&self, run: RunId) -> bool {
        self.deleted.as_ref().is_some_and(|deleted| deleted.run_id == Some(run))
    }

    /// The message, for a run that may have posted or edited it.
    fn deleted_of(&self, run: &RunRecord) -> Option<&DeletedMessage> {
        let is_its = |deleted: &&DeletedMessage| {
            deleted.run_id == Some(run.id) || deleted.sender == run.agent_id
        };
        self.deleted.as_ref().filter(is_its)
    }

    /// Whether a run has read what is forgotten, as far as its state says.
    pub fn reader(&self, run: &RunRecord, now: Time) -> Reader {
        let is_older = |end: Time| {
            self.deleted.as_ref().is_some_and(|deleted| end + CLOCKS_DIFFER < deleted.created_at)
        };
        if run.finished_at.is_some_and(is_older) {
            return Reader::Other;
        }
        // Nobody works on a run that waits for people. The next worker reads what is stored then.
        let is_at_work = match run.finished_at {
            // A run that has ended is due until its open calls are closed.
            Some(end) => {
                let is_canceled = run.status == RunStatus::Canceled && run.claims > 0;
                (is_canceled && now < end + LATE) || run.due.is_some()
            }
            None => run.status.is_active() && run.status != RunStatus::WaitingTool,
        };
        if is_at_work {
            // A run that began later has read what is left, unless it replays another run.
            let is_later = self.deleted_at.is_some_and(|deleted_at| {
                run.fork_of().is_none() && run.created_at > deleted_at + CLOCKS_DIFFER
            });
            return if is_later { Reader::Other } else { Reader::AtWork };
        }
        let has_read = run.reads.as_ref().is_none_or(|reads| self.what.is_among(reads));
        // An earlier worker may have read more than the one that ended it.
        let may_have_read = has_read || run.claims > 1;
        if may_have_read || self.is_of(run.id) || self.may_have_edited(run) {
            Reader::Done
        } else {
            Reader::Other
        }
    }

    /// Whether the run is one of the message's sender, which may have edited it. Such a run has
    /// read the space in most cases, but it need not have.
    fn may_have_edited(&self, run: &RunRecord) -> bool {
        self.deleted
            .as_ref()
            .is_some_and(|deleted| deleted.is_edited && deleted.sender == run.agent_id)
    }
}

impl Runs<'_> {
    /// The agents that are or were members of a space.
    pub async fn agents_ever_in(self, space: SpaceId) -> Result<Vec<EntityId>> {
        let of = |prefix: &str| Query::of(keys::space(space)).begins_with(prefix);
        let (present, past) = futures::try_join!(
            self.store.table.all(of(keys::MEMBER)),
            self.store.table.all(of(keys::PAST))
        )?;
        let mut agents = Vec::new();
        for item in present.into_iter().chain(past) {
            let member: MemberRecord = read(item)?;
            if member.kind == EntityType::Agent && !agents.contains(&member.entity_id) {
                agents.push(member.entity_id);
            }
        }
        Ok(agents)
    }

    /// When the first run may have begun that had not ended at `time`.
    pub fn may_have_begun(self, time: Time) -> Time {
        let kept = self.store.run_retention.map(|retention| retention + WORK_LASTS);
        kept.map_or_else(Time::default, |kept| (time - kept).max(Time::default()))
    }

    /// The runs of an agent that began at this time or later, with its active ones, as far as they
    /// are stored. The index may not show the latest ones yet.
    pub async fn of_agent_since(self, agent: EntityId, since: Time) -> Result<Vec<RunRecord>> {
        let (mut ids, active) = futures::try_join!(
            self.ids_since(agent, since),
            self.store.agent_state().active(agent)
        )?;
        ids.extend(active.iter().map(|active| active.run_id));
        ids.sort_unstable();
        ids.dedup();
        self.records(ids).await
    }

    /// These runs, as far as they are stored.
    pub async fn stored(self, ids: &[RunId]) -> Result<Vec<RunRecord>> {
        self.records(ids.iter().copied()).await
    }

    /// Cuts what is forgotten out of all that a run has stored. May be repeated.
    pub async fn forget(
        self,
        run: &RunRecord,
        forgetting: &mut Forgetting,
        now: Time,
    ) -> Result<()> {
        let mut tries = self.store.optimistic_retry();
        loop {
            let body = Body::read(self.store, run.id).await?;
            let parts = self.store.prompts().parts_with(&body.parts, forgetting.what).await?;
            forgetting.parts.extend(parts.found.iter().cloned());
            let is_whole = matches!(forgetting.what, Forgotten::Space(space)
                if body.reads_only(space, run, &parts));
            if is_whole {
                // First: nothing else names them once the prompt is gone.
                self.store.prompts().cut_parts(&parts, forgetting.what).await?;
                return self.drop_body(run, &body, now).await;
            }
            // Also of calls that were cut before: the process may have died before the cards were.
            let cards = body.cards(run, forgetting);
            forgetting.cards.extend(cards);
            let cuts = body.cut(run, forgetting)?;
            let was_in_part = body.parts.iter().any(|part| forgetting.parts.contains(part));
            if cuts.is_empty() && !was_in_part {
                return Ok(());
            }
            // First, so that it is not lost if the process dies.
            self.note_redacted(run, now).await?;
            self.store.prompts().cut_parts(&parts, forgetting.what).await?;
            let mut is_done = true;
            for cut in cuts {
                is_done &= self.store.table.write_if_unchanged(cut).await?;
            }
            if is_done {
                return Ok(());
            }
            tries.after_conflict("what the run has stored changes all the time").await?;
        }
    }

    /// Notes that a run no longer shows all that it has read.
    async fn note_redacted(self, run: &RunRecord, now: Time) -> Result<()> {
        let write = Write::update(keys::run_meta(run.id), "SET #redactedAt = :now");
        self.store.table.write_where_it_holds(write.value(":now", now)?).await
    }

    /// Deletes all that a run has stored besides its state: it has read nothing but a space that is
    /// deleted.
    async fn drop_body(self, run: &RunRecord, body: &Body, now: Time) -> Result<()> {
        if body.is_empty() {
            return Ok(());
        }
        self.note_redacted(run, now).await?;
        self.store.spaces().delete_all(body.keys()).await
    }
}

#[cfg(test)]
mod tests {
    use smartspace_domain::ids::MessageId;

    use super::*;
    use crate::runs::{TriggeredBy, places::Reads};

    fn at(minutes: i64) -> Time {
        Time::from_millis(minutes * 60_000)
    }

    fn space() -> SpaceId {
        SpaceId::new(at(0), 1)
    }

    /// Forgets message 17, which was posted after 100 minutes and deleted after 200.
    fn forgetting() -> Forgetting {
        Forgetting::message(DeletedMessage {
            space_id: space(),
            seq: 17,
            id: MessageId::new(at(100), 17),
            sender: EntityId::new(at(0), 3),
            run_id: None,
            call: None,
            is_edited: false,
            created_at: at(100),
            deleted_at: at(200),
        })
    }

    /// A run that began after so many minutes, and has this status.
    fn run(began: i64, status: RunStatus) -> RunRecord {
        let id = RunId::new(at(began), 1);
        let agent = EntityId::new(at(0), 2);
        let run = RunRecord::queued(id, agent, TriggeredBy::Unknown {}, 0, at(began));
        RunRecord { status, claims: 1, ..run }
    }

    fn ended(end: i64, status: RunStatus, reads: Option<(u64, u64)>) -> RunRecord {
        RunRecord {
            finished_at: Some(at(end)),
            due: None,
            reads: reads.map(|range| Reads::from([(space(), range)])),
            ..run(90, status)
        }
    }

    #[test]
    fn a_run_that_can_still_store_a_message_is_waited_for() {
        let look = |run: &RunRecord| forgetting().reader(run, at(210));
        assert_eq!(look(&run(90, RunStatus::Running)), Reader::AtWork);
        assert_eq!(look(&run(90, RunStatus::Queued)), Reader::AtWork);
        assert_eq!(look(&run(90, RunStatus::WaitingTool)), Reader::Done);
        assert_eq!(look(&run(209, RunStatus::Running)), Reader::Other, "it began afterwards");
        assert_eq!(look(&ended(210, RunStatus::Canceled, None)), Reader::AtWork);
        assert_eq!(look(&ended(209, RunStatus::Canceled, None)), Reader::Done);
        let open = RunRecord { due: Some("DUE".into()), ..ended(150, RunStatus::Failed, None) };
        assert_eq!(look(&open), Reader::AtWork, "its calls are still to be closed");
    }

    #[test]
    fn only_runs_that_have_read_a_message_are_looked_at() {
        let look =
            |end, reads| forgetting().reader(&ended(end, RunStatus::Completed, reads), at(210));
        assert_eq!(look(50, None), Reader::Other, "the message was not there yet");
        assert_eq!(look(150, None), Reader::Done, "nobody knows what it has read");
        assert_eq!(look(150, Some((10, 20))), Reader::Done);
        assert_eq!(look(150, Some((18, 20))), Reader::Other);
        let taken_over =
            RunRecord { claims: 2, ..ended(150, RunStatus::Completed, Some((18, 20))) };
        assert_eq!(forgetting().reader(&taken_over, at(210)), Reader::Done);
    }
}
