//! Runs as lists show them: without the texts of their triggers, and with the hints of watchers.
//!
//! What a list needs is with the run itself, except the error of a failed run, the delegation of a
//! trigger, the service of a delivery, and the steps that have hints. The run says which of these
//! there are, and one batch reads them. A page of runs without them needs no further call.

use std::collections::BTreeSet;

use smartspace_domain::{
    runs::{Run, RunError, RunStatus},
    triggers::{Delegation, Trigger, TriggerReference},
};

use crate::{
    Result, Runs,
    runs::{
        RunRecord, TriggeredBy,
        steps::{StepRecord, hints},
        triggers::{PayloadRecord, hidden},
    },
    table::{
        Items,
        keys::{self, Key},
    },
};

impl Runs<'_> {
    /// The runs as lists show them, in their order. A fork has the trigger of the run that it
    /// replays.
    pub(super) async fn short_views(self, records: &[RunRecord]) -> Result<Vec<Run>> {
        let forks = records.iter().filter_map(RunRecord::fork_of);
        let forked: BTreeSet<_> = forks.map(|fork| fork.run_id).collect();
        let originals = if forked.is_empty() { Vec::new() } else { self.records(forked).await? };
        let triggering = |record: &RunRecord| match record.fork_of() {
            Some(fork) => originals.iter().find(|original| original.id == fork.run_id).cloned(),
            None => Some(record.clone()),
        };
        let pairs: Vec<_> = records
            .iter()
            .map(|record| (record, triggering(record).unwrap_or_else(|| record.clone())))
            .collect();
        let wanted: BTreeSet<_> = pairs.iter().flat_map(|pair| keys_of(pair.0, &pair.1)).collect();
        let wanted: Vec<_> = wanted.into_iter().collect();
        let items = self.store.table.get_all(&wanted).await?;
        pairs.iter().map(|pair| view(pair.0, &pair.1, &items)).collect()
    }
}

/// The items that the view of a run needs besides the run and the one with its trigger.
fn keys_of(record: &RunRecord, triggering: &RunRecord) -> Vec<Key> {
    let failed = (record.status == RunStatus::Failed).then(|| keys::run_error(record.id));
    let trigger = match triggering.triggered_by {
        TriggeredBy::Message { .. } if triggering.is_delegated() => {
            Some(keys::run_trigger(triggering.id))
        }
        TriggeredBy::Delivery { delivery_id } => Some(keys::payload(delivery_id)),
        _ => None,
    };
    let steps = record.hinted.iter().map(|step| keys::step(record.id, *step));
    failed.into_iter().chain(trigger).chain(steps).collect()
}

fn view(record: &RunRecord, triggering: &RunRecord, items: &Items) -> Result<Run> {
    let error: Option<RunError> = items.get(&keys::run_error(record.id))?;
    let mut steps = Vec::with_capacity(record.hinted.len());
    for step in &record.hinted {
        let step: Option<StepRecord> = items.get(&keys::step(record.id, *step))?;
        steps.extend(step);
    }
    let run = record.view(reference(triggering, items)?, error);
    Ok(Run { hints: Some(hints(&steps)), ..run })
}

/// The trigger of a run without its texts, or only its type if its delivery no longer exists.
fn reference(run: &RunRecord, items: &Items) -> Result<Trigger> {
    let reference = match run.triggered_by {
        TriggeredBy::Message { seq, message_id, source, .. } => {
            let delegation: Option<Delegation> = items.get(&keys::run_trigger(run.id))?;
            let delegated_by = delegation.map(|delegation| delegation.by);
            Some(TriggerReference::SpaceMessage { message_id, seq, source, delegated_by })
        }
        TriggeredBy::Plan { plan_id, .. } => Some(TriggerReference::Plan { plan_id }),
        TriggeredBy::Delivery { delivery_id } => {
            let payload: Option<PayloadRecord> = items.get(&keys::payload(delivery_id))?;
            payload.map(|payload| TriggerReference::Service { service: payload.service })
        }
        TriggeredBy::Fork { .. } | TriggeredBy::Unknown {} => None,
    };
    Ok(reference.map_or_else(|| hidden(run), Trigger::Reference))
}
