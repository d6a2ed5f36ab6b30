//! The calls of the last model answer, until all of them have a result.

use std::collections::BTreeMap;

use smartspace_domain::steps::CallStatus;
use smartspace_store::runs::steps::{CallBegun, CallRecord, StepRecord};

/// Calls of which not all have a result yet.
pub(crate) struct Pending {
    pub(crate) calls: Vec<CallBegun>,
    /// The stored record of each call, if there is one.
    pub(crate) records: Vec<Option<CallRecord>>,
    /// The records of forms that calls of servers wait for, by their positions behind the calls.
    input_forms: BTreeMap<u32, CallRecord>,
    pub(crate) attempt: u32,
}

/// A call that is to be made.
pub(crate) struct NextCall {
    pub(crate) index: usize,
    /// The calls before it that wait for people, and approved ones behind these.
    pub(crate) behind: Vec<usize>,
}

impl Pending {
    pub(super) fn new(step: &StepRecord) -> Self {
        Self {
            calls: step.calls.clone(),
            records: vec![None; step.calls.len()],
            input_forms: BTreeMap::new(),
            attempt: step.stream_attempt,
        }
    }

    /// The first call to make. Calls behind one that waits for people wait, too, but the next one
    /// without a record may be shown with it if people decide it as well.
    pub(crate) fn next(&self) -> Option<NextCall> {
        let mut behind = Vec::new();
        for (index, record) in self.records.iter().enumerate() {
            match record {
                None => return Some(NextCall { index, behind }),
                Some(record) if record.is_waiting() => behind.push(index),
                Some(_) if !self.is_to_be_made(index) => {}
                Some(_) if behind.is_empty() => return Some(NextCall { index, behind }),
                Some(_) => behind.push(index),
            }
        }
        None
    }

    /// Whether a call has to be made: it has not begun, people have approved it, or it is an
    /// external call whose end is unknown and that waits for no form.
    pub(crate) fn is_to_be_made(&self, index: usize) -> bool {
        let is_open = |call: &CallRecord| {
            call.is_under_way() && !self.awaits_answer(call) || call.is_approved()
        };
        self.records[index].as_ref().is_none_or(is_open)
    }

    /// The form that a call of a server waits for, if that was shown.
    pub(crate) fn input_form(&self, call: &CallRecord) -> Option<&CallRecord> {
        self.input_forms.get(&call.awaits.as_ref()?.form)
    }

    /// Whether a call of a server waits for a form that nobody has answered yet.
    fn awaits_answer(&self, call: &CallRecord) -> bool {
        let form = self.input_form(call);
        form.is_some_and(|form| form.status == CallStatus::Pending)
    }

    /// The calls that were made. Forms among them may have no result yet.
    pub(crate) fn made(&self) -> impl Iterator<Item = &CallRecord> + Clone {
        self.records.iter().flatten().filter(|call| !call.is_under_way() && !call.is_approved())
    }

    /// Takes over the stored records of the calls.
    pub(crate) fn reload(&mut self, records: Vec<CallRecord>) {
        for record in records {
            let index = record.index as usize;
            match self.records.get_mut(index) {
                Some(known) => *known = Some(record),
                None => {
                    self.input_forms.insert(record.index, record);
                }
            }
        }
    }

    /// How many forms nobody has answered yet, and how many calls wait for people.
    pub(crate) fn open_forms(&self) -> u32 {
        let forms = self.made().filter(|call| call.status == CallStatus::Pending).count();
        let awaiting = self.records.iter().flatten().filter(|call| self.awaits_answer(call));
        (forms + awaiting.count()) as u32
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use smartspace_domain::{
        Time,
        approvals::ApprovalState,
        ids::{CallId, RunId},
    };
    use smartspace_store::runs::{approvals::CallApproval, steps::AwaitedInput};

    use super::*;

    /// A call that waits for people, or that they have approved.
    fn asked(index: u32, state: ApprovalState) -> CallRecord {
        let rule = serde_json::from_value(json!({"tools": ["*"]})).unwrap();
        let approval = CallApproval { state, ..CallApproval::open(rule, String::new()) };
        CallRecord { status: CallStatus::Pending, approval: Some(approval), ..done(index) }
    }

    fn done(index: u32) -> CallRecord {
        let id = CallId::of(RunId::new(Time::from_millis(1), 1), 0, index);
        CallRecord::completed(id, 0, index, "transfer".into(), Time::from_millis(1))
    }

    fn pending_with(records: Vec<Option<CallRecord>>) -> Pending {
        Pending { calls: Vec::new(), records, input_forms: BTreeMap::new(), attempt: 1 }
    }

    fn next(records: Vec<Option<CallRecord>>) -> Option<(usize, Vec<usize>)> {
        pending_with(records).next().map(|next| (next.index, next.behind))
    }

    #[test]
    fn calls_behind_a_waiting_one_are_not_made() {
        let open = |index| Some(asked(index, ApprovalState::Open));
        let approved = |index| Some(asked(index, ApprovalState::Approved));
        let begun = |index| {
            let call = asked(index, ApprovalState::Approved);
            Some(CallRecord { is_external: true, ..call })
        };
        assert_eq!(next(vec![Some(done(0)), None]), Some((1, vec![])));
        assert_eq!(next(vec![open(0), None]), Some((1, vec![0])));
        assert_eq!(next(vec![open(0), approved(1), None]), Some((2, vec![0, 1])));
        assert_eq!(next(vec![open(0), approved(1)]), None);
        assert_eq!(next(vec![approved(0), open(1)]), Some((0, vec![])));
        assert_eq!(next(vec![begun(0), approved(1)]), Some((0, vec![])));
        assert_eq!(next(vec![Some(done(0)), approved(1), None]), Some((1, vec![])));
        let form = CallRecord { status: CallStatus::Pending, ..done(0) };
        assert_eq!(next(vec![Some(form), None]), Some((1, vec![])), "a form holds nothing back");
    }

    #[test]
    fn an_approved_call_is_neither_made_nor_open() {
        let records = vec![
            Some(asked(0, ApprovalState::Approved)),
            Some(asked(1, ApprovalState::Open)),
            Some(done(2)),
        ];
        let pending = pending_with(records);
        let made: Vec<_> = pending.made().map(|call| call.index).collect();
        assert_eq!((made, pending.open_forms()), (vec![1, 2], 1));
        assert!(pending.is_to_be_made(0) && !pending.is_to_be_made(1));
    }
    #[test]
    fn a_call_that_asks_waits_for_its_form_and_is_made_again() {
        let awaits = AwaitedInput {
            form: 100,
            asked: "name".into(),
            requests: json!({"name": {}}),
            answers: json!({}),
            state: None,
        };
        let status = CallStatus::Pending;
        let call =
            CallRecord { status, is_external: true, awaits: Some(Box::new(awaits)), ..done(0) };
        let mut pending = pending_with(vec![Some(call)]);
        assert!(pending.is_to_be_made(0), "the form is not shown yet");
        pending.reload(vec![CallRecord { status, ..done(100) }]);
        assert_eq!((pending.is_to_be_made(0), pending.open_forms()), (false, 1));
        pending.reload(vec![done(100)]);
        assert_eq!((pending.is_to_be_made(0), pending.open_forms()), (true, 0));
    }
}
