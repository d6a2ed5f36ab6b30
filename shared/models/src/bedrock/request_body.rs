//! The body of a `ConverseStream` request.

mod marks;

use serde::Serialize;
use serde_json::{Value, json, value::RawValue};

use self::marks::marks;
use super::families::Family;
use crate::{
    calls,
    estimate::{as_quoted_text, as_text},
    port::{CachePoint, Message, Request, ToolCall, ToolResult, ToolSpec, turn_has_words},
};

/// Bedrock's highest temperature. Configurations allow up to 2.
const MAX_TEMPERATURE: f32 = 1.0;

/// The URL names the model, so the body does not.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RequestBody<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Value>,
    messages: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<Tools<'a>>,
    inference_config: Inference,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Inference {
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
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
        let turns = turns(&request.messages, family, &marks(request, family.caching));
        Self {
            system: system(&request.system, family),
            messages: turns
                .into_iter()
                .map(|turn| json!({"role": turn.role, "content": contents(turn.blocks)}))
                .collect(),
            tool_config: Tools::new(request, family),
            inference_config: Inference {
                max_tokens: request.model.max_output_tokens,
                temperature: request.model.temperature.map(|chosen| chosen.min(MAX_TEMPERATURE)),
            },
        }
    }
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

/// The API requires that the roles alternate, and that the results of calls come first in the turn
/// after the calls.
fn turns(messages: &[Message], family: Family, marks: &[CachePoint]) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let (role, contents) = role_and_contents(message, family, turn_has_words(messages, index));
        let is_marked = |block| marks.contains(&CachePoint { message: index, block });
        let blocks = contents.into_iter().enumerate().filter_map(|(at, content)| {
            Some(Block { content: content?, is_marked: is_marked(at) })
        });
        let blocks: Vec<Block> = blocks.collect();
        match turns.last_mut() {
            _ if blocks.is_empty() => {}
            Some(last) if last.role == role => last.blocks.extend(blocks),
            _ => turns.push(Turn { role, blocks }),
        }
    }
    for turn in &mut turns {
        turn.blocks.sort_by_key(|block| !block.is_result());
        if !family.text_after_results {
            turn.move_texts_into_results();
        }
    }
    turns
}

impl Block {
    fn is_result(&self) -> bool {
        self.content["toolResult"].is_object()
    }
}

impl Turn {
    /// Appends the texts after the tool results to the last result. Each stays a block of its own,
    /// so that the model sees where the tool's output ends.
    fn move_texts_into_results(&mut self) {
        let results = self.blocks.iter().take_while(|block| block.is_result()).count();
        if results == 0 {
            return;
        }
        let texts = self.blocks.split_off(results);
        if let Some(Value::Array(last)) =
            self.blocks.last_mut().and_then(|last| last.content.pointer_mut("/toolResult/content"))
        {
            last.extend(texts.into_iter().map(|block| block.content));
        }
    }
}

/// The role and the contents of a message. A block that the provider would refuse is `None`, so
/// that the indices of cache points stay valid.
///
/// Tool results next to words are quoted: a tool's output must not look like those words.
fn role_and_contents(
    message: &Message,
    family: Family,
    next_to_words: bool,
) -> (&'static str, Vec<Option<Value>>) {
    match message {
        Message::User { blocks } => ("user", blocks.iter().map(|block| text(block)).collect()),
        Message::Assistant { text: words, calls } => {
            let words = text(words).filter(|_| calls.is_empty() || family.text_with_calls);
            ("assistant", [words].into_iter().chain(calls.iter().map(call).map(Some)).collect())
        }
        Message::ToolResults { results } => {
            let result = |shown| Some(result(shown, next_to_words));
            ("user", results.iter().map(result).collect())
        }
        Message::System { text: notice } => ("user", vec![text(&format!("SYSTEM: {notice}"))]),
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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tool<'a> {
    tool_spec: Spec<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Spec<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    input_schema: Schema<'a>,
}

#[derive(Serialize)]
struct Schema<'a> {
    json: &'a RawValue,
}

impl<'a> Tools<'a> {
    /// Returns `None` without tools, because the provider refuses an empty list.
    fn new(request: &'a Request, family: Family) -> Option<Self> {
        let tool = |tool: &'a ToolSpec| {
            let input_schema = Schema { json: tool.input_schema() };
            Tool {
                tool_spec: Spec {
                    name: &tool.name,
                    description: tool.description.trim(),
                    input_schema,
                },
            }
        };
        let forced = request.forced_tool.as_ref().filter(|_| family.forced_tools);
        (!request.tools.is_empty()).then(|| Self {
            tools: request.tools.iter().map(tool).collect(),
            tool_choice: forced.map(|name| json!({"tool": {"name": name}})),
        })
    }
}

#[cfg(test)]
mod tests;
