//! Events that wait to be queued as jobs.

use smartspace_domain::{
    events::Event,
    ids::ConnectionId,
    jobs::{EventJob, Recipient},
};

/// Events, each with the connections that get it.
#[derive(Default)]
pub(super) struct Outbox(Vec<(Event, Vec<ConnectionId>)>);

impl Outbox {
    /// Adds an event for some connections.
    pub(super) fn add(&mut self, event: &Event, ids: impl Iterator<Item = ConnectionId>) {
        self.0.push((event.clone(), ids.collect()));
    }

    /// Jobs of at most `per_job` connections, with those that are still a recipient.
    pub(super) fn into_jobs(
        self,
        roster: u64,
        per_job: usize,
        recipient: impl Fn(&ConnectionId) -> Option<Recipient>,
    ) -> Vec<EventJob> {
        let jobs = self.0.iter().flat_map(|(event, ids)| {
            let recipients: Vec<_> = ids.iter().filter_map(&recipient).collect();
            EventJob::split(event, &recipients, Some(roster), per_job).collect::<Vec<_>>()
        });
        jobs.collect()
    }
}
