//! How tests wait: for a condition, with a time limit, and never for a fixed time.

use std::{
    collections::HashMap,
    env,
    sync::{LazyLock, Mutex},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use serde_json::Value;
use tokio::time::sleep;

use crate::support::client::Client;

/// The limit for things that take a moment, even while other tests use the machine.
pub(crate) const SOON: Duration = Duration::from_secs(20);

/// The limit for what is stored for models to forget some deleted messages.
pub(crate) const FORGOTTEN: Duration = Duration::from_secs(90);
/// How many messages these are.
const SOME: u32 = 60;

/// How long after its end a canceled run may still store what its model had written.
const LATE: Duration = Duration::from_secs(16);

/// The limit, multiplied by `SMARTSPACE_TEST_PATIENCE`.
pub(crate) fn patient(limit: Duration) -> Duration {
    static PATIENCE: LazyLock<f64> = LazyLock::new(|| {
        env::var("SMARTSPACE_TEST_PATIENCE")
            .map_or(1.0, |text| text.parse().expect("SMARTSPACE_TEST_PATIENCE must be a number"))
    });
    limit.mul_f64(*PATIENCE)
}

/// Calls `look` until it returns something. Panics after the limit.
pub(crate) async fn wait_for<T>(
    what: &str,
    limit: Duration,
    look: impl AsyncFn() -> Option<T>,
) -> T {
    let started = Instant::now();
    let limit = patient(limit);
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(started.elapsed() < limit, "not within {limit:?}: {what}");
        sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until the day, in UTC, does not end within a minute. What a test counts by day is then of
/// one day.
pub(crate) async fn far_from_midnight() {
    const DAY: u64 = 24 * 60 * 60;
    const MARGIN: u64 = 60;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let left = DAY - now % DAY;
    if left <= MARGIN {
        sleep(Duration::from_secs(left + 1)).await;
    }
}

impl Client {
    /// Waits until a run has ended. Returns it with its steps.
    pub(crate) async fn ended(&self, run: &str, limit: Duration) -> Value {
        wait_for(&format!("the end of {run}"), limit, async || {
            let run = self.run(run).await;
            is_ended(&run).then_some(run)
        })
        .await
    }

    /// Waits until no record of these runs, which have ended, has this word, when so many messages
    /// were deleted. They forget some within a minute after the last run has stored anything.
    pub(crate) async fn forgotten(&self, word: &str, runs: Vec<String>, deleted: u64) {
        let limit = FORGOTTEN * (deleted as u32).div_ceil(SOME);
        let left = Mutex::new(runs);
        let began = Instant::now();
        wait_for("all runs forget the deleted texts", limit, async || {
            let looked_at = left.lock().unwrap().clone();
            let mut still = Vec::new();
            for run in looked_at {
                let record = self.run(&run).await;
                let is_late = record["status"] == "canceled" && began.elapsed() < LATE;
                if is_late || record.to_string().contains(word) {
                    still.push(run);
                }
            }
            let is_done = still.is_empty();
            *left.lock().unwrap() = still;
            is_done.then_some(())
        })
        .await;
    }

    /// Waits until each message of a space is dispatched and each run that one triggered has ended.
    pub(crate) async fn quiet(&self, space: &str) {
        self.quiet_within(space, Duration::from_secs(40)).await;
    }

    /// Like [`Self::quiet`], with another limit.
    pub(crate) async fn quiet_within(&self, space: &str, limit: Duration) {
        wait_for(&format!("{space} is quiet"), limit, async || {
            // Read the runs first: a run that has not ended by then may still post a message.
            let runs = self.runs_of(space).await;
            let all_ended = runs.iter().all(is_ended);
            let ended: HashMap<_, _> = runs.iter().map(|run| (run["id"].as_str(), run)).collect();
            let fine = all_ended
                && self.messages(space).await.iter().all(|message| {
                    let decisions = message["dispatch"].as_array();
                    decisions.is_some_and(|all| {
                        all.iter()
                            .filter_map(|one| one["runId"].as_str())
                            .all(|run| ended.contains_key(&Some(run)))
                    })
                });
            fine.then_some(())
        })
        .await;
    }
}

/// Whether a run has ended.
pub(crate) fn is_ended(run: &Value) -> bool {
    match run["status"].as_str() {
        Some("completed" | "failed" | "canceled") => true,
        Some("queued" | "running" | "waiting_tool") => false,
        other => panic!("unknown run status {other:?}: {run}"),
    }
}
