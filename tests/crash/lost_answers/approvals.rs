//! Faults in the writes of decisions on calls that wait for approval.

use std::future::ready;

use serde_json::json;
use smartspace_domain::{
    approvals::{ApprovalState, Decision, DecisionAction, MadeDecision},
    ids::{EntityId, LeaseId},
    runs::EndReason,
    steps::CallStatus,
};
use smartspace_store::runs::{
    approvals::{Approved, CallApproval},
    claims::Claim,
    forms::{FormRecord, Resolution, Resolved},
    steps::CallRecord,
};

use crate::crash::lost_answers::{
    at,
    faults::{Fault, assert_same_outcome},
    read,
    studio::Studio,
};

impl Studio {
    /// The approval of a call after a decision.
    async fn after(
        &self,
        form: &FormRecord,
        by: EntityId,
        decision: serde_json::Value,
        token: u128,
    ) -> CallApproval {
        let call = self.store.forms().call(form).await.unwrap().unwrap();
        after(&call, by, decision, token)
    }

    async fn approve(&self, form: &FormRecord, approval: &CallApproval) -> Approved {
        self.store.forms().approve(&form.call, approval, None, at(10)).await.unwrap()
    }
}

fn after(
    call: &CallRecord,
    by: EntityId,
    decision: serde_json::Value,
    token: u128,
) -> CallApproval {
    let decision: Decision = read(decision);
    let made = MadeDecision {
        by,
        name: "Husam".into(),
        action: decision.action,
        at: at(10),
        by_operator: false,
        remembers: false,
    };
    call.approval.as_ref().unwrap().after(&decision, made, &LeaseId::new(token))
}

/// People approve, edit and approve a call of a waiting run, and decline another one. The run is
/// canceled before it makes the approved call.
async fn path_of_an_approval(fault: Option<(usize, Fault)>) -> (String, usize) {
    let studio = Box::pin(Studio::with_fault(fault)).await;
    let store = &studio.store;
    let run = &studio.runs[0];
    let [olga, max] = [studio.person, studio.other];
    let shown = studio.ask_approval(0, 2).await;
    let other = studio.ask_approval(1, 1).await;
    let paused = store.runs().pause(run, &studio.lease, at(60), at(5)).await.unwrap();
    assert_eq!(paused, Some(Vec::new()));

    let first = studio.after(&shown, olga, json!({"action": "approve"}), 21).await;
    let at_once = studio.after(&shown, max, json!({"action": "approve"}), 22).await;
    assert_eq!(studio.approve(&shown, &first).await, Approved::Now);
    let changed = studio.approve(&shown, &at_once).await;
    let Approved::Changed(call) = &changed else { panic!("{changed:?}") };
    assert_eq!(call.approval.as_ref(), Some(&first), "one of two decisions at once is stored");

    let edit = json!({"action": "edit", "input": {"text": "x".repeat(5_000)}});
    let edited = studio.after(&shown, max, edit, 23).await;
    assert_eq!((edited.state, edited.decisions.len()), (ApprovalState::Open, 1));
    assert_eq!(studio.approve(&shown, &edited).await, Approved::Now);
    let waiting = store.runs().record(run.id).await.unwrap();
    assert_eq!((waiting.open_calls, waiting.due_at), (Some(2), Some(at(60))));
    let last = studio.after(&shown, olga, json!({"action": "approve"}), 24).await;
    assert_eq!(last.state, ApprovalState::Approved);
    assert_eq!(studio.approve(&shown, &last).await, Approved::Now);
    let due = store.runs().record(run.id).await.unwrap();
    assert_eq!((due.open_calls, due.due_at), (Some(1), Some(at(10))));
    assert_eq!(store.forms().open(run.id).await.unwrap(), std::slice::from_ref(&other));
    let late = studio.resolve(&shown.call, CallStatus::Expired, json!(1), 25).await;
    assert!(matches!(late, Resolved::Before(_)), "an approved call has expired: {late:?}");

    decline(&studio, &other).await;
    let claim =
        store.runs().claim(&run.to_ref(), &LeaseId::new(9), at(12), ready(None)).await.unwrap();
    assert!(matches!(claim, Claim::Ours { resumed: true, .. }), "{claim:?}");
    close_unbegun(&studio, &shown).await;
    studio.outcome().await
}

