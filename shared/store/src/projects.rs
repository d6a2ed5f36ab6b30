//! Projects: what was applied last of each object, and who applies now.
//!
//! An object's change and what was applied of it are one transaction, which also checks that the
//! apply still has the project's lock and that nobody else has changed the object's record. So an
//! apply that died half-way leaves each object whole, and the next one finishes the rest.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    ids::{EntityId, LeaseId, PlanId, SpaceId},
    projects::{AppliedFields, ManagedBy, ObjectKind, ProjectName},
};

use crate::{
    Error, Projects, Result,
    shared::packed::Packed,
    table::{
        Query, WriteError, key_of,
        keys::{self, Key},
        read,
        write::{Write, text},
    },
};

/// The kinds of objects. An object of a kind that only a later version knows is left alone.
const KINDS: [&str; 3] = ["agent", "space", "plan"];
/// How long an apply may take. One that died blocks the next one for so long.
const LOCKED_FOR: Duration = Duration::from_mins(1);

/// What files store besides a change of an object, in its transaction.
#[derive(Clone, Debug)]
pub struct FromFile {
    /// The files that manage the object after it. `None` if none do.
    pub managed_by: Option<ManagedBy>,
    /// The object's record, and the check of the lock.
    pub writes: Vec<Write>,
}

/// An object, by the id under which it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ObjectId {
    Agent { id: EntityId },
    Space { id: SpaceId },
    Plan { agent: EntityId, id: PlanId },
}

impl ObjectId {
    pub fn kind(self) -> ObjectKind {
        match self {
            Self::Agent { .. } => ObjectKind::Agent,
            Self::Space { .. } => ObjectKind::Space,
            Self::Plan { .. } => ObjectKind::Plan,
        }
    }

    /// The id, as the API shows it.
    pub fn shown(self) -> String {
        match self {
            Self::Agent { id } => id.to_string(),
            Self::Space { id } => id.to_string(),
            Self::Plan { id, .. } => id.to_string(),
        }
    }
}

/// What was applied last of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectRecord {
    pub external_id: String,
    pub id: ObjectId,
    /// The fields that the file named, without members.
    pub fields: AppliedFields,
    /// The members of a space that the file named. They are stored when all have joined or left.
    pub members: AppliedFields,
    /// Raised by each change.
    pub rev: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredObject {
    external_id: String,
    #[serde(flatten)]
    id: ObjectId,
    rev: u64,
    /// The fields and the members, compressed.
    packed: Packed,
}

/// A project, as an apply found it.
#[derive(Clone, Debug, Default)]
pub struct ProjectRecord {
    lock: Option<Lock>,
    pub objects: Vec<ObjectRecord>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Lock {
    /// Raised by each apply.
    rev: u64,
    /// Absent after an apply has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<LeaseId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
}

impl ProjectRecord {
    /// The record of an object.
    pub fn object(&self, kind: ObjectKind, external_id: &str) -> Option<&ObjectRecord> {
        self.objects.iter().find(|it| it.id.kind() == kind && it.external_id == external_id)
    }

    /// Fails while another apply has the lock.
    pub fn must_be_free(&self, now: Time) -> Result<()> {
        match &self.lock {
            Some(lock) if lock.until.is_some_and(|until| until > now) => Err(applied_now(lock)),
            _ => Ok(()),
        }
    }
}

impl Projects<'_> {
    /// A project with its objects. It is empty if nothing was ever applied.
    pub async fn get(self, project: &ProjectName) -> Result<ProjectRecord> {
        let items = self.store.table.all(Query::of(keys::project(project.as_str()))).await?;
        let mut record = ProjectRecord::default();
        for item in items {
            if key_of(&item)? == keys::project_meta(project.as_str()) {
                record.lock = Some(read(item)?);
            } else if text(&item, "kind").is_some_and(|kind| KINDS.contains(&kind)) {
                record.objects.push(read::<StoredObject>(item)?.opened()?);
            }
        }
        Ok(record)
    }

    /// The space with this name in files.
    pub async fn space_named(self, external_id: &str) -> Result<Option<SpaceId>> {
        let named: Option<NamedSpace> =
            self.store.table.get(&keys::external_space(external_id)).await?;
        Ok(named.map(|named| named.space_id))
    }

    /// Takes the lock of a project that is as `found`.
    ///
    /// # Errors
    /// `conflict` if another apply has begun since.
    pub async fn lock(
        self,
        project: &ProjectName,
        found: &ProjectRecord,
        commit: Option<String>,
        token: &LeaseId,
        now: Time,
    ) -> Result<()> {
        let key = keys::project_meta(project.as_str());
        let rev = found.lock.as_ref().map_or(0, |lock| lock.rev) + 1;
        let (until, token) = (Some(now + LOCKED_FOR), Some(token.clone()));
        let lock = Lock { rev, until, token: token.clone(), commit };
        let write = Write::fill(key.clone(), &lock, &["until", "token", "commit"])?;
        let write = match &found.lock {
            None => write.if_absent(),
            Some(before) => write.when("#rev = :rev").value(":rev", before.rev)?,
        };
        match self.store.table.write(write).await {
            Ok(_) => Ok(()),
            Err(WriteError::Other(error)) => Err(error),
            Err(WriteError::Refused(refusal)) => match refusal.existing::<Lock>(&key) {
                // The answer to the first try was lost.
                Some(stored) if stored.token == token => Ok(()),
                Some(other) => Err(applied_now(&other)),
                None => Err(changed_meanwhile()),
            },
        }
    }

