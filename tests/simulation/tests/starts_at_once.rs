//! Many runs of one agent that want their turn at the same moment, as after a restart under load.

use std::{
    future::ready,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use futures::future::join_all;
use serde_json::json;
use smartspace_domain::ids::LeaseId;
use smartspace_embedded_table::NAME;
use smartspace_store::{
    Store,
    runs::claims::Claim,
    table::{
        database::{Batch, Database, Failure, TransactFailure},
        dynamodb::DynamoDb,
        keys::Key,
        query::{Page, Query},
        write::{Item, WriteCall},
    },
};
use tokio::time::sleep;

use crate::small_space::{SmallSpace, start};

/// A database whose calls all take 30 milliseconds.
#[derive(Debug)]
struct Slow(DynamoDb);

impl Slow {
    async fn call<T>(&self, call: impl Future<Output = T>) -> T {
        sleep(Duration::from_millis(30)).await;
        call.await
    }
}

#[async_trait]
impl Database for Slow {
    async fn get(&self, key: Key) -> Result<Option<Item>, Failure> {
        self.call(self.0.get(key)).await
    }

    async fn get_batch(&self, keys: Vec<Key>) -> Result<Batch, Failure> {
        self.call(self.0.get_batch(keys)).await
    }

    async fn query(&self, query: Query) -> Result<Page, Failure> {
        self.call(self.0.query(query)).await
    }

    async fn write(&self, call: WriteCall) -> Result<Option<Item>, Failure> {
        self.call(self.0.write(call)).await
    }

    async fn transact(&self, calls: Vec<WriteCall>) -> Result<(), TransactFailure> {
        self.call(self.0.transact(calls)).await
    }
}

#[tokio::test(start_paused = true)]
async fn each_of_many_runs_starts_or_waits() {
    const RUNS: u128 = 150;
    let budget = json!({"runsPerMinute": 1_000});
    let config = json!({
        "model": {"provider": "openai", "name": "m"},
        "concurrency": {"maxRuns": 3, "mode": "parallel"},
        "budget": budget,
    });
    let members = [
        json!({"type": "human", "name": "Husam"}),
        json!({"type": "agent", "name": "Ada", "agent": config}),
    ];
    let space = SmallSpace::new(json!({"name": "Team", "budget": budget}), members).await;
    let mut runs = Vec::new();
    for number in 0..RUNS {
        let appended = space.post(number).await;
        runs.push(appended.message.dispatch.unwrap()[0].run_id.unwrap());
    }
    let slow = Slow(DynamoDb::new(space.client.clone(), NAME));
    let drawn = AtomicU64::new(0);
    let random = move || u128::from(drawn.fetch_add(7_919, Ordering::Relaxed));
    let store = Store::on(Arc::new(slow), None, Arc::new(random));
    let claims = runs.iter().map(async |run| {
        let run = store.runs().record(*run).await.unwrap().to_ref();
        let lease = LeaseId(format!("worker of {}", run.run_id));
        store.runs().claim(&run, &lease, start(), ready(None)).await
    });
    let claims: Vec<Claim> = join_all(claims).await.into_iter().map(Result::unwrap).collect();
    let ours = claims.iter().filter(|claim| matches!(claim, Claim::Ours { .. })).count();
    let wait = claims.iter().filter(|claim| matches!(claim, Claim::NotYet { .. })).count();
    assert_eq!((ours, wait), (3, RUNS as usize - 3));
}
