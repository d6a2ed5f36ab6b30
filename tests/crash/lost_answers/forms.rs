//! Faults in the writes of forms, and of runs that end or delegate to other runs.

use std::future::ready;

use serde_json::json;
use smartspace_domain::{
    ids::{LeaseId, RunId},
    messages::Sender,
    runs::EndReason,
    steps::CallStatus,
    triggers::Delegation,
};
use smartspace_store::runs::{
    claims::Claim,
    delegations::HandOn,
    endings::ByWorker,
    forms::{Resolution, Resolved},
    steps::CallRecord,
};

use crate::crash::lost_answers::{
    at, claim,
    faults::{Fault, assert_same_outcome},
    file_quotas::announce,
    files::id,
    studio::Studio,
};

/// A run shows two forms and waits. One is answered and one expires. The run resumes, shows a third
/// form, and is canceled.
async fn path_of_a_form(fault: Option<(usize, Fault)>) -> (String, usize) {
    let studio = Box::pin(Studio::with_fault(fault)).await;
    pause_and_resolve_two_forms(&studio).await;

    let store = &studio.store;
    let run = &studio.runs[0];
    let lease = LeaseId::new(9);
    let claim = store.runs().claim(&run.to_ref(), &lease, at(70), ready(None)).await.unwrap();
    let Claim::Ours { run: resumed, first: false, resumed: true } = &claim else {
        panic!("{claim:?}")
    };
    assert_eq!((resumed.attempt, resumed.waited_ms), (1, 65_000));
    let paused = store.runs().pause(resumed, &lease, at(80), at(71)).await.unwrap();
    assert_eq!(paused, None, "a run without open forms was paused");
    let third = studio.ask(2).await;
    let canceled =
        store.runs().cancel(run, EndReason::Cancel, &LeaseId::new(31), at(72)).await.unwrap();
    assert_eq!(canceled.run.open_calls, Some(1));
    let answered = studio.resolve(&third.call, CallStatus::Completed, json!(5), 24).await;
    assert!(matches!(answered, Resolved::RunOver));
    let error = json!({"error": "canceled"});
    let closed = studio.resolve(&third.call, CallStatus::Canceled, error, 25).await;
    assert_eq!(closed, Resolved::Now);
    // If the answer to the first attempt was lost, the second one succeeds as well.
    assert!(store.forms().calls_closed(run.id).await.unwrap());
    let ended = store.runs().record(run.id).await.unwrap();
    assert_eq!((ended.open_calls, &ended.due, ended.due_at), (Some(0), &None, None));
    studio.outcome().await
}

async fn pause_and_resolve_two_forms(studio: &Studio) {
    let store = &studio.store;
    let run = &studio.runs[0];
    let first = studio.ask(0).await;
    let second = studio.ask(1).await;
    let paused = store.runs().pause(run, &studio.lease, at(60), at(5)).await.unwrap();
    assert_eq!(paused, Some(Vec::new()));
    let claim =
        store.runs().claim(&run.to_ref(), &LeaseId::new(8), at(6), ready(None)).await.unwrap();
    let Claim::Waiting(waiting) = claim else { panic!("{claim:?}") };
    let answered = studio.resolve(&first.call, CallStatus::Completed, json!(3), 21).await;
    assert_eq!(answered, Resolved::Now);
    let again = studio.resolve(&first.call, CallStatus::Completed, json!(4), 22).await;
    assert!(matches!(again, Resolved::Before(call) if call.output == json!(3)));
    // A form was answered since `waiting` was read, so the run is due at once.
    store.runs().keep_waiting(&waiting, at(61)).await.unwrap();
    let waiting = store.runs().record(run.id).await.unwrap();
    assert_eq!((waiting.due_at, waiting.open_calls), (Some(at(10)), Some(1)));
    store.runs().keep_waiting(&waiting, at(61)).await.unwrap();
    let error = json!({"error": "expired"});
    let expired = studio.resolve(&second.call, CallStatus::Expired, error, 23).await;
    assert_eq!(expired, Resolved::Now);
}

