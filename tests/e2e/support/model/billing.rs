//! Computes what a provider would bill for a request, by its rules for cached prompts.
//!
//! The rules are those of <https://docs.anthropic.com> and <https://platform.openai.com> as of
//! 2026. A token counts as four characters.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    time::Duration,
};

use serde_json::Value;

use crate::support::model::{
    files::SentFile,
    request::{Api, ModelRequest},
};

/// The shortest prompt that is cached, in tokens.
const SHORTEST: usize = 1_024;
/// How many blocks before a cache point Anthropic looks for a cached prefix.
const LOOK_BACK: usize = 20;
/// `OpenAI` caches in steps of this many tokens.
const STEP: usize = 128;
/// How long a prefix stays cached after its last use.
const TTL: Duration = Duration::from_mins(5);

/// The tokens of a request by how they are billed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bill {
    /// Read without the cache.
    pub(crate) plain: usize,
    /// Read from the cache.
    pub(crate) cached: usize,
    /// Read without the cache, and written to it.
    pub(crate) written: usize,
}

impl Bill {
    /// The cost, with the price of a plain token as the unit.
    pub(crate) fn cost(self, api: Api) -> f64 {
        let (cached, written) = match api {
            Api::Anthropic | Api::Bedrock => (0.1, 1.25),
            Api::OpenAi => (0.1, 1.0),
        };
        self.plain as f64 + self.cached as f64 * cached + self.written as f64 * written
    }

    /// The number of all input tokens.
    pub(crate) fn all(self) -> usize {
        self.plain + self.cached + self.written
    }
}

#[derive(Debug, Default)]
pub(crate) struct Cache {
    /// The time of the last use by routing key and text.
    entries: HashMap<(String, String), Duration>,
}

/// The blocks of a prompt in the order in which they are cached, each with whether it ends with a
/// cache point.
pub(crate) fn blocks(request: &ModelRequest) -> Vec<(String, bool)> {
    let marked = |block: &Value| block["cache_control"].is_object();
    let plain = |block: &Value| {
        if let Some(file) = SentFile::of(request.api, block) {
            return stand_in(file);
        }
        let mut block = block.clone();
        if let Some(fields) = block.as_object_mut() {
            fields.remove("cache_control");
        }
        block["text"].as_str().map_or_else(|| block.to_string(), str::to_owned)
    };
    let parts = |value: &Value| -> Vec<(String, bool)> {
        match value {
            Value::Array(parts) if request.api == Api::Bedrock => {
                parts.iter().fold(Vec::new(), |mut blocks, part| {
                    // A cache point is a separate block after the block that it marks.
                    match blocks.last_mut() {
                        Some((_, marked)) if part["cachePoint"].is_object() => *marked = true,
                        _ => blocks.push((plain(part), false)),
                    }
                    blocks
                })
            }
            Value::Array(parts) => parts.iter().map(|part| (plain(part), marked(part))).collect(),
            Value::String(text) => vec![(text.clone(), false)],
            other => vec![(other.to_string(), false)],
        }
    };
    let mut blocks = parts(if request.api == Api::Bedrock {
        &request.body["toolConfig"]["tools"]
    } else {
        &request.body["tools"]
    });
    if request.api != Api::OpenAi {
        blocks.extend(parts(&request.body["system"]));
    }
    for message in request.messages() {
        blocks.extend(parts(&message["content"]));
        if message["tool_calls"].is_array() {
            blocks.push((message["tool_calls"].to_string(), false));
        }
    }
    blocks
}

/// A text with as many tokens as the file. It differs for each file.
fn stand_in(file: SentFile<'_>) -> String {
    let mut hasher = DefaultHasher::new();
    file.base64.hash(&mut hasher);
    format!("{:08x}", hasher.finish() as u32).repeat(file.tokens() / 2)
}

impl Cache {
    /// Bills a request that arrives at the time `at`.
    pub(crate) fn bill(&mut self, request: &ModelRequest, at: Duration) -> Bill {
        self.entries.retain(|_, read| at.saturating_sub(*read) <= TTL);
        match request.api {
            Api::Anthropic | Api::Bedrock => self.by_marks(&blocks(request), at),
            Api::OpenAi => {
                let text: String = blocks(request).into_iter().map(|(text, _)| text).collect();
                self.by_prefix(
                    &text,
                    request.body["prompt_cache_key"].as_str().unwrap_or_default(),
                    at,
                )
            }
        }
    }

