//! Presence: the entities that are in a space right now. Clients renew it. Changes are sent to the
//! followers, at most every three seconds, and again before the last list that was sent expires.
//! Presence is soft state without a guarantee: a client drops an entity that is not renewed.

use std::{collections::BTreeMap, time::Duration};

use smartspace_domain::{
    Error, Result, Time,
    access::Caller,
    events::{Event, EventKind, Present},
    ids::{ConnectionId, EntityId, SpaceId},
    jobs::{BroadcastJob, EventJob, Recipient, TriggerJob},
};
use smartspace_store::{
    connections::{
        Audience, ConnectionRecord,
        presence::{Device, Heartbeat, SEND_INTERVAL, SendTime, SentPresence},
    },
    spaces::rosters::Roster,
};

use crate::{Pipeline, queue};

/// How long a client is present without another heartbeat. Clients ping every four minutes.
const PRESENT: Duration = Duration::from_mins(5);
/// How long an entity counts as typing without another heartbeat.
const TYPING: Duration = Duration::from_secs(6);
/// A renewal is sent to the followers this long before they would drop the entity.
const RENEWED_BEFORE: Duration = Duration::from_secs(5);
const TYPING_RENEWED_BEFORE: Duration = Duration::from_millis(2_500);
/// How much earlier than its time a job may begin: the clocks of processes differ.
const EARLY: Duration = Duration::from_secs(1);
/// How many entities one event lists. More do not fit a frame.
const LISTED: usize = 200;

/// What a client says of its person in a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// It is still there. A ping does not know whether it types, so that stays as it was.
    Stays,
    Types,
    Rests,
}

impl Pipeline {
    /// Notes that a connection is present in a space that it follows. The operator is not present,
    /// but its heartbeat makes the list of those who are be sent.
    pub async fn beat(
        &self,
        connection: &ConnectionRecord,
        space: SpaceId,
        activity: Activity,
    ) -> Result<()> {
        let connections = self.store.connections();
        if !connections.follows(&connection.id, space).await? {
            return Err(Error::NotFound(format!("the connection does not follow {space}")));
        }
        let now = self.now();
        let (entity, lasts) = match connection.caller {
            Caller::Operator => (None, SEND_INTERVAL),
            Caller::Entity(entity) => (Some(entity), PRESENT),
        };
        let beat = Heartbeat {
            connection: &connection.id,
            space,
            entity,
            until: now + lasts,
            typing_until: match activity {
                Activity::Stays => None,
                Activity::Types if entity.is_some() => Some(now + TYPING),
                Activity::Types | Activity::Rests => Some(Time::default()),
            },
        };
        if connections.beat(&beat, now).await? {
            self.show_presence_soon(space).await;
        }
        Ok(())
    }

    /// Notes that a connection is no longer present in a space.
    pub async fn forget_presence(&self, connection: &ConnectionId, space: SpaceId) -> Result<()> {
        if self.store.connections().forget_presence(connection, space).await? {
            self.show_presence_soon(space).await;
        }
        Ok(())
    }

