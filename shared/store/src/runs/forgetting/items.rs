//! The items of a run that repeat messages: its prompt, its steps and its calls.

use std::collections::BTreeMap;

use serde_json::json;
use smartspace_domain::{
    ids::{RunId, SpaceId},
    steps::CallStatus,
};

use super::{Forgetting, cuts::Cuts, parts::PartsRead};
use crate::{
    Error, Result, Store,
    runs::{
        RunRecord,
        card_ref::CardRef,
        places::Reads,
        prompts::{PromptRecord, places_of},
        steps::{CallBegun, CallRecord, StepRecord},
    },
    table::{
        Query, key_of,
        keys::{self, Key},
        read,
        write::Write,
    },
};

/// What a run has stored.
#[derive(Debug, Default)]
pub(super) struct Body {
    prompt: Option<(PromptRecord, Cuts)>,
    steps: Vec<(StepRecord, Cuts)>,
    calls: BTreeMap<(u32, u32), (CallRecord, Cuts)>,
    /// The hashes of the shared parts of its history, also of prompts that were replaced.
    pub(super) parts: Vec<String>,
    keys: Vec<Key>,
}

impl Body {
    pub(super) async fn read(store: &Store, run: RunId) -> Result<Self> {
        let mut body = Self::default();
        for item in store.table.all(Query::of(keys::run(run))).await? {
            let key = key_of(&item)?;
            let cuts: Cuts = read(item.clone())?;
            if key.sk == "PROMPT" {
                let prompt: PromptRecord = read(item)?;
                body.parts = prompt.history_parts().cloned().collect();
                body.prompt = Some((prompt, cuts));
            } else if key.sk.starts_with(keys::STEP) {
                body.steps.push((read(item)?, cuts));
            } else if key.sk.starts_with(keys::CALL) {
                let call: CallRecord = read(item)?;
                body.calls.insert((call.step, call.index), (call, cuts));
            } else if !["TRIGGER", "FORK", "ERROR"].contains(&&*key.sk)
                && !key.sk.starts_with(keys::FORM)
            {
                continue;
            }
            body.keys.push(key);
        }
        Ok(body)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    pub(super) fn keys(&self) -> Vec<Key> {
        self.keys.clone()
    }

    /// Whether the run has read this space and no other one.
    pub(super) fn reads_only(&self, space: SpaceId, run: &RunRecord, parts: &PartsRead) -> bool {
        let mut reads = run.reads.clone().unwrap_or_default();
        if let Some((prompt, _)) = &self.prompt
            && let Ok(rest) = prompt.stored_rest()
            && let Ok(places) = places_of(&rest)
        {
            places.add_to(&mut reads);
        }
        self.steps.iter().for_each(|(step, _)| step.places.add_to(&mut reads));
        self.calls.values().for_each(|(call, _)| call.places.add_to(&mut reads));
        parts.add_to(&mut reads);
        let mut entered = self.calls.values().flat_map(|(call, _)| call.shows_run_in());
        is_only(&reads, space) && entered.all(|other| other == space)
    }

    /// The writes that cut what is forgotten.
    pub(super) fn cut(&self, run: &RunRecord, forgetting: &Forgetting) -> Result<Vec<Write>> {
        let mut writes = Vec::new();
        if let Some((prompt, cuts)) = &self.prompt {
            writes.extend(cut_prompt(run.id, prompt, *cuts, forgetting)?);
        }
        for (step, cuts) in &self.steps {
            let after = self.cut_step(step.clone(), run, forgetting)?;
            writes.extend(cuts.change(keys::step(run.id, step.index), step, &after)?);
        }
        for (call, cuts) in self.calls.values() {
            // A call without a result repeats nothing yet, and may get one at this moment.
            if call.status == CallStatus::Pending {
                continue;
            }
            let mut after = call.clone();
            after.places.cut(&mut after.output, forgetting.what);
            if let Some(deleted) = forgetting.deleted_of(run) {
                deleted.cut_result(self.begun(call), &mut after);
            }
            writes.extend(cuts.change(call.key(run.id), call, &after)?);
        }
        Ok(writes)
    }

    /// The cards of the calls that posted or edited the message. They show its words.
    pub(super) fn cards(&self, run: &RunRecord, forgetting: &Forgetting) -> Vec<CardRef> {
        let Some(deleted) = forgetting.deleted_of(run) else { return Vec::new() };
        let calls = self.calls.values().map(|(call, _)| call);
        calls
            .filter(|call| call.status != CallStatus::Pending)
            .filter(|&call| {
                let begun = self.begun(call);
                deleted.is_sent_by(call)
                    || begun.is_some_and(|begun| deleted.is_edited_by(begun, Some(call)))
            })
            .filter_map(|call| call.card)
            .filter(|card| (card.space, card.seq) != (deleted.space_id, deleted.seq))
            .collect()
    }

    /// A call as its model wrote it.
    fn begun(&self, call: &CallRecord) -> Option<&CallBegun> {
        let (step, _) = self.steps.iter().find(|(step, _)| step.index == call.step)?;
        step.calls.get(call.index as usize)
    }

    fn cut_step(
        &self,
        mut step: StepRecord,
        run: &RunRecord,
        forgetting: &Forgetting,
    ) -> Result<StepRecord> {
        if step.places.have(forgetting.what) {
            let mut messages = json!(step.system_messages);
            step.places.cut(&mut messages, forgetting.what);
            step.system_messages = serde_json::from_value(messages)
                .map_err(|error| Error::Internal(format!("a notice is broken: {error}")))?;
        }
        if let Some(deleted) = forgetting.deleted_of(run) {
            for (begun, index) in step.calls.iter_mut().zip(0..) {
                let record = self.calls.get(&(step.index, index)).map(|(record, _)| record);
                deleted.cut_input(begun, record);
            }
        }
        Ok(step)
    }
}

/// Whether no other space was read.
fn is_only(reads: &Reads, space: SpaceId) -> bool {
    reads.contains_key(&space) && reads.len() == 1
}

fn cut_prompt(
    run: RunId,
    prompt: &PromptRecord,
    cuts: Cuts,
    forgetting: &Forgetting,
) -> Result<Option<Write>> {
    let mut rest = prompt.stored_rest()?;
    let mut places = places_of(&rest)?;
    if !places.cut(&mut rest, forgetting.what) {
        return Ok(None);
    }
    rest["places"] = json!(places);
    let packed = PromptRecord::packed_again(&rest)?;
    let write = Write::update(keys::run_prompt(run), "SET #packed = :packed, #cuts = :next");
    cuts.next(write.value(":packed", packed)?).map(Some)
}
