//! When each state of a message was there.

use std::collections::BTreeMap;

use serde_json::Value;
use tokio::time::Instant;

use crate::{markers, storage::Shown};

/// Until when a text was there.
struct Until {
    /// As prompts call it: `spc_…#17`.
    message: String,
    /// `None` if it still is.
    until: Option<Instant>,
}

/// All states of messages, and until when each text was there, by its own word.
pub(super) struct Wordings<'a> {
    shown: &'a Shown,
    texts: BTreeMap<String, Until>,
}

impl<'a> Wordings<'a> {
    pub(super) fn of(shown: &'a Shown) -> Self {
        let mut texts = BTreeMap::new();
        for (message, states) in &shown.messages {
            let ends = states.iter().skip(1).map(|state| Some(state.at)).chain([None]);
            for (state, until) in states.iter().zip(ends) {
                let text = state.item["text"].as_str().unwrap_or_default();
                for marker in markers::all_in(text) {
                    let until = Until { message: message.clone(), until };
                    texts.insert(marker.to_owned(), until);
                }
            }
        }
        Self { shown, texts }
    }

    /// The states that a message had at any time from `from` to `to`.
    pub(super) fn during(
        &self,
        message: &str,
        from: Instant,
        to: Instant,
    ) -> impl Iterator<Item = &'a Value> + use<'a> {
        let states = self.shown.messages.get(message).map(Vec::as_slice).unwrap_or_default();
        let ends = states.iter().skip(1).map(|state| Some(state.at)).chain([None]);
        let both = states.iter().zip(ends);
        let then =
            both.filter(move |(state, end)| state.at <= to && end.is_none_or(|end| from <= end));
        then.map(|(state, _)| &state.item)
    }

    /// The messages of which a text shows a wording that was gone before `at`.
    pub(super) fn old_in(&self, text: &str, at: Instant) -> Vec<&str> {
        let texts = markers::all_in(text).into_iter().filter_map(|marker| self.texts.get(marker));
        let old = texts.filter(|it| it.until.is_some_and(|until| until < at));
        old.map(|it| it.message.as_str()).collect()
    }

    /// The own words of all texts that are gone, each with its message.
    pub(super) fn gone(&self) -> impl Iterator<Item = (&str, &str)> {
        let gone = self.texts.iter().filter(|(_, it)| it.until.is_some());
        gone.map(|(marker, it)| (marker.as_str(), it.message.as_str()))
    }
}
