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
    let reason = calls::input(input).get("reason").cloned().unwrap_or_else(|| json!(""));
    // The input may be incomplete: the answer was cut.
    let text = || TextScanner::new("text").push(input);
    let say = (name == SEND_MESSAGE).then(text);
    json!({"say": say, "reason": reason}).to_string()
}

struct Reading {
    pieces: Pieces,
    /// What stands before the object.
    prose: String,
    /// All of the answer from its first brace on.
    text: String,
    quotes: Quotes,
    say: TextScanner,
    is_speaking: bool,
    ready: VecDeque<Piece>,
}

/// Turns the text of an answer into a call. The message is passed on while it is written.
pub(crate) fn read(pieces: Pieces) -> Pieces {
    let reading = Reading {
        pieces,
        prose: String::new(),
        text: String::new(),
        quotes: Quotes::default(),
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
            other @ (Piece::Opaque(_) | Piece::Origin { .. }) => self.ready.push_back(other),
        }
    }

    fn take_text(&mut self, more: &str) {
        let begun = if self.text.is_empty() { self.object(more) } else { more.to_owned() };
        let more = self.quotes.escaped(&begun);
        self.text.push_str(&more);
        let said = self.say.push(&more);
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

    /// The beginning of the object, as far as it has come. Some models write a fence, a word or
    /// their thoughts before it.
    fn object(&mut self, more: &str) -> String {
        const THINK: &str = "<think>";
        self.prose.push_str(more);
        let prose = self.prose.trim_start();
        let begin = self.prose.len() - prose.len();
        let thought = match prose.find("</think>") {
            Some(end) if prose.starts_with(THINK) => end,
            None if prose.starts_with(THINK) || THINK.starts_with(prose) => prose.len(),
            _ => 0,
        };
        let at = self.prose[begin + thought..].find('{');
        at.map(|at| self.prose.split_off(begin + thought + at)).unwrap_or_default()
    }

    /// Completes the call. Returns why the answer ended.
    fn finish(&mut self, reason: FinishReason) -> FinishReason {
        let mut values = serde_json::Deserializer::from_str(&self.text).into_iter::<Value>();
        let answer = values.next().and_then(Result::ok);
        if self.is_speaking {
            // A fault after the message does not cost it. The message of an answer that was cut
            // stays incomplete, and so does its call.
            if answer.is_none() && !self.say.is_complete() {
                return reason;
            }
            self.input(r#""}"#.to_owned());
            return FinishReason::ToolCalls;
        }
        let Some(why) = answer.as_ref().and_then(silence) else {
            let text = std::mem::take(&mut self.prose) + &self.text;
            self.ready.push_back(Piece::Text(text));
            return reason;
        };
        self.start(SKIP_RESPONSE);
        self.input(json!({"reason": why}).to_string());
        FinishReason::ToolCalls
    }

    fn start(&mut self, name: &str) {
        self.ready.push_back(Piece::CallStarted { index: 0, name: name.to_owned() });
    }

    fn input(&mut self, json: String) {
        self.ready.push_back(Piece::CallInput { index: 0, json });
    }
}

/// The reason of an answer that says nothing. `None` if it says something in another form.
fn silence(answer: &Value) -> Option<&str> {
    let why = answer.get("reason").and_then(Value::as_str);
    match answer.get("say") {
        Some(Value::Null) => Some(why.unwrap_or_default()),
        Some(Value::String(text)) if text.is_empty() => Some(why.unwrap_or_default()),
        Some(_) => None,
        None => why,
    }
}

/// Where in its strings a JSON text is.
#[derive(Debug, Default)]
struct Quotes {
    is_quoted: bool,
    is_escaped: bool,
}

impl Quotes {
    /// The next part of the text with line breaks and tabs in strings as JSON writes them. Models
    /// often write them as they are.
    fn escaped(&mut self, more: &str) -> String {
        let mut escaped = String::with_capacity(more.len());
        for c in more.chars() {
            match c {
                '\n' if self.is_quoted => escaped.push_str("\\n"),
                '\r' if self.is_quoted => escaped.push_str("\\r"),
                '\t' if self.is_quoted => escaped.push_str("\\t"),
                c => escaped.push(c),
            }
            self.is_quoted ^= c == '"' && !self.is_escaped;
            self.is_escaped = c == '\\' && self.is_quoted && !self.is_escaped;
        }
        escaped
    }
}

#[cfg(test)]
mod tests;
