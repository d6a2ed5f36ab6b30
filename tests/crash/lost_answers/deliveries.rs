//! Faults in the writes of webhook deliveries.

use serde_json::json;
use smartspace_domain::ids::DeliveryId;
use smartspace_store::{
    deliveries::{NewDelivery, Received},
    table::pages::PageRequest,
};

use crate::crash::lost_answers::{
    at,
    faults::{Fault, assert_same_success},
    post_key,
    studio::Studio,
};

/// A service sends deliveries and repeats one, and the operator replays one. Returns the results
/// with the contents of the table, and the number of writes.
async fn path_of_deliveries(fault: Option<(usize, Fault)>) -> (String, usize) {
    let studio = Box::pin(Studio::with_fault(fault)).await;
    let store = &studio.store;
    let agent = studio.admin;
    let sent = |number: u128, key: &str| NewDelivery {
        id: DeliveryId::new(at(3), number),
        agent,
        service: "jira".into(),
        key: key.into(),
        also: None,
        payload: json!({"issue": key}),
        bytes: 20,
        chain_depth: 1,
        post_key: None,
        by_hand: false,
    };
    let first = NewDelivery { also: Some("signature".into()), ..sent(1, "a") };
    let key = Some(post_key("delivery"));
    let deliveries = [
        (first.clone(), 4),
        // Two repetitions: one with the same key, and one with the same signature.
        (NewDelivery { id: DeliveryId::new(at(5), 2), ..first.clone() }, 5),
        (NewDelivery { id: DeliveryId::new(at(6), 3), key: "b".into(), ..first }, 6),
        (NewDelivery { post_key: key.clone(), by_hand: true, ..sent(4, "c") }, 7),
        (NewDelivery { post_key: key, by_hand: true, ..sent(5, "d") }, 8),
        (NewDelivery { chain_depth: 99, ..sent(6, "e") }, 9),
    ];
    let mut received: Vec<Received> = Vec::new();
    for (new, second) in &deliveries {
        received.push(store.deliveries().receive(new, at(*second)).await.unwrap());
    }
    let ids: Vec<_> = received.iter().map(|received| received.id).collect();
    let [one, other, last] = [1, 4, 6].map(|number| DeliveryId::new(at(3), number));
    assert_eq!(ids, [one, one, one, other, other, last]);
    let triggered: Vec<_> = received.iter().map(|received| received.triggered.is_some()).collect();
    assert_eq!(triggered, [true, false, false, true, false, false]);
    assert_eq!(received[1].run_id, received[0].run_id);

    let mut triggers = Vec::new();
    for run in received.iter().filter_map(|received| received.triggered.as_deref()) {
        let record = store.runs().record(run.id).await.unwrap();
        triggers.push((record, store.triggers().of(run).await.unwrap()));
    }
    let mut listed =
        store.deliveries().list(agent, None, None, &PageRequest::default()).await.unwrap();
    listed.items.sort_by_key(|delivery| delivery.id);
    let (stored, writes) = studio.outcome().await;
    (format!("{received:#?} {triggers:#?} {listed:#?} {stored}"), writes)
}

#[tokio::test(start_paused = true)]
async fn deliveries_survive_a_fault_of_any_write() {
    assert_same_success(path_of_deliveries, 6).await;
}
