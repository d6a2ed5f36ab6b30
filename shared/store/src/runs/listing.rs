//! Lists of runs, newest first: of an agent, of a space, or of all agents.
//!
//! The order is the one of ids: a run's id has the time of its trigger. The runs of all agents are
//! listed by day, and each day has several partitions, whose entries are merged.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use futures::future::try_join_all;
use serde_json::json;
use smartspace_domain::{
    Time,
    days::Day,
    ids::{EntityId, MessageId, RunId, SpaceId},
    limits::PAGE_BYTES,
    runs::{Run, RunStatus},
};

use crate::{
    Result, Runs,
    runs::{RunRecord, TriggeredBy},
    table::{
        Query,
        indexes::Index,
        key_of, keys,
        pages::{Page, PageRequest, bad_cursor, json_bytes},
    },
};

/// How many runs a page looks at. More are on the next page, even if this one is empty.
const LOOKED_AT: usize = 1_000;
/// How many index entries of a partition are read at once, if not all of their runs may fit.
const READ_AT_ONCE: usize = 100;
/// How many index entries of an agent are read at once, if all of them are wanted.
const AT_ONCE: usize = 1_000;
/// How many days without runs a page looks at.
const EMPTY_DAYS: usize = 31;
/// How far back a list goes that names no first time, if runs never expire.
const DAYS_BACK: u16 = 366;
/// How many days before the end of a run its trigger may lie.
const DAYS_AT_WORK: u16 = 14;
/// How long after a message the last retry of one of its runs may lie.
const RETRIES: Duration = Duration::from_secs(1);
/// How far the clocks of processes may differ.
const CLOCKS_DIFFER: Duration = Duration::from_mins(5);

/// Which runs are listed.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunFilter {
    /// With this status.
    pub status: Option<RunStatus>,
    /// Of this agent.
    pub agent: Option<EntityId>,
    /// Triggered by messages of this space.
    pub space: Option<SpaceId>,
    /// Triggered by this message.
    pub message: Option<MessageId>,
    /// With this chain depth or more.
    pub min_chain_depth: u32,
    /// Triggered at this time or later.
    pub since: Option<Time>,
    /// Triggered before this time.
    pub until: Option<Time>,
    /// No forks.
    pub without_forks: bool,
}

impl RunFilter {
    fn fits(&self, run: &RunRecord) -> bool {
        let message = match run.triggered_by {
            TriggeredBy::Message { message_id, .. } => Some(message_id),
            _ => None,
        };
        self.status.is_none_or(|status| run.status == status)
            && self.agent.is_none_or(|agent| run.agent_id == agent)
            && self.space.is_none_or(|space| run.space_id() == Some(space))
            && self.message.is_none_or(|wanted| message == Some(wanted))
            && run.chain_depth >= self.min_chain_depth
            && !(self.without_forks && run.fork_of().is_some())
    }

    /// Whether the runs themselves decide, and not only the index.
    fn needs_records(&self) -> bool {
        let both = self.agent.is_some() && self.space.is_some();
        self.status.is_some()
            || self.message.is_some()
            || self.min_chain_depth > 0
            || self.without_forks
            || both
    }

    /// The partition that has all runs of the filter, if there is one.
    fn partition(&self) -> Option<(Index, String)> {
        match (self.agent, self.space) {
            (Some(agent), _) => Some((Index::LISTS, keys::runs_of_agent(agent))),
            (None, Some(space)) => Some((Index::SPACE_RUNS, keys::runs_of_space(space))),
            (None, None) => None,
        }
    }
}

/// A part of the time that a list covers: from `first` on, and before `end`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    first: RunId,
    end: RunId,
}

impl Span {
    fn is_empty(self) -> bool {
        self.first >= self.end
    }

    fn last_day(self) -> Day {
        let last = self.end.time() - Duration::from_millis(1);
        Day::of(if self.end > start_of(self.end.time()) { self.end.time() } else { last })
    }
}

/// The smallest id with this time.
fn start_of(time: Time) -> RunId {
    RunId::new(time, 0)
}

