//! Faults in the writes of external calls, which are stored when they begin, shown while they run,
//! and finished once.

use serde_json::json;
use smartspace_domain::{
    attachments::{ReturnedImage, WholeFile},
    ids::{AttachmentId, LeaseId},
    runs::{EndReason, Usage, UsageByModel},
    steps::CallStatus,
};
use smartspace_store::{
    attachments::FileRecord,
    messages::append::NewCard,
    runs::{
        forms::Resolved,
        steps::{AwaitedInput, CallFile, CallRecord, CallUsage},
    },
};

use crate::crash::lost_answers::{
    at,
    faults::{Fault, assert_same_outcome},
    studio::Studio,
};

/// A GIF of 3 × 2 pixels, without any.
const GIF: &[u8] = b"GIF89a\x03\x00\x02\x00\x00\x00\x00;";

/// The card of a call.
fn card(call: &CallRecord) -> NewCard {
    NewCard {
        call_id: call.call_id,
        name: call.name.clone(),
        title: None,
        input: json!({"city": "Oslo"}),
        output: None,
        status: call.status,
        asks: None,
    }
}

/// A visible call shows its progress and ends, a hidden one ends, and a third one is running when
/// its run is canceled.
async fn path_of_a_call(fault: Option<(usize, Fault)>) -> (String, usize) {
    let studio = Box::pin(Studio::with_fault(fault)).await;
    let store = &studio.store;
    let run = &studio.runs[0];
    let lease = &studio.lease;
    let outside = |index, status| CallRecord {
        is_external: true,
        active_space: None,
        ..studio.call(index, status)
    };
    let [shown, hidden, last] = [0, 1, 2].map(|index| outside(index, CallStatus::Pending));

    let card_ref = studio.show(card(&shown), shown.clone()).await.open_card.unwrap();
    store.calls().show_progress(run, lease, &card_ref, "half of it", at(5)).await.unwrap();
    assert_eq!(store.calls().card(&card_ref).await.unwrap().unwrap().text(), "half of it");
    let answered = |call: &CallRecord| CallRecord {
        status: CallStatus::Completed,
        output: json!("x".repeat(5_000)),
        ..call.clone()
    };
    let done = CallRecord { card: Some(card_ref), ..answered(&shown) };
    store.steps().store_call(run, lease, &done, None, at(6)).await.unwrap();
    let late = store.calls().show_progress(run, lease, &card_ref, "more", at(6)).await.unwrap();
    assert!(!late, "progress was shown after the end of the call");
    let ended = store.calls().card(&card_ref).await.unwrap().unwrap();
    assert!(ended.text().is_empty(), "{ended:?}");
    assert!(format!("{ended:?}").contains(&"x".repeat(5_000)), "{ended:?}");

    store.steps().store_call(run, lease, &hidden, None, at(7)).await.unwrap();
    assert!(store.steps().calls_of(run.id, 0).await.unwrap()[1].is_under_way());
    let failed = CallRecord { status: CallStatus::Unknown, ..answered(&hidden) };
    store.steps().store_call(run, lease, &failed, None, at(8)).await.unwrap();

    studio.show(card(&last), last.clone()).await;
    let canceled =
        store.runs().cancel(run, EndReason::Cancel, &LeaseId::new(31), at(9)).await.unwrap();
    assert_eq!(
        store.steps().store_call(run, lease, &answered(&last), None, at(9)).await,
        Err(smartspace_domain::Error::LeaseLost)
    );
    assert_eq!(canceled.run.open_calls, Some(1));
    assert!(!store.forms().calls_closed(run.id).await.unwrap(), "the third call is open");
    let open = store.calls().open(run.id).await.unwrap();
    assert_eq!(open.iter().map(|open| (open.index, open.asks)).collect::<Vec<_>>(), [(2, false)]);
    let error = json!({"error": "canceled"});
    let closed = studio.resolve(&open[0], CallStatus::Canceled, error, 25).await;
    assert_eq!(closed, Resolved::Now);
    assert!(store.forms().calls_closed(run.id).await.unwrap());
    studio.outcome().await
}