    /// Sends the presence of a space to its followers soon, since an entity came or went, or began
    /// or stopped to type.
    pub async fn show_presence_soon(&self, space: SpaceId) {
        let shown = match self.store.connections().may_send_presence(space, self.now()).await {
            Ok(SendTime::Now) => self.show_presence(space, false).await,
            Ok(SendTime::At(at)) => {
                self.alarms.set(at, TriggerJob::ShowPresence { space_id: space }).await;
                Ok(())
            }
            Ok(SendTime::Later) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = shown {
            tracing::warn!(%space, %error, "presence was not sent to the followers");
        }
    }

    /// Sends the presence of a space that a member has left, if presence is used there.
    pub(crate) async fn show_presence_without_former(&self, space: SpaceId) {
        match self.store.connections().sent_presence(space).await {
            Ok(None) => {}
            Ok(Some(_)) => self.show_presence_soon(space).await,
            Err(error) => {
                tracing::warn!(%space, %error, "presence was not sent to the followers");
            }
        }
    }

    /// Sends the presence of a space to its followers, if a job for that is due.
    pub async fn show_due_presence(&self, space: SpaceId) -> Result<()> {
        let Some(last) = self.store.connections().sent_presence(space).await? else {
            return Ok(());
        };
        let now = self.now();
        let soon = now + EARLY;
        let is_renewal = last.renew_at() <= soon;
        if !is_renewal && !last.has_job(soon) {
            return Ok(());
        }
        if self.store.connections().claim_presence(space, &last, now).await? {
            return self.show_presence(space, is_renewal).await;
        }
        Ok(())
    }

    /// Sends the presence of a space to all followers, if it has changed since it was last sent, or
    /// if what was sent expires. Otherwise only the connections that came since then get it.
    async fn show_presence(&self, space: SpaceId, is_renewal: bool) -> Result<()> {
        let now = self.now();
        let connections = self.store.connections();
        let Audience { connections: followers, roster, .. } =
            match connections.audience(space, now).await {
                Ok(audience) => audience,
                Err(Error::NotFound(_)) => return Ok(()),
                Err(error) => return Err(error),
            };
        let (devices, last) = connections.presence(space).await?;
        if followers.is_empty() {
            // The next follower has no list yet, so nothing counts as sent.
            return connections.note_presence_sent(space, &last, "", last.renew_at(), now).await;
        }
        let present = present(&devices, &roster, now);
        let who = who(&present);
        let is_for_all = is_renewal || who != last.who;
        let is_new = |follower: &ConnectionRecord| is_new(&devices, follower, &last);
        let recipients: Vec<_> = followers
            .into_iter()
            .filter(|follower| is_for_all || is_new(follower))
            .map(|follower| Recipient::new(follower.id, follower.caller))
            .collect();
        let renew_at = if is_for_all { renewal(&present, now) } else { last.renew_at() };
        let what = event(present);
        let sent = Event { space_id: space, at: now, what };
        let per_job = self.store.room_limits().per_job;
        let jobs = EventJob::split(&sent, &recipients, Some(roster.head.roster), per_job);
        queue(&*self.broadcasts, jobs.map(BroadcastJob::Event).collect()).await;
        connections.note_presence_sent(space, &last, &who, renew_at, now).await?;
        // A job may be set for this time already.
        if is_for_all && !who.is_empty() && renew_at != last.renew_at() {
            self.alarms.set(renew_at, TriggerJob::ShowPresence { space_id: space }).await;
        }
        Ok(())
    }
}

/// The members who are present, in the order of their ids.
fn present(devices: &[Device], roster: &Roster, now: Time) -> Vec<Present> {
    let mut present: BTreeMap<EntityId, Present> = BTreeMap::new();
    for device in devices.iter().filter(|device| device.until() > now) {
        let Some(entity_id) = device.entity_id.filter(|id| roster.member(*id).is_some()) else {
            continue;
        };
        let (since, until) = (device.since(), device.until());
        let known = present.entry(entity_id).or_insert(Present {
            entity_id,
            since,
            until,
            typing_until: None,
        });
        known.since = known.since.min(since);
        known.until = known.until.max(until);
        known.typing_until = known.typing_until.max(device.typing_until(now));
    }
    present.into_values().collect()
}

/// A text that differs if others are present, or others type.
fn who(present: &[Present]) -> String {
    let names = present
        .iter()
        .map(|it| format!("{}{}", it.entity_id, if it.typing_until.is_some() { "*" } else { "" }));
    let names: Vec<_> = names.collect();
    if names.is_empty() {
        return String::new();
    }
    smartspace_store::table::keys::hash(&names.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Whether a connection was opened or became present after presence was last sent.
fn is_new(devices: &[Device], follower: &ConnectionRecord, last: &SentPresence) -> bool {
    let is_its_own = |device: &&Device| device.connection == follower.id;
    follower.opened_at >= last.at()
        || devices.iter().filter(is_its_own).any(|device| device.since() >= last.at())
}

/// When presence must be sent again.
fn renewal(present: &[Present], now: Time) -> Time {
    let ends = present.iter().flat_map(|it| {
        let typing = it.typing_until.map(|until| until - TYPING_RENEWED_BEFORE);
        [Some(it.until - RENEWED_BEFORE), typing].into_iter().flatten()
    });
    ends.min().unwrap_or(now + PRESENT).max(now + SEND_INTERVAL)
}

fn event(mut present: Vec<Present>) -> EventKind {
    let all = present.len();
    let count = (all > LISTED).then_some(all);
    if all > LISTED {
        // An entity that types is listed in any case.
        present.sort_by_key(|it| (it.typing_until.is_none(), it.entity_id));
        present.truncate(LISTED);
        present.sort_by_key(|it| it.entity_id);
    }
    let typing = present.iter().filter(|it| it.typing_until.is_some());
    EventKind::Presence { typing: typing.map(|it| it.entity_id).collect(), present, count }
}
