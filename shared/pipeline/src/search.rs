//! Searches of messages: which spaces a caller may search, and what it finds there.
//!
//! A search reads a part of the messages, ranks all that it finds in it, and shows a page of that.
//! `plan` says which part, `scope` in which spaces, `reading` reads the part, and `page` reads what
//! is shown. The caller's memberships are read last: nothing is shown of a space that it
//! has left meanwhile.

mod page;
mod plan;
mod reading;
mod scope;

use std::{collections::BTreeMap, time::Duration};

use smartspace_domain::{
    Error, Result, Time,
    found::{
        SearchAnswer, Searched,
        cursor::{BoundTo, ITEMS_OF_PART, SearchCursor, SpaceRange},
        place::HitPlace,
    },
    ids::{EntityId, SpaceId},
    jobs::TriggerJob,
    search::{Joined, Query, Ranking, Sort, join},
};

use self::{
    plan::{Plan, plan},
    reading::SpaceReading,
};
use crate::Pipeline;

/// The items of an answer: the default and the maximum.
pub const SEARCH_ITEMS: (usize, usize) = (10, 20);
/// How long one call works. Later answers come too late for most callers.
const WORKS_FOR: Duration = Duration::from_secs(4);

/// Whose search it is, and which spaces it may search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchScope {
    /// A person, a guest or an agent on its own behalf: all spaces of which it is a member. If the
    /// query names spaces, only those.
    Member(EntityId),
    /// The operator: the spaces that the query names.
    Operator,
    /// The tool of an agent: these spaces, as far as it is still a member. If the query names
    /// spaces, only those of them.
    Agent { agent: EntityId, spaces: Vec<SpaceId> },
}

/// A query with the page of its hits that is wanted.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    pub query: Query,
    pub sort: Sort,
    /// How many items, from 1 to 20. `None` is 10.
    pub limit: Option<usize>,
    /// The `nextCursor` of an earlier answer.
    pub cursor: Option<String>,
}

impl SearchRequest {
    fn limit(&self) -> Result<usize> {
        let (default, most) = SEARCH_ITEMS;
        let limit = self.limit.unwrap_or(default);
        if !(1..=most).contains(&limit) {
            return Err(Error::invalid("/limit", format!("expected 1 to {most}, got {limit}")));
        }
        Ok(limit)
    }

    /// What the cursors of this search are bound to. A part is ranked as a whole, so the order
    /// belongs to it, too.
    fn bound_to(&self, scope: &SearchScope) -> BoundTo {
        BoundTo::of(&scope.caller().label(), &format!("{:?} {:?}", self.query, self.sort))
    }
}

impl Pipeline {
    /// Searches the messages of spaces. Rates are not counted here.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the query names a space that the caller is not in, or a sender that
    /// none of the spaces knows. [`Error::Invalid`] if the limit or the cursor is wrong, and for
    /// the operator without a space.
    pub async fn search(
        &self,
        scope: SearchScope,
        request: &SearchRequest,
    ) -> Result<SearchAnswer> {
        Box::pin(self.search_part(&scope, request)).await
    }

    async fn search_part(
        &self,
        scope: &SearchScope,
        request: &SearchRequest,
    ) -> Result<SearchAnswer> {
        let limit = request.limit()?;
        let until = self.now() + WORKS_FOR;
        let bound_to = request.bound_to(scope);
        let cursor = request.cursor.as_deref();
        let cursor = cursor.map(|text| SearchCursor::read(text, bound_to)).transpose()?;
        let mut query = request.query.clone();
        let spaces = self.searched_spaces(scope, &query).await?;
        self.find_senders(scope, &mut query, &spaces).await?;
        let Plan { spaces, rest } =
            plan(self.store.members().heads(&spaces).await?, cursor.as_ref());
        let last = cursor.as_ref().and_then(|cursor| cursor.last);
        let readings = self.read_part(&spaces, &query, last.is_some()).await?;
        self.build_blocks(&readings).await;
        let began = cursor.as_ref().map_or(self.now(), |cursor| cursor.began);
        let (readings, hits) = ranked(readings, &query, request.sort, began).await;
        let part = Part {
            passed: last.map_or(0, |last| last.passed(&hits, request.sort)),
            shown: cursor.map_or(0, |cursor| cursor.shown),
            has_own_order: request.sort == Sort::Relevance && query.has_words(),
            hits,
        };
        let (mut items, looked_at) = self.found_messages(part.page(limit), &query, until).await?;
        // Read last, so that a caller who leaves a space meanwhile sees nothing of it.
        let read: Vec<_> = readings.iter().map(|reading| reading.part.space).collect();
        let names = self.readable_spaces(scope.caller(), &read).await?;
        items.retain_mut(|item| match names.get(&item.space_id) {
            Some(name) => {
                item.space_name.clone_from(name);
                true
            }
            None => false,
        });
        let incomplete = rest.is_some() || readings.iter().any(SpaceReading::has_older);
        let next = match part.after(looked_at) {
            Some((shown, last)) => Some((shown, Some(last), same_part(&readings))),
            None => incomplete.then(|| (0, None, older_part(&readings))),
        };
        let next_cursor = next.map(|(shown, last, spaces)| {
            SearchCursor { bound_to, began, shown, last, spaces, rest }.to_text()
        });
        let searched = searched(&readings, &names);
        let ignored = request.query.ignored.clone();
        Ok(SearchAnswer { items, searched, incomplete, ignored, next_cursor })
    }