#[tokio::test(start_paused = true)]
async fn external_calls_survive_a_fault_of_any_write() {
    let (call, writes) = assert_same_outcome(path_of_a_call).await;
    assert!(call.contains("Unknown") && writes >= 9, "{writes}: {call}");
}

/// A visible call waits for an input, goes on, waits again, and its run is canceled.
async fn path_of_a_question(fault: Option<(usize, Fault)>) -> (String, usize) {
    let studio = Box::pin(Studio::with_fault(fault)).await;
    let store = &studio.store;
    let run = &studio.runs[0];
    let begun = CallRecord { is_external: true, ..studio.call(0, CallStatus::Pending) };
    let card_ref = studio.show(card(&begun), begun.clone()).await.open_card.unwrap();
    let goes_on = CallRecord { card: Some(card_ref), ..begun };
    let awaits = AwaitedInput {
        form: 100,
        asked: "name".into(),
        requests: json!({"name": {"method": "elicitation/create"}}),
        answers: json!({}),
        state: Some("opaque".into()),
    };
    let waits = CallRecord { awaits: Some(Box::new(awaits)), ..goes_on.clone() };
    let open_calls = async || store.runs().record(run.id).await.unwrap().open_calls;
    let stored = async || store.steps().calls_of(run.id, 0).await.unwrap().remove(0).awaits;

    store.steps().store_awaited(run, &studio.lease, &waits, false, at(6)).await.unwrap();
    assert_eq!((open_calls().await, stored().await), (Some(0), waits.awaits.clone()));
    store.steps().store_awaited(run, &studio.lease, &goes_on, true, at(7)).await.unwrap();
    assert_eq!((open_calls().await, stored().await), (Some(1), None));
    store.steps().store_awaited(run, &studio.lease, &waits, false, at(8)).await.unwrap();

    store.runs().cancel(run, EndReason::Cancel, &LeaseId::new(31), at(9)).await.unwrap();
    assert!(!store.forms().calls_closed(run.id).await.unwrap(), "the call that waits is open");
    let open = store.calls().open(run.id).await.unwrap();
    let error = json!({"error": "canceled"});
    let closed = studio.resolve(&open[0], CallStatus::Canceled, error, 25).await;
    assert_eq!((closed, open_calls().await), (Resolved::Now, Some(0)));
    assert!(store.forms().all_calls_closed(run.id).await.unwrap());
    studio.outcome().await
}

#[tokio::test(start_paused = true)]
async fn a_question_survives_a_fault_of_any_write() {
    let (call, writes) = assert_same_outcome(path_of_a_question).await;
    assert!(call.contains("opaque") && writes >= 7, "{writes}: {call}");
}

/// A visible call returns two pictures, which its card names, and says what it has used.
async fn path_of_a_picture(fault: Option<(usize, Fault)>) -> (String, usize) {
    let studio = Box::pin(Studio::with_fault(fault)).await;
    let store = &studio.store;
    let run = &studio.runs[0];
    let begun = CallRecord { is_external: true, ..studio.call(0, CallStatus::Pending) };
    let card_ref = studio.show(card(&begun), begun.clone()).await.open_card.unwrap();
    let mut files = Vec::new();
    for number in [41, 42] {
        let image = ReturnedImage { content_type: "image/gif".into(), bytes: GIF.into() };
        let WholeFile { spec: file, size, .. } = image.checked("draw").unwrap();
        let id = AttachmentId::new(at(5), number);
        let record = FileRecord::new(id, studio.space, &file, Some(run.agent_id), at(5));
        store.attachments().create(&record, None).await.unwrap();
        store.attachments().checked(&record, &Ok(size)).await.unwrap();
        let record = store.attachments().get(studio.space, id).await.unwrap();
        let label = format!("From draw: {id}");
        files.push(CallFile { space_id: studio.space, label, file: record.named() });
    }
    let usage = Usage { output_tokens: 7, images: 2, ..Usage::default() };
    let spent = UsageByModel::one("openai/m", usage);
    let done = CallRecord {
        status: CallStatus::Completed,
        output: json!({"pictures": 2}),
        card: Some(card_ref),
        files: files.clone(),
        used: Some(CallUsage { model: "openai/m".into(), usage }),
        ..begun
    };
    store.steps().store_call(run, &studio.lease, &done, Some(&spent), at(6)).await.unwrap();
    let shown = store.calls().card(&card_ref).await.unwrap().unwrap();
    assert_eq!(shown.parts.len(), 3, "{shown:?}");
    for file in files {
        let id = file.file.part.attachment_id;
        let kept = store.attachments().get(studio.space, id).await.unwrap();
        assert_eq!((kept.named, kept.due_at), (vec![card_ref.seq], None));
    }
    assert_eq!(store.runs().record(run.id).await.unwrap().used, spent);
    studio.outcome().await
}

