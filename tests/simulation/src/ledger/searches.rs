//! Searches: what clients asked for, what the answers showed, and the space with a long past.

use std::collections::BTreeMap;

use serde_json::Value;
use smartspace_domain::ids::{EntityId, SpaceId};
use tokio::time::Instant;

/// What the oracle needs to judge searches.
#[derive(Debug, Default)]
pub struct SearchRecords {
    /// The space with a long past, if there is one.
    pub archive: Option<Archive>,
    pub sent: Vec<SentSearch>,
    /// The times at which people were not members of the archive.
    pub absences: Vec<Absence>,
    /// When models drew the searches of agents, by the unique word in their queries.
    pub by_agents: BTreeMap<String, Instant>,
}

/// A space with a long past, in which people search.
#[derive(Clone, Debug)]
pub struct Archive {
    pub space: SpaceId,
    pub guest: EntityId,
    /// The credential of the guest.
    pub token: String,
    /// The texts that its first messages had at first, from the number 1 on.
    pub past: Vec<String>,
}

/// The time at which a person was not a member of the archive.
#[derive(Clone, Copy, Debug)]
pub struct Absence {
    pub entity: EntityId,
    /// When the removal was sent.
    pub sent: Instant,
    /// From its confirmation until the request to add the person again.
    pub out: Option<(Instant, Instant)>,
    /// When the person was added again. `None` if that was not confirmed.
    pub back: Option<Instant>,
}

/// A search, with all pages of its answer.
#[derive(Clone, Debug)]
pub struct SentSearch {
    pub by: EntityId,
    pub query: SearchQuery,
    /// Whether it named the archive, and not all spaces of the caller.
    pub names_space: bool,
    pub pages: Vec<SearchPage>,
}

/// One answer to a search.
#[derive(Clone, Debug)]
pub struct SearchPage {
    /// When it was asked for, and when it arrived.
    pub from: Instant,
    pub to: Instant,
    pub status: u16,
    pub body: Value,
}

/// A part of a query that a message may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    Word(String),
    /// These words next to each other.
    Phrase(Vec<String>),
    /// A word that begins so.
    Prefix(String),
}

/// A query, as the oracle understands it.
#[derive(Clone, Debug, Default)]
pub struct SearchQuery {
    /// A message has at least one of them.
    pub terms: Vec<Term>,
    /// It does not have this word.
    pub without: Option<String>,
    /// It is from this sender.
    pub from: Option<EntityId>,
}

impl Term {
    fn is_in(&self, words: &[&str]) -> bool {
        match self {
            Self::Word(word) => words.contains(&word.as_str()),
            Self::Phrase(phrase) => words.windows(phrase.len()).any(|some| some == phrase),
            Self::Prefix(prefix) => words.iter().any(|word| word.starts_with(prefix)),
        }
    }

    /// Whether a mark of an excerpt shows this term. A phrase may be marked as a whole.
    pub(crate) fn is_marked_by(&self, mark: &str) -> bool {
        match self {
            Self::Word(word) => mark == word,
            Self::Phrase(words) => mark == words.join(" ") || words.iter().any(|word| mark == word),
            Self::Prefix(prefix) => mark.starts_with(prefix),
        }
    }
}

impl SearchQuery {
    /// A query for one word.
    pub(crate) fn word(word: &str) -> Self {
        Self { terms: vec![Term::Word(word.to_owned())], ..Self::default() }
    }

    /// As clients write it in the parameter `q`.
    pub(crate) fn text(&self) -> String {
        let term = |term: &Term| match term {
            Term::Word(word) => word.clone(),
            Term::Phrase(words) => format!("\"{}\"", words.join(" ")),
            Term::Prefix(prefix) => format!("{prefix}*"),
        };
        let without = self.without.iter().map(|word| format!("-{word}"));
        self.terms.iter().map(term).chain(without).collect::<Vec<_>>().join(" ")
    }

    /// Whether a naive search finds a stored message.
    pub(crate) fn matches(&self, message: &Value) -> bool {
        let text = message["text"].as_str().unwrap_or_default();
        let words: Vec<&str> = text.split_whitespace().collect();
        let is_from = |id: EntityId| message["sender"]["id"] == id.to_string().as_str();
        message["deleted"].is_null()
            && message["card"].is_null()
            && self.from.is_none_or(is_from)
            && !self.without.as_ref().is_some_and(|word| words.contains(&word.as_str()))
            && self.terms.iter().any(|term| term.is_in(&words))
    }
}

impl SentSearch {
    /// Whether all of its pages came and nothing was left to read.
    pub(crate) fn is_whole(&self) -> bool {
        let is_last = |page: &SearchPage| {
            page.body["nextCursor"].is_null() && page.body["incomplete"] == false
        };
        self.pages.iter().all(|page| page.status == 200) && self.pages.last().is_some_and(is_last)
    }

    /// When its first page was asked for, and when its last one arrived.
    pub(crate) fn time(&self) -> Option<(Instant, Instant)> {
        Some((self.pages.first()?.from, self.pages.last()?.to))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_naive_search_finds_what_a_query_says() {
        let message = json!({"text": "mk1mk tok001 tok012 tok003", "sender": {"id": "ent_1"}});
        let with = |terms: Vec<Term>| SearchQuery { terms, ..SearchQuery::default() };
        let phrase = |words: [&str; 2]| with(vec![Term::Phrase(words.map(str::to_owned).to_vec())]);
        assert!(SearchQuery::word("tok012").matches(&message));
        assert!(!SearchQuery::word("tok01").matches(&message));
        assert!(with(vec![Term::Prefix("tok01".into())]).matches(&message));
        assert!(phrase(["tok001", "tok012"]).matches(&message));
        assert!(!phrase(["tok001", "tok003"]).matches(&message));
        let without = SearchQuery { without: Some("tok003".into()), ..SearchQuery::word("tok001") };
        assert!(!without.matches(&message));
        assert_eq!(without.text(), "tok001 -tok003");
        let deleted = json!({"text": "tok001", "deleted": {}, "sender": {"id": "ent_1"}});
        assert!(!SearchQuery::word("tok001").matches(&deleted));
    }
}
