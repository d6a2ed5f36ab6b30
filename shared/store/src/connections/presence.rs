//! The presence of entities in a space: soft state with an expiry, outside the space's busy
//! partition.
//!
//! Each connection has one item, which its client renews. `META` holds what was last sent to the
//! followers, and when presence may and must be sent again.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    ids::{ConnectionId, EntityId, SpaceId},
};

use crate::{
    Connections, Result,
    connections::subscriptions::FollowRecord,
    table::{Query, WriteError, key_of, keys, read, write::Write},
};

/// The shortest time between two lists that are sent to the followers of a space.
pub const SEND_INTERVAL: Duration = Duration::from_secs(3);
/// A time further ahead comes from a wrong clock.
const FAR: Duration = Duration::from_mins(1);
/// How long items are stored after they have lost their meaning.
const STORED_FOR: Duration = Duration::from_hours(1);

/// A heartbeat of a client for its connection in a space.
#[derive(Clone, Copy, Debug)]
pub struct Heartbeat<'a> {
    pub connection: &'a ConnectionId,
    pub space: SpaceId,
    /// The entity. `None` for the operator, who is never present, but may follow.
    pub entity: Option<EntityId>,
    /// The entity is present until then, unless another heartbeat comes.
    pub until: Time,
    /// The entity types until then: a past time if it does not type, and `None` if that stays as it
    /// was.
    pub typing_until: Option<Time>,
}

/// A connection that is present in a space, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Device {
    pub connection: ConnectionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity_id: Option<EntityId>,
    since_ms: i64,
    until_ms: i64,
    typing_until_ms: i64,
    was_until_ms: i64,
    was_typing_until_ms: i64,
}

impl Device {
    /// When it became present.
    pub fn since(&self) -> Time {
        Time::from_millis(self.since_ms)
    }

    /// Until when it is present.
    pub fn until(&self) -> Time {
        Time::from_millis(self.until_ms)
    }

    /// Until when its entity types there.
    pub fn typing_until(&self, now: Time) -> Option<Time> {
        Some(Time::from_millis(self.typing_until_ms)).filter(|until| *until > now)
    }

    /// Whether the last beat changed what others see.
    fn has_changed(&self, now: Time) -> bool {
        let now = now.as_millis();
        self.was_until_ms <= now || (self.was_typing_until_ms > now) != (self.typing_until_ms > now)
    }
}

/// The presence that was last sent to the followers of a space.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SentPresence {
    /// A hash of the entities that were present and of those that typed.
    #[serde(default)]
    pub who: String,
    #[serde(default)]
    last_at_ms: i64,
    #[serde(default)]
    renew_at_ms: i64,
    #[serde(default)]
    next_at_ms: i64,
    #[serde(default)]
    job_at_ms: i64,
    #[serde(default)]
    rev: u64,
}

impl SentPresence {
    /// When it was sent.
    pub fn at(&self) -> Time {
        Time::from_millis(self.last_at_ms)
    }

    /// When it must be sent again, so that no entity disappears that is still present.
    pub fn renew_at(&self) -> Time {
        Time::from_millis(self.renew_at_ms)
    }

    /// Whether a job that sends presence was set for a time until `now`.
    pub fn has_job(&self, now: Time) -> bool {
        self.job_at_ms > 0 && self.job_at_ms <= now.as_millis()
    }
}

/// When a change of presence is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendTime {
    /// The caller sends it now.
    Now,
    /// The caller sets a job for this time.
    At(Time),
    /// A job is set already.
    Later,
}