#[tokio::test(start_paused = true)]
async fn pictures_of_a_call_survive_a_fault_of_any_write() {
    let (call, writes) = assert_same_outcome(path_of_a_picture).await;
    assert!(call.contains("images: 2") && writes >= 6, "{writes}: {call}");
}

#[tokio::test(start_paused = true)]
async fn a_result_is_stored_even_if_its_picture_is_deleted_before() {
    let studio = Box::pin(Studio::with_fault(None)).await;
    let store = &studio.store;
    let run = &studio.runs[0];
    let begun = CallRecord { is_external: true, ..studio.call(0, CallStatus::Pending) };
    let card_ref = studio.show(card(&begun), begun.clone()).await.open_card.unwrap();
    let image = ReturnedImage { content_type: "image/gif".into(), bytes: GIF.into() };
    let WholeFile { spec: file, size, .. } = image.checked("draw").unwrap();
    let mut files = Vec::new();
    for number in [41, 42] {
        let id = AttachmentId::new(at(5), number);
        let record = FileRecord::new(id, studio.space, &file, Some(run.agent_id), at(5));
        store.attachments().create(&record, None).await.unwrap();
        store.attachments().checked(&record, &Ok(size)).await.unwrap();
        let record = store.attachments().get(studio.space, id).await.unwrap();
        let label = format!("From draw: {id}");
        files.push(CallFile { space_id: studio.space, label, file: record.named() });
        if number == 41 {
            store.attachments().drop_any(&record, at(6)).await.unwrap();
        }
    }
    let done = CallRecord {
        status: CallStatus::Completed,
        output: json!(1),
        card: Some(card_ref),
        files,
        ..begun
    };
    store.steps().store_call(run, &studio.lease, &done, None, at(6)).await.unwrap();
    let shown = store.messages().record(studio.space, card_ref.seq).await.unwrap().unwrap();
    assert!(!shown.is_open(), "{shown:?}");
    let deleted: Vec<_> = shown.files.iter().map(|file| file.part.deleted).collect();
    assert_eq!(deleted, [true, false]);
    let other = store.attachments().get(studio.space, AttachmentId::new(at(5), 42)).await.unwrap();
    assert_eq!(other.named, [card_ref.seq]);
}

#[tokio::test(start_paused = true)]
async fn a_result_is_stored_even_if_the_space_of_its_card_is_deleted() {
    let studio = Box::pin(Studio::with_fault(None)).await;
    let store = &studio.store;
    let run = &studio.runs[0];
    let begun = CallRecord { is_external: true, ..studio.call(0, CallStatus::Pending) };
    let card_ref = studio.show(card(&begun), begun.clone()).await.open_card.unwrap();
    // The space and its messages are deleted, but the run continues, as if another space had
    // triggered it.
    store.spaces().delete(studio.space, &LeaseId::new(32), at(5)).await.unwrap();
    assert!(store.spaces().clear(studio.space, 1_000).await.unwrap());
    let done = CallRecord {
        status: CallStatus::Completed,
        output: json!(1),
        card: Some(card_ref),
        ..begun
    };
    store.steps().store_call(run, &studio.lease, &done, None, at(6)).await.unwrap();
    let stored = store.steps().calls_of(run.id, 0).await.unwrap();
    assert_eq!(stored[0].status, CallStatus::Completed);
    assert_eq!(store.calls().card(&card_ref).await.unwrap(), None);
}
