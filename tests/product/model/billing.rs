//! What a provider would bill for a request, by its own rules for cached prompts: <https://docs.anthropic.com> and <https://platform.openai.com>,
//! as of 2026. Tokens are a quarter of the characters.

use std::{collections::HashMap, time::Duration};

use serde_json::Value;

use super::asked::{Api, Asked};

/// Nothing shorter is cached, in tokens.
const SHORTEST: usize = 1_024;
/// Anthropic finds what was cached only so many blocks before a mark.
const LOOK_BACK: usize = 20;
/// `OpenAI` caches in steps of so many tokens.
const STEP: usize = 128;
/// What was cached is kept for so long after it was last read.
const KEPT: Duration = Duration::from_mins(5);

/// What a request takes, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bill {
    /// Read as new.
    pub(crate) plain: usize,
    /// Read from the cache.
    pub(crate) cached: usize,
    /// Read as new, and written to the cache.
    pub(crate) written: usize,
}

impl Bill {
    /// In the price of a plain token.
    pub(crate) fn cost(self, api: Api) -> f64 {
        let (cached, written) = match api {
            Api::Anthropic | Api::Bedrock => (0.1, 1.25),
            Api::OpenAi => (0.1, 1.0),
        };
        self.plain as f64 + self.cached as f64 * cached + self.written as f64 * written
    }

    /// All that was read.
    pub(crate) fn all(self) -> usize {
        self.plain + self.cached + self.written
    }
}

/// A provider's cache.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    /// What was cached, by its text and by who is routed to it, and when it was last read or written.
    kept: HashMap<(String, String), Duration>,
}

/// A prompt in the order in which it is cached: blocks, and which of them are marked.
pub(crate) fn blocks(asked: &Asked) -> Vec<(String, bool)> {
    let marked = |block: &Value| block["cache_control"].is_object();
    let plain = |block: &Value| {
        let mut block = block.clone();
        if let Some(fields) = block.as_object_mut() {
            fields.remove("cache_control");
        }
        block["text"].as_str().map_or_else(|| block.to_string(), str::to_owned)
    };
    let parts = |value: &Value| -> Vec<(String, bool)> {
        match value {
            Value::Array(parts) if asked.api == Api::Bedrock => parts.iter().fold(Vec::new(), |mut blocks, part| {
                // A mark is a block of its own, behind the one that it marks.
                match blocks.last_mut() {
                    Some((_, marked)) if part["cachePoint"].is_object() => *marked = true,
                    _ => blocks.push((plain(part), false)),
                }
                blocks
            }),
            Value::Array(parts) => parts.iter().map(|part| (plain(part), marked(part))).collect(),
            Value::String(text) => vec![(text.clone(), false)],
            other => vec![(other.to_string(), false)],
        }
    };
    let mut blocks = parts(if asked.api == Api::Bedrock { &asked.body["toolConfig"]["tools"] } else { &asked.body["tools"] });
    if asked.api != Api::OpenAi {
        blocks.extend(parts(&asked.body["system"]));
    }
    for message in asked.messages() {
        blocks.extend(parts(&message["content"]));
        if message["tool_calls"].is_array() {
            blocks.push((message["tool_calls"].to_string(), false));
        }
    }
    blocks
}

impl Cache {
    /// Bills a request that comes `at` this time.
    pub(crate) fn bill(&mut self, asked: &Asked, at: Duration) -> Bill {
        self.kept.retain(|_, read| at.saturating_sub(*read) <= KEPT);
        match asked.api {
            Api::Anthropic | Api::Bedrock => self.by_marks(&blocks(asked), at),
            Api::OpenAi => {
                let text: String = blocks(asked).into_iter().map(|(text, _)| text).collect();
                self.by_prefix(&text, asked.body["prompt_cache_key"].as_str().unwrap_or_default(), at)
            }
        }
    }

    fn by_marks(&mut self, blocks: &[(String, bool)], at: Duration) -> Bill {
        // Up to and with each block: its text and its tokens.
        let mut prefixes: Vec<(String, usize)> = Vec::with_capacity(blocks.len());
        for (text, _) in blocks {
            let prefix = prefixes.last().map_or_else(String::new, |(prefix, _)| prefix.clone()) + text;
            let tokens = prefix.chars().count() / 4;
            prefixes.push((prefix, tokens));
        }
        let all = prefixes.last().map_or(0, |(_, tokens)| *tokens);
        let marks: Vec<usize> = (0..blocks.len()).filter(|at| blocks[*at].1 && prefixes[*at].1 >= SHORTEST).collect();
        let found = marks.iter().flat_map(|mark| (mark.saturating_sub(LOOK_BACK)..=*mark).rev());
        let hit = found.filter(|at| self.kept.contains_key(&(String::new(), prefixes[*at].0.clone()))).max();
        let cached = hit.map_or(0, |hit| prefixes[hit].1);
        for block in marks.iter().copied().chain(hit) {
            self.kept.insert((String::new(), prefixes[block].0.clone()), at);
        }
        let written = marks.last().map_or(0, |mark| prefixes[*mark].1.saturating_sub(cached));
        Bill { plain: all - cached - written, cached, written }
    }

    fn by_prefix(&mut self, text: &str, key: &str, at: Duration) -> Bill {
        let all = text.chars().count() / 4;
        let shared = |kept: &str| kept.chars().zip(text.chars()).take_while(|(one, other)| one == other).count() / 4;
        // The last ones are the most alike; all of them would take long to compare.
        let mut routed: Vec<_> = self.kept.iter().filter(|((routed, _), _)| routed == key).collect();
        routed.sort_by_key(|(_, read)| std::cmp::Reverse(**read));
        let longest = routed.into_iter().take(4).map(|((_, kept), _)| shared(kept)).max().unwrap_or(0);
        let cached = if longest < SHORTEST { 0 } else { longest / STEP * STEP };
        self.kept.insert((key.to_owned(), text.to_owned()), at);
        Bill { plain: all - cached, cached, written: 0 }
    }
}

mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_marked_is_cached_for_five_minutes_and_found_up_to_twenty_blocks_before_a_mark() {
        let block = |index: usize, marked: bool| {
            let mut block = json!({"type": "text", "text": format!("{index:04}").repeat(1_024)});
            if marked {
                block["cache_control"] = json!({"type": "ephemeral"});
            }
            block
        };
        let ask = |count: usize, mark: usize| {
            let content: Vec<Value> = (0..count).map(|index| block(index, index == mark)).collect();
            Asked::of(Api::Anthropic, "m", json!({"tools": [], "system": [], "messages": [{"role": "user", "content": content}]}))
        };
        let mut cache = Cache::default();
        let minute = |minutes| Duration::from_mins(minutes);
        let bill =
            |plain: usize, cached: usize, written: usize| Bill { plain: plain * 1_024, cached: cached * 1_024, written: written * 1_024 };
        assert_eq!(cache.bill(&ask(3, 1), minute(0)), bill(1, 0, 2));
        assert_eq!(cache.bill(&ask(4, 2), minute(4)), bill(1, 2, 1));
        assert_eq!(cache.bill(&ask(24, 22), minute(8)), bill(1, 3, 20), "twenty blocks back");
        assert_eq!(cache.bill(&ask(50, 44), minute(9)), bill(5, 0, 45), "and no further");
        assert_eq!(cache.bill(&ask(50, 44), minute(15)), bill(5, 0, 45), "too late");
    }
}
