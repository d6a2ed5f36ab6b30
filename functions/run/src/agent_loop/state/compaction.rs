//! Makes room in the conversation of a run that has filled most of its model's window: first the
//! opaque marks of its answers are cut, then the oldest results of its own calls. Which ones
//! is stored with the step, so that every worker sends the same.

use serde_json::Value;
use smartspace_domain::{ids::CallId, steps::SystemMessage};
use smartspace_models::port::{Message, ToolResult};

use crate::{
    agent_loop::state::State, prompt::format::Thousands, tools::toolbox::Toolbox, watchers::context,
};

/// The share of the window from which on results are cut, in percent.
const FULL_PERCENT: u64 = 85;
/// The share to which they are cut. This is well below [`FULL_PERCENT`], because a cut changes the
/// beginning of the conversation, which a provider then can't take from its cache.
const TARGET_PERCENT: u64 = 50;
/// Results of so many bytes or less are not cut.
const SHORT_BYTES: usize = 400;

impl State {
    /// Cuts the oldest results if the conversation takes most of a `window` of so many tokens.
    /// Those of the last answer stay, because the model has not read them yet.
    pub(crate) fn compact(&mut self, window: u64, tools: &Toolbox) {
        if self.tokens().is_none_or(|tokens| tokens.saturating_mul(100) < window * FULL_PERCENT) {
            return;
        }
        self.cut_opaque_up_to(self.steps.saturating_sub(1));
        while self
            .tokens()
            .is_some_and(|tokens| tokens.saturating_mul(100) > window * TARGET_PERCENT)
        {
            if self.cut_results >= self.read_results() || !self.cut_next(tools) {
                return;
            }
        }
    }

    /// Cuts the opaque marks, or else half of the results that are not cut yet, since the model
    /// says that the conversation is too long. Returns false if there is nothing to cut.
    pub(crate) fn compact_more(&mut self, tools: &Toolbox) -> bool {
        if self.cut_opaque_up_to(self.steps.saturating_sub(1)) {
            return true;
        }
        let left = self.results() - self.cut_results;
        let half = left.div_ceil(2);
        (0..half).fold(false, |cut, _| self.cut_next(tools) || cut)
    }

    /// Cuts the opaque marks of the oldest answers of the run, as many as `answers`. Those of the
    /// last answer stay, because its provider may refuse the results of its calls without them.
    /// Returns whether there were any.
    pub(crate) fn cut_opaque_up_to(&mut self, answers: u32) -> bool {
        let asked = self.prompt.body.messages.len();
        let saved = cut_opaque(&mut self.messages[asked..], answers);
        if saved > 0 {
            self.cut_opaque = answers;
            self.saved_chars += saved;
        }
        saved > 0
    }

    /// Cuts the results that an earlier worker cut before it asked for a step.
    pub(crate) fn cut_up_to(&mut self, results: u32, tools: &Toolbox) {
        while self.cut_results < results && self.cut_next(tools) {}
        self.known_shortened = self.shortened;
    }

    /// The number of results that are shortened now, if there are more than the model knows. It
    /// is notified once.
    pub(crate) fn take_shortened(&mut self) -> Option<u32> {
        let is_new = self.shortened > self.known_shortened;
        self.known_shortened = self.shortened;
        is_new.then_some(self.shortened)
    }

    /// Notifies the model of results that were shortened after the watchers looked.
    pub(crate) fn note_shortened(&mut self) -> Option<SystemMessage> {
        let message = context::message(self.take_shortened()?);
        self.add_system_messages(std::slice::from_ref(&message));
        Some(message)
    }

    /// A result was shortened. The model may need it again, so its calls do not count as repeated.
    fn saw_shortened(&mut self) {
        self.shortened = self.cut_results;
        self.calls.clear();
    }

