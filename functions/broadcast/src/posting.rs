//! Events for many connections: no job posts to more of them than it may hold.

use std::sync::Arc;

use futures::future::join_all;
use smartspace_domain::{
    Error, Result, Time,
    events::Event,
    ids::ConnectionId,
    jobs::{BroadcastJob, EventJob, Recipient, Recipients},
};
use smartspace_pipeline::frames::{SendOutcome, send_frame_due};
use tokio::time::Instant;

use crate::Broadcast;

impl Broadcast {
    /// Posts events of one moment to some of a space's followers, or queues jobs that do if they
    /// are too many for one. `roster` is the version of the roster by which they were chosen.
    pub(crate) async fn send(
        &self,
        roster: Option<u64>,
        audiences: Vec<(Event, Vec<Recipient>)>,
    ) -> Result<()> {
        let per_job = self.store.room_limits().per_job;
        let count: usize = audiences.iter().map(|(_, recipients)| recipients.len()).sum();
        if count <= per_job {
            join_all(audiences.iter().map(|(event, recipients)| {
                self.post(std::iter::once(event), recipients.iter().map(|recipient| &recipient.id))
            }))
            .await;
            return Ok(());
        }
        let jobs = audiences.iter().flat_map(|(event, recipients)| {
            EventJob::split(std::slice::from_ref(event), recipients, roster, per_job)
        });
        // A repeat of the whole event sends some frames twice, which clients recognize.
        self.queue
            .send(jobs.map(BroadcastJob::Event).collect())
            .await
            .map_err(|error| Error::Retry(error.to_string()))
    }

    /// Posts the events of a job to the connections that it names.
    pub(crate) async fn send_to(&self, job: &EventJob, to: &Recipients) -> Result<()> {
        let connections = self.permitted(&job.event, to).await?;
        self.post(job.events(), connections.into_iter()).await;
        Ok(())
    }

    /// The connections of a job that may still have its events. A member may have left while the
    /// job was waiting, which one small read shows.
    async fn permitted<'a>(
        &self,
        event: &Event,
        to: &'a Recipients,
    ) -> Result<Vec<&'a ConnectionId>> {
        let all = to.connections.iter();
        let Some(roster) = to.roster else { return Ok(all.map(|to| &to.id).collect()) };
        let members = self.store.members();
        match members.head(event.space_id).await? {
            None => Ok(Vec::new()),
            Some(head) if head.roster == roster => Ok(all.map(|to| &to.id).collect()),
            Some(head) => {
                let roster = match members.roster_of(event.space_id, head.roster).await {
                    Ok(roster) => roster,
                    Err(Error::NotFound(_)) => return Ok(Vec::new()),
                    Err(error) => return Err(error),
                };
                let is_member = |to: &&Recipient| {
                    to.entity.is_none_or(|entity| roster.member(entity).is_some())
                };
                Ok(all.filter(is_member).map(|to| &to.id).collect())
            }
        }
    }

    /// Posts events of one moment to each of some connections, in order.
    async fn post<'a>(
        &self,
        events: impl Iterator<Item = &'a Event>,
        connections: impl Iterator<Item = &'a ConnectionId>,
    ) {
        let mut events = events.peekable();
        let Some(due) = events.peek().map(|event| self.due(event.at)) else { return };
        let frames: Vec<Arc<str>> = events.map(|event| event.to_frame().into()).collect();
        join_all(connections.map(|id| self.post_in_order(id, &frames, due))).await;
    }

    /// Posts frames to one connection in order. If one is not accepted in time, the rest is not
    /// sent: a connection takes at most a second of a job.
    async fn post_in_order(&self, id: &ConnectionId, frames: &[Arc<str>], due: Instant) {
        for frame in frames {
            let sent =
                send_frame_due(&self.store, &*self.sockets, id, Arc::clone(frame), due).await;
            if sent != SendOutcome::Sent {
                return;
            }
        }
    }

    /// The same moment by the clock that does not jump.
    fn due(&self, at: Time) -> Instant {
        let now = Instant::now();
        now.checked_sub(self.clock.now().since(at)).unwrap_or(now)
    }
}
