//! Token counts under the names that servers give them.

use serde_json::Value;
use smartspace_domain::runs::Usage;

use crate::fields::count;

/// The counts that a server has reported so far. Each report counts the whole answer, so the last
/// one holds.
#[derive(Debug, Default)]
pub(super) struct Counts {
    input: Option<u64>,
    cached: Option<u64>,
    cache_write: Option<u64>,
    output: Option<u64>,
}

impl Counts {
    /// The counts of a chunk: mostly in the last one, but some servers report them in each,
    /// Moonshot as a part of the choice, and Groq in a field of its own.
    pub(super) fn of_chunk(chunk: &Value) -> Option<Self> {
        let places = ["/usage", "/x_groq/usage", "/choices/0/usage"];
        places.iter().find_map(|place| Self::of_usage(chunk.pointer(place)?))
    }

    fn of_usage(usage: &Value) -> Option<Self> {
        let first = |names: &[&str]| names.iter().find_map(|name| count(usage, name));
        let detail = |name| {
            let details = ["prompt_tokens_details", "input_tokens_details"];
            details.iter().find_map(|details| count(usage.get(*details)?, name))
        };
        let hit = count(usage, "prompt_cache_hit_tokens");
        let of_parts = || Some(hit?.saturating_add(count(usage, "prompt_cache_miss_tokens")?));
        let counts = Self {
            input: first(&["prompt_tokens", "input_tokens"]).or_else(of_parts),
            cached: [
                detail("cached_tokens"),
                hit,
                count(usage, "cached_tokens"),
                count(usage, "cache_read_input_tokens"),
            ]
            .into_iter()
            .flatten()
            .max(),
            cache_write: detail("cache_write_tokens")
                .or_else(|| count(usage, "cache_creation_input_tokens")),
            output: first(&["completion_tokens", "output_tokens"]),
        };
        (counts.input.is_some() || counts.output.is_some()).then_some(counts)
    }

    /// These counts, and those of an earlier report that they leave out.
    pub(super) fn or(self, earlier: Option<Self>) -> Self {
        let Some(earlier) = earlier else { return self };
        Self {
            input: self.input.or(earlier.input),
            cached: self.cached.or(earlier.cached),
            cache_write: self.cache_write.or(earlier.cache_write),
            output: self.output.or(earlier.output),
        }
    }

    pub(super) fn usage(&self) -> Usage {
        let input_tokens = self.input.unwrap_or_default();
        let cached_tokens = self.cached.unwrap_or_default().min(input_tokens);
        let written = self.cache_write.unwrap_or_default();
        Usage {
            input_tokens,
            cached_tokens,
            cache_write_tokens: written.min(input_tokens - cached_tokens),
            output_tokens: self.output.unwrap_or_default(),
            ..Usage::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn usage(chunk: &Value) -> Option<[u64; 4]> {
        let usage = Counts::of_chunk(chunk)?.usage();
        let Usage { input_tokens, cached_tokens, cache_write_tokens, output_tokens, .. } = usage;
        Some([input_tokens, cached_tokens, cache_write_tokens, output_tokens])
    }

    #[test]
    fn cache_hits_are_known_by_every_name() {
        for cached in [
            json!({"prompt_tokens_details": {"cached_tokens": 80}}),
            json!({"prompt_cache_hit_tokens": 80, "prompt_cache_miss_tokens": 20}),
            json!({"cached_tokens": 80}),
            json!({"cache_read_input_tokens": 80.0}),
            json!({"prompt_tokens_details": {"cached_tokens": 0}, "cached_tokens": 80}),
            json!({"input_tokens_details": {"cached_tokens": 80}, "prompt_tokens_details": null}),
        ] {
            let mut counts = json!({"prompt_tokens": 100, "completion_tokens": 5});
            counts.as_object_mut().unwrap().extend(cached.as_object().unwrap().clone());
            assert_eq!(usage(&json!({"usage": counts})), Some([100, 80, 0, 5]), "{counts}");
        }
    }

    #[test]
    fn counts_are_found_in_every_place() {
        let counts = json!({"prompt_tokens": 9, "completion_tokens": 2});
        for chunk in [
            json!({"choices": [], "usage": counts}),
            json!({"choices": [{"index": 0, "usage": counts}], "usage": null}),
            json!({"choices": [], "x_groq": {"id": "req_1", "usage": counts}}),
            json!({"usage": {"input_tokens": 9, "output_tokens": 2.0, "total_tokens": "11"}}),
            json!({"usage": {"prompt_cache_hit_tokens": 0, "prompt_cache_miss_tokens": 9,
                "completion_tokens": 2}}),
        ] {
            assert_eq!(usage(&chunk), Some([9, 0, 0, 2]), "{chunk}");
        }
        for nothing in [json!(null), json!({}), json!(5), json!({"prompt_tokens": "9"})] {
            assert_eq!(usage(&json!({ "usage": nothing })), None, "{nothing}");
        }
        let written = json!({"prompt_tokens": 9, "cached_tokens": 12,
            "prompt_tokens_details": {"cache_write_tokens": 4}});
        assert_eq!(usage(&json!({ "usage": written })), Some([9, 9, 0, 0]));
    }
}
