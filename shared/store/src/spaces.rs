//! Spaces: their settings, and the small items of a space that are read often.

mod activity;
mod deletion;
mod emptiness;
pub mod lines;
pub mod members;
mod overview;
pub mod pins;
mod relationships;
pub mod rosters;
pub mod stops;
pub mod summaries;
mod unshown;
pub mod unshown_reactions;
pub mod unshown_reads;

use serde::Deserialize;
use serde_json::Value;
use smartspace_domain::{
    Time,
    ids::SpaceId,
    projects::ManagedBy,
    spaces::{Space, SpaceSettings, owner_limits::OperatorLimits},
    stored,
    system_lines::SystemLine,
};

pub use self::overview::{Lengths, OverviewMember, SpaceOverview};
pub(crate) use self::overview::{head_keys, take_lengths, take_overviews};
pub use crate::shared::space::{LineAt, PinRecord, SpaceRecord, StoppedChain};
use crate::{
    Error, Result, Spaces,
    idempotency::PostKey,
    projects::{self, FromFile},
    shared::{member::MemberRecord, space::no_such_space},
    spaces::{
        lines::{Reported, line_write},
        members::TRIES,
        rosters::{Head, Roster},
    },
    table::{Query, WriteError, indexes::Index, keys, write::Write},
};

/// A space, as the API shows it.
pub fn view(record: SpaceRecord, roster: &Roster) -> Space {
    let members = roster.members.iter().map(MemberRecord::view).collect();
    let pins = record.pins.iter().map(|pin| pin.seq).collect();
    let space = Space::of(record.id, record.settings, record.created_at);
    let managed_by = record.managed_by;
    let Head { seq, cards, .. } = roster.head;
    Space { managed_by, seq, cards, members, pins, ..space }
}

fn changed_meanwhile() -> Error {
    Error::Conflict("the space was changed at the same time; read it again".into())
}

