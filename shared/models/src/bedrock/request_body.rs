//! The body of a `ConverseStream` request.

mod files;
mod marks;
mod tools;

use serde::Serialize;
use serde_json::{Map, Value, json};

use self::{files::Files, marks::marks, tools::Tools};
use super::families::Family;
use crate::{
    calls,
    port::{
        CachePoint, Message, Request, ToolCall, ToolResult,
        text::{as_quoted_text, as_text},
        turn_has_words,
    },
    reasoning::{self, Thinking},
};

/// Bedrock's highest temperature. Configurations allow up to 2.
const MAX_TEMPERATURE: f32 = 1.0;

/// The name of [`RequestBody::additional_model_request_fields`] in a request.
const OF_VENDOR: &str = "additionalModelRequestFields";

/// The URL names the model, so the body does not.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RequestBody<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Value>,
    messages: Vec<SentTurn>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<Tools<'a>>,
    inference_config: Inference,
    /// Fields of the vendor's own API.
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_model_request_fields: Option<Value>,
    /// What the configuration adds. It has none of the fields above.
    #[serde(flatten)]
    added: Map<String, Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Inference {
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
}

#[derive(Serialize)]
struct SentTurn {
    role: &'static str,
    content: Vec<Value>,
}

/// Consecutive messages of one role.
struct Turn {
    role: &'static str,
    blocks: Vec<Block>,
}

struct Block {
    content: Value,
    is_marked: bool,
}

impl<'a> RequestBody<'a> {
    pub(super) fn new(request: &'a Request) -> Self {
        let family = Family::of(&request.model.name);
        let thinking = reasoning::thinking(&request.model, true);
        // Claude refuses both next to thinking.
        let is_plain = !thinking.is_some_and(Thinking::is_on);
        let temperature = request.model.temperature.filter(|_| is_plain);
        let mut added = request.model.request.clone();
        let of_vendor = added.remove(OF_VENDOR);
        Self {
            system: system(&request.system, family),
            messages: Conversation::of(request, family)
                .turns()
                .into_iter()
                .map(|turn| SentTurn { role: turn.role, content: contents(turn.blocks) })
                .collect(),
            tool_config: Tools::new(request, family, is_plain),
            inference_config: Inference {
                max_tokens: request.model.max_output_tokens,
                temperature: temperature.map(|chosen| chosen.min(MAX_TEMPERATURE)),
            },
            additional_model_request_fields: with_thinking(of_vendor, thinking),
            added,
        }
    }
}

/// The fields of the vendor's API, with those that make the model think.
fn with_thinking(configured: Option<Value>, thinking: Option<Thinking>) -> Option<Value> {
    let Some(thinking) = thinking else { return configured };
    let mut fields = configured.unwrap_or_else(|| json!({}));
    if let Value::Object(fields) = &mut fields {
        fields.extend(thinking.field().map(|field| ("thinking".to_owned(), field)));
        let effort = thinking.effort().map(|effort| json!({"effort": effort}));
        fields.extend(effort.map(|effort| ("output_config".to_owned(), effort)));
    }
    Some(fields)
}

/// The mark at the end makes the provider cache the whole system message and the tools, which come
/// before it.
fn system(parts: &[String], family: Family) -> Vec<Value> {
    let mut blocks: Vec<Block> = parts
        .iter()
        .filter_map(|part| text(part))
        .map(|content| Block { content, is_marked: false })
        .collect();
    if let Some(last) = blocks.last_mut() {
        last.is_marked = family.caching.accepts_marks();
    }
    contents(blocks)
}

/// The blocks in the form of the API, in which a mark is a separate block.
fn contents(blocks: Vec<Block>) -> Vec<Value> {
    let mark = |block: &Block| block.is_marked.then(|| json!({"cachePoint": {"type": "default"}}));
    blocks
        .into_iter()
        .flat_map(|block| [mark(&block), Some(block.content)].into_iter().rev().flatten())
        .collect()
}

/// The conversation of a request, for one family of models.
struct Conversation<'a> {
    messages: &'a [Message],
    family: Family,
    marks: Vec<CachePoint>,
    files: Files<'a>,
}

impl<'a> Conversation<'a> {
    fn of(request: &'a Request, family: Family) -> Self {
        Self {
            messages: &request.messages,
            family,
            marks: marks(request, family.caching),
            files: Files::of(request),
        }
    }

