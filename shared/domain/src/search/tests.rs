mod corpus;
mod entries;
mod equality;
mod excerpts;
mod naive;
mod queries;
mod ranks;
mod stored;

use super::*;
use crate::{
    Time,
    ids::{EntityId, SpaceId},
};

/// The time of the newest message of tests.
const NOW: Time = Time::from_millis(1_771_427_220_000);

fn sender(number: u8) -> EntityId {
    EntityId::new(NOW, number.into())
}

fn space(number: u8) -> SpaceId {
    SpaceId::new(NOW, number.into())
}

/// What is searched of a message with this text.
fn entry(seq: u64, text: &str) -> Entry {
    Entry {
        seq,
        at: Time::from_millis(NOW.as_millis() - 1_000_000 + seq as i64 * 1_000),
        sender: sender(1),
        unsettled: false,
        has: entry::HasFlags::default(),
        texts: vec![text.to_owned()],
    }
}

fn query(q: &str) -> Query {
    Query::parse(q, &Filters::default()).unwrap()
}
