//! The items of connections, and of requests: deliveries, rates and idempotency keys.

use smartspace_domain::ids::{ConnectionId, DeliveryId, EntityId, SpaceId};

use crate::table::keys::{Key, hash};

/// The partition of a connection.
pub fn connection(id: &ConnectionId) -> String {
    format!("CONN#{id}")
}

/// A connection.
pub fn connection_meta(id: &ConnectionId) -> Key {
    Key::new(connection(id), "META")
}

/// The prefix of a connection's subscriptions.
pub const FOLLOWS: &str = "SPACE#";

/// The connection's own item of a subscription.
pub fn follows(id: &ConnectionId, space: SpaceId) -> Key {
    Key::new(connection(id), format!("{FOLLOWS}{space}"))
}

/// A ticket, by the hash of its secret.
pub fn ticket(ticket: &str) -> Key {
    Key::new(format!("TICKET#{}", hash(&["ticket", ticket])), "META")
}

/// A delivery.
pub fn delivery(id: DeliveryId) -> Key {
    Key::new(format!("DLV#{id}"), "META")
}

/// The payload of a delivery.
pub fn payload(id: DeliveryId) -> Key {
    Key::new(format!("DLV#{id}"), "PAYLOAD")
}

/// The key of a service's delivery, for which there is only one run.
pub fn hook(agent: EntityId, service: &str, key: &str) -> Key {
    Key::new(format!("HOOK#{}", hash(&[&agent.to_string(), service, key])), "META")
}

/// The request rate of a caller.
pub fn rate(who: &str) -> Key {
    Key::new(format!("RATE#{}", hash(&["rate", who])), "META")
}

/// The tokens of a connection.
pub fn frames(connection: &ConnectionId) -> Key {
    Key::new(format!("RATE#{connection}"), "FRAMES")
}

/// At least the number of connections that follow a space. It is outside the space's partition,
/// which is the busy one.
pub fn followers(space: SpaceId) -> Key {
    Key::new(format!("RATE#{space}"), "FOLLOWERS")
}

/// The read positions that the followers of a space are still to be told.
pub fn unshown_reads(space: SpaceId) -> Key {
    Key::new(format!("RATE#{space}"), "READS")
}

/// The runs of an agent in one minute.
pub fn minute(agent: EntityId, number: i64) -> Key {
    Key::new(format!("RATE#{agent}#{number}"), "META")
}

/// An idempotency key.
pub fn idempotency(hashed: &str) -> Key {
    Key::new(format!("IDEM#{hashed}"), "META")
}
