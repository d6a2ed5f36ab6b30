//! Frames that wait to be queued as jobs. Connections with the same frames share jobs, and the
//! frames of one connection keep their order within a job.

use std::{collections::BTreeMap, sync::Arc};

use smartspace_domain::{
    Time,
    ids::{ConnectionId, SpaceId},
    jobs::FramesJob,
};

#[derive(Default)]
pub(super) struct Outbox {
    frames: Vec<Arc<str>>,
    /// The frames of each connection, as positions in `frames`.
    of_connections: BTreeMap<ConnectionId, Vec<usize>>,
}

impl Outbox {
    /// Adds frames for some connections.
    pub(super) fn add(&mut self, ids: &[ConnectionId], frames: &[Arc<str>]) {
        let positions = self.frames.len()..self.frames.len() + frames.len();
        self.frames.extend_from_slice(frames);
        for id in ids {
            self.of_connections.entry(id.clone()).or_default().extend(positions.clone());
        }
    }

    /// One job for each different list of frames, with the connections that are still `known`.
    pub(super) fn into_jobs(
        self,
        space_id: SpaceId,
        roster: u64,
        due_at: Time,
        known: impl Fn(&ConnectionId) -> bool,
    ) -> impl Iterator<Item = FramesJob> {
        let mut groups: BTreeMap<Vec<usize>, Vec<ConnectionId>> = BTreeMap::new();
        for (id, positions) in self.of_connections {
            if known(&id) {
                groups.entry(positions).or_default().push(id);
            }
        }
        let frames = self.frames;
        groups.into_iter().map(move |(positions, connections)| FramesJob {
            space_id,
            roster: Some(roster),
            connections,
            frames: positions.into_iter().map(|at| frames[at].as_ref().to_owned()).collect(),
            due_at,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_with_the_same_frames_share_a_job() {
        let id = |name: &str| ConnectionId(name.to_owned());
        let mut outbox = Outbox::default();
        outbox.add(&[id("new")], &["started".into(), "snapshot".into()]);
        outbox.add(&[id("a"), id("b"), id("gone"), id("new")], &["delta".into()]);
        let space = SpaceId::new(Time::default(), 1);
        let jobs = outbox.into_jobs(space, 7, Time::default(), |id| id.0 != "gone");
        let jobs: Vec<_> = jobs.map(|job| (job.connections, job.frames)).collect();
        let expected = [
            (vec![id("new")], vec!["started".to_owned(), "snapshot".into(), "delta".into()]),
            (vec![id("a"), id("b")], vec!["delta".into()]),
        ];
        assert_eq!(jobs, expected);
    }
}
