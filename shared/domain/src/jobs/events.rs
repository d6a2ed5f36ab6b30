//! The job of an event: it goes to everyone who follows its space, or, in a large space, to some of
//! the connections, so that no invocation posts to thousands of them.

use serde::{Deserialize, Serialize};

use crate::{
    callers::Caller,
    events::Event,
    ids::{ConnectionId, EntityId},
};

/// An event, and who gets it.
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recipients {
    /// The version of the roster by which the connections were chosen. If the roster has changed
    /// since, the members are checked again. `None` if the space has no members any longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roster: Option<u64>,
    /// The connections.
    pub connections: Vec<Recipient>,
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
    /// Jobs that send an event to some connections, at most `per_job` each.
    pub fn split(
        event: &Event,
        connections: &[Recipient],
        roster: Option<u64>,
        per_job: usize,
    ) -> impl Iterator<Item = Self> {
        let event = Box::new(event.fitted().0.into_owned());
        connections.chunks(per_job.max(1)).map(move |connections| {
            let to = Recipients { roster, connections: connections.to_vec() };
            Self { event: event.clone(), to: Some(to) }
        })
    }
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
            private: true,
        };
        Event { space_id: SpaceId::new(Time::default(), 1), at: Time::default(), what }
    }

    #[test]
    fn each_connection_gets_the_event_once() {
        let connections = recipients(250);
        let jobs: Vec<_> = EventJob::split(&event("one"), &connections, Some(3), 100).collect();
        assert!(jobs.iter().all(|job| *job.event == event("one")));
        let parts: Vec<_> = jobs.into_iter().filter_map(|job| job.to).collect();
        let sizes: Vec<_> = parts.iter().map(|part| part.connections.len()).collect();
        assert_eq!(sizes, [100, 100, 50]);
        let reached: Vec<_> = parts.into_iter().flat_map(|part| part.connections).collect();
        assert_eq!(reached, connections);
        assert_eq!(EventJob::split(&event("one"), &[], None, 100).count(), 0);
    }

    #[test]
    fn no_part_is_longer_than_64_kib() {
        // Each of these characters takes one to six bytes in a job.
        for text in ["\u{1}", "\"", "\\", "ä", "x"] {
            let long = event(&text.repeat(40_000));
            for job in EventJob::split(&long, &recipients(200), Some(u64::MAX), 100) {
                let text = serde_json::to_string(&BroadcastJob::Event(job.clone())).unwrap();
                assert!(text.len() <= 64 * 1024, "{}", text.len());
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
        let event = event("one");
        for job in EventJob::split(&event, &recipients(1), Some(3), 100) {
            let text = serde_json::to_string(&BroadcastJob::Event(job)).unwrap();
            let read: EarlierJob = serde_json::from_str(&text).unwrap();
            assert_eq!(read, EarlierJob::Event { event: Box::new(event.clone()) });
        }
    }
}
