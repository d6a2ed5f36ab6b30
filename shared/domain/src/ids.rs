//! Ids: a prefix and the 26 characters of a ULID. They are opaque: sort messages by `seq`, not by
//! id.
//!
//! Every kind of id has its own type, so two cannot be swapped. If work may be repeated, the ids
//! that it makes are derived from its cause, so that they are the same each time
//! (`RunId::of_message`, `CallId::of`, `MessageId::of_call`, `StreamId::of`).

mod derived;

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use ulid::Ulid;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, schema::Schema},
};

use crate::{Time, schemas};

/// A text that is not an id of the expected kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected an id like {expected}_ and 26 characters, got {got:?}")]
pub struct NotAnId {
    expected: &'static str,
    got: String,
}

fn parse(prefix: &'static str, text: &str) -> Result<Ulid, NotAnId> {
    let refuse = || NotAnId { expected: prefix, got: text.chars().take(64).collect() };
    let ulid_text =
        text.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('_')).ok_or_else(refuse)?;
    let ulid = Ulid::from_string(ulid_text).map_err(|_| refuse())?;
    // An id has only one spelling, but the library also parses lower case and numbers out of range.
    if ulid.to_string() == ulid_text { Ok(ulid) } else { Err(refuse()) }
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Ulid);

        impl $name {
            /// The prefix before the underscore.
            pub const PREFIX: &'static str = $prefix;

            /// A new id with this time. Its other 80 bits are the lower 80 bits of `random`.
            pub fn new(at: Time, random: u128) -> Self {
                Self(Ulid::from_parts(u64::try_from(at.as_millis()).unwrap_or(0), random))
            }

            /// The time in the id.
            pub fn time(self) -> Time {
                Time::from_millis(self.0.timestamp_ms() as i64)
            }

            /// The part of the id, if ids are spread evenly over `parts`.
            pub fn part_of(self, parts: u8) -> u8 {
                (self.0.random() % u128::from(parts.max(1))) as u8
            }
        }

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                schemas::id(Self::PREFIX)
            }
        }

        impl ToSchema for $name {}

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "_{}"), self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;
            fn from_str(text: &str) -> Result<Self, NotAnId> {
                parse($prefix, text).map(Self)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
                text.parse().map_err(de::Error::custom)
            }
        }
    };
}

id!(
    /// The id of a person or an agent.
    EntityId,
    "ent"
);
id!(
    /// The id of a space.
    SpaceId,
    "spc"
);
id!(
    /// The id of an invite.
    InviteId,
    "inv"
);
id!(
    /// The id of a message.
    MessageId,
    "msg"
);
id!(
    /// The id of a file of a space.
    AttachmentId,
    "att"
);
id!(
    /// The id of a run.
    RunId,
    "run"
);
id!(
    /// The id of a chain: what one message, or one run of a plan or a service, has set off. It has
    /// the bits of the id of that message or run.
    ChainId,
    "chn"
);
id!(
    /// The id of a line between the messages of a space.
    LineId,
    "lin"
);
id!(
    /// The id of a tool call.
    CallId,
    "cal"
);
id!(
    /// The id of a remembered approval.
    AllowanceId,
    "alw"
);
id!(
    /// The id of a stream of one tool call's text.
    StreamId,
    "str"
);
id!(
    /// The id of a plan.
    PlanId,
    "pln"
);
id!(
    /// The id of a delivery of a service.
    DeliveryId,
    "dlv"
);
id!(
    /// A ticket that opens one WebSocket connection.
    TicketId,
    "tkt"
);

/// The id of a WebSocket connection, as its server assigns it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConnectionId(pub String);

impl fmt::Display for ConnectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The id of a lease: the claim of a run writes it, and each later write of the run checks it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LeaseId(pub String);

impl LeaseId {
    /// A new lease. `random` makes it unique.
    pub fn new(random: u128) -> Self {
        Self(format!("{random:032x}"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_id_can_be_parsed_from_its_text(millis in 0..1_i64 << 47, random: u128) {
            let id = RunId::new(Time::from_millis(millis), random);
            prop_assert_eq!(id.to_string().parse::<RunId>(), Ok(id));
            prop_assert_eq!(id.time(), Time::from_millis(millis));
        }

        #[test]
        fn an_id_has_only_one_spelling(text in "(spc_)?[0-9A-Za-z]{25,27}") {
            if let Ok(id) = text.parse::<SpaceId>() {
                prop_assert_eq!(id.to_string(), text);
            }
        }
    }

    #[test]
    fn derived_ids_are_repeatable_and_have_the_time_of_their_cause() {
        let at = Time::from_millis(1_771_427_220_000);
        let agent = EntityId::new(at, 1);
        let message = MessageId::new(at, 2);
        let run = RunId::of_message(agent, message, at);
        assert_eq!(run, RunId::of_message(agent, message, at));
        let call = CallId::of(run, 0, 1);
        let ids = [
            run.time(),
            call.time(),
            MessageId::of_call(call).time(),
            StreamId::of(call, 1).time(),
        ];
        assert_eq!(ids, [at; 4]);
        assert_ne!(call, CallId::of(run, 1, 0));
        assert_ne!(StreamId::of(call, 1), StreamId::of(call, 2));
        // A snapshot, because stored runs have ids by this rule: it must not change.
        insta::assert_debug_snapshot!((run, call, MessageId::of_call(call), StreamId::of(call, 1)));
    }

    #[test]
    fn an_id_of_another_kind_is_refused() {
        let id = SpaceId::new(Time::from_millis(1), 0xAB_CDEF).to_string();
        assert!(id.parse::<SpaceId>().is_ok());
        assert!(
            id.parse::<RunId>().unwrap_err().to_string().starts_with("expected an id like run_")
        );
        assert!(id.to_lowercase().parse::<SpaceId>().is_err());
    }
}
