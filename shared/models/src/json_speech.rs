//! Models that were not trained on tools answer with one JSON object, `{"say", "reason"}`. This
//! module asks for it, and turns the answer into the call that it stands for: `say` is a call of
//! `send_message`, and null is a call of `skip_response`.

use std::collections::VecDeque;

use futures::{StreamExt, stream};
use serde_json::{Value, json};
use smartspace_domain::{agents::Speaks, steps::FinishReason, tools::SEND_MESSAGE};

use crate::{
    calls,
    partial_json::TextScanner,
    port::{Message, ModelError, Piece, Pieces, Request, text::as_text},
};

/// The built-in tool with which an agent stays silent.
const SKIP_RESPONSE: &str = "skip_response";

const RULES: &str = "You have no tools here. Answer with one JSON object and nothing else: \
{\"say\": \"your message\", \"reason\": \"why, in a few words\"}. \
`say` is posted as send_message posts a message. \
To say nothing, write null in place of your message; that stands for skip_response.";

/// Whether a request is one for JSON. Requests without tools, such as those for summaries, are for
/// plain text.
pub(crate) fn is_asked(request: &Request) -> bool {
    request.model.speaks == Speaks::Json && !request.tools.is_empty()
}

/// The schema of the answer, as the field `response_format` of a chat completion.
pub(crate) fn response_format() -> Value {
    let schema = json!({
        "type": "object",
        "properties": {"say": {"type": ["string", "null"]}, "reason": {"type": "string"}},
        "required": ["say", "reason"],
        "additionalProperties": false,
    });
    let json_schema = json!({"name": "answer", "strict": true, "schema": schema});
    json!({"type": "json_schema", "json_schema": json_schema})
}

/// The same request with the rules of such an answer, and with earlier calls as such answers. The
/// messages keep their indices.
pub(crate) fn rewritten(request: &Request) -> Request {
    let mut request = request.clone();
    request.system.push(RULES.to_owned());
    request.forced_tool = None;
    for message in &mut request.messages {
        match message {
            Message::Assistant { text, calls, .. } => {
                if let Some(call) = calls.first() {
                    *text = written(&call.name, &call.input);
                }
                calls.clear();
            }
            Message::ToolResults { results, .. } => {
                let block = |shown| format!("RESULT: {shown}");
                let blocks = results.iter().map(|result| block(as_text(&result.output))).collect();
                *message = Message::User { blocks };
            }
            _ => {}
        }
    }
    request
}

/// The answer that stands for a call.
fn written(name: &str, input: &str) -> String {
    let input = calls::input(input);
    let text = |field: &str| input.get(field).cloned().unwrap_or_default();
    let reason = text("reason").as_str().unwrap_or_default().to_owned();
    let say = if name == SEND_MESSAGE { text("text") } else { Value::Null };
    json!({"say": say, "reason": reason}).to_string()
}

struct Reading {
    pieces: Pieces,
    /// All of the answer from its first brace on.
    text: String,
    say: TextScanner,
    is_speaking: bool,
    ready: VecDeque<Piece>,
}

/// Turns the text of an answer into a call. The message is passed on while it is written.
pub(crate) fn read(pieces: Pieces) -> Pieces {
    let reading = Reading {
        pieces,
        text: String::new(),
        say: TextScanner::new("say"),
        is_speaking: false,
        ready: VecDeque::new(),
    };
    let next = |reading: Option<Reading>| async move {
        let mut reading = reading?;
        loop {
            if let Some(piece) = reading.ready.pop_front() {
                return Some((Ok(piece), Some(reading)));
            }
            match reading.pieces.next().await? {
                Ok(piece) => reading.take(piece),
                Err(error) => return Some((Err::<Piece, ModelError>(error), None)),
            }
        }
    };
    stream::unfold(Some(reading), next).boxed()
}

impl Reading {
    fn take(&mut self, piece: Piece) {
        match piece {
            Piece::Text(more) => self.take_text(&more),
            Piece::Finished { reason, usage } => {
                let reason = self.finish(reason);
                self.ready.push_back(Piece::Finished { reason, usage });
            }
            // No tool was offered, so a call is invented.
            Piece::CallStarted { .. } | Piece::CallInput { .. } | Piece::CallId { .. } => {}
            other @ Piece::Opaque(_) => self.ready.push_back(other),
        }
    }

    fn take_text(&mut self, more: &str) {
        // Some models write a fence or a word before the object.
        let more =
            if self.text.is_empty() { more.find('{').map_or("", |at| &more[at..]) } else { more };
        self.text.push_str(more);
        let said = self.say.push(more);
        if said.is_empty() {
            return;
        }
        if !self.is_speaking {
            self.is_speaking = true;
            self.start(SEND_MESSAGE);
            self.input(r#"{"text":""#.to_owned());
        }
        let quoted = Value::String(said).to_string();
        self.input(quoted[1..quoted.len() - 1].to_owned());
    }

    /// Completes the call. Returns why the answer ended.
    fn finish(&mut self, reason: FinishReason) -> FinishReason {
        let mut values = serde_json::Deserializer::from_str(&self.text).into_iter::<Value>();
        let Some(Ok(answer)) = values.next() else {
            // The message of an answer that was cut stays incomplete, and so does its call.
            if !self.is_speaking {
                self.ready.push_back(Piece::Text(std::mem::take(&mut self.text)));
            }
            return reason;
        };
        if self.is_speaking {
            self.input(r#""}"#.to_owned());
        } else {
            self.start(SKIP_RESPONSE);
            let why = answer["reason"].as_str().unwrap_or_default();
            self.input(json!({"reason": why}).to_string());
        }
        FinishReason::ToolCalls
    }

    fn start(&mut self, name: &str) {
        self.ready.push_back(Piece::CallStarted { index: 0, name: name.to_owned() });
    }

    fn input(&mut self, json: String) {
        self.ready.push_back(Piece::CallInput { index: 0, json });
    }
}

#[cfg(test)]
mod tests;
