//! The counters of budgets, step by step: what is reserved, settled and left behind.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;
use smartspace_domain::{
    Time,
    budgets::{Amount, BudgetScope, DailyLimit, ScopeBudget},
    days::Day,
};
use smartspace_embedded_table::NAME;
use smartspace_store::{limits::budget_counters::Reserved, table::keys};

use crate::small_space::{SmallSpace, start};

const BUDGET: ScopeBudget = ScopeBudget {
    scope: BudgetScope::Deployment,
    limit: DailyLimit { tokens: Some(100), nanodollars: None },
};

/// A table with nothing spent.
struct Counter(SmallSpace);

impl Counter {
    async fn new() -> Self {
        Self(SmallSpace::new(json!({"name": "Team"}), []).await)
    }

    async fn reserve(&self, id: &str, tokens: u64, now: Time) -> Reserved {
        let amount = Amount { tokens, nanodollars: 7 };
        self.0.store.budgets().reserve(&BUDGET, id, amount, now).await.unwrap()
    }

    /// Settles a call. Returns the tokens that are spent then, or `None` if it was settled before.
    async fn settle(&self, id: &str, reserved: u64, used: u64) -> Option<u64> {
        let amount = |tokens| Amount { tokens, nanodollars: 7 };
        let budgets = self.0.store.budgets();
        let settled =
            budgets.settle(BUDGET.scope, day(), id, amount(reserved), amount(used)).await.unwrap();
        settled.map(|spent| spent.amount.tokens)
    }

    /// The counter: its tokens, and the ids of its reservations.
    async fn read(&self) -> (String, Vec<String>) {
        let key = keys::budget(BUDGET.scope, day());
        let item = self
            .0
            .client
            .get_item()
            .table_name(NAME)
            .key("PK", AttributeValue::S(key.pk))
            .key("SK", AttributeValue::S(key.sk))
            .send()
            .await
            .unwrap()
            .item
            .unwrap();
        let ids = item.keys().filter_map(|name| name.strip_prefix("r_"));
        let mut ids: Vec<_> = ids.map(str::to_owned).collect();
        ids.sort();
        (item["tokens"].as_n().unwrap().clone(), ids)
    }
}

fn day() -> Day {
    Day::of(start())
}

fn ids(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

#[tokio::test]
async fn a_call_is_reserved_once_and_settled_once() {
    let counter = Counter::new().await;
    assert_eq!(counter.reserve("run_A_0_1", 60, start()).await, Reserved::Yes);
    // The answer to the first try was lost.
    assert_eq!(counter.reserve("run_A_0_1", 60, start()).await, Reserved::Yes);
    assert_eq!(counter.read().await, ("60".into(), ids(&["run_A_0_1"])));
    assert_eq!(counter.reserve("run_B_0_1", 41, start()).await, Reserved::NotNow);
    assert_eq!(counter.reserve("run_C_0_1", 101, start()).await, Reserved::Never);
    assert_eq!(counter.settle("run_A_0_1", 60, 59).await, Some(59));
    assert_eq!(counter.reserve("run_D_0_1", 42, start()).await, Reserved::No);
    assert_eq!(counter.settle("run_A_0_1", 60, 59).await, None);
    assert_eq!(counter.reserve("run_B_0_1", 41, start()).await, Reserved::Yes);
    assert_eq!(counter.read().await, ("100".into(), ids(&["run_B_0_1"])));
    // Another day has another counter.
    let tomorrow = day().next().begin();
    assert_eq!(counter.reserve("run_C_0_1", 100, tomorrow).await, Reserved::Yes);
    // A call may use more than was reserved.
    assert_eq!(counter.settle("run_B_0_1", 41, 50).await, Some(109));
}

#[tokio::test]
async fn a_worker_that_takes_over_settles_what_the_dead_one_left() {
    let counter = Counter::new().await;
    for id in ["run_A_0_1", "run_A_1_1", "run_B_0_1"] {
        assert_eq!(counter.reserve(id, 30, start()).await, Reserved::Yes);
    }
    let used = |call: &str| (call == "0_1").then_some(Amount { tokens: 5, nanodollars: 1 });
    let budgets = counter.0.store.budgets();
    budgets.settle_left(BUDGET.scope, day(), "run_A_", used).await.unwrap();
    // The call without a stored answer counts as reserved.
    assert_eq!(counter.read().await, ("65".into(), ids(&["run_B_0_1"])));
}

#[tokio::test]
async fn calls_that_nobody_settles_count_as_reserved_and_are_unlisted_after_twenty_minutes() {
    let counter = Counter::new().await;
    let at = |minutes| start() + Duration::from_mins(minutes);
    // More than one write can unlist.
    let dead: Vec<_> = (0..60).map(|number| format!("run_A_{number:02}_1")).collect();
    for id in &dead {
        assert_eq!(counter.reserve(id, 1, at(0)).await, Reserved::Yes);
    }
    assert_eq!(counter.reserve("run_B_0_1", 1, at(19)).await, Reserved::Yes);
    assert_eq!(counter.read().await.1.len(), 61);
    assert_eq!(counter.reserve("run_C_0_1", 1, at(20)).await, Reserved::Yes);
    assert_eq!(counter.read().await.1.len(), 12);
    assert_eq!(counter.reserve("run_D_0_1", 1, at(21)).await, Reserved::Yes);
    let left = ids(&["run_B_0_1", "run_C_0_1", "run_D_0_1"]);
    assert_eq!(counter.read().await, ("63".into(), left));
    assert_eq!(counter.settle(&dead[0], 1, 0).await, None);
}