    /// The API requires that the roles alternate, and that the results of calls come first in the
    /// turn after the calls.
    fn turns(&self) -> Vec<Turn> {
        let mut turns: Vec<Turn> = Vec::new();
        for (index, message) in self.messages.iter().enumerate() {
            let (role, parts) = self.role_and_parts(index, message);
            let is_marked = |block| self.marks.contains(&CachePoint { message: index, block });
            let parts = parts.into_iter().enumerate();
            let blocks: Vec<Block> =
                parts.flat_map(|(at, part)| blocks(part, is_marked(at))).collect();
            match turns.last_mut() {
                _ if blocks.is_empty() => {}
                Some(last) if last.role == role => last.blocks.extend(blocks),
                _ => turns.push(Turn { role, blocks }),
            }
        }
        for turn in &mut turns {
            turn.blocks.sort_by_key(|block| !block.is_result());
            if !self.family.text_after_results {
                turn.move_into_results(self.family);
            }
        }
        turns
    }

    /// The role and the parts of a message, which are numbered as its cache points. A part is a
    /// block, a file after its label, or nothing if the provider would refuse the block.
    ///
    /// Tool results next to words are quoted: a tool's output must not look like those words.
    fn role_and_parts(&self, index: usize, message: &Message) -> (&'static str, Vec<Vec<Value>>) {
        match message {
            Message::User { blocks } => {
                ("user", blocks.iter().map(|block| Vec::from_iter(text(block))).collect())
            }
            Message::Assistant { text: words, calls } => {
                let words = text(words).filter(|_| calls.is_empty() || self.family.text_with_calls);
                let calls = calls.iter().map(|made| vec![call(made)]);
                ("assistant", [Vec::from_iter(words)].into_iter().chain(calls).collect())
            }
            Message::ToolResults { results } => {
                let next_to_words = turn_has_words(self.messages, index);
                let result = |shown| vec![result(shown, next_to_words)];
                ("user", results.iter().map(result).collect())
            }
            Message::Files { files } => {
                let files = files.iter().enumerate();
                ("user", files.map(|(at, file)| self.files.labelled(index, at, file)).collect())
            }
            Message::System { text: notice } => {
                ("user", vec![Vec::from_iter(text(&format!("SYSTEM: {notice}")))])
            }
        }
    }
}

/// The blocks of a part. The mark of a part is at its end.
fn blocks(part: Vec<Value>, is_marked: bool) -> Vec<Block> {
    let unmarked = |content| Block { content, is_marked: false };
    let mut blocks: Vec<Block> = part.into_iter().map(unmarked).collect();
    if let Some(last) = blocks.last_mut() {
        last.is_marked = is_marked;
    }
    blocks
}

impl Block {
    fn is_result(&self) -> bool {
        self.content["toolResult"].is_object()
    }
}

impl Turn {
    /// Appends the blocks after the tool results to the last result. Each stays a block of its own,
    /// so that the model sees where the tool's output ends. Files that the model refuses there are
    /// left out, so that only their labels remain.
    fn move_into_results(&mut self, family: Family) {
        let results = self.blocks.iter().take_while(|block| block.is_result()).count();
        if results == 0 {
            return;
        }
        let others = self.blocks.split_off(results);
        let fits = |content: &Value| {
            content["text"].is_string() || family.images_in_results && content["image"].is_object()
        };
        if let Some(Value::Array(last)) =
            self.blocks.last_mut().and_then(|last| last.content.pointer_mut("/toolResult/content"))
        {
            last.extend(others.into_iter().map(|block| block.content).filter(fits));
        }
    }
}

/// The provider refuses a block that contains only whitespace.
fn text(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"text": text}))
}

fn call(call: &ToolCall) -> Value {
    let name = calls::name(&call.name);
    let input = calls::input(&call.input);
    json!({"toolUse": {"toolUseId": call.call_id, "name": name, "input": input}})
}

fn result(result: &ToolResult, quoted: bool) -> Value {
    // The provider would refuse an empty text here too, so an empty text keeps its quotes.
    let content = Some(as_text(&result.output))
        .filter(|_| !quoted)
        .and_then(|shown| text(&shown))
        .unwrap_or_else(|| json!({"text": as_quoted_text(&result.output)}));
    json!({"toolResult": {"toolUseId": result.call_id, "content": [content]}})
}

#[cfg(test)]
mod tests;