/// A person answers a form with a file, which was deleted before another form could name it.
async fn path_of_a_file(fault: Option<(usize, Fault)>) -> (String, usize) {
    let studio = Box::pin(Studio::with_fault(fault)).await;
    let Studio { store, space, person, .. } = &studio;
    let first = studio.ask(0).await;
    let second = studio.ask(1).await;
    announce(store, *space, 1, *person).await;
    let file = store.attachments().get(*space, id(1)).await.unwrap();
    let answer = |token: u128| {
        let resolution = studio.resolution(CallStatus::Completed, json!(id(1)), token);
        Resolution { files: vec![file.named()], ..resolution }
    };
    let answered = store.forms().resolve(&first.call, &answer(21), at(10)).await.unwrap();
    assert_eq!(answered, Resolved::Now);
    // A named file stays, and the sweep no longer looks at it.
    let named = store.attachments().get(*space, id(1)).await.unwrap();
    assert_eq!((&*named.named, &named.due), (&[first.call.card.seq][..], &None));
    let call = store.forms().call(&first).await.unwrap().unwrap();
    assert_eq!(call.files[0].file, file.named());
    store.attachments().drop_any(&named, at(11)).await.unwrap();
    let refused = store.forms().resolve(&second.call, &answer(22), at(12)).await.unwrap();
    assert_eq!(refused, Resolved::FileGone(0));
    assert_eq!(store.forms().open(studio.runs[0].id).await.unwrap(), [second]);
    studio.outcome().await
}

/// A run stops a second one, absorbs a third, and delegates its trigger.
async fn path_of_own_runs(fault: Option<(usize, Fault)>) -> (String, usize) {
    let studio = Box::pin(Studio::with_fault(fault)).await;
    let store = &studio.store;
    let lease = &studio.lease;
    let [run, second, third] = &studio.runs[..] else { panic!("three runs") };
    let results = [0, 1, 2].map(|index| studio.call(index, CallStatus::Completed));
    let by = |call: usize| ByWorker { run: run.id, lease, result: &results[call] };
    assert!(
        store.runs().end_own(second, EndReason::StopRun, &by(0), at(4)).await.unwrap().is_some()
    );
    assert!(
        store.runs().end_own(third, EndReason::Absorbed, &by(1), at(5)).await.unwrap().is_some()
    );
    let again = store.runs().end_own(third, EndReason::Absorbed, &by(2), at(5)).await.unwrap_err();
    assert!(again.to_string().contains("had ended already"), "{again}");
    let sender = Sender {
        id: studio.admin,
        name: "Router".into(),
        kind: smartspace_domain::entities::EntityType::Agent,
        guest: false,
    };
    let delegation = Delegation { by: sender, note: Some("Soon.".into()) };
    let call =
        CallRecord { ends: Some(EndReason::Delegated), ..studio.call(3, CallStatus::Completed) };
    let hand_on =
        HandOn { from: run, lease, to: studio.other, delegation: delegation.clone(), call };
    assert_eq!(store.runs().hand_on(&hand_on, at(7)).await.unwrap().jobs.len(), 1);
    let handed_on = RunId::of_delegation(studio.other, run.id);
    let handed_on = store.runs().record(handed_on).await.unwrap();
    assert_eq!(store.runs().delegation(&handed_on).await.unwrap(), Some(delegation));
    studio.outcome().await
}

#[tokio::test(start_paused = true)]
async fn forms_and_own_runs_survive_a_fault_of_any_write() {
    let (form, writes) = assert_same_outcome(path_of_a_form).await;
    assert!(form.contains("Expired") && writes >= 11, "{writes}: {form}");
    let (file, _) = assert_same_outcome(path_of_a_file).await;
    assert!(file.contains("a.txt"), "{file}");
    let (own, more) = assert_same_outcome(path_of_own_runs).await;
    assert!(own.contains("Absorbed") && own.contains("Delegated") && more >= 4, "{more}: {own}");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_ended_cannot_end_other_runs() {
    let studio = Box::pin(Studio::with_fault(None)).await;
    let store = &studio.store;
    let [one, other, third] = &studio.runs[..] else { panic!("three runs") };
    let lease = LeaseId::new(8);
    let other = claim(store, other.id, &lease, 3).await;
    let result = studio.call(0, CallStatus::Completed);
    let by_one = ByWorker { run: one.id, lease: &studio.lease, result: &result };
    store.runs().end_own(&other, EndReason::Absorbed, &by_one, at(4)).await.unwrap();
    let by = ByWorker { run: other.id, lease: &lease, result: &result };
    for run in [one, third] {
        let refused = store.runs().end_own(run, EndReason::Absorbed, &by, at(4)).await.unwrap_err();
        assert_eq!(refused, smartspace_domain::Error::LeaseLost);
        assert!(store.runs().record(run.id).await.unwrap().status.is_active());
    }
}
