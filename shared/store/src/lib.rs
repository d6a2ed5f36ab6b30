//! The table: the one way to read and write what is kept.
//!
//! [`keys`] names every item. [`table`] is the thin layer over the SDK, [`write`] builds conditional writes. Above them one file per
//! aggregate, each an `impl Store`: [`entities`] with [`acquaintances`], [`memories`], [`goals`] and [`plans`] with [`kept`], [`spaces`] with [`members`],
//! [`messages`] with [`append`], [`summaries`], [`runs`] with [`triggers`], [`claims`], [`steps`] with [`prompts`], [`cards`] with [`forms`], [`delegations`], and [`endings`],
//! [`deliveries`], [`minutes`] and [`rates`], [`connections`], [`due`]. No type of the SDK crosses out of this crate, but the client that is handed in.
//!
//! Reading is consistent, except that an index finds candidates and the base item decides. What has expired counts as gone.

pub mod acquaintances;
pub mod append;
pub mod cards;
pub mod claims;
pub mod connections;
pub mod delegations;
pub mod deliveries;
pub mod due;
pub mod endings;
pub mod entities;
pub mod forms;
pub mod goals;
mod json_text;
pub mod kept;
pub mod keys;
pub mod members;
pub mod memories;
pub mod messages;
mod minutes;
pub mod pages;
pub mod plans;
pub mod posted;
pub mod prompts;
mod rates;
pub mod refusal;
pub mod rosters;
pub mod runs;
pub mod schema;
pub mod spaces;
pub mod steps;
pub mod summaries;
pub mod table;
pub mod triggers;
pub mod write;

use std::{sync::Arc, time::Duration};

use smartspace_domain::{Time, ids::SpaceId};
use tokio::sync::{Mutex, MutexGuard};

pub use smartspace_domain::{Error, Result};

use crate::{minutes::MinutesSeen, prompts::KnownParts, rates::RatesSeen, rosters::RosterCache, table::Table};

/// Random bits, for jitter.
pub type Random = Arc<dyn Fn() -> u128 + Send + Sync>;

/// Everything that is kept.
#[derive(Clone)]
pub struct Store {
    table: Table,
    rosters: Arc<RosterCache>,
    turns: Arc<Turns>,
    parts: Arc<KnownParts>,
    minutes: Arc<MinutesSeen>,
    rates: Arc<RatesSeen>,
    keep_runs: Option<Duration>,
}

impl Store {
    /// The table `name` behind `client`. Ended runs are kept for `keep_runs`; for ever where none is given.
    pub fn new(client: aws_sdk_dynamodb::Client, name: impl Into<Arc<str>>, keep_runs: Option<Duration>, random: Random) -> Self {
        Self {
            table: Table::new(client, name.into(), random),
            rosters: Arc::default(),
            turns: Arc::default(),
            parts: Arc::default(),
            minutes: Arc::default(),
            rates: Arc::default(),
            keep_runs,
        }
    }

    /// When a run that ended `now` is dropped, in seconds as the table's TTL wants it.
    fn run_expiry(&self, now: Time) -> Option<i64> {
        self.keep_runs.map(|kept| (now + kept).as_seconds())
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}

/// Within one process, appends to a space take turns, first come first served: they would only race for the next number. Processes race still.
struct Turns([Mutex<()>; 256]);

impl Default for Turns {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }
}

impl Turns {
    /// Waits for a space's turn. Spaces may share one; that costs time, nothing else.
    async fn wait(&self, space: SpaceId) -> MutexGuard<'_, ()> {
        self.0[usize::from(space.part_of(u8::MAX))].lock().await
    }
}