async fn decline(studio: &Studio, form: &FormRecord) {
    let decision = json!({"action": "decline"});
    let approval = studio.after(form, studio.person, decision, 26).await;
    assert_eq!(approval.decisions[0].action, DecisionAction::Decline);
    let declined = Resolution {
        approval: Some(approval),
        ..studio.resolution(CallStatus::Completed, json!({"declined": true}), 26)
    };
    let store = &studio.store;
    let resolved = store.forms().resolve(&form.call, &declined, at(11)).await.unwrap();
    assert_eq!(resolved, Resolved::Now);
    let run = store.runs().record(studio.runs[0].id).await.unwrap();
    assert_eq!((run.open_calls, run.due_at), (Some(0), Some(at(11))));
}

/// Cancels the run whose call is approved, and not begun. The run does not count it as open, but
/// its card is closed.
async fn close_unbegun(studio: &Studio, shown: &FormRecord) {
    let store = &studio.store;
    let run = &studio.runs[0];
    store.runs().cancel(run, EndReason::Cancel, &LeaseId::new(31), at(13)).await.unwrap();
    assert!(!store.forms().calls_closed(run.id).await.unwrap(), "an approved call has a card");
    let open = store.calls().open(run.id).await.unwrap();
    let found: Vec<_> = open.iter().map(|open| (open.index, open.approval)).collect();
    assert_eq!(found, [(shown.call.index, Some(ApprovalState::Approved))]);
    let error = json!({"error": "canceled"});
    let closed = studio.resolve(&open[0], CallStatus::Canceled, error, 27).await;
    assert_eq!(closed, Resolved::Now);
    assert!(store.forms().all_calls_closed(run.id).await.unwrap());
    let ended = store.runs().record(run.id).await.unwrap();
    assert_eq!((ended.open_calls, &ended.due), (Some(0), &None));
    assert!(store.forms().calls_closed(run.id).await.unwrap());
    let card = store.calls().card(&shown.call.card).await.unwrap().unwrap();
    assert!(format!("{card:?}").contains(&"x".repeat(5_000)), "the edited input: {card:?}");
}

#[tokio::test(start_paused = true)]
async fn decisions_survive_a_fault_of_any_write() {
    let (approved, writes) = assert_same_outcome(path_of_an_approval).await;
    assert!(approved.contains("Approved") && writes >= 11, "{writes}: {approved}");
}

#[tokio::test(start_paused = true)]
async fn an_approval_of_an_ended_run_is_refused() {
    let studio = Box::pin(Studio::with_fault(None)).await;
    let [one, two] = [studio.ask_approval(0, 1).await, studio.ask_approval(1, 2).await];
    let run = &studio.runs[0];
    let runs = studio.store.runs();
    runs.cancel(run, EndReason::Cancel, &LeaseId::new(31), at(9)).await.unwrap();
    for form in [one, two] {
        let approve = json!({"action": "approve"});
        let approval = studio.after(&form, studio.person, approve, 21).await;
        assert_eq!(studio.approve(&form, &approval).await, Approved::RunOver);
    }
    assert_eq!(runs.record(run.id).await.unwrap().open_calls, Some(2));
}

#[tokio::test(start_paused = true)]
async fn an_approval_counts_even_if_the_space_of_its_card_is_deleted() {
    let studio = Box::pin(Studio::with_fault(None)).await;
    let form = studio.ask_approval(0, 1).await;
    let spaces = studio.store.spaces();
    spaces.delete(studio.space, &LeaseId::new(32), at(5)).await.unwrap();
    assert!(spaces.clear(studio.space, 1_000).await.unwrap());
    let edit = json!({"action": "edit", "input": {"amount": 1}});
    let approval = studio.after(&form, studio.person, edit, 21).await;
    assert_eq!(studio.approve(&form, &approval).await, Approved::Now);
    let stored = studio.store.forms().call(&form).await.unwrap().unwrap();
    assert_eq!(stored.approval, Some(approval));
}
