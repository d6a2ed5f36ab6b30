//! Due items: the items that the sweep must act on. The index finds candidates, and the item itself
//! says whether it is due.

use std::time::Duration;

use serde::Deserialize;
use smartspace_domain::{
    Time,
    ids::{AttachmentId, EntityId, PlanId, SpaceId},
    jobs::{RunJob, TriggerJob},
    limits::{self, due},
};

use crate::{
    Due, Error, Result,
    runs::RunRecord,
    table::{
        Query, WriteError,
        indexes::Index,
        key_of,
        keys::{self, Key},
        write::Write,
    },
};

/// The work that an overdue item needs.
#[derive(Clone, Debug, PartialEq)]
pub enum Duty {
    /// A run that is queued, or whose worker does not respond.
    Run(RunJob),
    /// A message without a dispatch decision, or an unfinished change.
    Trigger(TriggerJob),
}

/// The outcome of the sweep for one candidate.
#[derive(Clone, Debug, PartialEq)]
pub enum Swept {
    /// The item was overdue and has been postponed. The caller queues this work.
    Overdue(Duty),
    /// The item was not due after all, or another sweep was faster.
    NotDue,
    /// The item was overdue too often. It has left the index.
    GivenUp,
}

#[derive(PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DueItem {
    /// As text, since an operator may have edited it by hand.
    due_at: Option<String>,
    #[serde(default)]
    due_count: u32,
}

impl DueItem {
    /// Whether its time has come. A time that can't be parsed counts as overdue.
    fn is_overdue(&self, now: Time) -> bool {
        self.due_at
            .as_ref()
            .is_some_and(|due_at| due_at.parse().map_or(true, |due_at: Time| due_at <= now))
    }

    /// The item after one more sweep. The delays double up to an hour. After [`limits::SWEEPS`]
    /// sweeps it has no due time.
    fn postponed(&self, now: Time) -> Self {
        if self.due_count >= limits::SWEEPS {
            return Self { due_at: None, due_count: self.due_count };
        }
        let delay = (due::QUEUED * 2_u32.pow(self.due_count)).min(Duration::from_hours(1));
        Self { due_at: Some((now + delay).to_string()), due_count: self.due_count + 1 }
    }
}

/// Sorts before the text of every time. DynamoDB accepts no empty key.
const EARLIEST: &str = "0";

