//! Decides whether an agent has the tool that searches messages: that depends on its spaces and
//! its configuration, never on the run, since providers keep the list of tools in their cache.

use std::collections::BTreeMap;

use smartspace_domain::{
    Result,
    agents::{AgentConfig, Speaks},
    ids::SpaceId,
    tools::SEARCH_MESSAGES,
};
use smartspace_store::{
    Store,
    spaces::{Lengths, SpaceOverview},
};

use crate::prompt::reading::{
    SPACES_SHOWN,
    source_cache::{Guess, SourceCache},
};

/// The cards of spaces, and how long these are as far as that is known.
pub(super) struct SpacesRead {
    pub(super) cards: BTreeMap<SpaceId, SpaceOverview>,
    pub(super) lengths: Lengths,
    /// The spaces whose lengths are those of this moment.
    pub(super) measured: Vec<SpaceId>,
}

impl SpacesRead {
    /// Reads the cards of spaces, and their lengths unless one is known to be long.
    pub(super) async fn of(store: &Store, seen: &SourceCache, guess: &Guess) -> Result<Self> {
        let nothing =
            Self { cards: BTreeMap::new(), lengths: Lengths::new(), measured: Vec::new() };
        nothing.complete(store, seen, &guess.spaces, guess.window).await
    }

    /// Reads what is missing of the spaces in `shown` to know whether one of them is longer than
    /// `window`, and drops all others.
    pub(super) async fn complete(
        self,
        store: &Store,
        seen: &SourceCache,
        shown: &[SpaceId],
        window: u32,
    ) -> Result<Self> {
        let Self { mut cards, mut lengths, mut measured } = self;
        lengths.retain(|space, _| shown.contains(space));
        let is_missing = |space: &SpaceId| !cards.contains_key(space);
        let missing: Vec<_> = shown.iter().copied().filter(is_missing).collect();
        let (known, mut unmeasured) = seen.lengths(shown, window);
        let has_long = is_long(&lengths, window);
        unmeasured.retain(|space| !has_long && !measured.contains(space));
        if missing.is_empty() && unmeasured.is_empty() {
            lengths.extend(known);
        } else {
            let read = store.spaces().overviews_and_lengths(&missing, &unmeasured).await?;
            cards.extend(read.0);
            lengths.extend(seen.with_lengths(known, read.1));
            measured.extend(unmeasured);
        }
        cards.retain(|space, _| shown.contains(space));
        Ok(Self { cards, lengths, measured })
    }
}

/// Whether an agent has the tool. It is in `count` spaces, of which a prompt may show those with
/// these lengths. An agent in more spaces than a prompt shows has the tool.
pub(super) fn has_search(config: &AgentConfig, lengths: &Lengths, count: usize) -> bool {
    let speaks_json = config.model.as_ref().is_some_and(|model| model.speaks == Speaks::Json);
    let has_own = config.tools.iter().any(|tool| tool.name == SEARCH_MESSAGES);
    config.builtins.search
        && config.runtime.is_none()
        && !speaks_json
        && !has_own
        && (count > SPACES_SHOWN || is_long(lengths, config.context.window))
}

/// Whether one of the spaces has more messages than a window.
fn is_long(lengths: &Lengths, window: u32) -> bool {
    lengths.values().any(|length| *length > u64::from(window))
}