impl Spaces<'_> {
    /// Creates a space without members. If the `key` was used before, returns the space that was
    /// created then.
    pub async fn create(
        self,
        id: SpaceId,
        settings: SpaceSettings,
        key: Option<&PostKey>,
        now: Time,
    ) -> Result<SpaceId> {
        self.create_within(id, settings, OperatorLimits::default(), key, now).await
    }

    /// Like [`Self::create`], with the limits that the operator has set.
    pub async fn create_within(
        self,
        id: SpaceId,
        settings: SpaceSettings,
        operator_limits: OperatorLimits,
        key: Option<&PostKey>,
        now: Time,
    ) -> Result<SpaceId> {
        let mut writes = new_space(id, settings, operator_limits, None, now)?;
        if let Some(key) = key {
            writes.push(key.write(&id.to_string(), now)?);
        }
        match self.store.table.transact(&writes).await {
            Ok(()) => Ok(id),
            Err(WriteError::Other(error)) => Err(error),
            // The first try took effect and its answer was lost.
            Err(WriteError::Refused(refusal)) if refusal.names(&keys::space_meta(id)) => Ok(id),
            Err(WriteError::Refused(refusal)) => PostKey::made(key, &refusal)?
                .ok_or_else(|| Error::Internal("the id of a new space is in use".into())),
        }
    }

    /// Creates a space without members as a file says.
    pub async fn create_from_file(
        self,
        id: SpaceId,
        settings: SpaceSettings,
        operator_limits: OperatorLimits,
        from_file: FromFile,
        now: Time,
    ) -> Result<()> {
        let mut writes = new_space(id, settings, operator_limits, from_file.managed_by, now)?;
        writes.extend(from_file.writes);
        match self.store.table.transact(&writes).await {
            Ok(()) => Ok(()),
            Err(WriteError::Other(error)) => Err(error),
            // The first try took effect and its answer was lost.
            Err(WriteError::Refused(refusal)) if refusal.names(&keys::space_meta(id)) => Ok(()),
            Err(WriteError::Refused(_)) => Err(projects::changed_meanwhile()),
        }
    }

    /// Changes which files manage a space, and nothing that its members see.
    pub async fn manage(self, record: &SpaceRecord, from_file: FromFile) -> Result<()> {
        let write = match &from_file.managed_by {
            Some(managed_by) => {
                let change = "SET #rev = :next, #managedBy = :managedBy";
                Write::update(keys::space_meta(record.id), change)
                    .value(":managedBy", managed_by)?
            }
            None => {
                Write::update(keys::space_meta(record.id), "SET #rev = :next REMOVE #managedBy")
            }
        };
        let mut writes = from_file.writes;
        writes.push(
            write
                .when("#rev = :rev AND attribute_not_exists(#deleted)")
                .value(":rev", record.rev)?
                .value(":next", record.rev + 1)?,
        );
        match self.store.table.transact(&writes).await {
            Ok(()) => Ok(()),
            Err(WriteError::Other(error)) => Err(error),
            Err(WriteError::Refused(refusal)) => {
                match refusal.existing::<SpaceRecord>(&keys::space_meta(record.id)) {
                    // The answer to the first try was lost.
                    Some(stored)
                        if stored.rev == record.rev + 1
                            && stored.managed_by == from_file.managed_by =>
                    {
                        Ok(())
                    }
                    _ => Err(projects::changed_meanwhile()),
                }
            }
        }
    }

    /// A space, as it is stored.
    pub async fn record(self, id: SpaceId) -> Result<SpaceRecord> {
        let record: Option<SpaceRecord> = self.store.table.get(&keys::space_meta(id)).await?;
        record.filter(|record| !record.deleted).ok_or_else(no_such_space)
    }

    /// A space, as it is stored, also if it is deleted and has items left.
    pub async fn any_record(self, id: SpaceId) -> Result<Option<SpaceRecord>> {
        self.store.table.get(&keys::space_meta(id)).await
    }

    /// A space, as the API shows it.
    pub async fn get(self, id: SpaceId) -> Result<Space> {
        let (record, roster) =
            futures::try_join!(self.record(id), self.store.members().roster(id))?;
        Ok(view(record, &roster))
    }

    /// How many spaces there are.
    pub async fn count(self) -> Result<usize> {
        let query = Query::of_index(Index::LISTS, keys::SPACES.to_owned());
        Ok(self.store.table.all(query).await?.len())
    }

    /// Changes a space's settings, and the limits that the operator has set, if they are still at
    /// `rev`.
    pub async fn change(
        self,
        record: &SpaceRecord,
        settings: &SpaceSettings,
        limits: OperatorLimits,
        reported: Reported<'_>,
        from_file: Option<FromFile>,
    ) -> Result<()> {
        let SpaceRecord { id, rev, .. } = *record;
        let FromFile { managed_by, writes: more } = from_file.unwrap_or_else(|| FromFile {
            managed_by: record.managed_by.clone(),
            writes: Vec::new(),
        });
        let roster = reported.roster;
        let whole = self.changed_settings(record, settings).await?;
        let meta = changed_meta(record, whole, settings.paused, limits, managed_by.as_ref())?;
        let overview = SpaceOverview::of(settings, roster.members.iter());
        let mut seq = roster.head.seq;
        for tries in 0..TRIES {
            let lines = reported.settings(&record.settings, settings, seq);
            let mut writes = vec![meta.clone(), head_of_change(id, roster, seq, &lines)?];
            let overview = overview.clone().after(lines.last());
            writes.push(Write::put(keys::space_overview(id), &overview)?);
            for line in &lines {
                writes.push(line_write(id, line)?);
            }
            writes.extend(more.iter().cloned());
            let refusal = match self.store.table.transact(&writes).await {
                Ok(()) => return Ok(()),
                Err(WriteError::Other(error)) => return Err(error),
                Err(WriteError::Refused(refusal)) => refusal,
            };
            if refusal.names(&keys::space_meta(id)) {
                return match refusal.existing::<SpaceRecord>(&keys::space_meta(id)) {
                    // The next revision has these settings: the first try took effect and its
                    // answer was lost.
                    Some(stored) if stored.rev == rev + 1 && stored.settings == *settings => Ok(()),
                    _ => Err(changed_meanwhile()),
                };
            }
            if !refusal.names(&keys::space_head(id)) {
                return Err(projects::changed_meanwhile());
            }
            match refusal.existing::<Head>(&keys::space_head(id)) {
                // Only messages were sent meanwhile.
                Some(head) if head.roster == roster.head.roster => seq = head.seq,
                _ => return Err(changed_meanwhile()),
            }
            self.store.table.pause(tries).await;
        }
        Err(changed_meanwhile())
    }

    /// The settings to store: what this version does not know of them stays as it is.
    async fn changed_settings(
        self,
        record: &SpaceRecord,
        settings: &SpaceSettings,
    ) -> Result<Value> {
        #[derive(Deserialize)]
        struct Whole {
            rev: u64,
            settings: Value,
        }
        let whole: Option<Whole> = self.store.table.get(&keys::space_meta(record.id)).await?;
        let whole = whole.ok_or_else(no_such_space)?;
        if whole.rev != record.rev {
            return Err(changed_meanwhile());
        }
        let json = |settings: &SpaceSettings| {
            serde_json::to_value(settings).map_err(|error| Error::Internal(error.to_string()))
        };
        Ok(stored::merge(whole.settings, &json(&record.settings)?, json(settings)?))
    }
}

