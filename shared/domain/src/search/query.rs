//! The query of a search: its words and its filters.

mod parsing;
mod scanner;

use std::collections::BTreeSet;

use super::{clauses::Clause, entry::HasFlags};
use crate::{Result, Time, ids::EntityId};

/// The longest query, in characters.
const QUERY_CHARS: usize = 256;
/// How many words of a query count, those in phrases included.
const WORDS: usize = 32;
/// How many spaces a query may name.
const SPACES: usize = 20;
/// How many senders a query may name.
const SENDERS: usize = 10;

/// The filters of a search beside those in `q`, as the request has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    /// The spaces to search, by id. At most 20.
    pub spaces: Vec<String>,
    /// The senders, by id or name, or `me`. At most 10.
    pub from: Vec<String>,
    /// The first moment that is too late: a time in RFC 3339 or a day in UTC.
    pub before: Option<String>,
    /// The first moment that counts: a time in RFC 3339 or a day in UTC.
    pub after: Option<String>,
    /// What a message must have, all of it.
    pub has: Vec<String>,
}

/// A parsed query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The words and phrases that were left out, since only the first 32 words count.
    pub ignored: Vec<String>,
    /// The spaces that it names, by id or name: a message's space must be in each of these lists.
    /// Empty if it names none. The caller of the search resolves them.
    pub spaces: Vec<Vec<String>>,
    /// The senders that it names, by id or name, or `me`: a message's sender must be in each of
    /// these lists. Empty if it names none. The caller of the search resolves them, and gives the
    /// result to [`Self::set_senders`].
    pub from: Vec<Vec<String>>,
    /// The first moment that counts.
    pub after: Option<Time>,
    /// The first moment that is too late.
    pub before: Option<Time>,
    pub(super) has: HasFlags,
    senders: Option<BTreeSet<EntityId>>,
    pub(super) wanted: Vec<Clause>,
    pub(super) excluded: Vec<Clause>,
}

impl Query {
    /// Parses the text `q` of a request and its other filters. Filters of both kinds hold together.
    ///
    /// # Errors
    /// `invalid` at `/q`, `/spaceId`, `/from`, `/before`, `/after` or `/has`.
    pub fn parse(q: &str, filters: &Filters) -> Result<Self> {
        parsing::parse(q, filters)
    }

    /// Whether it has words. Otherwise all messages that pass the filters are hits, newest first.
    pub fn has_words(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// Sets the senders whose messages are searched: the entities that are meant by each list of
    /// [`Self::from`].
    pub fn set_senders(&mut self, senders: impl IntoIterator<Item = EntityId>) {
        self.senders = Some(senders.into_iter().collect());
    }

    /// Whether a message with these properties passes the filters. Its words do not count.
    pub(super) fn passes(&self, sender: EntityId, at: Time, has: HasFlags) -> bool {
        self.senders.as_ref().is_none_or(|senders| senders.contains(&sender))
            && self.after.is_none_or(|after| after <= at)
            && self.before.is_none_or(|before| at < before)
            && has.contains(self.has)
    }
}
