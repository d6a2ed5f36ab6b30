//! Events that wait to be queued as jobs. Connections with the same events share jobs, and the
//! events of one connection keep their order within a job.

use std::collections::BTreeMap;

use smartspace_domain::{
    events::Event,
    ids::ConnectionId,
    jobs::{EventJob, Recipient},
};

#[derive(Default)]
pub(super) struct Outbox {
    events: Vec<Event>,
    /// The events of each connection, as positions in `events`.
    of_connections: BTreeMap<ConnectionId, Vec<usize>>,
}

impl Outbox {
    /// Adds events for some connections.
    pub(super) fn add<'a>(
        &mut self,
        ids: impl Iterator<Item = &'a ConnectionId>,
        events: &[Event],
    ) {
        let positions = self.events.len()..self.events.len() + events.len();
        self.events.extend_from_slice(events);
        for id in ids {
            self.of_connections.entry(id.clone()).or_default().extend(positions.clone());
        }
    }

    /// Jobs of at most `per_job` connections for each different list of events, with those that are
    /// still a recipient.
    pub(super) fn into_jobs(
        self,
        roster: u64,
        per_job: usize,
        recipient: impl Fn(&ConnectionId) -> Option<Recipient>,
    ) -> Vec<EventJob> {
        let mut groups: BTreeMap<Vec<usize>, Vec<Recipient>> = BTreeMap::new();
        for (id, positions) in self.of_connections {
            if let Some(recipient) = recipient(&id) {
                groups.entry(positions).or_default().push(recipient);
            }
        }
        let jobs = groups.into_iter().flat_map(|(positions, recipients)| {
            let events: Vec<_> = positions.iter().map(|at| self.events[*at].clone()).collect();
            EventJob::split(&events, &recipients, Some(roster), per_job)
        });
        jobs.collect()
    }
}

#[cfg(test)]
mod tests {
    use smartspace_domain::{
        Time,
        events::EventKind,
        ids::{SpaceId, StreamId},
    };

    use super::*;

    fn event(text: &str) -> Event {
        let stream_id = StreamId::new(Time::default(), 1);
        let what = EventKind::StreamDelta { stream_id, offset: 0, text: text.into() };
        Event { space_id: SpaceId::new(Time::default(), 1), at: Time::default(), what }
    }

    #[test]
    fn connections_with_the_same_events_share_a_job() {
        let id = |name: &str| ConnectionId(name.to_owned());
        let to = |name: &str| Recipient { id: id(name), entity: None };
        let [new, a, b, gone] = ["new", "a", "b", "gone"].map(id);
        let mut outbox = Outbox::default();
        outbox.add([&new].into_iter(), &[event("started"), event("snapshot")]);
        outbox.add([&a, &b, &gone, &new].into_iter(), &[event("delta")]);
        let jobs = outbox.into_jobs(7, 100, |id| (id.0 != "gone").then(|| to(&id.0)));
        let jobs: Vec<_> = jobs
            .into_iter()
            .map(|job| (job.events().cloned().collect::<Vec<_>>(), job.to.unwrap().connections))
            .collect();
        let expected = [
            (vec![event("started"), event("snapshot"), event("delta")], vec![to("new")]),
            (vec![event("delta")], vec![to("a"), to("b")]),
        ];
        assert_eq!(jobs, expected);
    }
}
