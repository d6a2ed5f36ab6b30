//! Frames for many connections: no job posts to more of them than it may hold.

use std::sync::Arc;

use futures::future::join_all;
use smartspace_domain::{
    Error, Result, Time,
    ids::{ConnectionId, SpaceId},
    jobs::{BroadcastJob, FramesJob},
};
use smartspace_pipeline::frames::{SendOutcome, send_frame_due};
use tokio::time::Instant;

use crate::Broadcast;

/// A frame, and the connections that get it.
pub(crate) type Recipients = (Vec<ConnectionId>, Arc<str>);

impl Broadcast {
    /// Posts frames of a space to its followers, or queues jobs that do if they are too many for
    /// one. `roster` is the version of the roster by which they were chosen.
    pub(crate) async fn send(
        &self,
        space_id: SpaceId,
        roster: Option<u64>,
        due_at: Time,
        frames: Vec<Recipients>,
    ) -> Result<()> {
        let per_job = self.store.room_limits().per_job;
        if frames.iter().map(|(connections, _)| connections.len()).sum::<usize>() <= per_job {
            let due = self.due(due_at);
            join_all(frames.iter().flat_map(|(connections, frame)| {
                connections.iter().map(move |connection| {
                    send_frame_due(&self.store, &*self.sockets, connection, Arc::clone(frame), due)
                })
            }))
            .await;
            return Ok(());
        }
        let jobs = frames.into_iter().flat_map(|(connections, frame)| {
            let frames = vec![frame.as_ref().to_owned()];
            FramesJob { space_id, roster, connections, frames, due_at }.split(per_job)
        });
        // A repeat of the whole event sends some frames twice, which clients recognize.
        self.queue
            .send(jobs.map(BroadcastJob::Frames).collect())
            .await
            .map_err(|error| Error::Retry(error.to_string()))
    }

    /// Posts the frames of a job.
    pub(crate) async fn post_frames(&self, job: &FramesJob) -> Result<()> {
        let connections = self.still_followers(job).await?;
        let frames: Vec<Arc<str>> = job.frames.iter().map(|frame| frame.as_str().into()).collect();
        let due = self.due(job.due_at);
        join_all(connections.into_iter().map(|id| self.post_in_order(id, &frames, due))).await;
        Ok(())
    }

    /// The connections of a job that may still have its frames. A member may have left while the
    /// job was waiting, which one small read shows.
    async fn still_followers<'a>(&self, job: &'a FramesJob) -> Result<Vec<&'a ConnectionId>> {
        let Some(roster) = job.roster else { return Ok(job.connections.iter().collect()) };
        match self.store.members().head(job.space_id).await? {
            None => Ok(Vec::new()),
            Some(head) if head.roster == roster => Ok(job.connections.iter().collect()),
            Some(_) => {
                let audience = self.store.connections().audience(job.space_id, self.clock.now());
                let followers = match audience.await {
                    Ok(audience) => audience.connections,
                    Err(Error::NotFound(_)) => Vec::new(),
                    Err(error) => return Err(error),
                };
                let follows = |id: &&ConnectionId| followers.iter().any(|other| other.id == **id);
                Ok(job.connections.iter().filter(follows).collect())
            }
        }
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
