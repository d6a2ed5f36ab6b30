//! A redrive of old jobs: dead letters, and copies of jobs that were handled, arrive again after
//! the runs that they name have expired, and after their spaces were deleted. They must do nothing.

use std::{collections::BTreeSet, time::Duration};

use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::{deployment::Deployment, ledger::Violation, locked};

/// How much later the jobs arrive. Ended runs have expired by then.
const LATER: Duration = Duration::from_hours(60 * 24);
/// How long the jobs may take.
const DONE_WITHIN: Duration = Duration::from_mins(20);
/// A job that becomes visible later than this is an alarm.
const SOON: Duration = Duration::from_mins(2);
/// The kinds of items that come and go without a job's doing.
const TRANSIENT: [&str; 5] = ["RATE#", "STREAMS#", "TICKET#", "CONN#", "IDEM#"];

impl Deployment {
    /// Sends old jobs again, and returns what they did.
    pub async fn redrive(&self) -> BTreeSet<Violation> {
        let env = &self.env;
        // A service may have triggered a run just before.
        self.until_idle().await;
        let until = env.wall() + LATER;
        env.storage.delete_expired(until.as_seconds());
        env.set_clock(until);
        let before = keys(&env.storage.items());
        let requests = locked(&env.ledger).model_requests.len();
        let died = env.died_in_calm();
        env.history.note("deployment", || "sends old jobs again".into());
        env.runs.redrive();
        env.triggers.redrive();
        env.broadcasts.redrive();
        let is_done = self.until_idle().await;
        let mut found = std::mem::take(&mut locked(&env.ledger).violations);
        let mut report = |promise: u8, text: String| {
            env.history.note("oracle", || format!("promise {promise}: {text}"));
            found.insert((promise, text));
        };
        for key in keys(&env.storage.items()).difference(&before) {
            report(1, format!("an old job that was sent again created {key}"));
        }
        let asked = locked(&env.ledger).model_requests.len() - requests;
        if asked > 0 {
            report(3, format!("models were asked {asked} times for old jobs that were sent again"));
        }
        if !is_done || env.died_in_calm() > died {
            report(5, "an old job that was sent again fails again and again".into());
        }
        found
    }

    /// Waits until no job is delivered or about to be. Returns whether that came in time.
    async fn until_idle(&self) -> bool {
        let env = &self.env;
        let began = Instant::now();
        while began.elapsed() < DONE_WITHIN {
            sleep(Duration::from_secs(5)).await;
            if env.runs.is_idle(SOON) && env.triggers.is_idle(SOON) && env.broadcasts.is_idle(SOON)
            {
                return true;
            }
        }
        false
    }
}

/// The keys of all items that last.
fn keys(items: &[Value]) -> BTreeSet<String> {
    let key = |item: &Value| Some(format!("{}/{}", item["PK"].as_str()?, item["SK"].as_str()?));
    let lasts = |key: &String| !TRANSIENT.iter().any(|kind| key.starts_with(kind));
    items.iter().filter_map(key).filter(lasts).collect()
}
