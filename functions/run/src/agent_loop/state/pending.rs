//! The calls of the last model answer, until all of them have a result.

use smartspace_domain::steps::CallStatus;
use smartspace_store::runs::steps::{CallBegun, CallRecord, StepRecord};

/// Calls of which not all have a result yet.
pub(crate) struct Pending {
    pub(crate) calls: Vec<CallBegun>,
    /// The stored record of each call, if there is one.
    pub(crate) records: Vec<Option<CallRecord>>,
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
    /// external call whose end is unknown.
    pub(crate) fn is_to_be_made(&self, index: usize) -> bool {
        let is_open = |call: &CallRecord| call.is_under_way() || call.is_approved();
        self.records[index].as_ref().is_none_or(is_open)
    }

    /// The calls that were made. Forms among them may have no result yet.
    pub(crate) fn made(&self) -> impl Iterator<Item = &CallRecord> + Clone {
        self.records.iter().flatten().filter(|call| !call.is_under_way() && !call.is_approved())
    }

    /// Takes over the stored records of the calls.
    pub(crate) fn reload(&mut self, records: Vec<CallRecord>) {
        for record in records {
            let index = record.index as usize;
            if let Some(known) = self.records.get_mut(index) {
                *known = Some(record);
            }
        }
    }

    /// How many forms nobody has answered yet, and how many calls wait for people.
    pub(crate) fn open_forms(&self) -> u32 {
        self.made().filter(|call| call.status == CallStatus::Pending).count() as u32
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
    use smartspace_store::runs::approvals::CallApproval;

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

    fn next(records: Vec<Option<CallRecord>>) -> Option<(usize, Vec<usize>)> {
        let pending = Pending { calls: Vec::new(), records, attempt: 1 };
        pending.next().map(|next| (next.index, next.behind))
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
        let pending = Pending { calls: Vec::new(), records, attempt: 1 };
        let made: Vec<_> = pending.made().map(|call| call.index).collect();
        assert_eq!((made, pending.open_forms()), (vec![1, 2], 1));
        assert!(pending.is_to_be_made(0) && !pending.is_to_be_made(1));
    }
}
