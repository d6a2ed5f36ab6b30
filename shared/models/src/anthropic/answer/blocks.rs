//! The blocks of a message. The provider numbers all of them together.

use serde_json::{Map, Value, json};

use crate::{
    fields::{input_text, some_text, text},
    port::Piece,
};

/// The blocks of a message so far.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    all: Vec<Block>,
    started: u32,
    has_unnamed: bool,
    /// The blocks of thinking, in their order.
    thinking: Vec<Map<String, Value>>,
}

#[derive(Debug)]
struct Block {
    index: Option<u64>,
    is_open: bool,
    content: Content,
}

#[derive(Debug)]
enum Content {
    /// A call with its number in the pieces. `initial_input` is its input if no delta follows.
    Call {
        number: u32,
        initial_input: Option<String>,
    },
    /// Thinking, at its position in [`Blocks::thinking`].
    Thinking(usize),
    Other,
}

impl Blocks {
    /// Begins a block.
    pub(super) fn start(&mut self, index: Option<u64>, block: &Value) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let content = match text(block, "type") {
            Some("text") => {
                pieces.extend(some_text(block, "text").map(|text| Piece::Text(text.to_owned())));
                Content::Other
            }
            Some("tool_use") => self.start_call(block, &mut pieces),
            Some("thinking" | "redacted_thinking") => {
                self.thinking.push(block.as_object().cloned().unwrap_or_default());
                Content::Thinking(self.thinking.len() - 1)
            }
            // A tool that the provider runs itself, or a kind of a newer version of the API.
            _ => Content::Other,
        };
        self.all.push(Block { index, is_open: true, content });
        pieces
    }

    fn start_call(&mut self, block: &Value, pieces: &mut Vec<Piece>) -> Content {
        let Some(name) = some_text(block, "name") else {
            self.has_unnamed = true;
            return Content::Other;
        };
        let number = self.started;
        self.started += 1;
        pieces.push(Piece::CallStarted { index: number, name: name.to_owned() });
        let id = some_text(block, "id");
        pieces.extend(id.map(|id| Piece::CallId { index: number, id: id.to_owned() }));
        let is_object = |input: &String| input.trim_start().starts_with('{');
        let input = Some(input_text(block.get("input"))).filter(is_object);
        // Models write no input at all for a tool without parameters.
        Content::Call { number, initial_input: Some(input.unwrap_or_else(|| "{}".to_owned())) }
    }

    /// Adds a delta to its block. Fails if no call is open that its input belongs to.
    pub(super) fn extend(
        &mut self,
        index: Option<u64>,
        delta: &Value,
    ) -> Result<Option<Piece>, &'static str> {
        // A kind that is no text is known by its field.
        match some_text(delta, "type") {
            Some("text_delta") => Ok(words(delta)),
            Some("input_json_delta") => self.extend_call(index, delta),
            Some("thinking_delta") => Ok(self.extend_thinking(index, delta, "thinking")),
            Some("signature_delta") => Ok(self.extend_thinking(index, delta, "signature")),
            Some(_) => Ok(None),
            None if delta.get("partial_json").is_some() => self.extend_call(index, delta),
            None if delta.get("thinking").is_some() => {
                Ok(self.extend_thinking(index, delta, "thinking"))
            }
            None if delta.get("signature").is_some() => {
                Ok(self.extend_thinking(index, delta, "signature"))
            }
            None => Ok(words(delta)),
        }
    }

    fn extend_call(
        &mut self,
        index: Option<u64>,
        delta: &Value,
    ) -> Result<Option<Piece>, &'static str> {
        let is_call = |content: &Content| matches!(content, Content::Call { .. });
        let json = input_text(delta.get("partial_json"));
        let block = self.open(index, is_call);
        let block = block.ok_or("the answer continued a call that had not started")?;
        let Content::Call { number, initial_input } = &mut block.content else { return Ok(None) };
        if json.is_empty() {
            return Ok(None);
        }
        *initial_input = None;
        Ok(Some(Piece::CallInput { index: *number, json }))
    }

    fn extend_thinking(&mut self, index: Option<u64>, delta: &Value, field: &str) -> Option<Piece> {
        let more = some_text(delta, field)?;
        let is_thinking = |content: &Content| matches!(content, Content::Thinking(_));
        let Content::Thinking(at) = self.open(index, is_thinking)?.content else { return None };
        let known = self.thinking.get_mut(at)?.entry(field).or_insert(Value::Null);
        match known {
            Value::String(known) => known.push_str(more),
            known => *known = more.into(),
        }
        None
    }

    /// The open block with this number, or else the last open block of this kind.
    fn open(&mut self, index: Option<u64>, fits: impl Fn(&Content) -> bool) -> Option<&mut Block> {
        let open = |block: &&mut Block| block.is_open;
        let has_index = |block: &Block| index.is_some() && block.index == index;
        let is_known = self.all.iter().any(|block| block.is_open && has_index(block));
        let mut last_first = self.all.iter_mut().rev().filter(open);
        last_first.find(|block| if is_known { has_index(block) } else { fits(&block.content) })
    }

    /// Ends a block, or the last open one if it has no number.
    pub(super) fn stop(&mut self, index: Option<u64>) -> Option<Piece> {
        let mut open = self.all.iter_mut().rev().filter(|block| block.is_open);
        open.find(|block| index.is_none() || block.index == index)?.end()
    }

    /// Ends all blocks. Some servers do not end each of them.
    pub(super) fn stop_all(&mut self) -> Vec<Piece> {
        self.all.iter_mut().filter_map(Block::end).collect()
    }

    /// How many calls have begun.
    pub(super) fn started(&self) -> u32 {
        self.started
    }

    pub(super) fn has_unnamed(&self) -> bool {
        self.has_unnamed
    }

    /// The thinking, as it goes back: `{"blocks": [{"type": "thinking", "thinking": "…",
    /// "signature": "…"}, {"type": "redacted_thinking", "data": "…"}]}`. The blocks have all of
    /// their fields, also unknown ones, and stand at the start of the message. `None` without any.
    pub(super) fn opaque(&mut self) -> Option<Value> {
        let says = |block: &Map<String, Value>| {
            let fields = ["thinking", "signature", "data"];
            let has_text = |name: &str| block.get(name).is_some_and(|it| it.as_str() != Some(""));
            fields.into_iter().any(has_text)
        };
        let blocks: Vec<_> = std::mem::take(&mut self.thinking).into_iter().filter(says).collect();
        (!blocks.is_empty()).then(|| json!({ "blocks": blocks }))
    }
}

impl Block {
    fn end(&mut self) -> Option<Piece> {
        self.is_open = false;
        let Content::Call { number, initial_input } = &mut self.content else { return None };
        initial_input.take().map(|json| Piece::CallInput { index: *number, json })
    }
}

fn words(delta: &Value) -> Option<Piece> {
    some_text(delta, "text").map(|text| Piece::Text(text.to_owned()))
}
