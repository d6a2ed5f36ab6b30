//! How often each caller sends requests, counted for all processes together. Each request costs one
//! small write.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use smartspace_domain::{Time, rates::Rate};

use crate::{
    Rates,
    table::{WriteError, keys, write::Write},
};

/// How often a request races with others of the same caller before it is refused.
const TRIES: u32 = 8;
/// How many callers a process remembers.
const CALLERS: usize = 10_000;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RateRecord {
    full_at: Time,
    expires_at: i64,
}

/// When the buckets of callers are full again, as last seen by this process. This time only ever
/// moves forward, so a refusal based on an older time is still right.
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

impl Rates<'_> {
    /// Counts a request of the caller `who`.
    ///
    /// # Errors
    /// How long to wait, if the caller sends too many requests, or so many at once that this one
    /// loses every race to be counted. A failing table refuses nobody.
    pub async fn count_call(self, who: &str, rate: Rate, now: Time) -> Result<(), Duration> {
        self.count_tokens(who, rate, 1, now).await
    }

    /// The same for a call that takes so many tokens.
    ///
    /// # Errors
    /// How long to wait, as for [`Self::count_call`].
    pub async fn count_tokens(
        self,
        who: &str,
        rate: Rate,
        tokens: u32,
        now: Time,
    ) -> Result<(), Duration> {
        let taken = self.count(who, now, |full_at| rate.take_tokens(full_at, tokens, now)).await?;
        if taken { Ok(()) } else { Err(rate.token() * tokens) }
    }

    /// Counts `calls` of the caller `who` that have already happened. If it loses every race to be
    /// counted, others of the same caller were counted meanwhile.
    pub async fn charge(self, who: &str, rate: Rate, calls: u32, now: Time) {
        let owed = self.count(who, now, |full_at| Ok(rate.owe(full_at, calls, now))).await;
        debug_assert!(owed.is_ok(), "a debt is never refused");
    }

    /// Moves the time at which the bucket of `who` is full. Returns false if it loses every race.
    async fn count(
        self,
        who: &str,
        now: Time,
        moved: impl Fn(Option<Time>) -> Result<Time, Duration>,
    ) -> Result<bool, Duration> {
        for tries in 0..TRIES {
            let seen = self.store.rates.of(who);
            let full_at = moved(seen)?;
            let record =
                RateRecord { full_at, expires_at: (full_at + Duration::from_mins(1)).as_seconds() };
            let write = Write::put(keys::rate(who), &record).and_then(|write| match seen {
                Some(seen) => write.when("#fullAt = :seen").value(":seen", seen),
                None => {
                    write.when("attribute_not_exists(PK) OR #fullAt <= :now").value(":now", now)
                }
            });
            let error = match write.map_err(WriteError::Other) {
                Ok(write) => match self.store.table.write(write).await {
                    Ok(_) => {
                        self.store.rates.saw(who, Some(full_at));
                        return Ok(true);
                    }
                    Err(WriteError::Refused(refusal)) => {
                        // Another process has counted a request, or the item of a full bucket has
                        // expired.
                        let existing = refusal.existing::<RateRecord>(&keys::rate(who));
                        self.store.rates.saw(who, existing.map(|record| record.full_at));
                        self.store.table.pause(tries).await;
                        continue;
                    }
                    Err(WriteError::Other(error)) => error,
                },
                Err(WriteError::Other(error)) => error,
                Err(WriteError::Refused(_)) => return Ok(true),
            };
            tracing::warn!(%error, "a request could not be counted");
            return Ok(true);
        }
        Ok(false)
    }
}