    /// Lets a job build the blocks that are missing. Without it, later searches read as many
    /// messages as this one, and nothing else depends on it.
    async fn build_blocks(&self, readings: &[SpaceReading]) {
        let mut jobs = Vec::new();
        for reading in readings.iter().filter(|reading| reading.lacks_blocks()) {
            let space_id = reading.part.space;
            match self.store.blocks().claim_building(space_id, self.now()).await {
                Ok(true) => jobs.push(TriggerJob::IndexMessages { space_id, below: None }),
                Ok(false) => {}
                Err(error) => tracing::warn!(%space_id, %error, "no job builds the blocks"),
            }
        }
        self.queue_triggers(jobs).await;
    }
}

/// All hits of a part in their order. It gives way to other tasks.
async fn ranked(
    mut readings: Vec<SpaceReading>,
    query: &Query,
    sort: Sort,
    now: Time,
) -> (Vec<SpaceReading>, Vec<Joined>) {
    let mut ranking = Ranking::new(query);
    for reading in &mut readings {
        for matches in std::mem::take(&mut reading.matches) {
            ranking.add(reading.part.space, matches);
            tokio::task::yield_now().await;
        }
    }
    let ordered = ranking.ordered(sort, now);
    tokio::task::yield_now().await;
    let hits = join(&ordered);
    (readings, hits)
}

/// All hits of what a call has read, and how many of them were shown.
struct Part {
    hits: Vec<Joined>,
    /// The hits before this one were shown, or would have been.
    passed: usize,
    /// How many items earlier pages had.
    shown: usize,
    /// Whether the order of hits depends on what the part has, so that a later part does not go on
    /// where this one ends.
    has_own_order: bool,
}

impl Part {
    /// How many hits may be shown from `passed` on.
    fn left(&self) -> usize {
        let left = self.hits.len().saturating_sub(self.passed);
        if self.has_own_order { left.min(ITEMS_OF_PART.saturating_sub(self.shown)) } else { left }
    }

    /// The hits of the next page.
    fn page(&self, limit: usize) -> &[Joined] {
        let end = self.passed + self.left().min(limit);
        self.hits.get(self.passed..end).unwrap_or_default()
    }

    /// What a cursor says after so many hits of the page: how many items were shown, and the last
    /// one. `None` if no others of the part are shown.
    fn after(&self, looked_at: usize) -> Option<(usize, HitPlace)> {
        if looked_at >= self.left() {
            return None;
        }
        let last = self.page(looked_at).last()?;
        Some(((self.shown + looked_at).min(ITEMS_OF_PART), HitPlace::of(&last.hit)))
    }
}

/// The part of a cursor that turns the pages of what was read.
fn same_part(readings: &[SpaceReading]) -> Vec<SpaceRange> {
    readings.iter().map(|reading| reading.part.read(reading.read_from)).collect()
}

/// The part of a cursor that goes on with older messages.
fn older_part(readings: &[SpaceReading]) -> Vec<SpaceRange> {
    let older = readings.iter().filter(|reading| reading.has_older());
    older.map(|reading| reading.part.below(reading.read_from)).collect()
}

fn searched(readings: &[SpaceReading], names: &BTreeMap<SpaceId, String>) -> Searched {
    let readable = || readings.iter().filter(|it| names.contains_key(&it.part.space));
    Searched {
        spaces: readable().count(),
        messages: readable().map(SpaceReading::numbers).sum(),
        from: readable().filter_map(|reading| reading.oldest).min(),
    }
}
