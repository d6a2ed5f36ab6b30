//! The conversation of a request as every server takes it: turns of the user and of the model that
//! alternate. Each provider writes these turns in its own form.

use std::borrow::Cow;

use serde_json::Value;

use crate::{
    calls::{self, CallIds},
    port::{
        CachePoint, FileRef, Message, ModelData, Request, ToolCall,
        files::LoadedFile,
        notices::{notice, without_headings},
    },
};

pub(crate) enum Turn<'a> {
    User(UserTurn<'a>),
    /// More than one answer only if the provider has paused one.
    Assistant(Vec<Answer<'a>>),
}

/// All that stands between two answers of the model.
#[derive(Default)]
pub(crate) struct UserTurn<'a> {
    /// The results of the calls of the answer before. The last one ends with the notices.
    pub(crate) results: Vec<ResultPart>,
    pub(crate) parts: Vec<UserPart<'a>>,
}

/// The result of a call.
pub(crate) struct ResultPart {
    /// The id under which the answer before names the call.
    pub(crate) id: String,
    pub(crate) output: String,
    /// Notices of the system after the last result.
    notices: Vec<String>,
    /// Whether a cache point is at its end.
    pub(crate) is_marked: bool,
}

/// A part of what the user says.
pub(crate) struct UserPart<'a> {
    pub(crate) content: Content<'a>,
    /// Whether a cache point is at its end.
    pub(crate) is_marked: bool,
}

pub(crate) enum Content<'a> {
    /// Never blank: some providers refuse that.
    Text(Cow<'a, str>),
    /// A notice of the system, with its heading.
    Notice(String),
    File(LabelledFile<'a>),
}

/// A file after its label.
pub(crate) struct LabelledFile<'a> {
    /// Blank if the file has none.
    pub(crate) label: Cow<'a, str>,
    /// `None` if the request lacks its bytes, or if no provider takes it.
    pub(crate) loaded: Option<LoadedFile<'a>>,
}

/// An answer of the model.
pub(crate) struct Answer<'a> {
    /// Empty instead of blank.
    pub(crate) text: &'a str,
    /// Whether a cache point is at the end of the text.
    pub(crate) is_marked: bool,
    pub(crate) calls: Vec<CallPart<'a>>,
    /// What this model understands, in the form in which its provider gave it.
    pub(crate) opaque: Option<&'a Value>,
}

/// A call of the model.
pub(crate) struct CallPart<'a> {
    /// The provider's own id, or a made one.
    pub(crate) id: String,
    /// A name that every provider accepts.
    pub(crate) name: String,
    /// The input as the model wrote it.
    pub(crate) input: &'a str,
}

/// The turns of a request, with these cache points.
pub(crate) fn turns<'a>(request: &'a Request, points: &[CachePoint]) -> Vec<Turn<'a>> {
    let mut builder = TurnBuilder { request, points, ids: CallIds::of(request), turns: Vec::new() };
    for (index, message) in request.messages.iter().enumerate() {
        builder.add(index, message);
    }
    builder.turns.iter_mut().for_each(|turn| {
        if let Turn::User(turn) = turn {
            turn.move_notices();
        }
    });
    builder.turns
}

struct TurnBuilder<'a, 'b> {
    request: &'a Request,
    points: &'b [CachePoint],
    ids: CallIds,
    turns: Vec<Turn<'a>>,
}

impl<'a> TurnBuilder<'a, '_> {
    fn add(&mut self, message: usize, said: &'a Message) {
        match said {
            Message::User { blocks } => {
                for (at, block) in blocks.iter().enumerate().filter(|(_, block)| !is_blank(block)) {
                    self.say(message, at, Content::Text(without_headings(block)));
                }
            }
            Message::Files { files } => {
                for (at, file) in files.iter().enumerate() {
                    self.show(message, at, file);
                }
            }
            Message::System { text } => self.say(message, 0, Content::Notice(notice(text))),
            Message::ToolResults { results } => {
                for (at, result) in results.iter().enumerate() {
                    let part = ResultPart {
                        id: self.ids.of_call(result.call_id),
                        output: result.text(),
                        notices: Vec::new(),
                        is_marked: self.is_marked(message, at),
                    };
                    self.add_to_user_turn(|turn| turn.results.push(part));
                }
            }
            Message::Assistant { text, calls, own } => {
                self.answer(message, text, calls, own.as_deref());
            }
        }
    }

    fn is_marked(&self, message: usize, block: usize) -> bool {
        self.points.contains(&CachePoint { message, block })
    }

    fn say(&mut self, message: usize, block: usize, content: Content<'a>) {
        let is_marked = self.is_marked(message, block);
        self.add_to_user_turn(|turn| turn.parts.push(UserPart { content, is_marked }));
    }

    fn show(&mut self, message: usize, block: usize, file: &'a FileRef) {
        let label = without_headings(&file.label);
        let loaded = LoadedFile::of(file, &self.request.files);
        if loaded.is_some() || !is_blank(&label) {
            self.say(message, block, Content::File(LabelledFile { label, loaded }));
        }
    }

    fn add_to_user_turn(&mut self, add: impl FnOnce(&mut UserTurn<'a>)) {
        if let Some(Turn::User(turn)) = self.turns.last_mut() {
            add(turn);
        } else {
            let mut turn = UserTurn::default();
            add(&mut turn);
            self.turns.push(Turn::User(turn));
        }
    }

    /// Adds an answer. Providers refuse an empty one.
    fn answer(
        &mut self,
        message: usize,
        text: &'a str,
        calls: &'a [ToolCall],
        own: Option<&'a ModelData>,
    ) {
        let call = |call: &'a ToolCall| CallPart {
            id: self.ids.of_call(call.call_id),
            name: calls::name(&call.name),
            input: &call.input,
        };
        let answer = Answer {
            text: if is_blank(text) { "" } else { text },
            is_marked: self.is_marked(message, 0),
            calls: calls.iter().map(call).collect(),
            opaque: self.request.own_data(own).and_then(|own| own.opaque.as_ref()),
        };
        if answer.text.is_empty() && answer.calls.is_empty() && answer.opaque.is_none() {
            return;
        }
        match self.turns.last_mut() {
            Some(Turn::Assistant(answers)) => answers.push(answer),
            _ => self.turns.push(Turn::Assistant(vec![answer])),
        }
    }
}

impl UserTurn<'_> {
    /// Moves the notices to the end of the last result, because some servers refuse what a user
    /// says right after a result.
    fn move_notices(&mut self) {
        let Some(last) = self.results.last_mut() else { return };
        self.parts.retain(|part| {
            let Content::Notice(text) = &part.content else { return true };
            last.notices.push(text.clone());
            last.is_marked |= part.is_marked;
            false
        });
    }
}

impl ResultPart {
    /// The output, then the notices, with an empty line before each.
    pub(crate) fn text(&self) -> String {
        let notices = self.notices.iter().map(String::as_str);
        std::iter::once(self.output.as_str()).chain(notices).collect::<Vec<_>>().join("\n\n")
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

#[cfg(test)]
mod tests;
