//! Extends the expiry of the items of a run that waits for people again and again.

use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use serde::Deserialize;
use smartspace_domain::Time;

use crate::{
    Result, Steps,
    runs::{RunRecord, prompts::PromptRecord},
    table::{
        Query, key_of,
        keys::{self, Key},
        read,
        write::Write,
    },
};

const DAY: Duration = Duration::from_hours(24);
/// How many items are written at once.
const AT_ONCE: usize = 16;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Expiring {
    expires_at: Option<i64>,
}

impl Steps<'_> {
    /// Moves the expiry of the items of a run, and of the parts of its prompt, as if they were
    /// written now. A wait takes a week at most, but one run may wait several times, and what it
    /// did before must not expire meanwhile. A run that has begun lately needs nothing.
    pub async fn extend_expiry(self, run: &RunRecord, now: Time) -> Result<()> {
        let Some(retention) = self.store.run_retention else { return Ok(()) };
        let Some(until) = self.store.work_expiry(now) else { return Ok(()) };
        // Items are stored for a week longer than this.
        if now.since(run.created_at) < retention.min(DAY) / 2 {
            return Ok(());
        }
        let run = run.id;
        let mut expiring: Vec<Key> = Vec::new();
        for item in self.store.table.all(Query::of(keys::run(run))).await? {
            let key = key_of(&item)?;
            let expires_at = read::<Expiring>(item.clone())?.expires_at;
            if expires_at.is_some_and(|at| at < until) {
                expiring.push(key.clone());
            }
            if key == keys::run_prompt(run) {
                let prompt: PromptRecord = read(item)?;
                expiring.extend(prompt.parts().map(keys::prompt_part));
            }
        }
        let writes = stream::iter(expiring).map(|key| async move {
            let write = Write::update(key, "SET #expiresAt = :until")
                .when("#expiresAt < :until")
                .value(":until", until)?;
            self.store.table.write_where_it_holds(write).await
        });
        writes.buffer_unordered(AT_ONCE).try_collect().await
    }
}
