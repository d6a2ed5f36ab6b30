//! The job of an event: it goes to everyone who follows its space, or, in a large space, to some of
//! the connections, so that no invocation posts to thousands of them.

use serde::{Deserialize, Serialize};

use crate::{
    callers::Caller,
    events::Event,
    ids::{ConnectionId, EntityId},
};

/// The longest job in bytes of JSON.
const JOB_BYTES: usize = 64 * 1024;
/// The part of a job that is neither connections nor events.
const OTHER_BYTES: usize = 512;

/// An event, and who gets it.
///
/// A version before large rooms reads it without `to`, and sends the first event to everyone who may
/// have it. Clients recognize events that come twice, and a later snapshot or the message replaces
/// the text that is missing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventJob {
    /// The event.
    pub event: Box<Event>,
    /// The connections that get it. `None` is everyone who follows the space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Recipients>,
}

/// Some of the connections of a large space.
///
/// The events of one stream may arrive in any order and twice, so the jobs need no order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recipients {
    /// The version of the roster by which the connections were chosen. If the roster has changed
    /// since, the members are checked again. `None` if the space has no members any longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roster: Option<u64>,
    /// The connections.
    pub connections: Vec<Recipient>,
    /// Further events of the same moment for each of them, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<Event>,
}

/// A connection that gets an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recipient {
    /// The connection.
    pub id: ConnectionId,
    /// The member whose connection it is. `None` is the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<EntityId>,
}

impl Recipient {
    /// A connection of a caller.
    pub fn new(id: ConnectionId, caller: Caller) -> Self {
        let entity = match caller {
            Caller::Operator => None,
            Caller::Entity(entity) => Some(entity),
        };
        Self { id, entity }
    }
}

impl From<Event> for EventJob {
    fn from(event: Event) -> Self {
        Self { event: Box::new(event), to: None }
    }
}

impl EventJob {
    /// Jobs that send events of the same moment to some connections, at most `per_job` each. No job
    /// is longer than 64 KiB: two events that are too long for one job go into two.
    pub fn split(
        events: &[Event],
        connections: &[Recipient],
        roster: Option<u64>,
        per_job: usize,
    ) -> Vec<Self> {
        let fitted = events.iter().map(Event::fitted);
        let (events, bytes): (Vec<_>, Vec<_>) =
            fitted.map(|(event, frame)| (event.into_owned(), frame.len())).unzip();
        let mut jobs = Vec::new();
        for connections in connections.chunks(per_job.max(1)) {
            let names: usize = connections.iter().map(bytes_of).sum();
            let room = JOB_BYTES.saturating_sub(OTHER_BYTES + names);
            jobs.extend(packed(&events, &bytes, room).into_iter().filter_map(|events| {
                let (first, more) = events.split_first()?;
                let to =
                    Recipients { roster, connections: connections.to_vec(), more: more.to_vec() };
                Some(Self { event: Box::new(first.clone()), to: Some(to) })
            }));
        }
        jobs
    }

    /// All of its events, in their order.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        std::iter::once(&*self.event).chain(self.to.iter().flat_map(|to| &to.more))
    }
}

/// Splits events into slices of at most `room` bytes, or of one event.
fn packed<'a>(events: &'a [Event], bytes: &[usize], room: usize) -> Vec<&'a [Event]> {
    let mut slices = Vec::new();
    let mut from = 0;
    let mut used = 0;
    for (at, more) in bytes.iter().enumerate() {
        if at > from && used + more > room {
            slices.push(&events[from..at]);
            from = at;
            used = 0;
        }
        used += more + 1;
    }
    if from < events.len() {
        slices.push(&events[from..]);
    }
    slices
}

/// The greatest number of bytes that a connection takes in a job, as JSON.
fn bytes_of(recipient: &Recipient) -> usize {
    // `{"id":"","entity":""},` and the id of an entity, which has one length.
    recipient.id.0.len() + 64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Time,
        events::EventKind,
        ids::{RunId, SpaceId},
        jobs::BroadcastJob,
    };

    fn recipients(count: usize) -> Vec<Recipient> {
        let entity = EntityId::new(Time::default(), u128::MAX);
        let connection = |number| ConnectionId(format!("{number:032x}"));
        (0..count)
            .map(|number| Recipient::new(connection(number), Caller::Entity(entity)))
            .collect()
    }

    fn event(text: &str) -> Event {
        let what = EventKind::SystemMessage {
            run_id: RunId::new(Time::default(), 1),
            step: 1,
            watcher: "news".into(),
            text: text.to_owned(),
        };
        Event { space_id: SpaceId::new(Time::default(), 1), at: Time::default(), what }
    }

    #[test]
    fn each_connection_gets_each_event_once_in_order() {
        let events = [event("one"), event("two")];
        let connections = recipients(250);
        let jobs = EventJob::split(&events, &connections, Some(3), 100);
        assert!(jobs.iter().all(|job| job.events().eq(&events)));
        let parts: Vec<_> = jobs.into_iter().filter_map(|job| job.to).collect();
        let sizes: Vec<_> = parts.iter().map(|part| part.connections.len()).collect();
        assert_eq!(sizes, [100, 100, 50]);
        let reached: Vec<_> = parts.into_iter().flat_map(|part| part.connections).collect();
        assert_eq!(reached, connections);
        assert!(EventJob::split(&events, &[], None, 100).is_empty());
        assert!(EventJob::split(&[], &connections, None, 100).is_empty());
    }

    #[test]
    fn no_part_is_longer_than_64_kib() {
        // Each of these characters takes one to six bytes in a job.
        for text in ["\u{1}", "\"", "\\", "ä", "x"] {
            let long = event(&text.repeat(40_000));
            let events = [long.clone(), long, event("")];
            let jobs = EventJob::split(&events, &recipients(200), Some(u64::MAX), 100);
            assert_eq!(jobs.iter().map(|job| job.events().count()).sum::<usize>(), 2 * 3);
            for job in jobs {
                let text = serde_json::to_string(&BroadcastJob::Event(job.clone())).unwrap();
                assert!(text.len() <= JOB_BYTES, "{}", text.len());
                let read: BroadcastJob = serde_json::from_str(&text).unwrap();
                assert_eq!(read, BroadcastJob::Event(job));
            }
        }
    }

    #[test]
    fn a_version_before_large_rooms_reads_the_job_as_an_event_for_everyone() {
        #[derive(Debug, PartialEq, Deserialize)]
        #[serde(tag = "job", rename_all_fields = "camelCase")]
        enum EarlierJob {
            #[serde(rename = "event.1")]
            Event { event: Box<Event> },
        }
        let events = [event("one"), event("two")];
        let job = EventJob::split(&events, &recipients(1), Some(3), 100).remove(0);
        let text = serde_json::to_string(&BroadcastJob::Event(job)).unwrap();
        let read: EarlierJob = serde_json::from_str(&text).unwrap();
        assert_eq!(read, EarlierJob::Event { event: Box::new(event("one")) });
    }
}
