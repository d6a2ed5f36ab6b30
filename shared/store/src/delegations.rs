//! Handing a trigger on: the admin agent of a space lets another agent answer what woke it.

use serde::Serialize;
use smartspace_domain::{
    Time,
    dispatch::{Gate, Source},
    entities::EntityType,
    ids::{EntityId, LeaseId, RunId},
    jobs::Place,
    spaces::TriggerPolicy,
    triggers::Delegation,
};

use crate::{
    Error, Result, Store, keys,
    runs::{ActiveRecord, RunRecord},
    steps::{CallRecord, worker_keeps},
    table::WriteError,
    write::Write,
};

/// How an agent hands its trigger on.
#[derive(Clone, Debug)]
pub struct HandOn<'a> {
    /// The run that was woken.
    pub from: &'a RunRecord,
    /// Its worker's lease.
    pub lease: &'a LeaseId,
    /// Who is to answer instead.
    pub to: EntityId,
    /// Who says so, and what else.
    pub delegation: Delegation,
    /// The call, with its result: kept in the same transaction.
    pub call: CallRecord,
}

#[derive(Serialize)]
struct TriggerItem<'a> {
    #[serde(flatten)]
    delegation: &'a Delegation,
    #[serde(rename = "expiresAt")]
    expires_at: Option<i64>,
}

impl Store {
    /// Queues a run of another agent for what woke this one. Once it is kept the run that hands it on ends. [`Error::Forbidden`],
    /// [`Error::NotFound`] and [`Error::Conflict`] say why that can't be.
    pub async fn hand_on(&self, hand_on: &HandOn<'_>, now: Time) -> Result<RunRecord> {
        let HandOn { from, lease, to, delegation, call } = hand_on;
        let no_message = || Error::Forbidden("no message of a space woke you: there is nothing to hand on".into());
        let Place { space_id: space, seq } = from.place().ok_or_else(no_message)?;
        let me = from.agent_id;
        let record = self.space_record(space).await?;
        let settings = &record.settings;
        if settings.trigger_policy != TriggerPolicy::Admin || settings.admin_agent_id != Some(me) {
            return Err(Error::Forbidden("only the admin agent of a space whose policy is \"admin\" can hand its trigger on".into()));
        }
        if *to == me {
            return Err(Error::Conflict("that is you; expected the id of another agent of the space".into()));
        }
        let other = self.member(space, *to).await?.filter(|member| member.kind == EntityType::Agent);
        let other = other.ok_or_else(|| Error::NotFound(format!("{to} is not an agent of this space; YOUR SPACES lists who is")))?;
        let gate: Option<Gate> = self.table.get(&keys::gate(*to)).await?;
        let gate = gate.ok_or_else(|| Error::NotFound(format!("{to} is retired")))?;
        if settings.paused || gate.paused {
            return Err(Error::Conflict(format!("{} is paused", other.name)));
        }
        if from.chain_depth >= settings.max_chain_depth.min(gate.max_chain_depth) {
            return Err(Error::Conflict(format!("{} takes nothing from so deep in a chain of agents' messages", other.name)));
        }
        let message = self.message_record(space, seq).await?;
        let message = message.ok_or_else(|| Error::NotFound("the message that woke you is gone".into()))?;
        let run = RunRecord::woken(RunId::of_delegation(*to, from.id), *to, space, &message, Source::Delegated, now);
        let is_admin = Write::check(keys::space_meta(space)).when("#settings.#triggerPolicy = :admin AND #settings.#adminAgentId = :me");
        let writes = [
            worker_keeps(from.id, lease, "")?,
            call.write(from.id)?,
            is_admin.value(":admin", TriggerPolicy::Admin)?.value(":me", me)?,
            Write::check(keys::member(space, *to)).when("attribute_exists(PK) AND attribute_not_exists(#left)"),
            Write::put(keys::run_meta(run.id), &run)?.if_absent(),
            Write::put(keys::active_run(*to, run.id), &ActiveRecord::woken(&run, space, &settings.name, &message))?,
            Write::put(keys::run_trigger(run.id), &TriggerItem { delegation, expires_at: self.progress_expiry(now) })?,
        ];
        match self.table.transact(&writes).await {
            Ok(()) => Ok(run),
            Err(WriteError::Other(error)) => Err(error),
            Err(WriteError::Refused(refusal)) if refusal.names(&keys::run_meta(from.id)) => Err(Error::LeaseLost),
            Err(WriteError::Refused(refusal)) => match refusal.there::<CallRecord>(&call.key(from.id)) {
                // Only this worker makes this call while its lease holds: the answer to the first try was lost.
                Some(kept) if kept.call_id == call.call_id => Ok(run),
                None => Err(Error::Conflict("the space changed at this moment; try again".into())),
                Some(_) => Err(Error::LeaseLost),
            },
        }
    }

    /// How a run's trigger came to it, where another agent handed it on.
    pub async fn delegation(&self, run: &RunRecord) -> Result<Option<Delegation>> {
        if run.is_delegated() { self.table.get(&keys::run_trigger(run.id)).await } else { Ok(None) }
    }
}
