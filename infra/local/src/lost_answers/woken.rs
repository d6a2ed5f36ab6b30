//! The same for what wakes agents without a space: plans and what services send.

use smartspace_domain::{
    Error,
    ids::{DeliveryId, PlanId, RunId},
    plans::{Plan, PlanStatus},
};
use smartspace_store::{
    deliveries::{NewDelivery, Received},
    kept::{self, ByCall},
    pages::Ask,
    plans::{Fired, SetPlan},
};

use super::{forms::Governed, *};

/// The time of the cron plan: the next minute that begins.
const CRON_AT: i64 = 60;

fn plan_id(number: u128) -> PlanId {
    PlanId::new(at(0), number)
}

fn set(number: u128, known: bool, change: serde_json::Value) -> SetPlan {
    SetPlan { id: plan_id(number), known, change: read(change), chain_depth: 1, max_chain_depth: 5, pointer: String::new() }
}

fn once(number: u128) -> SetPlan {
    set(number, false, json!({"name": format!("Once {number}"), "instruction": "Say hello.", "runAfter": "30 seconds"}))
}

fn each_minute(number: u128) -> SetPlan {
    set(number, false, json!({"name": format!("Each {number}"), "instruction": "Say hello.", "cron": "* * * * *"}))
}

fn key(key: &str) -> PostKey {
    PostKey::new("operator", "POST", "/", key, b"body")
}

fn fired(told: &Result<Fired, Error>) -> Option<&RunRecord> {
    match told {
        Ok(Fired::Now(run, _)) => Some(run),
        _ => None,
    }
}

/// A run, a request and a request with a key set, change and drop plans. What each was told, what is kept, and how many writes it took.
async fn way_of_setting(fault: Option<(usize, Fault)>) -> (String, usize) {
    let governed = Box::pin(Governed::until(fault)).await;
    let (store, agent) = (&governed.store, governed.admin);
    let call = |index| governed.call(index, CallStatus::Completed);
    let by_run = |index, output: fn(&[Plan]) -> serde_json::Value| {
        kept::By::Run(Box::new(ByCall { run: governed.runs[0].id, lease: governed.lease.clone(), call: call(index), output }))
    };
    let posted =
        |token, number| kept::By::Post(LeaseId::new(token), Box::new(key("plan").write(&plan_id(number).to_string(), at(6)).unwrap()));
    let request = |token| kept::By::Request(LeaseId::new(token));
    let renamed = set(2, true, json!({"name": "Renamed"}));
    let resting = set(2, true, json!({"status": "paused"}));
    let told = (
        store.set_plans(agent, &[once(1), each_minute(2)], &by_run(0, |made| json!(made)), at(4)).await,
        store.set_plans(agent, &[renamed, once(3)], &by_run(1, |made| json!(made)), at(5)).await,
        store.set_plans(agent, &[each_minute(4)], &posted(41, 4), at(6)).await,
        store.made_before::<PlanId>(Some(&key("plan")), at(7)).await,
        store.set_plans(agent, &[resting], &request(42), at(8)).await,
        store.delete_plans(agent, &[plan_id(3), plan_id(9)].into(), &kept::By::Request(LeaseId::new(43))).await.map(|_| "deleted"),
    );
    // Somebody else with the same key, at the same time.
    let late = store.set_plans(agent, &[each_minute(5)], &posted(44, 5), at(9)).await;
    assert!(matches!(late, Err(Error::Conflict(_))), "{late:?}");
    let plans = store.plans(agent, &Ask::default()).await.unwrap();
    let (kept, writes) = governed.kept().await;
    (format!("{told:#?} {plans:#?} {kept}"), writes)
}

