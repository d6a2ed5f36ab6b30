//! A call of a tool, and its outcome.

mod posting;

use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use smartspace_domain::{
    Result, Time,
    ids::{MessageId, SpaceId, StreamId},
    messages::Origin,
    runs::{EndReason, UsageByModel},
    steps::CallStatus,
};
use smartspace_store::{
    messages::append::{Authority, RunSender},
    runs::{
        cards::CardRef,
        places::Places,
        steps::{
            AwaitedInput, CallApproval, CallBegun, CallFile, CallRecord, CallUsage, Marks,
            ShownPage,
        },
    },
};

pub(crate) use self::posting::PostContent;
use crate::{
    prompt::{names::Names, placed::Placed},
    run_context::RunContext,
    tools::{input::parse, ruling::Ruling},
};

/// A call that is being made.
pub(crate) struct Calling<'a> {
    pub(crate) context: &'a RunContext,
    pub(crate) begun: &'a CallBegun,
    pub(crate) step: u32,
    pub(crate) index: u32,
    pub(crate) active_space: Option<SpaceId>,
    pub(crate) stream: StreamId,
    /// The tools that earlier calls of the run used, each once.
    pub(crate) tools_used: Vec<String>,
    /// The stored record of an external call that another worker began and whose end is unknown.
    pub(crate) under_way: Option<&'a CallRecord>,
    /// What the agent's rules say about the call.
    pub(crate) ruling: &'a Ruling,
    /// The stored record of the form that an external call waits for, if it is under way and that
    /// was shown.
    pub(crate) input_form: Option<&'a CallRecord>,
    /// The stored record of a call that people have approved, and that nobody has made yet.
    pub(crate) approved: Option<&'a CallRecord>,
    /// Forms of the run that have no result yet.
    pub(crate) open_forms: u32,
    /// How the run writes the names of senders.
    pub(crate) names: &'a Names,
    /// How far the run has read.
    pub(crate) marks: &'a Marks,
    pub(crate) started_at: Time,
    /// The usage of the run's models so far, with the calls that are made at the same time.
    pub(crate) spent: &'a Mutex<UsageByModel>,
    /// Its tool may be called again if it is unknown whether a call took effect.
    pub(crate) is_repeatable: bool,
    /// How many of the run's last answers in a row were cut at `maxOutputTokens`.
    pub(crate) cuts: u32,
}

/// The outcome of a call.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) status: CallStatus,
    pub(crate) output: Value,
    /// Where the output has words of messages of spaces.
    pub(crate) places: Places,
    /// The call ends the run, for this reason.
    pub(crate) ends: Option<EndReason>,
    /// The active space after the call.
    pub(crate) active_space: Option<SpaceId>,
    /// The run has read this space up to this seq.
    pub(crate) read_up_to: Option<(SpaceId, u64)>,
    /// `HEAD.changed` of the active space, as the call has read it.
    pub(crate) changed: Option<u64>,
    /// The messages that were shown. There may be unread messages before them.
    pub(crate) page: Option<ShownPage>,
    /// The message that it posted.
    pub(crate) message: Option<MessageId>,
    pub(crate) is_external: bool,
    /// Its card, if that was shown before the result.
    pub(crate) card: Option<CardRef>,
    /// The decision of people that the call waits for.
    pub(crate) approval: Option<Box<CallApproval>>,
    /// What the call waits for, if its server has asked for an input.
    pub(crate) awaits: Option<Box<AwaitedInput>>,
    /// The space of its card, if no space triggered the run.
    pub(crate) shown_in: Option<SpaceId>,
    /// The pictures that it has returned.
    pub(crate) files: Vec<CallFile>,
    /// The usage of the model that it asked for pictures.
    pub(crate) used: Option<CallUsage>,
    /// A note about the server of its tool, for the operator.
    pub(crate) server_note: Option<String>,
    /// The result is stored already, in one transaction with the effect.
    pub(crate) is_stored: bool,
}

impl Outcome {
    pub(crate) fn completed(output: Value) -> Self {
        Self {
            status: CallStatus::Completed,
            output,
            places: Places::default(),
            ends: None,
            active_space: None,
            read_up_to: None,
            changed: None,
            page: None,
            message: None,
            is_external: false,
            card: None,
            approval: None,
            awaits: None,
            shown_in: None,
            files: Vec::new(),
            used: None,
            server_note: None,
            is_stored: false,
        }
    }

    /// Lines of a space or of runs, which repeat messages.
    pub(crate) fn lines(lines: Placed) -> Self {
        Self { places: lines.places(), ..Self::completed(Value::String(lines.text)) }
    }