    fn by_marks(&mut self, blocks: &[(String, bool)], at: Duration) -> Bill {
        // For each block: the text up to its end, and the number of tokens.
        let mut prefixes: Vec<(String, usize)> = Vec::with_capacity(blocks.len());
        for (text, _) in blocks {
            let prefix =
                prefixes.last().map_or_else(String::new, |(prefix, _)| prefix.clone()) + text;
            let tokens = prefix.chars().count() / 4;
            prefixes.push((prefix, tokens));
        }
        let all = prefixes.last().map_or(0, |(_, tokens)| *tokens);
        let marks: Vec<usize> =
            (0..blocks.len()).filter(|at| blocks[*at].1 && prefixes[*at].1 >= SHORTEST).collect();
        let found = marks.iter().flat_map(|mark| (mark.saturating_sub(LOOK_BACK)..=*mark).rev());
        let hit = found
            .filter(|at| self.entries.contains_key(&(String::new(), prefixes[*at].0.clone())))
            .max();
        let cached = hit.map_or(0, |hit| prefixes[hit].1);
        for block in marks.iter().copied().chain(hit) {
            self.entries.insert((String::new(), prefixes[block].0.clone()), at);
        }
        let written = marks.last().map_or(0, |mark| prefixes[*mark].1.saturating_sub(cached));
        Bill { plain: all - cached - written, cached, written }
    }

    fn by_prefix(&mut self, text: &str, key: &str, at: Duration) -> Bill {
        let all = text.chars().count() / 4;
        let shared = |entry: &str| {
            entry.chars().zip(text.chars()).take_while(|(one, other)| one == other).count() / 4
        };
        // Compare only the latest entries. They are the most similar ones, and comparing all would
        // take long.
        let mut routed: Vec<_> =
            self.entries.iter().filter(|((routed, _), _)| routed == key).collect();
        routed.sort_by_key(|(_, read)| std::cmp::Reverse(**read));
        let longest =
            routed.into_iter().take(4).map(|((_, entry), _)| shared(entry)).max().unwrap_or(0);
        let cached = if longest < SHORTEST { 0 } else { longest / STEP * STEP };
        self.entries.insert((key.to_owned(), text.to_owned()), at);
        Bill { plain: all - cached, cached, written: 0 }
    }
}

mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_marked_prefix_is_cached_for_five_minutes_and_found_up_to_twenty_blocks_before_a_mark() {
        let block = |index: usize, marked: bool| {
            let mut block = json!({"type": "text", "text": format!("{index:04}").repeat(1_024)});
            if marked {
                block["cache_control"] = json!({"type": "ephemeral"});
            }
            block
        };
        let ask = |count: usize, mark: usize| {
            let content: Vec<Value> = (0..count).map(|index| block(index, index == mark)).collect();
            let messages = json!([{"role": "user", "content": content}]);
            let body = json!({"tools": [], "system": [], "messages": messages});
            ModelRequest::of(Api::Anthropic, "m", body)
        };
        let mut cache = Cache::default();
        let minute = |minutes| Duration::from_mins(minutes);
        let bill = |plain: usize, cached: usize, written: usize| Bill {
            plain: plain * 1_024,
            cached: cached * 1_024,
            written: written * 1_024,
        };
        assert_eq!(cache.bill(&ask(3, 1), minute(0)), bill(1, 0, 2));
        assert_eq!(cache.bill(&ask(4, 2), minute(4)), bill(1, 2, 1));
        assert_eq!(cache.bill(&ask(24, 22), minute(8)), bill(1, 3, 20), "twenty blocks back");
        assert_eq!(cache.bill(&ask(50, 44), minute(9)), bill(5, 0, 45), "and no further");
        assert_eq!(cache.bill(&ask(50, 44), minute(15)), bill(5, 0, 45), "too late");
    }
}
