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
    port::Request,
    reasoning::{self, Thinking},
    turns::{Answer, CallPart, Content, ResultPart, Turn, UserTurn, turns},
};

/// Bedrock's highest temperature. Configurations allow up to 2.
const MAX_TEMPERATURE: f32 = 1.0;

/// The name of [`RequestBody::additional_model_request_fields`] in a request.
const OF_VENDOR: &str = "additionalModelRequestFields";

/// The URL names the model, so the body does not.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestBody<'a> {
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

/// A turn whose blocks are not final.
struct OpenTurn {
    role: &'static str,
    blocks: Vec<Block>,
}

struct Block {
    content: Value,
    is_marked: bool,
}

impl<'a> RequestBody<'a> {
    pub(crate) fn new(request: &'a Request) -> Self {
        let family = Family::of(&request.model.name);
        let thinking = reasoning::thinking(&request.model, true);
        // Claude refuses both next to thinking.
        let is_plain = !thinking.is_some_and(Thinking::is_on);
        let temperature = request.model.temperature.filter(|_| is_plain);
        let mut added = request.model.request.clone();
        let of_vendor = added.remove(OF_VENDOR);
        Self {
            system: system(&request.system, family),
            messages: messages(request, family),
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
fn messages(request: &Request, family: Family) -> Vec<SentTurn> {
    let marks = marks(request, family.caching);
    let mut files = Files::of(request);
    let write = |turn| match turn {
        Turn::User(turn) => user(turn, &mut files, family),
        Turn::Assistant(answers) => {
            let blocks = answers.iter().flat_map(|answer| assistant(answer, family)).collect();
            OpenTurn { role: "assistant", blocks }
        }
    };
    turns(request, &marks)
        .into_iter()
        .map(write)
        .map(|turn| SentTurn { role: turn.role, content: contents(turn.blocks) })
        .collect()
}

/// The API requires that the results of calls come first in the turn after the calls.
fn user(turn: UserTurn<'_>, files: &mut Files, family: Family) -> OpenTurn {
    let results = turn.results.iter().map(|shown| blocks(vec![result(shown)], shown.is_marked));
    let parts = turn.parts.into_iter().map(|part| {
        let content = match part.content {
            Content::Text(words) => Vec::from_iter(text(&words)),
            Content::Notice(notice) => Vec::from_iter(text(&notice)),
            Content::File(file) => files.labelled(&file),
        };
        blocks(content, part.is_marked)
    });
    let mut turn = OpenTurn { role: "user", blocks: results.chain(parts).flatten().collect() };
    if !family.text_after_results {
        turn.move_into_results(family);
    }
    turn
}

/// The thinking comes first, unchanged: some models refuse calls without the thinking that led to
/// them.
fn assistant(answer: &Answer<'_>, family: Family) -> Vec<Block> {
    let thinking = answer.opaque.and_then(|opaque| opaque["blocks"].as_array());
    let thinking = thinking.into_iter().flatten().cloned().collect();
    let words = text(answer.text).filter(|_| answer.calls.is_empty() || family.text_with_calls);
    let written = blocks(Vec::from_iter(words), answer.is_marked);
    let calls = blocks(answer.calls.iter().map(call).collect(), false);
    [blocks(thinking, false), written, calls].into_iter().flatten().collect()
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

impl OpenTurn {
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

fn call(call: &CallPart<'_>) -> Value {
    let input = calls::input(call.input);
    json!({"toolUse": {"toolUseId": call.id, "name": call.name, "input": input}})
}

fn result(result: &ResultPart) -> Value {
    let content = json!({"text": result.text()});
    json!({"toolResult": {"toolUseId": result.id, "content": [content]}})
}

#[cfg(test)]
mod tests;
