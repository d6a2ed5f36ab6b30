//! Remembers which revision of MCP each server speaks.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde_json::Value;
use smartspace_domain::tools::McpServer;
use tokio::time::Instant;

/// How long an answer of a server is valid without a `ttlMs`.
pub(super) const DEFAULT_TTL: Duration = Duration::from_mins(5);
/// The longest time for which an answer is valid. A server may ask for any.
const LONGEST_TTL: Duration = Duration::from_hours(1);
/// How many servers are remembered.
const MOST_SERVERS: usize = 1_000;

/// How a server is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lifecycle {
    /// Revision 2026-07-28: each request is complete, and there is no session.
    Stateless,
    /// Revisions 2025-11-25, 2025-06-18 and 2025-03-26: a handshake begins a session.
    Session,
}

/// What is known of servers, by their address and headers.
#[derive(Default)]
pub(super) struct Revisions(Mutex<HashMap<Key, Known>>);

type Key = (String, BTreeMap<String, String>);

struct Known {
    lifecycle: Lifecycle,
    until: Instant,
}

impl Revisions {
    pub(super) fn of(&self, server: &McpServer) -> Option<Lifecycle> {
        let all = self.all();
        let known = all.get(&key(server)).filter(|known| known.until > Instant::now());
        known.map(|known| known.lifecycle)
    }

    pub(super) fn remember(&self, server: &McpServer, lifecycle: Lifecycle, ttl: Duration) {
        let now = Instant::now();
        let mut all = self.all();
        if all.len() >= MOST_SERVERS {
            all.retain(|_, known| known.until > now);
        }
        if all.len() >= MOST_SERVERS {
            all.clear();
        }
        all.insert(key(server), Known { lifecycle, until: now + ttl });
    }

    pub(super) fn forget(&self, server: &McpServer) {
        self.all().remove(&key(server));
    }

    fn all(&self) -> MutexGuard<'_, HashMap<Key, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(server: &McpServer) -> Key {
    (server.url.clone(), server.headers.clone())
}

/// For how long a result of a server is valid, as the server says.
pub(super) fn ttl_of(result: &Value) -> Option<Duration> {
    let millis = result.get("ttlMs")?.as_u64()?;
    Some(Duration::from_millis(millis).min(LONGEST_TTL))
}
