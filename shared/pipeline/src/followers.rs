//! Sends the events of a space to everyone who follows it.
//!
//! The subscriptions are read together with the members, so a former member gets nothing. Each post
//! to a connection is independent and takes at most a second. A connection that is gone is deleted;
//! nothing fails because of a connection.
//!
//! An event for many connections becomes jobs of a hundred each. No job posts to more of them than
//! it may hold.

use std::{borrow::Cow, sync::Arc};

use futures::future::{join, join_all};
use smartspace_domain::{
    Error, Result, Time,
    access::KnownBy,
    events::Event,
    ids::SpaceId,
    jobs::{BroadcastJob, EventJob, Recipient, Recipients},
    spaces::Role,
};
use smartspace_ports::{clock::Clock, queues::Queue, sockets::Sockets};
use smartspace_store::{
    Store,
    connections::ConnectionRecord,
    spaces::rosters::{Head, Roster},
};
use tokio::time::Instant;

use crate::frames::send_frame_due;

#[derive(Clone, Copy)]
pub struct Followers<'a> {
    pub store: &'a Store,
    pub sockets: &'a dyn Sockets,
    pub clock: &'a dyn Clock,
    /// The queue of the jobs for many connections.
    pub queue: &'a dyn Queue<BroadcastJob>,
}

impl Followers<'_> {
    /// Sends an event to some connections that follow its space. `roster` is the version of the
    /// roster by which they were chosen; without one, the space has no members any longer.
    ///
    /// # Errors
    /// [`Error::Retry`] if the event should be sent again. Clients recognize what comes twice.
    pub async fn send(
        self,
        event: &Event,
        connections: &[ConnectionRecord],
        roster: Option<u64>,
    ) -> Result<()> {
        let all = connections.iter().map(|it| Recipient::new(it.id.clone(), it.caller));
        let recipients: Vec<_> = match event.is_for() {
            None => all.collect(),
            Some(readers) => all.filter(self.may_know(readers).await?).collect(),
        };
        if recipients.is_empty() {
            return Ok(());
        }
        let per_job = self.store.room_limits().per_job;
        if recipients.len() <= per_job {
            return self.post(event, &recipients.iter().collect::<Vec<_>>()).await;
        }
        let jobs = EventJob::split(event, &recipients, roster, per_job).map(BroadcastJob::Event);
        // A repeat of the whole event sends some frames twice, which clients recognize.
        self.queue.send(jobs.collect()).await.map_err(|error| Error::Retry(error.to_string()))
    }

    /// Posts an event to the connections of a job that may still have it. A member may have left
    /// while the job was waiting, which one small read shows.
    pub async fn send_to(self, event: &Event, to: &Recipients) -> Result<()> {
        let all = to.connections.iter();
        let Some(chosen_by) = to.roster else {
            return self.post(event, &all.collect::<Vec<_>>()).await;
        };
        let space = event.space_id;
        let Some(head) = self.store.members().head(space).await? else { return Ok(()) };
        if head.roster == chosen_by {
            return self.post(event, &all.collect::<Vec<_>>()).await;
        }
        let Some(roster) = self.roster(space, &head).await? else { return Ok(()) };
        let is_member =
            |to: &&Recipient| to.entity.is_none_or(|entity| roster.member(entity).is_some());
        self.post(event, &all.filter(is_member).collect::<Vec<_>>()).await
    }

    /// Posts an event to connections. Those that may not know all of it get a reduced event.
    async fn post(self, event: &Event, recipients: &[&Recipient]) -> Result<()> {
        let Some(reduced) = event.for_members() else {
            return self.post_known(event, recipients).await;
        };
        let (operators, members): (Vec<_>, Vec<_>) =
            recipients.iter().copied().partition(|recipient| recipient.entity.is_none());
        if members.is_empty() {
            self.post_frame(event, &operators).await;
            return Ok(());
        }
        let posting = self.post_known(&reduced, &members);
        join(self.post_frame(event, &operators), posting).await.1
    }

    /// The same for an event that members of the right space get as the operator does.
    async fn post_known(self, event: &Event, recipients: &[&Recipient]) -> Result<()> {
        let mut groups = vec![(Cow::Borrowed(event), recipients.to_vec())];
        for known_by in event.known_by() {
            let may_know = self.may_know(known_by).await?;
            let mut parted = Vec::new();
            for (event, recipients) in groups {
                let (knowing, others): (Vec<_>, Vec<_>) =
                    recipients.into_iter().partition(|recipient| may_know(recipient));
                if !others.is_empty() {
                    parted.push((Cow::Owned(event.for_others_than(known_by)), others));
                }
                parted.push((event, knowing));
            }
            groups = parted;
        }
        let posting = groups.iter().map(|(event, recipients)| self.post_frame(event, recipients));
        join_all(posting).await;
        Ok(())
    }

    async fn post_frame(self, event: &Event, recipients: &[&Recipient]) {
        if recipients.is_empty() {
            return;
        }
        let due = self.due(event.at);
        let frame: Arc<str> = event.to_frame().into();
        join_all(recipients.iter().map(|recipient| {
            send_frame_due(self.store, self.sockets, &recipient.id, Arc::clone(&frame), due)
        }))
        .await;
    }

    /// A test for connections that may see the whole event: those of the operator, and of members
    /// or owners of the space that `known_by` names.
    async fn may_know(self, known_by: KnownBy) -> Result<impl Fn(&Recipient) -> bool> {
        let roster = match known_by {
            KnownBy::Operator => None,
            KnownBy::Members(space) | KnownBy::Owners(space) => {
                match self.store.members().head(space).await? {
                    Some(head) => self.roster(space, &head).await?,
                    None => None,
                }
            }
        };
        Ok(move |recipient: &Recipient| match recipient.entity {
            None => true,
            Some(entity) => {
                roster.as_ref().and_then(|roster| roster.member(entity)).is_some_and(|member| {
                    !matches!(known_by, KnownBy::Owners(_)) || member.role == Role::Owner
                })
            }
        })
    }

    /// The roster of a space with this head, or `None` if the space is deleted meanwhile.
    async fn roster(self, space: SpaceId, head: &Head) -> Result<Option<Arc<Roster>>> {
        match self.store.members().roster_of(space, head.roster).await {
            Ok(roster) => Ok(Some(roster)),
            Err(Error::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The same moment by the clock that does not jump.
    fn due(self, at: Time) -> Instant {
        let now = Instant::now();
        now.checked_sub(self.clock.now().since(at)).unwrap_or(now)
    }
}

impl std::fmt::Debug for Followers<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Followers").finish_non_exhaustive()
    }
}
