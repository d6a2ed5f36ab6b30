//! The calls of an answer. Servers number them in different ways: from 0, from another number, all
//! 0, or not at all. Some repeat the name or the id in each part, and some send no id.

use serde_json::{Map, Value, json};

use super::input::InputProgress;
use crate::{
    fields::{count, input_text, pick, some_text},
    port::Piece,
};

/// Fields of a call that only its provider understands, such as Gemini's thought signatures.
const MARKS: &[&str] = &["extra_content", "thought_signature", "provider_specific_fields"];

/// All calls of an answer so far.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
    started: u32,
}

#[derive(Debug)]
struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    /// The number in the pieces, once the call has a name.
    number: Option<u32>,
    /// Input that arrived before the name.
    held: String,
    /// All of its input so far.
    written: String,
    input: InputProgress,
    /// Its name came again after its input was complete. If more input follows, it was the name of
    /// another call of the same tool.
    is_named_again: bool,
    marks: Map<String, Value>,
}

/// A part of a call. Fields that are missing are empty.
#[derive(Debug)]
pub(super) struct CallPart {
    index: Option<u64>,
    id: String,
    name: String,
    input: String,
    marks: Map<String, Value>,
}

/// The call that a part belongs to.
enum Position {
    Known(usize),
    /// A call that this part begins.
    New,
    /// A call that begins with the name of this one.
    NewLike(usize),
    Nowhere,
}

impl CallPart {
    pub(super) fn new(delta: &Value) -> Self {
        let function = delta.get("function").unwrap_or(&Value::Null);
        Self {
            index: count(delta, "index"),
            id: some_text(delta, "id").unwrap_or_default().to_owned(),
            name: some_text(function, "name").unwrap_or_default().to_owned(),
            input: input_text(function.get("arguments")),
            marks: pick(delta, MARKS),
        }
    }

    fn is_blank(&self) -> bool {
        self.input.trim().is_empty()
    }

    fn fits_index(&self, call: &Call) -> bool {
        self.index.is_none() || call.index == self.index
    }
}

impl Call {
    fn is_repeated_by(&self, part: &CallPart) -> bool {
        self.index == part.index
            && self.name == part.name
            && (self.id == part.id || part.id.is_empty())
            && self.input.is_complete()
            && self.written.trim() == part.input.trim()
    }
}

impl Calls {
    /// Adds a part of a call, and the pieces that it gives.
    pub(super) fn add(&mut self, mut part: CallPart, pieces: &mut Vec<Piece>) {
        let at = match self.position(&part) {
            Position::Known(at) => at,
            Position::New => self.begin(&part),
            Position::NewLike(at) => {
                self.calls[at].is_named_again = false;
                part.name.clone_from(&self.calls[at].name);
                self.begin(&part)
            }
            Position::Nowhere => return,
        };
        let call = &mut self.calls[at];
        let is_complete = call.input.is_complete();
        call.is_named_again |= is_complete && !part.name.is_empty() && part.id.is_empty();
        call.input.add(&part.input);
        call.marks.append(&mut part.marks);
        let has_new_id = call.id.is_empty() && !part.id.is_empty();
        if has_new_id {
            call.id.clone_from(&part.id);
        }
        let begins = call.number.is_none() && !part.name.is_empty();
        if begins {
            call.name = part.name;
            call.number = Some(self.started);
            pieces.push(Piece::CallStarted { index: self.started, name: call.name.clone() });
            self.started += 1;
        }
        call.held.push_str(&part.input);
        call.written.push_str(&part.input);
        let Some(index) = call.number else { return };
        if !call.id.is_empty() && (begins || has_new_id) {
            pieces.push(Piece::CallId { index, id: call.id.clone() });
        }
        if !call.held.is_empty() {
            pieces.push(Piece::CallInput { index, json: std::mem::take(&mut call.held) });
        }
    }

    /// How many calls have a name.
    pub(super) fn started(&self) -> u32 {
        self.started
    }

    pub(super) fn has_unnamed(&self) -> bool {
        self.calls.iter().any(|call| call.number.is_none())
    }

