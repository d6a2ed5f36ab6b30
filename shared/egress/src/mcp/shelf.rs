//! The lists of tools of servers, kept for a while.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use smartspace_domain::tools::McpServer;
use tokio::time::{Instant, timeout_at};

use super::{Listed, ListedTool, listing};
use crate::Egress;

/// How long a list is taken for what the server has.
const FRESH: Duration = Duration::from_mins(5);
/// How long a failure is taken for what would happen again.
const SORE: Duration = Duration::from_secs(10);
/// Nobody waits longer.
const LONGEST_WAIT: Duration = Duration::from_hours(1);
/// How many bytes all lists together may have. Those that nobody asked for for the longest time go first.
const MOST: usize = 32 * 1024 * 1024;
/// What an entry takes beside its tools, about.
const ENTRY: usize = 4 * 1024;

/// Lists by the settings of their servers.
#[derive(Default)]
pub(super) struct Shelf(Mutex<HashMap<Key, Kept>>);

/// All that an answer depends on. Which tools are allowed is applied later.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    name: String,
    url: String,
    headers: BTreeMap<String, String>,
    /// Who has little patience must not make others believe that a server is away.
    timeout_ms: u32,
}

struct Kept {
    entry: Arc<Entry>,
    asked_for: Instant,
    size: usize,
}

#[derive(Default)]
struct Entry {
    /// Held by the one who asks.
    asking: tokio::sync::Mutex<()>,
    known: Mutex<Known>,
}

#[derive(Clone, Default)]
struct Known {
    tools: Arc<[ListedTool]>,
    listed: Option<Instant>,
    failed: Option<(String, Instant)>,
}

impl Shelf {
    /// All tools of a server, see [`super::McpServers::tools`].
    pub(super) async fn tools(&self, egress: &Egress, server: &McpServer, limit: Duration) -> Listed {
        let end = Instant::now() + limit.min(LONGEST_WAIT);
        let key =
            Key { name: server.name.clone(), url: server.url.clone(), headers: server.headers.clone(), timeout_ms: server.timeout_ms };
        let entry = self.entry(&key);
        if let Some(listed) = entry.known().answer() {
            return listed;
        }
        let late = || format!("the server {} did not answer within {} s", server.name, limit.as_secs_f64());
        let Ok(asking) = timeout_at(end, entry.asking.lock()).await else {
            return Listed { tools: entry.known().tools, trouble: Some(late()) };
        };
        // Whoever asked before may have been told.
        if let Some(listed) = entry.known().answer() {
            return listed;
        }
        let read = timeout_at(end, listing::read(egress, server)).await.unwrap_or_else(|_| Err(late()));
        let (known, connection) = match read {
            Ok((tools, connection)) => {
                self.weigh(&key, tools.iter().map(weight).sum());
                (Known { tools, listed: Some(Instant::now()), failed: None }, Some(connection))
            }
            Err(trouble) => (Known { failed: Some((trouble, Instant::now())), ..entry.known() }, None),
        };
        *entry.known.lock().unwrap_or_else(PoisonError::into_inner) = known.clone();
        // What is known is known now, however long the farewell takes.
        drop(asking);
        if let Some(connection) = connection {
            let _ = timeout_at(end, connection.close()).await;
        }
        Listed { tools: known.tools, trouble: known.failed.map(|(trouble, _)| trouble) }
    }

    fn entry(&self, key: &Key) -> Arc<Entry> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if let Some(kept) = all.get_mut(key) {
            kept.asked_for = now;
            return Arc::clone(&kept.entry);
        }
        let entry = Arc::<Entry>::default();
        make_room(&mut all, ENTRY);
        all.insert(key.clone(), Kept { entry: Arc::clone(&entry), asked_for: now, size: ENTRY });
        entry
    }

    fn weigh(&self, key: &Key, size: usize) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(mut kept) = all.remove(key) {
            kept.size = ENTRY + size;
            make_room(&mut all, kept.size);
            all.insert(key.clone(), kept);
        }
    }
}

fn make_room(all: &mut HashMap<Key, Kept>, size: usize) {
    let mut taken: usize = all.values().map(|kept| kept.size).sum();
    while taken + size > MOST {
        let Some(oldest) = all.iter().min_by_key(|(_, kept)| kept.asked_for).map(|(key, _)| key.clone()) else { return };
        taken -= all.remove(&oldest).map_or(0, |kept| kept.size);
    }
}

/// What a tool takes, about.
fn weight(tool: &ListedTool) -> usize {
    tool.name.len() + tool.description.len() + tool.input_schema.len()
}

impl Entry {
    fn known(&self) -> Known {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Known {
    /// What can be said without asking.
    fn answer(self) -> Option<Listed> {
        if self.listed.is_some_and(|listed| listed.elapsed() < FRESH) {
            return Some(Listed { tools: self.tools, trouble: None });
        }
        let (trouble, failed) = self.failed?;
        (failed.elapsed() < SORE).then_some(Listed { tools: self.tools, trouble: Some(trouble) })
    }
}