impl Runs<'_> {
    /// The runs of a filter with their whole triggers, newest first.
    pub async fn list(
        self,
        filter: &RunFilter,
        request: &PageRequest,
        now: Time,
    ) -> Result<Page<Run>> {
        let (records, rest) = self.found(filter, request, now).await?;
        Ok(page(self.views(&records).await?, rest))
    }

    /// The same without the texts of the triggers, and with the hints of watchers.
    pub async fn list_short(
        self,
        filter: &RunFilter,
        request: &PageRequest,
        now: Time,
    ) -> Result<Page<Run>> {
        let (records, rest) = self.found(filter, request, now).await?;
        Ok(page(self.short_views(&records).await?, rest))
    }

    /// The runs of a filter, as many as a page may have, and the time that the next pages cover.
    pub(super) async fn found(
        self,
        filter: &RunFilter,
        request: &PageRequest,
        now: Time,
    ) -> Result<(Vec<RunRecord>, Span)> {
        let limit = request.limit()?;
        let mut span = self.span(filter, request, now)?;
        // If the index decides alone, a page needs no more entries than it has runs.
        let at_once = if filter.needs_records() { READ_AT_ONCE } else { limit };
        let mut records = Vec::new();
        let (mut looked_at, mut empty_days) = (0, 0);
        while !span.is_empty() && looked_at < LOOKED_AT && empty_days < EMPTY_DAYS {
            let Entries { ids, rest } = self.newest(filter, span, at_once).await?;
            empty_days = if ids.is_empty() { empty_days + 1 } else { 0 };
            looked_at += ids.len();
            span.end = rest;
            let found = self.records(ids).await?;
            records.extend(found.into_iter().filter(|record| filter.fits(record)));
            if records.len() >= limit {
                records.truncate(limit);
                span.end = records.last().map_or(rest, |last| last.id);
                break;
            }
        }
        Ok((records, span))
    }

    /// The runs of an agent whose trigger has this time or a later one, as the index shows them.
    pub(crate) async fn ids_since(self, agent: EntityId, since: Time) -> Result<Vec<RunId>> {
        let first = start_of(since);
        // No run has this id, and every id sorts before it.
        let mut end = RunId::new(Time::from_millis(i64::MAX >> 20), 0);
        let mut ids = Vec::new();
        loop {
            let partition = keys::runs_of_agent(agent);
            let found = self.entries(Index::LISTS, partition, Span { first, end }, AT_ONCE).await?;
            let is_all = found.len() < AT_ONCE;
            ids.extend(found);
            match ids.last() {
                Some(last) if !is_all => end = *last,
                _ => return Ok(ids),
            }
        }
    }

    /// The runs of an agent before `run`, newest first.
    pub(crate) async fn earlier_of_agent(
        self,
        run: &RunRecord,
        most: usize,
    ) -> Result<Vec<RunRecord>> {
        let partition = keys::runs_of_agent(run.agent_id);
        let span = Span { first: start_of(Time::default()), end: run.id };
        let ids = self.entries(Index::LISTS, partition, span, most).await?;
        let mut records = self.records(ids).await?;
        records.retain(|record| record.fork_of().is_none());
        Ok(records)
    }

    /// The time that a page may cover.
    fn span(self, filter: &RunFilter, request: &PageRequest, now: Time) -> Result<Span> {
        let oldest = match self.store.run_retention {
            _ if filter.partition().is_some() => Day::default(),
            Some(retention) => Day::of(now - retention).before(DAYS_AT_WORK),
            None => Day::of(now).before(DAYS_BACK),
        };
        let mut first = filter.since.unwrap_or_default().max(oldest.begin());
        let mut end = start_of(filter.until.unwrap_or(now + CLOCKS_DIFFER));
        if let Some(message) = filter.message {
            // The runs of a message have its time, and each retry is a millisecond later.
            first = first.max(message.time());
            end = end.min(start_of(message.time() + RETRIES));
        }
        if let Some(cursor) = &request.cursor {
            end = end.min(read_cursor(cursor)?);
        }
        Ok(Span { first: start_of(first), end })
    }

    /// The newest entries of a span.
    async fn newest(self, filter: &RunFilter, span: Span, most: usize) -> Result<Entries> {
        if let Some((index, partition)) = filter.partition() {
            let ids = self.entries(index, partition, span, most).await?;
            return Ok(Entries::new(ids, most, span.first));
        }
        let day = span.last_day();
        let of_day = Span { first: span.first.max(start_of(day.begin())), ..span };
        let parts = (0..keys::RUN_PARTS).map(|part| keys::runs_of_day(day, part));
        let found = parts.map(|part| self.entries(Index::RUNS, part, of_day, most));
        let mut ids: Vec<_> = try_join_all(found).await?.into_iter().flatten().collect();
        ids.sort_unstable_by(|one, other| other.cmp(one));
        Ok(Entries::new(ids, most, of_day.first))
    }

    /// The newest entries of a partition in a span.
    async fn entries(
        self,
        index: Index,
        partition: String,
        span: Span,
        most: usize,
    ) -> Result<Vec<RunId>> {
        // The end is not included, so one entry more is read.
        let query = Query::of_index(index, partition)
            .between(&span.first.to_string(), &span.end.to_string())
            .newest_first()
            .limit(most + 1);
        let mut ids = Vec::new();
        for item in self.store.table.all(query).await? {
            let key = key_of(&item)?;
            let id: Option<RunId> = key.pk.strip_prefix(keys::RUN).and_then(|id| id.parse().ok());
            ids.extend(id.filter(|id| *id < span.end));
        }
        ids.truncate(most);
        Ok(ids)
    }
}

/// A page of runs. It ends at 1 MiB.
pub(super) fn page(runs: Vec<Run>, rest: Span) -> Page<Run> {
    let mut items = Vec::with_capacity(runs.len());
    let mut bytes = 0;
    for run in runs {
        bytes += json_bytes(&run);
        if bytes > PAGE_BYTES
            && let Some(Run { id, .. }) = items.last()
        {
            return Page { next_cursor: Some(cursor(*id)), items };
        }
        items.push(run);
    }
    Page { items, next_cursor: (!rest.is_empty()).then(|| cursor(rest.end)) }
}

/// Entries of an index, newest first.
struct Entries {
    ids: Vec<RunId>,
    /// The others are before this id.
    rest: RunId,
}

impl Entries {
    /// The `most` newest of `ids`. If these are all, the others are before `first`.
    fn new(mut ids: Vec<RunId>, most: usize, first: RunId) -> Self {
        // Each partition gave its newest entries, so the newest ones of all are among these.
        let is_more = ids.len() >= most;
        ids.truncate(most);
        let rest = ids.last().copied().filter(|_| is_more).unwrap_or(first);
        Self { ids, rest }
    }
}

/// The cursor of the page whose runs are before this id. It is made like all others, because an
/// earlier version may read it.
fn cursor(before: RunId) -> String {
    let keys::Key { pk, sk } = keys::run_meta(before);
    URL_SAFE_NO_PAD.encode(json!([pk, sk, before]).to_string())
}

fn read_cursor(cursor: &str) -> Result<RunId> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| bad_cursor())?;
    let [_, _, before]: [String; 3] = serde_json::from_slice(&bytes).map_err(|_| bad_cursor())?;
    before.parse().map_err(|_| bad_cursor())
}
