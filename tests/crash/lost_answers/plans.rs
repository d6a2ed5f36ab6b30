//! Faults in the writes of setting plans.

use std::collections::BTreeSet;

use serde_json::json;
use smartspace_domain::{
    Error,
    ids::{LeaseId, PlanId},
    plans::Plan,
    steps::CallStatus,
};
use smartspace_store::{
    agents::{
        plans::SetPlan,
        state::{self, ByCall},
    },
    table::pages::PageRequest,
};

use crate::crash::lost_answers::{
    at,
    faults::{Fault, assert_same_success},
    post_key, read,
    studio::Studio,
};

pub(crate) fn plan_id(number: u128) -> PlanId {
    PlanId::new(at(0), number)
}

pub(crate) fn set(number: u128, known: bool, change: serde_json::Value) -> SetPlan {
    SetPlan {
        id: plan_id(number),
        known,
        change: read(change),
        chain_depth: 1,
        max_chain_depth: 5,
        pointer: String::new(),
    }
}

pub(crate) fn once(number: u128) -> SetPlan {
    let name = format!("Once {number}");
    let plan = json!({"name": name, "instruction": "Say hello.", "runAfter": "30 seconds"});
    set(number, false, plan)
}

pub(crate) fn each_minute(number: u128) -> SetPlan {
    let name = format!("Each {number}");
    set(number, false, json!({"name": name, "instruction": "Say hello.", "cron": "* * * * *"}))
}

pub(crate) fn by_request<T>(token: u128) -> state::ChangedBy<T> {
    state::ChangedBy::Request(LeaseId::new(token))
}

/// A run, a request, and a request with a key set, change and delete plans. Returns the results
/// with the contents of the table, and the number of writes.
async fn path_of_setting_plans(fault: Option<(usize, Fault)>) -> (String, usize) {
    let studio = Box::pin(Studio::with_fault(fault)).await;
    let agent = studio.admin;
    let plans = studio.store.plans();
    let by_run = |index, output: fn(&[Plan]) -> serde_json::Value| {
        state::ChangedBy::Run(Box::new(ByCall {
            run: studio.runs[0].id,
            lease: studio.lease.clone(),
            call: studio.call(index, CallStatus::Completed),
            output,
        }))
    };
    let by_post = |token, number| {
        let key = post_key("plan").write(&plan_id(number).to_string(), at(6)).unwrap();
        state::ChangedBy::Post(LeaseId::new(token), Box::new(key))
    };
    let renamed = set(2, true, json!({"name": "Renamed"}));
    let paused = set(2, true, json!({"status": "paused"}));
    let deleted = BTreeSet::from([plan_id(3), plan_id(9)]);
    let results = (
        plans.set(agent, &[once(1), each_minute(2)], &by_run(0, |set| json!(set)), at(4)).await,
        plans.set(agent, &[renamed, once(3)], &by_run(1, |set| json!(set)), at(5)).await,
        plans.set(agent, &[each_minute(4)], &by_post(41, 4), at(6)).await,
        studio.store.idempotency().made_before::<PlanId>(Some(&post_key("plan")), at(7)).await,
        plans.set(agent, &[paused], &by_request(42), at(8)).await,
        plans.delete(agent, &deleted, &by_request(43)).await.map(|_| "deleted"),
    );
    // A concurrent request with the same key.
    let late = plans.set(agent, &[each_minute(5)], &by_post(44, 5), at(9)).await;
    assert!(matches!(late, Err(Error::Conflict(_))), "{late:?}");
    let listed = plans.list(agent, &PageRequest::default()).await.unwrap();
    let (stored, writes) = studio.outcome().await;
    (format!("{results:#?} {listed:#?} {stored}"), writes)
}

#[tokio::test(start_paused = true)]
async fn setting_plans_survives_a_fault_of_any_write() {
    assert_same_success(path_of_setting_plans, 5).await;
}
