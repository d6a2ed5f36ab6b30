//! The same for calls that reach outside: kept when they begin, shown while they are under way, and finished once.

use smartspace_store::{append::NewCard, forms::Resolved};

use super::{forms::Governed, *};

fn card(call: &CallRecord) -> NewCard {
    NewCard {
        call_id: call.call_id,
        name: call.name.clone(),
        input: json!({"city": "Oslo"}),
        output: None,
        status: call.status,
        asks: None,
    }
}

/// A shown call says how far it is and ends, one that nobody sees ends, a third is under way when its run is canceled.
async fn way_of_a_call(fault: Option<(usize, Fault)>) -> (String, usize) {
    let governed = Box::pin(Governed::until(fault)).await;
    let (store, run, lease) = (&governed.store, &governed.runs[0], &governed.lease);
    let outside = |index, status| CallRecord { outside: true, active_space: None, ..governed.call(index, status) };
    let [shown, hidden, last] = [0, 1, 2].map(|index| outside(index, CallStatus::Pending));

    let place = governed.show(card(&shown), shown.clone()).await.open_card.unwrap();
    store.show_progress(run, lease, &place, "half of it", at(5)).await.unwrap();
    assert_eq!(store.card(&place).await.unwrap().unwrap().text(), "half of it");
    let answered = |call: &CallRecord| CallRecord { status: CallStatus::Completed, output: json!("x".repeat(5_000)), ..call.clone() };
    let done = CallRecord { card: Some(place), ..answered(&shown) };
    store.keep_call(run, lease, &done, at(6)).await.unwrap();
    assert!(!store.show_progress(run, lease, &place, "more", at(6)).await.unwrap(), "it is done");
    let kept = store.card(&place).await.unwrap().unwrap();
    assert!(kept.text().is_empty() && format!("{kept:?}").contains(&"x".repeat(5_000)), "{kept:?}");

    store.keep_call(run, lease, &hidden, at(7)).await.unwrap();
    assert!(store.calls_of(run.id, 0).await.unwrap()[1].is_under_way());
    let failed = CallRecord { status: CallStatus::Unknown, ..answered(&hidden) };
    store.keep_call(run, lease, &failed, at(8)).await.unwrap();

    governed.show(card(&last), last.clone()).await;
    let canceled = store.cancel(run, EndReason::Cancel, &LeaseId::new(31), at(9)).await.unwrap();
    assert_eq!(store.keep_call(run, lease, &answered(&last), at(9)).await, Err(smartspace_domain::Error::LeaseLost));
    assert_eq!(canceled.open_calls, Some(1));
    assert!(!store.calls_closed(run.id).await.unwrap(), "one is open");
    let open = store.open_calls(run.id).await.unwrap();
    assert_eq!(open.iter().map(|open| (open.index, open.asks)).collect::<Vec<_>>(), [(2, false)]);
    assert_eq!(governed.resolve(&open[0], CallStatus::Canceled, json!({"error": "canceled"}), 25).await, Resolved::Now);
    assert!(store.calls_closed(run.id).await.unwrap());
    governed.kept().await
}

#[tokio::test(start_paused = true)]
async fn calls_outside_are_the_same_whichever_write_goes_wrong() {
    let (call, writes) = ends_the_same(way_of_a_call).await;
    assert!(call.contains("Unknown") && writes >= 9, "{writes}: {call}");
}

#[tokio::test(start_paused = true)]
async fn a_result_outlives_the_space_that_would_show_it() {
    let governed = Box::pin(Governed::until(None)).await;
    let (store, run) = (&governed.store, &governed.runs[0]);
    let begun = CallRecord { outside: true, ..governed.call(0, CallStatus::Pending) };
    let place = governed.show(card(&begun), begun.clone()).await.open_card.unwrap();
    // As where a space is removed: its messages go, the run is woken elsewhere.
    store.delete_space(governed.space, &LeaseId::new(32), at(5)).await.unwrap();
    assert!(store.clear_space(governed.space, 1_000).await.unwrap());
    let done = CallRecord { status: CallStatus::Completed, output: json!(1), card: Some(place), ..begun };
    store.keep_call(run, &governed.lease, &done, at(6)).await.unwrap();
    assert_eq!((store.calls_of(run.id, 0).await.unwrap()[0].status, store.card(&place).await.unwrap()), (CallStatus::Completed, None));
}
