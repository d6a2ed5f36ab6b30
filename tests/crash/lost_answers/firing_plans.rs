//! Faults in the writes of plans that fire or are run by hand.

use serde_json::json;
use smartspace_domain::{Error, access::Caller, ids::RunId, plans::PlanStatus};
use smartspace_store::{
    agents::plans::Fired, entities::revisions::Made, runs::RunRecord, table::pages::PageRequest,
};

use crate::crash::lost_answers::{
    at,
    faults::{Fault, assert_same_success},
    plans::{by_request, each_minute, once, plan_id, set},
    post_key, read,
    studio::Studio,
};

/// The first time of a cron plan that is set in second 0.
const CRON_AT: i64 = 60;

/// The run that a plan started, if it fired.
fn started_run(fired: &Result<Fired, Error>) -> Option<&RunRecord> {
    match fired {
        Ok(Fired::Now(run, _)) => Some(run),
        _ => None,
    }
}

/// A one-time plan and cron plans fire, with each alarm coming twice, and one is run by hand.
/// Returns the results with the contents of the table, and the number of writes.
async fn path_of_firing_plans(fault: Option<(usize, Fault)>) -> (String, usize) {
    let studio = Box::pin(Studio::with_fault(fault)).await;
    let store = &studio.store;
    let agent = studio.admin;
    let all = [once(1), each_minute(2), each_minute(3)];
    store.plans().set(agent, &all, &by_request(41), at(0)).await.unwrap();

    let fired = fire_at_each_alarm(&studio).await;
    let runs: Vec<RunRecord> = fired.iter().filter_map(started_run).cloned().collect();
    assert_eq!(runs.len(), 3, "{fired:#?}");
    let by_hand = run_by_hand(&studio).await;
    pause_agent_and_fire(&studio, fault).await;

    let mut triggers = Vec::new();
    for run in runs.iter().chain(&by_hand) {
        let record = store.runs().record(run.id).await.unwrap();
        triggers.push((record, store.triggers().of(run).await.unwrap()));
    }
    let plans = store.plans().list(agent, &PageRequest::default()).await.unwrap();
    let (stored, writes) = studio.outcome().await;
    (format!("{fired:#?} {by_hand:#?} {triggers:#?} {plans:#?} {stored}"), writes)
}

/// Fires plan 1, which fires once, and plan 2, a cron plan.
async fn fire_at_each_alarm(studio: &Studio) -> Vec<Result<Fired, Error>> {
    let plans = studio.store.plans();
    let agent = studio.admin;
    let single = plan_id(1);
    let minutely = plan_id(2);
    let mut fired = Vec::new();
    fired.push(plans.fire(agent, single, at(30), at(29)).await);
    assert!(started_run(&fired[0]).is_none(), "too early: {fired:#?}");
    fired.push(plans.fire(agent, single, at(30), at(31)).await);
    let again = plans.fire(agent, single, at(30), at(32)).await;
    assert!(matches!(again, Ok(Fired::Never)), "a one-time plan fired twice: {again:?}");
    fired.push(plans.fire(agent, minutely, at(CRON_AT), at(CRON_AT)).await);
    let again = plans.fire(agent, minutely, at(CRON_AT), at(CRON_AT + 1)).await;
    assert!(matches!(again, Ok(Fired::Never)), "a cron plan fired twice: {again:?}");
    // The next alarm is late.
    fired.push(plans.fire(agent, minutely, at(CRON_AT + 60), at(CRON_AT + 200)).await);
    fired
}

/// Runs plan 2 by hand, twice with the same key. Plan 1 is gone.
async fn run_by_hand(studio: &Studio) -> [RunRecord; 3] {
    let plans = studio.store.plans();
    let agent = studio.admin;
    let single = plan_id(1);
    let minutely = plan_id(2);
    let key = post_key("run");
    let runs = [
        plans.run_now(agent, minutely, by_hand_at(301), 0, None, at(301)).await,
        plans.run_now(agent, minutely, by_hand_at(302), 0, Some(&key), at(302)).await,
        plans.run_now(agent, minutely, by_hand_at(303), 0, Some(&key), at(303)).await,
    ];
    let runs = runs.map(Result::unwrap);
    assert_eq!(runs[1], runs[2], "the same key started two runs");
    let gone = plans.run_now(agent, single, by_hand_at(304), 0, None, at(304)).await;
    assert!(matches!(gone, Err(Error::NotFound(_))), "{gone:?}");
    runs
}