    /// The error of a tool that acts in the active space, if there is none.
    pub(crate) fn no_active_space() -> Self {
        Self::error("no space is active; call enter_space first")
    }

    /// The error of a tool that acts in the active space, if the agent has left that.
    pub(crate) fn left_active_space() -> Self {
        Self::error("you are no longer a member of the active space")
    }

    /// A result that explains a mistake to the model. The run goes on.
    pub(crate) fn error(text: impl Into<String>) -> Self {
        Self { status: CallStatus::Failed, ..Self::completed(json!({"error": text.into()})) }
    }
}

/// Whether the model stopped in the middle of the input.
pub(crate) fn is_incomplete(call: &CallBegun) -> bool {
    call.input.trim().is_empty() || parse(&call.input).is_err()
}

impl Calling<'_> {
    /// The record of this call, without an outcome.
    pub(crate) fn record(&self) -> CallRecord {
        let CallBegun { call_id, name, .. } = self.begun;
        let now = self.context.now();
        let asked = self.asked();
        CallRecord {
            started_at: self.started_at,
            active_space: self.active_space,
            approval: asked.and_then(|asked| asked.approval.clone()),
            card: asked.and_then(|asked| asked.card),
            shown_in: asked.and_then(|asked| asked.shown_in),
            ..CallRecord::completed(*call_id, self.step, self.index, name.clone(), now)
        }
    }

    /// The stored record of a call that people have approved, whether it has begun or not.
    fn asked(&self) -> Option<&CallRecord> {
        self.approved.or(self.under_way).filter(|known| known.approval.is_some())
    }

    /// The space of the card that showed an approved call, which is the space of the call.
    pub(crate) fn approved_in(&self) -> Option<SpaceId> {
        self.asked()?.card.map(|card| card.space)
    }

    /// The id of the message that this call posts. An approved call has a card before it.
    pub(crate) fn message_id(&self) -> MessageId {
        self.record().message_id()
    }

    pub(crate) async fn store_outcome(&self, outcome: &Outcome) -> Result<()> {
        let context = self.context;
        let _writing = context.writing.lock().await;
        let spent = outcome.used.as_ref().map(|CallUsage { model, usage }| {
            let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
            spent.add(model, *usage);
            spent.clone()
        });
        let call = self.finished(outcome);
        let steps = context.store().steps();
        steps.store_call(&context.run, &context.lease, &call, spent.as_ref(), context.now()).await
    }

    /// The sender of a message that this call posts under the worker's lease.
    pub(crate) fn sender_with_lease(&self, call: CallRecord) -> RunSender {
        let context = self.context;
        let call = context.with_expiry(call);
        self.sender(Authority::Lease { lease: context.lease.clone(), call })
    }

    /// The sender of a message that this call posts.
    pub(crate) fn sender(&self, authority: Authority) -> RunSender {
        let context = self.context;
        RunSender {
            run: context.run.id,
            depth: context.run.chain_depth + 1,
            chain: context.run.chain_id(),
            origin: Origin {
                trigger: context.trigger.clone().in_short(),
                tools_used: self.tools_used.clone(),
            },
            stream: self.stream,
            is_cut: self.cuts > 0 && is_incomplete(self.begun),
            authority,
        }
    }

    /// The record of this call with its outcome.
    pub(crate) fn finished(&self, outcome: &Outcome) -> CallRecord {
        let record = self.record();
        let is_form = outcome.status == CallStatus::Pending && !outcome.is_external;
        CallRecord {
            output: outcome.output.clone(),
            places: outcome.places.clone(),
            status: outcome.status,
            ends: outcome.ends,
            active_space: outcome.active_space.or(self.active_space),
            marks: outcome.read_up_to.into_iter().collect(),
            // A message that was posted has shown nothing of the space.
            changed: outcome.changed.filter(|at| *at > 0 && outcome.message.is_none()),
            page: outcome.page,
            is_external: outcome.is_external,
            repeatable: outcome.is_external && self.is_repeatable,
            card: outcome.card.or(record.card),
            // A form that people have approved is asked, and waits like any other form.
            approval: match &outcome.approval {
                None if is_form => None,
                None => record.approval,
                asks => asks.as_deref().cloned(),
            },
            awaits: outcome.awaits.clone(),
            shown_in: outcome.shown_in.or(record.shown_in),
            files: outcome.files.clone(),
            used: outcome.used.clone(),
            ..record
        }
    }
}
