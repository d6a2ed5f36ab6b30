//! Caches the tool lists of servers.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use smartspace_domain::tools::McpServer;
use tokio::time::{Instant, timeout_at};

use crate::Egress;
use crate::mcp::{
    Listed, ListedTool,
    listing::{self, ToolList},
    revisions::Revisions,
};

/// How long a failure is valid.
const NEGATIVE_TTL: Duration = Duration::from_secs(10);
const LONGEST_WAIT: Duration = Duration::from_hours(1);
/// Size limit for all lists together, in bytes. The least recently used lists are removed first.
const MAX_SIZE: usize = 32 * 1024 * 1024;
/// The approximate size of an entry without its tools.
const ENTRY_SIZE: usize = 4 * 1024;

/// Tool lists, by the settings of their servers.
#[derive(Default)]
pub(super) struct ToolListCache(Mutex<HashMap<Key, CachedList>>);

/// All settings that affect a list. The allowed tools are filtered later.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    name: String,
    url: String,
    headers: BTreeMap<String, String>,
    /// A caller with a short timeout must not cache a failure for callers with a longer one.
    timeout_ms: u32,
}

struct CachedList {
    entry: Arc<Entry>,
    last_used: Instant,
    size: usize,
}

#[derive(Default)]
struct Entry {
    /// Held while a request is under way.
    request: tokio::sync::Mutex<()>,
    known: Mutex<Known>,
}

#[derive(Clone, Default)]
struct Known {
    tools: Arc<[ListedTool]>,
    /// When the list was read, and how long it is valid.
    listed: Option<(Instant, Duration)>,
    failed: Option<(String, Instant)>,
}

impl ToolListCache {
    /// All tools of a server. See [`super::McpServers::tools`].
    pub(super) async fn tools(
        &self,
        egress: &Egress,
        revisions: &Revisions,
        server: &McpServer,
        limit: Duration,
    ) -> Listed {
        let end = Instant::now() + limit.min(LONGEST_WAIT);
        let key = Key {
            name: server.name.clone(),
            url: server.url.clone(),
            headers: server.headers.clone(),
            timeout_ms: server.timeout_ms,
        };
        let entry = self.entry(&key);
        if let Some(listed) = entry.known().valid() {
            return listed;
        }
        let late = || {
            format!("the server {} did not answer within {} s", server.name, limit.as_secs_f64())
        };
        let Ok(request) = timeout_at(end, entry.request.lock()).await else {
            return Listed { tools: entry.known().tools, trouble: Some(late()) };
        };
        // Another caller may have got the list while this one waited for the lock.
        if let Some(listed) = entry.known().valid() {
            return listed;
        }
        let read = timeout_at(end, listing::read(egress, revisions, server))
            .await
            .unwrap_or_else(|_| Err(late()));
        let (known, connection) = match read {
            Ok(ToolList { tools, ttl, connection }) => {
                self.set_size(&key, tools.iter().map(size_of_tool).sum());
                let listed = Some((Instant::now(), ttl));
                (Known { tools, listed, failed: None }, Some(connection))
            }
            Err(trouble) => {
                (Known { failed: Some((trouble, Instant::now())), ..entry.known() }, None)
            }
        };
        *entry.known.lock().unwrap_or_else(PoisonError::into_inner) = known.clone();
        // Other callers can use the list before the connection is closed.
        drop(request);
        if let Some(connection) = connection {
            let _ = timeout_at(end, connection.close()).await;
        }
        Listed { tools: known.tools, trouble: known.failed.map(|(trouble, _)| trouble) }
    }

    fn entry(&self, key: &Key) -> Arc<Entry> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if let Some(cached) = all.get_mut(key) {
            cached.last_used = now;
            return Arc::clone(&cached.entry);
        }
        let entry = Arc::<Entry>::default();
        make_room(&mut all, ENTRY_SIZE);
        let cached = CachedList { entry: Arc::clone(&entry), last_used: now, size: ENTRY_SIZE };
        all.insert(key.clone(), cached);
        entry
    }

    fn set_size(&self, key: &Key, size: usize) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(mut cached) = all.remove(key) {
            cached.size = ENTRY_SIZE + size;
            make_room(&mut all, cached.size);
            all.insert(key.clone(), cached);
        }
    }
}

fn make_room(all: &mut HashMap<Key, CachedList>, size: usize) {
    let mut used: usize = all.values().map(|cached| cached.size).sum();
    while used + size > MAX_SIZE {
        let Some(oldest) =
            all.iter().min_by_key(|(_, cached)| cached.last_used).map(|(key, _)| key.clone())
        else {
            return;
        };
        used -= all.remove(&oldest).map_or(0, |cached| cached.size);
    }
}

/// The approximate size of a tool, in bytes.
fn size_of_tool(tool: &ListedTool) -> usize {
    tool.name.len() + tool.description.len() + tool.input_schema.len()
}

impl Entry {
    fn known(&self) -> Known {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Known {
    /// The list or the failure, if it is still valid.
    fn valid(self) -> Option<Listed> {
        if self.listed.is_some_and(|(listed, ttl)| listed.elapsed() < ttl) {
            return Some(Listed { tools: self.tools, trouble: None });
        }
        let (trouble, failed) = self.failed?;
        (failed.elapsed() < NEGATIVE_TTL)
            .then_some(Listed { tools: self.tools, trouble: Some(trouble) })
    }
}