    /// Gives the lock back.
    pub async fn unlock(self, project: &ProjectName, token: &LeaseId) -> Result<()> {
        let write = Write::update(keys::project_meta(project.as_str()), "REMOVE #until, #token")
            .when("#token = :token")
            .value(":token", token)?;
        self.store.table.write_where_it_holds(write).await
    }

    /// The check that an apply still has the lock.
    pub fn has_lock(self, project: &ProjectName, token: &LeaseId) -> Result<Write> {
        Write::check(keys::project_meta(project.as_str()))
            .when("#token = :token")
            .value(":token", token)
    }

    /// Stores an object's record alone, in place of `before`.
    pub async fn put(
        self,
        project: &ProjectName,
        record: &ObjectRecord,
        before: &ObjectRecord,
        has_lock: Write,
    ) -> Result<()> {
        let writes = [record.write(project, Some(before))?, has_lock];
        match self.store.table.transact(&writes).await {
            Ok(()) => Ok(()),
            Err(WriteError::Other(error)) => Err(error),
            Err(WriteError::Refused(refusal)) => {
                let stored: Option<StoredObject> = refusal.existing(&record.key(project));
                let stored = stored.map(StoredObject::opened).transpose()?;
                // The answer to the first try was lost.
                if stored.as_ref() == Some(record) { Ok(()) } else { Err(changed_meanwhile()) }
            }
        }
    }

    /// Forgets an object that is gone, or that another project has.
    pub async fn forget(
        self,
        project: &ProjectName,
        record: &ObjectRecord,
        has_lock: Write,
    ) -> Result<()> {
        match self.store.table.transact(&[record.end(project)?, has_lock]).await {
            Ok(()) => Ok(()),
            Err(WriteError::Other(error)) => Err(error),
            Err(WriteError::Refused(refusal)) => {
                let key = record.key(project);
                // The answer to the first try was lost.
                let is_gone = refusal.names(&key) && !refusal.finds(&key);
                if is_gone { Ok(()) } else { Err(changed_meanwhile()) }
            }
        }
    }
}

impl ObjectRecord {
    /// The write that stores it in place of `before`.
    pub fn write(&self, project: &ProjectName, before: Option<&Self>) -> Result<Write> {
        let Self { external_id, id, rev, .. } = self.clone();
        let packed = Packed::small(&(&self.fields, &self.members))?;
        let stored = StoredObject { external_id, id, rev, packed };
        let write = Write::fill(self.key(project), &stored, &[])?;
        match before {
            None => Ok(write.if_absent()),
            Some(before) => write.when("#rev = :rev").value(":rev", before.rev),
        }
    }

    /// The write that removes it.
    pub fn end(&self, project: &ProjectName) -> Result<Write> {
        Write::delete(self.key(project)).when("#rev = :rev").value(":rev", self.rev)
    }

    fn key(&self, project: &ProjectName) -> Key {
        keys::object(project.as_str(), self.id.kind(), &self.external_id)
    }
}

impl StoredObject {
    fn opened(self) -> Result<ObjectRecord> {
        let (fields, members) = self.packed.read()?;
        let Self { external_id, id, rev, .. } = self;
        Ok(ObjectRecord { external_id, id, fields, members, rev })
    }
}

/// The write that ends what another project stored of an object that is taken over.
pub fn taken_from(managed_by: &ManagedBy, kind: ObjectKind) -> Option<Write> {
    let external_id = managed_by.external_id.as_ref()?;
    Some(Write::delete(keys::object(&managed_by.project, kind, external_id)))
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct NamedSpace {
    space_id: SpaceId,
}

/// The write that gives a space its name in files. `before` is the space that had it.
pub fn name_space(external_id: &str, space_id: SpaceId, before: Option<SpaceId>) -> Result<Write> {
    let write = Write::put(keys::external_space(external_id), &NamedSpace { space_id })?;
    match before {
        None => Ok(write.if_absent()),
        Some(before) => write.when("#spaceId = :before").value(":before", before),
    }
}

/// The write that takes a space's name in files away.
pub fn unname_space(external_id: &str, space_id: SpaceId) -> Result<Write> {
    Write::delete(keys::external_space(external_id))
        .when("#spaceId = :space")
        .value(":space", space_id)
}

/// The error of an object that somebody else has changed since it was checked.
pub fn changed_meanwhile() -> Error {
    Error::Conflict("changed at the same time; apply again".into())
}

fn applied_now(lock: &Lock) -> Error {
    let which = match &lock.commit {
        Some(commit) => format!(" ({commit})"),
        None => String::new(),
    };
    Error::Conflict(format!(
        "another apply of this project{which} is at work, or has just ended; apply again"
    ))
}