/// Plans fire, for one time and by cron, each alarm coming twice, and are run by hand. What each was told, what is kept, and how many writes it took.
async fn way_of_firing(fault: Option<(usize, Fault)>) -> (String, usize) {
    let governed = Box::pin(Governed::until(fault)).await;
    let (store, agent) = (&governed.store, governed.admin);
    let request = kept::By::Request(LeaseId::new(41));
    store.set_plans(agent, &[once(1), each_minute(2), each_minute(3)], &request, at(0)).await.unwrap();

    let (single, minutely) = (plan_id(1), plan_id(2));
    let mut told = Vec::new();
    told.push(store.fire_plan(agent, single, at(30), at(29)).await);
    assert!(fired(&told[0]).is_none(), "too early: {told:#?}");
    told.push(store.fire_plan(agent, single, at(30), at(31)).await);
    let again = store.fire_plan(agent, single, at(30), at(32)).await;
    assert!(matches!(again, Ok(Fired::Never)), "it is over: {again:?}");
    told.push(store.fire_plan(agent, minutely, at(CRON_AT), at(CRON_AT)).await);
    let again = store.fire_plan(agent, minutely, at(CRON_AT), at(CRON_AT + 1)).await;
    assert!(matches!(again, Ok(Fired::Never)), "it has another time: {again:?}");
    // The alarm of the next one comes late.
    told.push(store.fire_plan(agent, minutely, at(CRON_AT + 60), at(CRON_AT + 200)).await);
    let runs: Vec<RunRecord> = told.iter().filter_map(fired).cloned().collect();
    assert_eq!(runs.len(), 3, "{told:#?}");

    let by_hand = [
        store.run_plan(agent, minutely, (by_hand_at(301), 0), None, at(301)).await,
        store.run_plan(agent, minutely, (by_hand_at(302), 0), Some(&key("run")), at(302)).await,
        store.run_plan(agent, minutely, (by_hand_at(303), 0), Some(&key("run")), at(303)).await,
    ];
    let by_hand = by_hand.map(Result::unwrap);
    assert_eq!(by_hand[1], by_hand[2], "the same key wakes once");
    let none = store.run_plan(agent, single, (by_hand_at(304), 0), None, at(304)).await;
    assert!(matches!(none, Err(Error::NotFound(_))), "{none:?}");

    // An agent that is paused is looked at again.
    let record = store.entity_record(agent).await.unwrap();
    let paused = json!({"model": {"provider": "scripted", "name": "m"}, "paused": true});
    store.change_entity(&record, read(json!({"type": "agent", "name": "Router", "agent": paused})), at(304)).await.unwrap();
    let late = store.fire_plan(agent, plan_id(3), at(CRON_AT), at(305)).await;
    let is_unknown =
        fault.is_some_and(|(_, fault)| matches!(fault, Fault::LostAnswer | Fault::LostAmongOthers)) && matches!(late, Ok(Fired::Never));
    assert!(is_unknown || matches!(late, Ok(Fired::Later(then)) if then == at(360)), "{late:?}");
    // Another alarm for the same time sets no second one.
    let again = store.fire_plan(agent, plan_id(3), at(CRON_AT), at(306)).await;
    assert!(matches!(again, Ok(Fired::Never)), "{again:?}");

    let mut triggers = Vec::new();
    for run in runs.iter().chain(&by_hand) {
        triggers.push((store.run_record(run.id).await.unwrap(), store.trigger_of(run).await.unwrap()));
    }
    let plans = store.plans(agent, &Ask::default()).await.unwrap();
    let (kept, writes) = governed.kept().await;
    (format!("{told:#?} {by_hand:#?} {triggers:#?} {plans:#?} {kept}"), writes)
}

#[tokio::test(start_paused = true)]
async fn a_plan_by_cron_that_lies_too_deep_is_paused_and_misses_nothing_meanwhile() {
    let governed = Box::pin(Governed::until(None)).await;
    let (store, agent) = (&governed.store, governed.admin);
    let set = async |set: SetPlan, token, second| {
        store.set_plans(agent, &[set], &kept::By::Request(LeaseId::new(token)), at(second)).await.unwrap().remove(0)
    };
    set(each_minute(2), 41, 0).await;
    let record = store.entity_record(agent).await.unwrap();
    let taking_nothing = json!({"model": {"provider": "scripted", "name": "m"}, "maxChainDepth": 0});
    store.change_entity(&record, read(json!({"type": "agent", "name": "Router", "agent": taking_nothing})), at(1)).await.unwrap();
    let fired = store.fire_plan(agent, plan_id(2), at(CRON_AT), at(CRON_AT)).await;
    assert!(matches!(fired, Ok(Fired::Never)), "{fired:?}");
    let plan = store.plan(agent, plan_id(2)).await.unwrap();
    assert_eq!((plan.status, plan.next_run_at), (PlanStatus::Paused, None));
    let plan = set(self::set(2, true, json!({"status": "active"})), 42, CRON_AT + 90).await;
    assert_eq!(plan.next_run_at, Some(at(CRON_AT + 120)));
}

