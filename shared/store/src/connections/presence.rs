//! Who is present in a space: soft state with an expiry, outside the space's busy partition.
//!
//! Each connection has one item, which its client renews. `META` says what the followers were told
//! last, and when they may and must be told again.

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

/// Followers are told at most this often.
pub const TOLD_EVERY: Duration = Duration::from_secs(3);
/// A time further ahead comes from a wrong clock.
const FAR: Duration = Duration::from_mins(1);
/// How long items are stored after they have lost their meaning.
const STORED_FOR: Duration = Duration::from_hours(1);

/// What a client says about its connection in a space.
#[derive(Clone, Copy, Debug)]
pub struct Heartbeat<'a> {
    /// The connection.
    pub connection: &'a ConnectionId,
    /// The space.
    pub space: SpaceId,
    /// The entity. The operator is not present, but may listen.
    pub entity: Option<EntityId>,
    /// The entity is present until then, unless it says so again.
    pub until: Time,
    /// The entity types until then.
    pub typing_until: Option<Time>,
}

/// A connection that is present in a space, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Device {
    /// The connection.
    pub connection: ConnectionId,
    /// Its entity.
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

/// What the followers of a space were told last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Told {
    /// Who was present and who typed.
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

impl Told {
    /// When that was.
    pub fn at(&self) -> Time {
        Time::from_millis(self.last_at_ms)
    }

    /// When they must be told again, so that nobody who is still present disappears.
    pub fn renew_at(&self) -> Time {
        Time::from_millis(self.renew_at_ms)
    }

    /// Whether a job that tells them was set for a time until `now`.
    pub fn has_job(&self, now: Time) -> bool {
        self.job_at_ms > 0 && self.job_at_ms <= now.as_millis()
    }
}

/// When followers are told of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tell {
    /// The caller tells them now.
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
        let write = Write::count(
            keys::present(space, connection),
            "SET #wasUntilMs = if_not_exists(#untilMs, :none), \
             #wasTypingUntilMs = if_not_exists(#typingUntilMs, :none), \
             #sinceMs = if_not_exists(#sinceMs, :now), #untilMs = :until, \
             #typingUntilMs = :typing, #entityId = :entity, #connection = :connection, \
             #expiresAt = :expires",
        )
        .value(":none", 0)?
        .value(":now", now.as_millis())?
        .value(":until", until.as_millis())?
        .value(":typing", typing_until.map_or(0, Time::as_millis))?
        .value(":entity", entity)?
        .value(":connection", connection)?
        .value(":expires", (until + STORED_FOR).as_seconds())?;
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

    /// The connections that are present in a space, and what the followers were told last.
    pub async fn presence(self, space: SpaceId) -> Result<(Vec<Device>, Told)> {
        let meta = keys::presence_meta(space);
        let mut devices = Vec::new();
        let mut told = Told::default();
        for item in self.store.table.all(Query::of(meta.pk.clone())).await? {
            if key_of(&item)? == meta {
                told = read(item)?;
            } else {
                devices.push(read(item)?);
            }
        }
        Ok((devices, told))
    }

    /// What the followers of a space were told last.
    pub async fn told_presence(self, space: SpaceId) -> Result<Option<Told>> {
        self.store.table.get(&keys::presence_meta(space)).await
    }

    /// When the followers may be told of a change: at once if the last time was long ago, else by
    /// one job for all changes until then.
    pub async fn may_tell_presence(self, space: SpaceId, now: Time) -> Result<Tell> {
        let key = keys::presence_meta(space);
        let first =
            Write::count(key.clone(), "SET #nextAtMs = :next, #expiresAt = :expires ADD #rev :one")
                .when("attribute_not_exists(#nextAtMs) OR #nextAtMs <= :now OR #nextAtMs > :far")
                .value(":now", now.as_millis())?
                .value(":far", (now + FAR).as_millis())?
                .value(":next", (now + TOLD_EVERY).as_millis())?
                .value(":expires", (now + STORED_FOR).as_seconds())?
                .value(":one", 1)?;
        let told: Told = match self.store.table.write(first).await {
            Ok(_) => return Ok(Tell::Now),
            Err(WriteError::Refused(refusal)) => refusal.existing(&key).unwrap_or_default(),
            Err(WriteError::Other(error)) => return Err(error),
        };
        let job = Write::update(key, "SET #jobAtMs = :at ADD #rev :one")
            .when("attribute_not_exists(#jobAtMs) OR #jobAtMs <= :now OR #jobAtMs > :far")
            .value(":now", now.as_millis())?
            .value(":far", (now + FAR).as_millis())?
            .value(":at", told.next_at_ms)?
            .value(":one", 1)?;
        match self.store.table.write(job).await {
            Ok(_) => Ok(Tell::At(Time::from_millis(told.next_at_ms))),
            Err(WriteError::Refused(_)) => Ok(Tell::Later),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Takes on to tell the followers what is due. Of several jobs for the same moment one does it.
    /// If it stops before it has told them, a repeat of its job does it soon after.
    pub async fn claim_presence(self, space: SpaceId, due: &Told, now: Time) -> Result<bool> {
        let expression = "SET #nextAtMs = :next, #renewAtMs = :next REMOVE #jobAtMs ADD #rev :one";
        let write = Write::update(keys::presence_meta(space), expression)
            .when("#rev = :rev")
            .value(":rev", due.rev)?
            .value(":next", (now + TOLD_EVERY).as_millis())?
            .value(":one", 1)?;
        match self.store.table.write(write).await {
            Ok(_) => Ok(true),
            Err(WriteError::Refused(_)) => Ok(false),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Notes what the followers were told at a time. If somebody else has told them meanwhile, or
    /// something has changed, nothing is noted: they are told twice rather than never.
    pub async fn note_presence_told(
        self,
        space: SpaceId,
        before: &Told,
        who: &str,
        renew_at: Time,
        at: Time,
    ) -> Result<()> {
        let job = if before.has_job(at + TOLD_EVERY) { " REMOVE #jobAtMs" } else { "" };
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
        .value(":next", (at + TOLD_EVERY).as_millis())?
        .value(":expires", (renew_at + STORED_FOR).as_seconds())?
        .value(":one", 1)?;
        match self.store.table.write(write).await {
            Ok(_) | Err(WriteError::Refused(_)) => Ok(()),
            Err(WriteError::Other(error)) => Err(error),
        }
    }
}
