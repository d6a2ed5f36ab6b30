//! The triggers of runs. The text of a message is stored with the message, and the payload of a
//! service with its delivery. The instruction of a plan, and the delegation of a trigger, are
//! stored with the run.

mod payload;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    ids::{PlanId, SpaceId},
    jobs::MessageRef,
    triggers::{Delegation, HiddenTrigger, Trigger, TriggerKind},
};

pub(crate) use self::payload::PayloadRecord;
use crate::{
    Result, Triggers,
    runs::{RunRecord, TriggeredBy},
    shared::message::MessageRecord,
    table::{
        Items,
        keys::{self, Key},
    },
};

/// A plan as it was when it fired, since it may change or be deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FiredRecord {
    pub(crate) plan_id: PlanId,
    pub(crate) name: String,
    pub(crate) instruction: String,
    pub(crate) scheduled_at: Time,
    pub(crate) missed: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expires_at: Option<i64>,
}

/// The trigger of a run that a message triggered, as the API shows it.
pub fn of_message(
    run: &RunRecord,
    space_name: &str,
    message: &MessageRecord,
    delegation: Option<Delegation>,
) -> Trigger {
    let TriggeredBy::Message { space_id, seq, message_id, source, .. } = run.triggered_by else {
        return hidden(run);
    };
    let trigger = Trigger::SpaceMessage {
        source,
        space_id,
        space_name: space_name.to_owned(),
        message_id,
        seq,
        sender: message.sender.clone(),
        text: message.text.clone(),
        at: message.created_at,
        delegated_by: None,
        note: None,
    };
    match delegation {
        Some(delegation) => trigger.handed_on(delegation),
        None => trigger,
    }
}

/// The trigger of a run whose space or delivery no longer exists: only its kind is known.
pub(super) fn hidden(run: &RunRecord) -> Trigger {
    let kind = match run.triggered_by {
        TriggeredBy::Message { .. } => TriggerKind::SpaceMessage,
        TriggeredBy::Plan { .. } => TriggerKind::Plan,
        TriggeredBy::Delivery { .. } | TriggeredBy::Fork { .. } | TriggeredBy::Unknown {} => {
            TriggerKind::Service
        }
    };
    Trigger::Hidden(HiddenTrigger { kind })
}

impl Triggers<'_> {
    /// The trigger of a run.
    pub async fn of(self, run: &RunRecord) -> Result<Trigger> {
        let mut triggers = self.of_all(std::slice::from_ref(run)).await?;
        Ok(triggers.pop().unwrap_or_else(|| hidden(run)))
    }

    /// The triggers of several runs, in their order. A fork has the trigger of the run that it
    /// replays.
    pub(crate) async fn of_all(self, runs: &[RunRecord]) -> Result<Vec<Trigger>> {
        let forks = runs.iter().filter_map(RunRecord::fork_of);
        let forked: BTreeSet<_> = forks.map(|fork| fork.run_id).collect();
        if forked.is_empty() {
            return self.of_first(runs).await;
        }
        let originals = self.store.runs().records(forked).await?;
        let triggering = |run: &RunRecord| {
            let fork = run.fork_of()?;
            originals.iter().find(|original| original.id == fork.run_id).cloned()
        };
        let runs: Vec<_> =
            runs.iter().map(|run| triggering(run).unwrap_or_else(|| run.clone())).collect();
        self.of_first(&runs).await
    }

    /// The same for runs that are not forks.
    async fn of_first(self, runs: &[RunRecord]) -> Result<Vec<Trigger>> {
        let refs: Vec<(SpaceId, u64)> = runs
            .iter()
            .filter_map(RunRecord::place)
            .map(|MessageRef { space_id, seq }| (space_id, seq))
            .collect();
        let mut spaces: Vec<_> = refs.iter().map(|(space, _)| *space).collect();
        spaces.sort();
        spaces.dedup();
        // Runs that repeat or replay another one share its delivery.
        let apart: BTreeSet<_> = runs.iter().filter_map(apart).collect();
        let apart: Vec<_> = apart.into_iter().collect();
        let (messages, overviews, apart) = futures::try_join!(
            self.store.messages().at(&refs),
            self.store.spaces().overviews(&spaces),
            self.store.table.get_all(&apart)
        )?;
        let mut messages = messages.into_iter();
        let mut triggers = Vec::with_capacity(runs.len());
        for run in runs {
            let trigger = match run.triggered_by {
                TriggeredBy::Message { space_id, .. } => {
                    let delegation = apart.get(&keys::run_trigger(run.id))?;
                    let name = overviews.get(&space_id).map_or("", |overview| &overview.name);
                    messages
                        .next()
                        .flatten()
                        .map(|message| of_message(run, name, &message, delegation))
                }
                TriggeredBy::Plan { .. } => fired(run, &apart)?,
                TriggeredBy::Delivery { delivery_id } => {
                    let payload: Option<PayloadRecord> = apart.get(&keys::payload(delivery_id))?;
                    payload.map(|payload| payload.trigger(delivery_id))
                }
                TriggeredBy::Fork { .. } | TriggeredBy::Unknown {} => None,
            };
            triggers.push(trigger.unwrap_or_else(|| hidden(run)));
        }
        Ok(triggers)
    }
}

/// The item that holds a run's trigger, or the part of it that is not in a message.
fn apart(run: &RunRecord) -> Option<Key> {
    match run.triggered_by {
        TriggeredBy::Message { .. } => run.is_delegated().then(|| keys::run_trigger(run.id)),
        TriggeredBy::Plan { .. } => Some(keys::run_trigger(run.id)),
        TriggeredBy::Delivery { delivery_id } => Some(keys::payload(delivery_id)),
        TriggeredBy::Fork { .. } | TriggeredBy::Unknown {} => None,
    }
}

fn fired(run: &RunRecord, apart: &Items) -> Result<Option<Trigger>> {
    let fired: Option<FiredRecord> = apart.get(&keys::run_trigger(run.id))?;
    Ok(fired.map(|FiredRecord { plan_id, name, instruction, scheduled_at, missed, .. }| {
        Trigger::Plan { plan_id, name, instruction, scheduled_at, missed }
    }))
}
