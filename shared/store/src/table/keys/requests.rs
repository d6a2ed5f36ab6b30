//! The items of connections, and of requests: deliveries, rates, budgets, usage and idempotency
//! keys.

use smartspace_domain::{
    budgets::BudgetScope,
    days::Day,
    ids::{ConnectionId, DeliveryId, EntityId, SpaceId},
};

use crate::table::keys::{Key, hash};

/// The partition of a connection.
pub fn connection(id: &ConnectionId) -> String {
    format!("CONN#{id}")
}

pub fn connection_meta(id: &ConnectionId) -> Key {
    Key::new(connection(id), "META")
}

/// The spaces in which a connection was present that the server has closed.
pub fn was_present(id: &ConnectionId) -> Key {
    Key::new(connection(id), "WAS")
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

/// The read positions that are not sent to the followers of a space yet.
pub fn unshown_reads(space: SpaceId) -> Key {
    Key::new(format!("RATE#{space}"), "READS")
}

/// The messages whose reactions are not sent to the followers of a space yet.
pub fn unshown_reactions(space: SpaceId) -> Key {
    Key::new(format!("RATE#{space}"), "REACTIONS")
}

/// The runs of an agent in one minute.
pub fn minute(agent: EntityId, number: i64) -> Key {
    Key::new(format!("RATE#{agent}#{number}"), "META")
}

/// The spending of a scope on a day.
pub fn budget(scope: BudgetScope, day: Day) -> Key {
    let scope = match scope {
        BudgetScope::Agent(id) => id.to_string(),
        BudgetScope::Space(id) => id.to_string(),
        BudgetScope::Deployment => "ALL".to_owned(),
    };
    Key::new(format!("BUDGET#{scope}#{day}"), "META")
}

/// How many partitions the usage of a day has.
pub const USAGE_PARTS: u8 = 16;

/// One of the partitions of the usage of a day. `part` is below [`USAGE_PARTS`].
pub fn usage_of_day(day: Day, part: u8) -> String {
    format!("USAGE#{day}#{part:02}")
}

/// The partition with the usage of an agent on a day. `None` is usage of a space that belongs to no
/// agent.
pub fn usage_part(agent: Option<EntityId>) -> u8 {
    agent.map_or(0, |agent| agent.part_of(USAGE_PARTS))
}

/// The usage of a model on a day, by an agent in a space.
pub fn usage(day: Day, agent: Option<EntityId>, space: Option<SpaceId>, model: &str) -> Key {
    let space = space.map_or_else(|| "-".to_owned(), |space| space.to_string());
    Key::new(usage_of_day(day, usage_part(agent)), format!("{}{space}#{model}", usage_by(agent)))
}

/// The prefix of the usage of an agent in the partition of a day.
pub fn usage_by(agent: Option<EntityId>) -> String {
    agent.map_or_else(|| "-#".to_owned(), |agent| format!("{agent}#"))
}

pub fn idempotency(hashed: &str) -> Key {
    Key::new(format!("IDEM#{hashed}"), "META")
}
