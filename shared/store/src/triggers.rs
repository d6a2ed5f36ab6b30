//! What woke runs, read whole. What a message said is kept with the message, what a service sent with its delivery; what a plan said when it fired, and
//! that a trigger was handed on, with the run.

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    ids::{PlanId, SpaceId},
    jobs::Place,
    triggers::{Delegation, HiddenTrigger, Trigger, TriggerKind},
};

use crate::{
    Result, Store,
    deliveries::PayloadRecord,
    keys::{self, Key},
    messages::MessageRecord,
    runs::{RunRecord, WokenBy},
    table::Items,
};

/// What a plan said when it fired: it may change, and be gone.
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

/// What woke a run by a message, as the API shows it.
pub fn of_message(run: &RunRecord, space_name: &str, message: &MessageRecord, delegation: Option<Delegation>) -> Trigger {
    let WokenBy::Message { space_id, seq, message_id, source } = run.woken_by else { return hidden(run) };
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

/// What is left to say of a trigger that is gone: with its space, or with its delivery.
fn hidden(run: &RunRecord) -> Trigger {
    let kind = match run.woken_by {
        WokenBy::Message { .. } => TriggerKind::SpaceMessage,
        WokenBy::Plan { .. } => TriggerKind::Plan,
        WokenBy::Delivery { .. } => TriggerKind::Service,
    };
    Trigger::Hidden(HiddenTrigger { kind })
}

impl Store {
    /// What woke a run.
    pub async fn trigger_of(&self, run: &RunRecord) -> Result<Trigger> {
        let mut triggers = self.triggers_of(std::slice::from_ref(run)).await?;
        Ok(triggers.pop().unwrap_or_else(|| hidden(run)))
    }

    /// What woke each of these runs.
    pub(crate) async fn triggers_of(&self, runs: &[RunRecord]) -> Result<Vec<Trigger>> {
        let places: Vec<(SpaceId, u64)> = runs.iter().filter_map(RunRecord::place).map(|Place { space_id, seq }| (space_id, seq)).collect();
        let mut spaces: Vec<_> = places.iter().map(|(space, _)| *space).collect();
        spaces.sort();
        spaces.dedup();
        let apart: Vec<_> = runs.iter().filter_map(apart).collect();
        let (messages, cards, mut apart) = futures::try_join!(self.messages_at(&places), self.cards(&spaces), self.table.get_all(&apart))?;
        let mut messages = messages.into_iter();
        let mut triggers = Vec::with_capacity(runs.len());
        for run in runs {
            let trigger = match run.woken_by {
                WokenBy::Message { space_id, .. } => {
                    let delegation = apart.take(&keys::run_trigger(run.id))?;
                    let name = cards.get(&space_id).map_or("", |card| &card.name);
                    messages.next().flatten().map(|message| of_message(run, name, &message, delegation))
                }
                WokenBy::Plan { .. } => fired(run, &mut apart)?,
                WokenBy::Delivery { delivery_id } => {
                    let payload: Option<PayloadRecord> = apart.take(&keys::payload(delivery_id))?;
                    payload.map(|payload| payload.trigger(delivery_id))
                }
            };
            triggers.push(trigger.unwrap_or_else(|| hidden(run)));
        }
        Ok(triggers)
    }
}

/// Where a run's trigger is kept besides its message.
fn apart(run: &RunRecord) -> Option<Key> {
    match run.woken_by {
        WokenBy::Message { .. } => run.is_delegated().then(|| keys::run_trigger(run.id)),
        WokenBy::Plan { .. } => Some(keys::run_trigger(run.id)),
        WokenBy::Delivery { delivery_id } => Some(keys::payload(delivery_id)),
    }
}

fn fired(run: &RunRecord, apart: &mut Items) -> Result<Option<Trigger>> {
    let fired: Option<FiredRecord> = apart.take(&keys::run_trigger(run.id))?;
    Ok(fired.map(|FiredRecord { plan_id, name, instruction, scheduled_at, missed, .. }| Trigger::Plan {
        plan_id,
        name,
        instruction,
        scheduled_at,
        missed,
    }))
}