impl Connections<'_> {
    /// Whether a connection follows a space.
    pub async fn follows(self, id: &ConnectionId, space: SpaceId) -> Result<bool> {
        let record: Option<FollowRecord> = self.store.table.get(&keys::follows(id, space)).await?;
        Ok(record.is_some_and(|record| !record.left))
    }

    /// Stores what a client says. Returns whether that changes what others see.
    pub async fn beat(self, beat: &Heartbeat<'_>, now: Time) -> Result<bool> {
        let Heartbeat { connection, space, entity, until, typing_until } = *beat;
        let typing = match typing_until {
            Some(_) => ":typing",
            None => "if_not_exists(#typingUntilMs, :none)",
        };
        let expression = format!(
            "SET #wasUntilMs = if_not_exists(#untilMs, :none), \
             #wasTypingUntilMs = if_not_exists(#typingUntilMs, :none), \
             #sinceMs = if_not_exists(#sinceMs, :now), #untilMs = :until, \
             #typingUntilMs = {typing}, #entityId = :entity, #connection = :connection, \
             #expiresAt = :expires"
        );
        let mut write = Write::count(keys::present(space, connection), expression)
            .value(":none", 0)?
            .value(":now", now.as_millis())?
            .value(":until", until.as_millis())?
            .value(":entity", entity)?
            .value(":connection", connection)?
            .value(":expires", (until + STORED_FOR).as_seconds())?;
        if let Some(until) = typing_until {
            write = write.value(":typing", until.as_millis())?;
        }
        match self.store.table.write(write).await {
            Ok(Some(item)) => Ok(read::<Device>(item)?.has_changed(now)),
            // An update without a condition is never refused.
            Ok(None) | Err(WriteError::Refused(_)) => Ok(true),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Forgets that a connection is present. Returns whether it was.
    pub async fn forget_presence(self, id: &ConnectionId, space: SpaceId) -> Result<bool> {
        match self.store.table.write(Write::delete(keys::present(space, id))).await {
            Ok(item) => Ok(item.is_some()),
            Err(WriteError::Refused(_)) => Ok(false),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// The connections that are present in a space, and the presence that was last sent.
    pub async fn presence(self, space: SpaceId) -> Result<(Vec<Device>, SentPresence)> {
        let meta = keys::presence_meta(space);
        let mut devices = Vec::new();
        let mut last = SentPresence::default();
        for item in self.store.table.all(Query::of(meta.pk.clone())).await? {
            if key_of(&item)? == meta {
                last = read(item)?;
            } else {
                devices.push(read(item)?);
            }
        }
        Ok((devices, last))
    }

    /// The presence that was last sent to the followers of a space. `None` if none ever was.
    pub async fn sent_presence(self, space: SpaceId) -> Result<Option<SentPresence>> {
        self.store.table.get(&keys::presence_meta(space)).await
    }

    /// When a change may be sent to the followers: at once if the last time was long ago, else by
    /// one job for all changes until then.
    pub async fn may_send_presence(self, space: SpaceId, now: Time) -> Result<SendTime> {
        let key = keys::presence_meta(space);
        let first =
            Write::count(key.clone(), "SET #nextAtMs = :next, #expiresAt = :expires ADD #rev :one")
                .when("attribute_not_exists(#nextAtMs) OR #nextAtMs <= :now OR #nextAtMs > :far")
                .value(":now", now.as_millis())?
                .value(":far", (now + FAR).as_millis())?
                .value(":next", (now + SEND_INTERVAL).as_millis())?
                .value(":expires", (now + STORED_FOR).as_seconds())?
                .value(":one", 1)?;
        let last: SentPresence = match self.store.table.write(first).await {
            Ok(_) => return Ok(SendTime::Now),
            Err(WriteError::Refused(refusal)) => refusal.existing(&key).unwrap_or_default(),
            Err(WriteError::Other(error)) => return Err(error),
        };
        let job = Write::update(key, "SET #jobAtMs = :at ADD #rev :one")
            .when("attribute_not_exists(#jobAtMs) OR #jobAtMs <= :now OR #jobAtMs > :far")
            .value(":now", now.as_millis())?
            .value(":far", (now + FAR).as_millis())?
            .value(":at", last.next_at_ms)?
            .value(":one", 1)?;
        match self.store.table.write(job).await {
            Ok(_) => Ok(SendTime::At(Time::from_millis(last.next_at_ms))),
            Err(WriteError::Refused(_)) => Ok(SendTime::Later),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Takes on the sending of presence that is due. Of several jobs for the same moment one gets
    /// it. If that job stops before it has sent presence, its repeat does so soon after.
    pub async fn claim_presence(
        self,
        space: SpaceId,
        due: &SentPresence,
        now: Time,
    ) -> Result<bool> {
        let expression = "SET #nextAtMs = :next, #renewAtMs = :next REMOVE #jobAtMs ADD #rev :one";
        let write = Write::update(keys::presence_meta(space), expression)
            .when("#rev = :rev")
            .value(":rev", due.rev)?
            .value(":next", (now + SEND_INTERVAL).as_millis())?
            .value(":one", 1)?;
        match self.store.table.write(write).await {
            Ok(_) => Ok(true),
            Err(WriteError::Refused(_)) => Ok(false),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Notes that presence was sent at a time. If another process has sent it meanwhile, or it has
    /// changed, nothing is noted: a change is sent twice rather than never.
    pub async fn note_presence_sent(
        self,
        space: SpaceId,
        before: &SentPresence,
        who: &str,
        renew_at: Time,
        at: Time,
    ) -> Result<()> {
        let job = if before.has_job(at + SEND_INTERVAL) { " REMOVE #jobAtMs" } else { "" };
        let write = Write::count(
            keys::presence_meta(space),
            format!(
                "SET #who = :who, #lastAtMs = :at, #renewAtMs = :renewAt, #nextAtMs = :next, \
                 #expiresAt = :expires{job} ADD #rev :one"
            ),
        )
        .when("attribute_not_exists(#rev) OR #rev = :rev")
        .value(":rev", before.rev)?
        .value(":who", who)?
        .value(":at", at.as_millis())?
        .value(":renewAt", renew_at.as_millis())?
        .value(":next", (at + SEND_INTERVAL).as_millis())?
        .value(":expires", (renew_at + STORED_FOR).as_seconds())?
        .value(":one", 1)?;
        match self.store.table.write(write).await {
            Ok(_) | Err(WriteError::Refused(_)) => Ok(()),
            Err(WriteError::Other(error)) => Err(error),
        }
    }
}