    /// Cuts the oldest result that is not cut yet. The newest one stays as it is. Returns false if
    /// there is none to cut.
    fn cut_next(&mut self, tools: &Toolbox) -> bool {
        if self.cut_results + 1 >= self.results() {
            return false;
        }
        let index = self.cut_results as usize;
        self.cut_results += 1;
        let mut results = self.messages.iter().enumerate().flat_map(|(at, message)| {
            results_of(message).iter().map(move |result| (at, result.call_id))
        });
        let Some((at, call)) = results.nth(index) else { return true };
        // A call that changes something must not be made again for its result alone.
        let hint = if tools.is_read_only(self.tool_of(call)) { "call again" } else { "cut" };
        let is_read = at < self.answered();
        let saved_by_files = self.cut_files(at + 1, call);
        if is_read {
            self.saved_chars += saved_by_files;
        }
        if saved_by_files > 0 {
            self.saw_shortened();
        }
        let Message::ToolResults { results } = &mut self.messages[at] else { return true };
        let result = results.iter_mut().find(|result| result.call_id == call);
        let Some(result) = result else { return true };
        let text = result.output.to_string();
        if text.len() > SHORT_BYTES {
            let cut = format!("… ({} bytes; {hint})", Thousands(text.len() as u64));
            let saved = text.chars().count().saturating_sub(cut.chars().count());
            result.output = Value::String(cut);
            result.has_lines = true;
            // Results after the last answer are not in its count of tokens.
            if is_read {
                self.saved_chars += saved as u64;
            }
            self.saw_shortened();
        }
        true
    }

    /// Leaves of the pictures that a call has returned only their lines. They are in the message at
    /// this index, if it has returned any. Returns how many characters this saves.
    fn cut_files(&mut self, at: usize, call: CallId) -> u64 {
        let Some(Message::Files { files }) = self.messages.get_mut(at) else { return 0 };
        let mut saved = 0;
        for file in files.iter_mut().filter(|file| file.call_id == Some(call)) {
            // A token counts as four characters.
            saved += 4 * file.estimated_tokens();
            file.is_cut = true;
        }
        saved
    }

    /// The tool of a call. Empty if no answer made it.
    fn tool_of(&self, call: CallId) -> &str {
        let made = self.messages.iter().find_map(|message| match message {
            Message::Assistant { calls, .. } => calls.iter().find(|made| made.call_id == call),
            _ => None,
        });
        made.map_or("", |made| &made.name)
    }

    /// The index of the last answer in the conversation.
    fn answered(&self) -> usize {
        let is_answer = |message: &Message| matches!(message, Message::Assistant { .. });
        self.messages.iter().rposition(is_answer).unwrap_or(0)
    }

    /// The number of results in the conversation.
    fn results(&self) -> u32 {
        count_results(&self.messages)
    }

    /// The number of results that the model has read.
    fn read_results(&self) -> u32 {
        count_results(&self.messages[..self.answered()])
    }
}

/// Cuts the opaque marks of the first answers. Returns how many characters this saves.
fn cut_opaque(messages: &mut [Message], answers: u32) -> u64 {
    let own = messages.iter_mut().filter_map(|message| match message {
        Message::Assistant { own, .. } => Some(own),
        _ => None,
    });
    let marks = own.take(answers as usize).flatten().filter_map(|own| own.opaque.take());
    marks.map(|marks| marks.to_string().chars().count() as u64).sum()
}

fn count_results(messages: &[Message]) -> u32 {
    messages.iter().map(|message| results_of(message).len() as u32).sum()
}

fn results_of(message: &Message) -> &[ToolResult] {
    match message {
        Message::ToolResults { results } => results,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use smartspace_models::port::ModelData;

    use super::*;

    fn answer(opaque: Option<Value>) -> Message {
        let own = ModelData { model: "openai/m".into(), call_ids: vec!["c1".into()], opaque };
        Message::Assistant { text: "Hm.".into(), calls: Vec::new(), own: Some(Box::new(own)) }
    }

    #[test]
    fn the_marks_of_older_answers_are_cut_and_their_ids_stay() {
        let notice = Message::System { text: "Late.".into() };
        let marks = || Some(json!({"reasoning": "é"}));
        let mut messages =
            vec![answer(marks()), notice.clone(), answer(None), answer(marks()), answer(marks())];
        let expected = vec![answer(None), notice, answer(None), answer(None), answer(marks())];
        assert_eq!(cut_opaque(&mut messages, 3), 2 * r#"{"reasoning":"é"}"#.chars().count() as u64);
        assert_eq!(messages, expected);
        assert_eq!(cut_opaque(&mut messages, 3), 0, "nothing is left to cut");
    }
}
