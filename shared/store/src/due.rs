//! Due: whatever someone must come back to. The index finds candidates, the item decides.

use std::time::Duration;

use serde::Deserialize;
use smartspace_domain::{
    Time,
    ids::{EntityId, PlanId, SpaceId},
    jobs::{RunJob, TriggerJob},
    limits::{self, lease},
};

use crate::{
    Error, Result, Store,
    keys::{self, Key},
    runs::RunRecord,
    table::{Query, WriteError, key_of},
    write::Write,
};

/// What someone must come back to.
#[derive(Clone, Debug, PartialEq)]
pub enum Duty {
    /// A run that is queued, or whose worker is not heard of.
    Run(RunJob),
    /// A message that is not decided, or a change that is half done.
    Trigger(TriggerJob),
}

/// What sweeping over one candidate came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Swept {
    /// Its time was moved on; queue this.
    Overdue(Duty),
    /// It was not due after all, or someone else was faster.
    NotDue,
    /// It was acted on ten times; it left the index.
    GivenUp,
}

#[derive(PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DueItem {
    /// As it is written: an operator may have written it by hand.
    due_at: Option<String>,
    #[serde(default)]
    due_count: u32,
}

impl DueItem {
    /// Whether somebody should have come back to it by now. A time that nobody can read has come.
    fn is_overdue(&self, now: Time) -> bool {
        self.due_at.as_ref().is_some_and(|due_at| due_at.parse().map_or(true, |due_at: Time| due_at <= now))
    }
}

/// Before every time as it is written. DynamoDB takes no empty text for a key.
const EARLIEST: &str = "0";

impl Store {
    /// Up to `limit` candidates of one part of the index that were due before `until`, the longest overdue first.
    pub async fn due_in(&self, part: u8, until: Time, limit: usize) -> Result<Vec<Key>> {
        let query = Query::of_index("GSI1", ("due", "dueAt"), keys::due(part)).between(EARLIEST, &until.to_string()).limit(limit);
        self.table.all(query).await?.iter().map(key_of).collect()
    }

    /// Moves a candidate's time on, so that others leave it alone, and says what is to be queued for it.
    pub async fn sweep_one(&self, key: &Key, now: Time) -> Result<Swept> {
        let Some(item): Option<DueItem> = self.table.get(key).await? else { return Ok(Swept::NotDue) };
        if !item.is_overdue(now) {
            return Ok(Swept::NotDue);
        }
        let (write, moved) = if item.due_count >= limits::SWEEPS {
            (Write::update(key.clone(), "REMOVE #due, #dueAt"), DueItem { due_at: None, ..item })
        } else {
            let next = now + (lease::QUEUED_DUE * 2_u32.pow(item.due_count)).min(Duration::from_hours(1));
            let moved = DueItem { due_at: Some(next.to_string()), due_count: item.due_count + 1 };
            let write = Write::update(key.clone(), "SET #dueAt = :next, #dueCount = :count");
            (write.value(":next", next)?.value(":count", moved.due_count)?, moved)
        };
        match self.table.write(write.when("#dueAt = :dueAt").value(":dueAt", &item.due_at)?).await {
            Ok(_) => {}
            // The answer to the first try was lost.
            Err(WriteError::Refused(refusal)) if refusal.there::<DueItem>(key).as_ref() == Some(&moved) => {}
            Err(WriteError::Refused(_)) => return Ok(Swept::NotDue),
            Err(WriteError::Other(error)) => return Err(error),
        }
        if moved.due_at.is_none() {
            return Ok(Swept::GivenUp);
        }
        Ok(self.duty(key).await?.map_or(Swept::NotDue, Swept::Overdue))
    }

    /// What is to be done about the item at `key`.
    pub async fn duty(&self, key: &Key) -> Result<Option<Duty>> {
        let unknown = || Error::Internal(format!("nobody knows what to do about {} {}", key.pk, key.sk));
        let (kind, id) = key.pk.split_once('#').ok_or_else(unknown)?;
        let place = key.sk.strip_prefix(keys::MSG).map(str::parse::<u64>);
        let plan = key.sk.strip_prefix(keys::PLAN).map(str::parse::<PlanId>);
        match (kind, place) {
            ("RUN", None) => {
                let run: Option<RunRecord> = self.table.get(key).await?;
                let close = |run: &RunRecord| Duty::Trigger(TriggerJob::CloseCalls { run_id: run.id });
                Ok(run.map(|run| if run.status.is_active() { Duty::Run(run.job()) } else { close(&run) }))
            }
            ("SPACE", Some(Ok(seq))) => {
                let space_id: SpaceId = id.parse().map_err(|_| unknown())?;
                Ok(Some(Duty::Trigger(TriggerJob::Dispatch { space_id, seq })))
            }
            ("SPACE", None) => {
                let space_id: SpaceId = id.parse().map_err(|_| unknown())?;
                Ok(Some(Duty::Trigger(TriggerJob::SettleSpace { space_id })))
            }
            ("ENTITY", None) if let Some(Ok(plan_id)) = plan => {
                let agent_id: EntityId = id.parse().map_err(|_| unknown())?;
                let at = self.plan_fires_at(key).await?;
                Ok(at.map(|at| Duty::Trigger(TriggerJob::FirePlan { agent_id, plan_id, at })))
            }
            ("ENTITY", None) => {
                let entity_id: EntityId = id.parse().map_err(|_| unknown())?;
                Ok(Some(Duty::Trigger(TriggerJob::SettleEntity { entity_id })))
            }
            _ => Err(unknown()),
        }
    }

    /// For a host that starts, where nobody else can live: everything that is due at any time, with every lease ended.
    pub async fn restart(&self) -> Result<Vec<Duty>> {
        let mut duties = Vec::new();
        for part in 0..keys::DUE_PARTS {
            let all = Query::of_index("GSI1", ("due", "dueAt"), keys::due(part));
            for item in self.table.all(all).await? {
                let key = key_of(&item)?;
                let duty = self.duty(&key).await?;
                if let Some(Duty::Run(RunJob::Run { run_id, .. })) = &duty {
                    self.end_lease(*run_id).await?;
                }
                duties.extend(duty);
            }
        }
        Ok(duties)
    }
}