impl Due<'_> {
    /// Up to `limit` candidates from one part of the index that were due before `until`. The
    /// longest overdue comes first.
    pub async fn candidates(self, part: u8, until: Time, limit: usize) -> Result<Vec<Key>> {
        let query = Query::of_index(Index::DUE, keys::due(part))
            .between(EARLIEST, &until.to_string())
            .limit(limit);
        self.store.table.all(query).await?.iter().map(key_of).collect()
    }

    /// Postpones a candidate, so that other sweeps skip it, and returns the work to queue for it.
    pub async fn sweep_one(self, key: &Key, now: Time) -> Result<Swept> {
        let Some(item): Option<DueItem> = self.store.table.get(key).await? else {
            return Ok(Swept::NotDue);
        };
        if !item.is_overdue(now) {
            return Ok(Swept::NotDue);
        }
        let postponed = item.postponed(now);
        let write = match &postponed.due_at {
            Some(next) => Write::update(key.clone(), "SET #dueAt = :next, #dueCount = :count")
                .value(":next", next)?
                .value(":count", postponed.due_count)?,
            None => Write::update(key.clone(), "REMOVE #due, #dueAt"),
        };
        let write = write.when("#dueAt = :dueAt").value(":dueAt", &item.due_at)?;
        match self.store.table.write(write).await {
            Ok(_) => {}
            // The first try took effect and its answer was lost.
            Err(WriteError::Refused(refusal))
                if refusal.existing::<DueItem>(key).as_ref() == Some(&postponed) => {}
            Err(WriteError::Refused(_)) => return Ok(Swept::NotDue),
            Err(WriteError::Other(error)) => return Err(error),
        }
        if postponed.due_at.is_none() {
            return Ok(Swept::GivenUp);
        }
        Ok(self.duty(key).await?.map_or(Swept::NotDue, Swept::Overdue))
    }

    /// The work that the item at `key` needs, if any.
    pub async fn duty(self, key: &Key) -> Result<Option<Duty>> {
        let unknown =
            || Error::Internal(format!("an item of an unknown kind is due: {} {}", key.pk, key.sk));
        let (kind, id) = key.pk.split_once('#').ok_or_else(unknown)?;
        let seq = key.sk.strip_prefix(keys::MSG).map(str::parse::<u64>);
        let plan = key.sk.strip_prefix(keys::PLAN).map(str::parse::<PlanId>);
        match (kind, seq) {
            ("RUN", None) => {
                let run: Option<RunRecord> = self.store.table.get(key).await?;
                Ok(run.map(|run| of_run(&run)))
            }
            ("SPACE", Some(Ok(seq))) => {
                let space_id: SpaceId = id.parse().map_err(|_| unknown())?;
                let message = self.store.messages().record(space_id, seq).await?;
                Ok(Some(Duty::Trigger(if message.is_some_and(|it| it.deleted.is_some()) {
                    TriggerJob::ForgetMessage { space_id, seq }
                } else {
                    TriggerJob::Dispatch { space_id, seq }
                })))
            }
            ("SPACE", None) if let Some((after_seq, line_id)) = keys::line_at(&key.sk) => {
                let space_id: SpaceId = id.parse().map_err(|_| unknown())?;
                Ok(Some(Duty::Trigger(TriggerJob::FinishStop { space_id, after_seq, line_id })))
            }
            ("SPACE", None) => {
                let space_id: SpaceId = id.parse().map_err(|_| unknown())?;
                Ok(Some(Duty::Trigger(TriggerJob::SettleSpace { space_id })))
            }
            ("ENTITY", None) if let Some(Ok(plan_id)) = plan => {
                let agent_id: EntityId = id.parse().map_err(|_| unknown())?;
                let at = self.store.plans().fires_at(key).await?;
                Ok(at.map(|at| Duty::Trigger(TriggerJob::FirePlan { agent_id, plan_id, at })))
            }
            ("FILES", None) => {
                let space_id: SpaceId = id.parse().map_err(|_| unknown())?;
                let file = key.sk.strip_prefix(keys::FILE).ok_or_else(unknown)?;
                let attachment_id: AttachmentId = file.parse().map_err(|_| unknown())?;
                Ok(Some(Duty::Trigger(TriggerJob::SettleFile { space_id, attachment_id })))
            }
            ("ENTITY", None) => {
                let entity_id: EntityId = id.parse().map_err(|_| unknown())?;
                Ok(Some(Duty::Trigger(TriggerJob::SettleEntity { entity_id })))
            }
            _ => Err(unknown()),
        }
    }

    /// Ends every lease, and returns the work of everything that is due, now or later. Only for a
    /// host that is starting and knows that no worker is alive.
    pub async fn restart(self) -> Result<Vec<Duty>> {
        let mut duties = Vec::new();
        for part in 0..keys::DUE_PARTS {
            let all = Query::of_index(Index::DUE, keys::due(part));
            for item in self.store.table.all(all).await? {
                let key = key_of(&item)?;
                // A later version may have left what this one does not know. It must not keep the
                // host from starting.
                let duty = match self.duty(&key).await {
                    Ok(duty) => duty,
                    Err(error @ Error::Internal(_)) => {
                        let Key { pk, sk } = key;
                        tracing::error!(pk, sk, %error, "an overdue item is left");
                        continue;
                    }
                    Err(error) => return Err(error),
                };
                if let Some(Duty::Run(RunJob::Run { run, .. })) = &duty {
                    self.store.runs().end_lease(run.run_id).await?;
                }
                duties.extend(duty);
            }
        }
        Ok(duties)
    }
}

/// The work that a run needs which is due.
fn of_run(run: &RunRecord) -> Duty {
    if run.status.is_active() {
        Duty::Run(run.job())
    } else {
        Duty::Trigger(TriggerJob::SettleRun { run_id: run.id })
    }
}