    /// Whether no call waits for more of its input.
    pub(super) fn are_complete(&self) -> bool {
        self.calls.iter().all(|call| call.input.is_complete() || call.input.is_empty())
    }

    /// Whether all of the input of each call has come.
    pub(super) fn are_whole(&self) -> bool {
        self.calls.iter().all(|call| call.input.is_complete())
    }

    /// The provider's own fields of each call, by its number in the pieces.
    pub(super) fn marks(&mut self) -> Map<String, Value> {
        let marked = self.calls.iter_mut().filter(|call| !call.marks.is_empty());
        let marks = |call: &mut Call| {
            Some((call.number?.to_string(), json!(std::mem::take(&mut call.marks))))
        };
        marked.filter_map(marks).collect()
    }

    fn begin(&mut self, part: &CallPart) -> usize {
        self.calls.push(Call {
            index: part.index,
            id: String::new(),
            name: String::new(),
            number: None,
            held: String::new(),
            written: String::new(),
            input: InputProgress::default(),
            is_named_again: false,
            marks: Map::new(),
        });
        self.calls.len() - 1
    }

    fn last(&self, fits: impl Fn(&Call) -> bool) -> Option<usize> {
        self.calls.iter().rposition(fits)
    }

    fn position(&self, part: &CallPart) -> Position {
        let has_id = |call: &Call| !part.id.is_empty() && call.id == part.id;
        // Some servers give two calls one id. A part that names no tool continues a call, even
        // under another index.
        let of_id = self
            .last(|call| has_id(call) && part.fits_index(call))
            .or_else(|| self.last(|call| has_id(call) && part.name.is_empty()));
        if part.name.is_empty() {
            self.position_of_rest(part, of_id)
        } else {
            self.position_of_named(part, of_id)
        }
    }

    /// A name begins a call, even at an index that is in use. But some servers repeat the name in
    /// each part, until the input is complete or even after that.
    fn position_of_named(&self, part: &CallPart, of_id: Option<usize>) -> Position {
        // A part without an id may continue the open call even if its number is unknown.
        let continues_open = |call: &Call| {
            part.id.is_empty()
                && !call.id.is_empty()
                && call.name == part.name
                && !call.input.is_complete()
        };
        let at = of_id
            .or_else(|| self.last(|call| part.fits_index(call)))
            .or_else(|| self.last(continues_open));
        let Some(at) = at else { return Position::New };
        let call = &self.calls[at];
        // Some servers repeat the whole call in their last chunk.
        if part.index.is_some() && call.is_repeated_by(part) {
            return Position::Nowhere;
        }
        let is_same_name = call.name == part.name;
        let has_other_id = of_id.is_none() && !part.id.is_empty();
        let continues = match () {
            () if call.number.is_none() => true,
            () if call.input.is_complete() => is_same_name && !has_other_id && part.is_blank(),
            () if of_id.is_some() => true,
            () if has_other_id => is_same_name && call.id.is_empty(),
            () => is_same_name,
        };
        if continues { Position::Known(at) } else { Position::New }
    }

    /// The call of a part without a name: by its id, else by its index if a call is open there,
    /// else the call that is open.
    fn position_of_rest(&self, part: &CallPart, of_id: Option<usize>) -> Position {
        let here = self.last(|call| part.fits_index(call));
        if let Some(at) = of_id {
            return Position::Known(at);
        }
        if part.is_blank() && (part.id.is_empty() || here.is_some()) {
            // It adds no more than marks.
            let at = here.or_else(|| self.last(|_| true));
            return at.map_or(Position::Nowhere, Position::Known);
        }
        if let Some(at) = self.last(|call| part.fits_index(call) && !call.input.is_complete()) {
            return Position::Known(at);
        }
        if !part.id.is_empty() {
            return Position::New;
        }
        if let Some(at) = self.last(|call| part.fits_index(call) && call.is_named_again) {
            return Position::NewLike(at);
        }
        let open = self.last(|call| !call.input.is_complete());
        open.or(here).map_or(Position::New, Position::Known)
    }
}