/// The writes that store a new space.
fn new_space(
    id: SpaceId,
    settings: SpaceSettings,
    operator_limits: OperatorLimits,
    managed_by: Option<ManagedBy>,
    now: Time,
) -> Result<Vec<Write>> {
    let overview = SpaceOverview::of(&settings, std::iter::empty());
    let record = SpaceRecord {
        id,
        settings,
        operator_limits,
        managed_by,
        created_at: now,
        rev: 1,
        deleted: false,
        deleted_at: None,
        deleted_by: None,
        emptied_at: None,
        pins: Vec::new(),
        stopped_chains: Vec::new(),
        stop: None,
        looked_seq: None,
        g2pk: Some(keys::SPACES.to_owned()),
        g2sk: Some(id.to_string()),
    };
    Ok(vec![
        Write::put(keys::space_meta(id), &record)?.if_absent(),
        Write::put(keys::space_head(id), &Head::new(id, now))?.if_absent(),
        Write::put(keys::space_overview(id), &overview)?,
    ])
}

/// The write of a space's settings, which are `whole` with what this version does not know.
fn changed_meta(
    record: &SpaceRecord,
    whole: Value,
    is_paused: bool,
    limits: OperatorLimits,
    managed_by: Option<&ManagedBy>,
) -> Result<Write> {
    // A space that is resumed is not stopped any more.
    let resumed = if is_paused { "" } else { " REMOVE #stop" };
    let managed = if managed_by.is_some() { ", #managedBy = :managedBy" } else { "" };
    let change = format!(
        "SET #settings = :settings, #rev = :next, #operatorLimits = :limits{managed}{resumed}"
    );
    let meta = Write::update(keys::space_meta(record.id), change)
        .when("#rev = :rev AND attribute_not_exists(#deleted)")
        .value(":limits", limits)?
        .value(":settings", whole)?
        .value(":rev", record.rev)?
        .value(":next", record.rev + 1)?;
    match managed_by {
        Some(managed_by) => meta.value(":managedBy", managed_by),
        None => Ok(meta),
    }
}

/// The change of settings raises the version of the roster, like a member that joins or leaves.
/// Otherwise such a change at the same time would store the overview with the old name. If lines
/// report it, no message may be sent at the same time, so that they are in the right place.
fn head_of_change(id: SpaceId, roster: &Roster, seq: u64, lines: &[SystemLine]) -> Result<Write> {
    let head = Write::update(keys::space_head(id), "SET #roster = :next")
        .when("#roster = :roster")
        .value(":roster", roster.head.roster)?
        .value(":next", roster.head.roster + 1)?;
    if lines.is_empty() { Ok(head) } else { head.when("#seq = :seq").value(":seq", seq) }
}
