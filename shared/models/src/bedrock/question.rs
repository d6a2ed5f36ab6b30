//! The body of a `ConverseStream` request.

mod marks;

use serde::Serialize;
use serde_json::{Value, json, value::RawValue};

use self::marks::marks;
use super::families::Family;
use crate::{
    calls,
    estimate::as_text,
    port::{CachePoint, Message, Request, ToolCall, ToolResult, ToolSpec},
};

/// Bedrock's hottest; ours goes up to 2.
const HOTTEST: f32 = 1.0;

/// What is sent; fields that are not set are left out. The model stands in the address.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Question<'a> {
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

/// All that one side says before the other speaks again.
struct Turn {
    role: &'static str,
    blocks: Vec<Block>,
}

struct Block {
    content: Value,
    is_marked: bool,
}

impl<'a> Question<'a> {
    pub(super) fn new(request: &'a Request) -> Self {
        let family = Family::of(&request.model.name);
        let turns = turns(&request.messages, family, &marks(request, family.caching));
        Self {
            system: system(&request.system, family),
            messages: turns.into_iter().map(|turn| json!({"role": turn.role, "content": contents(turn.blocks)})).collect(),
            tool_config: Tools::new(&request.tools),
            inference_config: Inference {
                max_tokens: request.model.max_output_tokens,
                temperature: request.model.temperature.map(|temperature| temperature.min(HOTTEST)),
            },
        }
    }
}

/// What stands up to the mark is kept for the next request: the tools, which the model reads first, and all of this.
fn system(parts: &[String], family: Family) -> Vec<Value> {
    let mut blocks: Vec<Block> = parts.iter().filter_map(|part| text(part)).map(|content| Block { content, is_marked: false }).collect();
    if let Some(last) = blocks.last_mut() {
        last.is_marked = family.caching.is_marked();
    }
    contents(blocks)
}

/// Blocks as they are sent: a mark is a block of its own.
fn contents(blocks: Vec<Block>) -> Vec<Value> {
    let mark = |block: &Block| block.is_marked.then(|| json!({"cachePoint": {"type": "default"}}));
    blocks.into_iter().flat_map(|block| [mark(&block), Some(block.content)].into_iter().rev().flatten()).collect()
}

/// The two sides take turns, and the results of a turn's calls come first in the next one.
fn turns(messages: &[Message], family: Family, marks: &[CachePoint]) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for (message, said_here) in messages.iter().enumerate() {
        let (role, contents) = said(said_here, family);
        let is_marked = |block| marks.contains(&CachePoint { message, block });
        let blocks =
            contents.into_iter().enumerate().filter_map(|(at, content)| Some(Block { content: content?, is_marked: is_marked(at) }));
        let blocks: Vec<Block> = blocks.collect();
        match turns.last_mut() {
            _ if blocks.is_empty() => {}
            Some(last) if last.role == role => last.blocks.extend(blocks),
            _ => turns.push(Turn { role, blocks }),
        }
    }
    for turn in &mut turns {
        turn.blocks.sort_by_key(|block| !block.is_result());
        if !family.hears_behind_results {
            turn.put_words_into_results();
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
    /// What stands behind results becomes the end of the last one.
    fn put_words_into_results(&mut self) {
        let results = self.blocks.iter().take_while(|block| block.is_result()).count();
        if results == 0 {
            return;
        }
        let words = self.blocks.split_off(results);
        if let Some(Value::String(last)) = self.blocks.last_mut().and_then(|last| last.content.pointer_mut("/toolResult/content/0/text")) {
            for word in words.iter().filter_map(|word| word.content["text"].as_str()) {
                last.push_str("\n\n");
                last.push_str(word);
            }
        }
    }
}

/// The blocks of a message; none in the place of one that would be refused.
fn said(message: &Message, family: Family) -> (&'static str, Vec<Option<Value>>) {
    match message {
        Message::User { blocks } => ("user", blocks.iter().map(|block| text(block)).collect()),
        Message::Assistant { text: thought, calls } => {
            let thought = text(thought).filter(|_| calls.is_empty() || family.speaks_beside_calls);
            ("assistant", [thought].into_iter().chain(calls.iter().map(call).map(Some)).collect())
        }
        Message::ToolResults { results } => ("user", results.iter().map(result).map(Some).collect()),
        Message::System { text: told } => ("user", vec![text(&format!("SYSTEM: {told}"))]),
    }
}

/// A block without a visible character is refused.
fn text(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"text": text}))
}

fn call(call: &ToolCall) -> Value {
    json!({"toolUse": {"toolUseId": call.call_id, "name": calls::name(&call.name), "input": calls::input(&call.input)}})
}

fn result(result: &ToolResult) -> Value {
    // An empty text would be refused, here too; in quotes it is none.
    let content = text(&as_text(&result.output)).unwrap_or_else(|| json!({"text": result.output.to_string()}));
    json!({"toolResult": {"toolUseId": result.call_id, "content": [content]}})
}

#[derive(Serialize)]
struct Tools<'a> {
    tools: Vec<Tool<'a>>,
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
    /// None where there is none: an empty list is refused.
    fn new(tools: &'a [ToolSpec]) -> Option<Self> {
        let tool = |tool: &'a ToolSpec| {
            let input_schema = Schema { json: tool.input_schema() };
            Tool { tool_spec: Spec { name: &tool.name, description: tool.description.trim(), input_schema } }
        };
        (!tools.is_empty()).then(|| Self { tools: tools.iter().map(tool).collect() })
    }
}

#[cfg(test)]
mod tests;
