//! The changes that make a request acceptable to a model that refuses one of its fields.

use serde_json::{Map, Value, json};

use crate::{
    adaptations::{schemas, thinking},
    refusals::Refusal,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Change {
    /// A tool in place of the schema of its input, or JSON of any form in place of another schema.
    /// It is applied first: a model may refuse a field of the tool, too.
    NoResponseSchema,
    /// No form of the answer at all: the rules in the prompt still ask for JSON.
    NoResponseFormat,
    /// `max_completion_tokens` in place of `max_tokens`, or the reverse.
    OtherMaxTokens,
    NoTemperature,
    NoStreamOptions,
    NoReasoningEffort,
    NoParallelToolCalls,
    NoPromptCacheKey,
    NoToolChoice,
    /// An empty `reasoning_content` in answers with calls that have none: another model wrote them.
    EmptyThinking,
    /// The signature that stands for none, in answers whose first call has none.
    NoSignature,
    /// The schemas of tools without what some servers do not know.
    SimpleSchemas,
}

const MAX_TOKENS: [&str; 2] = ["max_tokens", "max_completion_tokens"];

/// Words with which servers refuse a field itself. A value that is too high, for example, would be
/// refused under any name.
const REFUSING: [&str; 23] = [
    "unsupported",
    "not supported",
    "not support",
    "n't support",
    "only supported",
    "unknown",
    "unrecognized",
    "unrecognised",
    "not recognized",
    "unexpected",
    "extra input",
    "extra field",
    "extra_forbidden",
    "not permitted",
    "not allowed",
    "is allowed",
    "may not",
    "forbidden",
    "deprecated",
    "cannot be used",
    "no such",
    "unavailable",
    "additional propert",
];

impl Change {
    pub(super) const ALL: [Self; 12] = [
        Self::NoResponseSchema,
        Self::NoResponseFormat,
        Self::OtherMaxTokens,
        Self::NoTemperature,
        Self::NoStreamOptions,
        Self::NoReasoningEffort,
        Self::NoParallelToolCalls,
        Self::NoPromptCacheKey,
        Self::NoToolChoice,
        Self::EmptyThinking,
        Self::NoSignature,
        Self::SimpleSchemas,
    ];

    /// The fields that it concerns. Bedrock has other names for some.
    fn fields(self) -> &'static [&'static str] {
        match self {
            Self::OtherMaxTokens => &MAX_TOKENS,
            Self::NoTemperature => &["temperature"],
            Self::NoStreamOptions => &["stream_options"],
            Self::NoReasoningEffort => &["reasoning_effort"],
            Self::NoParallelToolCalls => &["parallel_tool_calls"],
            Self::NoPromptCacheKey => &["prompt_cache_key"],
            Self::NoToolChoice => &["tool_choice", "toolChoice"],
            Self::NoResponseSchema | Self::NoResponseFormat => &["response_format"],
            Self::EmptyThinking | Self::NoSignature | Self::SimpleSchemas => &[],
        }
    }

    /// Whether a refusal of the request `sent` asks for this change.
    pub(super) fn is_named_by(self, refusal: &Refusal, sent: &Value) -> bool {
        match self {
            Self::SimpleSchemas => return schemas::are_refused(&refusal.words),
            Self::EmptyThinking => return thinking::is_missed(&refusal.words),
            Self::NoSignature => return thinking::is_signature_missed(&refusal.words),
            Self::NoReasoningEffort if thinking::is_refused(&refusal.words) => return true,
            // A schema is refused first, and then JSON of any form.
            Self::NoResponseFormat if sent.pointer("/response_format/json_schema").is_some() => {
                return false;
            }
            _ => {}
        }
        let is_sent = |field: &&str| self != Self::OtherMaxTokens || sent.get(field).is_some();
        let mut fields = self.fields().iter().filter(|field| is_sent(field));
        let blamed = refusal.fields.iter().map(|field| beginning(field));
        let blamed: Vec<&str> = blamed.filter(|field| sent.get(field).is_some()).collect();
        if blamed.is_empty() {
            return refuses(&refusal.words) && fields.any(|field| has_word(&refusal.words, field));
        }
        // A limit that is too high would be refused under its other name, too.
        fields.any(|field| blamed.contains(field))
            && (self != Self::OtherMaxTokens || refuses(&refusal.words))
    }

    pub(super) fn apply(self, body: &mut Value) {
        match self {
            Self::SimpleSchemas => schemas::simplify(body),
            Self::NoResponseSchema => without_response_schema(body),
            Self::EmptyThinking => thinking::add_empty(body),
            Self::NoSignature => thinking::add_no_signature(body),
            Self::OtherMaxTokens => {
                if let Some(fields) = body.as_object_mut() {
                    exchange(fields);
                }
            }
            _ => {
                for at in ["", "/inferenceConfig", "/toolConfig"] {
                    let Some(Value::Object(part)) = body.pointer_mut(at) else { continue };
                    for field in self.fields() {
                        part.shift_remove(*field);
                    }
                }
            }
        }
    }
}

fn exchange(fields: &mut Map<String, Value>) {
    let [one, other] = MAX_TOKENS;
    // Anthropic's API requires the field, and has no other.
    if !fields.contains_key("messages") || fields.contains_key("system") {
        return;
    }
    let swapped = match fields.shift_remove(one) {
        Some(value) => Some((other, value)),
        None => fields.shift_remove(other).map(|value| (one, value)),
    };
    fields.extend(swapped.map(|(name, value)| (name.to_owned(), value)));
}

/// The schema of a tool's input has a description, others have none.
fn without_response_schema(body: &mut Value) {
    let Some(fields) = body.as_object_mut() else { return };
    let Some(schema) = fields.get_mut("response_format").and_then(|it| it.get_mut("json_schema"))
    else {
        return;
    };
    let schema = schema.take();
    if schema.get("description").is_none() {
        fields.insert("response_format".to_owned(), json!({"type": "json_object"}));
        return;
    }
    fields.shift_remove("response_format");
    let function = json!({"name": schema["name"], "description": schema["description"],
        "parameters": schema["schema"]});
    fields.insert("tools".to_owned(), json!([{"type": "function", "function": function}]));
    fields.insert("tool_choice".to_owned(), json!("required"));
}

/// The field of the request in which a path such as `messages[1].role` begins.
fn beginning(path: &str) -> &str {
    let end = path.find(|char: char| !char.is_ascii_alphanumeric() && char != '_');
    &path[..end.unwrap_or(path.len())]
}

fn refuses(words: &str) -> bool {
    let words = words.to_lowercase();
    REFUSING.iter().any(|refusing| words.contains(refusing))
}

/// Whether a text has this word, and not only a longer one.
fn has_word(text: &str, word: &str) -> bool {
    let inside = |char: char| char.is_ascii_alphanumeric() || char == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(inside) && !text[at + word.len()..].starts_with(inside)
    })
}
