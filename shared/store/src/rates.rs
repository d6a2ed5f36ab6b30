//! How often someone calls, counted for all processes together: one small write a call.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use smartspace_domain::{Time, rates::Rate};

use crate::{Store, keys, table::WriteError, write::Write};

/// How often a call races with others of the same caller before it is let pass.
const TRIES: usize = 5;
/// Callers that a process remembers.
const CALLERS: usize = 10_000;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RateRecord {
    full_at: Time,
    expires_at: i64,
}

/// When the buckets of callers are full again, as far as this process has seen. That only ever moves on, so whoever is refused by it is refused.
#[derive(Debug, Default)]
pub(crate) struct RatesSeen(Mutex<HashMap<String, Time>>);

impl RatesSeen {
    fn of(&self, who: &str) -> Option<Time> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(who).copied()
    }

    fn saw(&self, who: &str, full_at: Option<Time>) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= CALLERS {
            seen.clear();
        }
        match full_at {
            Some(full_at) => seen.insert(who.to_owned(), full_at),
            None => seen.remove(who),
        };
    }
}

impl Store {
    /// Counts a call of `who`.
    ///
    /// # Errors
    /// How long to wait, where it calls too often. Trouble of the table refuses nobody.
    pub async fn call_of(&self, who: &str, rate: Rate, now: Time) -> Result<(), Duration> {
        for _ in 0..TRIES {
            let seen = self.rates.of(who);
            let full_at = rate.take(seen, now)?;
            let record = RateRecord { full_at, expires_at: (full_at + Duration::from_mins(1)).as_seconds() };
            let write = Write::put(keys::rate(who), &record).and_then(|write| match seen {
                Some(seen) => write.when("#fullAt = :seen").value(":seen", seen),
                None => write.when("attribute_not_exists(PK) OR #fullAt <= :now").value(":now", now),
            });
            let error = match write.map_err(WriteError::Other) {
                Ok(write) => match self.table.write(write).await {
                    Ok(_) => {
                        self.rates.saw(who, Some(full_at));
                        return Ok(());
                    }
                    Err(WriteError::Refused(refusal)) => {
                        // Another process has counted a call, or the bucket was dropped, being full.
                        let there = refusal.there::<RateRecord>(&keys::rate(who));
                        self.rates.saw(who, there.map(|there| there.full_at));
                        continue;
                    }
                    Err(WriteError::Other(error)) => error,
                },
                Err(WriteError::Other(error)) => error,
                Err(WriteError::Refused(_)) => return Ok(()),
            };
            tracing::warn!(%error, "a call could not be counted");
            return Ok(());
        }
        Ok(())
    }
}