/// Fires plan 3 while its agent is paused, which postpones it.
async fn pause_agent_and_fire(studio: &Studio, fault: Option<(usize, Fault)>) {
    change_agent(studio, json!({"paused": true}), 304).await;
    let plans = studio.store.plans();
    let plan = plan_id(3);
    let late = plans.fire(studio.admin, plan, at(CRON_AT), at(305)).await;
    // After a lost answer the repetition finds that the plan is already postponed.
    let is_repetition = fault
        .is_some_and(|(_, fault)| matches!(fault, Fault::LostAnswer | Fault::LostAmongOthers))
        && matches!(late, Ok(Fired::Never));
    assert!(is_repetition || matches!(late, Ok(Fired::Later(then)) if then == at(360)), "{late:?}");
    let again = plans.fire(studio.admin, plan, at(CRON_AT), at(306)).await;
    assert!(matches!(again, Ok(Fired::Never)), "a second alarm postponed it again: {again:?}");
}

/// Changes the settings of the admin agent.
async fn change_agent(studio: &Studio, more: serde_json::Value, second: i64) {
    let entities = studio.store.entities();
    let record = entities.record(studio.admin).await.unwrap();
    let mut agent = json!({"model": {"provider": "scripted", "name": "m"}});
    agent.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let settings = read(json!({"type": "agent", "name": "Router", "agent": agent}));
    let made = Made::by_api(Caller::Operator);
    entities.change(&record, settings, &made, at(second)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_cron_plan_beyond_the_chain_depth_is_paused_and_does_not_catch_up_later() {
    let studio = Box::pin(Studio::with_fault(None)).await;
    let plans = studio.store.plans();
    let agent = studio.admin;
    plans.set(agent, &[each_minute(2)], &by_request(41), at(0)).await.unwrap();
    change_agent(&studio, json!({"maxChainDepth": 0}), 1).await;
    let fired = plans.fire(agent, plan_id(2), at(CRON_AT), at(CRON_AT)).await;
    assert!(matches!(fired, Ok(Fired::Never)), "{fired:?}");
    let plan = plans.get(agent, plan_id(2)).await.unwrap();
    assert_eq!((plan.status, plan.next_run_at), (PlanStatus::Paused, None));
    let active = set(2, true, json!({"status": "active"}));
    let set = plans.set(agent, &[active], &by_request(42), at(CRON_AT + 90)).await.unwrap();
    assert_eq!(set[0].next_run_at, Some(at(CRON_AT + 120)));
}

/// The id of a run that is started by hand in this second.
fn by_hand_at(second: i64) -> RunId {
    RunId::new(at(second), second as u128)
}

#[tokio::test(start_paused = true)]
async fn firing_plans_survives_a_fault_of_any_write() {
    assert_same_success(path_of_firing_plans, 8).await;
}

#[tokio::test(start_paused = true)]
async fn a_run_by_hand_at_the_time_of_a_plan_does_not_stop_the_plan() {
    let studio = Box::pin(Studio::with_fault(None)).await;
    let plans = studio.store.plans();
    let agent = studio.admin;
    let plan = plan_id(2);
    plans.set(agent, &[each_minute(2)], &by_request(41), at(0)).await.unwrap();
    let run_now = async |id: i64, key: &str, second: i64| {
        plans.run_now(agent, plan, by_hand_at(id), 0, Some(&post_key(key)), at(second)).await
    };
    let one = run_now(1, "one", CRON_AT).await.unwrap();
    let other = run_now(2, "other", CRON_AT).await.unwrap();
    assert_ne!(one.id, other.id);
    for (run, key) in [(&one, "one"), (&other, "other")] {
        assert_eq!(run_now(3, key, CRON_AT + 1).await.as_ref(), Ok(run));
    }
    let fired = plans.fire(agent, plan, at(CRON_AT), at(CRON_AT)).await;
    assert!(
        matches!(fired, Ok(Fired::Now(_, Some(next))) if next == at(CRON_AT + 60)),
        "{fired:?}"
    );
    assert_eq!(plans.get(agent, plan).await.unwrap().next_run_at, Some(at(CRON_AT + 60)));
}