/// A service calls, repeats itself, and an operator replays. What each was told, what is kept, and how many writes it took.
async fn way_of_a_delivery(fault: Option<(usize, Fault)>) -> (String, usize) {
    let governed = Box::pin(Governed::until(fault)).await;
    let (store, agent) = (&governed.store, governed.admin);
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
    let post_key = Some(key("delivery"));
    let ways = [
        (first.clone(), 4),
        // Repeated: by its key, and by what must be new besides.
        (NewDelivery { id: DeliveryId::new(at(5), 2), ..first.clone() }, 5),
        (NewDelivery { id: DeliveryId::new(at(6), 3), key: "b".into(), ..first }, 6),
        (NewDelivery { post_key: post_key.clone(), by_hand: true, ..sent(4, "c") }, 7),
        (NewDelivery { post_key, by_hand: true, ..sent(5, "d") }, 8),
        (NewDelivery { chain_depth: 99, ..sent(6, "e") }, 9),
    ];
    let mut told: Vec<Received> = Vec::new();
    for (new, seconds) in &ways {
        told.push(store.receive(new, at(*seconds)).await.unwrap());
    }
    let ids: Vec<_> = told.iter().map(|told| told.id).collect();
    let [one, other, last] = [1, 4, 6].map(|number| DeliveryId::new(at(3), number));
    assert_eq!(ids, [one, one, one, other, other, last]);
    let woken: Vec<_> = told.iter().map(|told| told.woken.is_some()).collect();
    assert_eq!(woken, [true, false, false, true, false, false], "each wakes once");
    assert_eq!(told[1].run_id, told[0].run_id);

    let mut triggers = Vec::new();
    for run in told.iter().filter_map(|told| told.woken.as_deref()) {
        triggers.push((store.run_record(run.id).await.unwrap(), store.trigger_of(run).await.unwrap()));
    }
    let mut listed = store.deliveries(agent, None, None, &Ask::default()).await.unwrap();
    listed.items.sort_by_key(|delivery| delivery.id);
    let (kept, writes) = governed.kept().await;
    (format!("{told:#?} {triggers:#?} {listed:#?} {kept}"), writes)
}

/// The same, where nothing of the way is refused; it takes at least `least` writes.
async fn succeeds_the_same(way: impl AsyncFn(Option<(usize, Fault)>) -> (String, usize), least: usize) {
    let (expected, writes) = ends_the_same(way).await;
    assert!(writes >= least && !expected.contains("Err("), "{writes}: {expected}");
}

/// A run by hand, in that second.
fn by_hand_at(second: i64) -> RunId {
    RunId::new(at(second), second as u128)
}

#[tokio::test(start_paused = true)]
async fn setting_plans_is_the_same_whichever_write_goes_wrong() {
    succeeds_the_same(way_of_setting, 5).await;
}

#[tokio::test(start_paused = true)]
async fn firing_plans_is_the_same_whichever_write_goes_wrong() {
    succeeds_the_same(way_of_firing, 8).await;
}

#[tokio::test(start_paused = true)]
async fn a_delivery_is_the_same_whichever_write_goes_wrong() {
    succeeds_the_same(way_of_a_delivery, 6).await;
}

#[tokio::test(start_paused = true)]
async fn a_run_by_hand_at_a_plans_very_time_neither_stops_it_nor_takes_anothers_key() {
    let governed = Box::pin(Governed::until(None)).await;
    let (store, agent, plan) = (&governed.store, governed.admin, plan_id(2));
    store.set_plans(agent, &[each_minute(2)], &kept::By::Request(LeaseId::new(41)), at(0)).await.unwrap();
    let one = store.run_plan(agent, plan, (by_hand_at(1), 0), Some(&key("one")), at(CRON_AT)).await.unwrap();
    let other = store.run_plan(agent, plan, (by_hand_at(2), 0), Some(&key("other")), at(CRON_AT)).await.unwrap();
    assert_ne!(one.id, other.id);
    for (made, name) in [(&one, "one"), (&other, "other")] {
        assert_eq!(store.run_plan(agent, plan, (by_hand_at(3), 0), Some(&key(name)), at(CRON_AT + 1)).await.as_ref(), Ok(made));
    }
    let fired = store.fire_plan(agent, plan, at(CRON_AT), at(CRON_AT)).await;
    assert!(matches!(fired, Ok(Fired::Now(_, Some(next))) if next == at(CRON_AT + 60)), "{fired:?}");
    assert_eq!(store.plan(agent, plan).await.unwrap().next_run_at, Some(at(CRON_AT + 60)), "it goes on");
}
