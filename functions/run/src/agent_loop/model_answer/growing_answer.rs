//! Collects an answer piece by piece while the model writes it, and streams the inputs that are
//! shown.

use smartspace_domain::{
    agents::ModelConfig,
    ids::{CallId, SpaceId, StreamId},
    json,
    steps::{FinishReason, LiveAnswer},
};
use smartspace_models::port::{ModelError, Piece};
use smartspace_store::runs::steps::{CallBegun, Opaque};

use crate::{
    agent_loop::model_answer::{
        ModelAnswer, ModelCaller, Notes, Question, broken_stream, streamed_call::StreamedCall,
    },
    run_context::RunContext,
    streaming::{CallPosition, LiveStream, PendingAudience, StreamInfo, recent_audience},
    tools::{calling::is_incomplete, input::text_of, naming::named},
};

/// The longest answer that fits one stored item, in bytes.
const MAX_ANSWER_BYTES: usize = 256 * 1024;
/// The stored size of a call besides its name and input, in bytes.
const CALL_OVERHEAD_BYTES: usize = 64;

/// A model answer that is not complete yet.
pub(super) struct GrowingAnswer<'a> {
    caller: ModelCaller<'a>,
    step: u32,
    notes: Notes,
    answer: ModelAnswer,
    is_complete: bool,
    is_waiting: bool,
    bytes: usize,
    streamer: InputStreamer<'a>,
}

impl Drop for GrowingAnswer<'_> {
    /// If the run is canceled, its loop is dropped in the middle of an answer.
    fn drop(&mut self) {
        if !self.is_complete && self.answer.first_token_at.is_some() {
            let answer = self.take_answer();
            let notes = std::mem::take(&mut self.notes);
            let context = self.caller.context;
            context.unstored_answer.set(Some(answer.partial_record(context, self.step, notes)));
        }
    }
}

impl<'a> GrowingAnswer<'a> {
    pub(super) fn new(
        caller: ModelCaller<'a>,
        question: &Question<'_>,
        model: &ModelConfig,
        attempt: u32,
    ) -> Self {
        let context = caller.context;
        // The audience is read while the model gives its first answer, so that the first word waits
        // for nothing. Later answers rarely post a message.
        let audience = question
            .active_space
            .filter(|_| question.step == 0)
            .map(|space| recent_audience(&context.stream_deps, space));
        let active_space = question.active_space;
        let mut answer = ModelAnswer::begun(model.full_name(), attempt, context.now());
        answer.origin.server = context.models.server_of(model);
        let is_waiting = context.models.must_wait(model);
        context.show_question(
            question.step,
            LiveAnswer::asked(answer.model.clone(), answer.started_at, is_waiting),
            question.entered,
            active_space.zip(audience.clone()),
        );
        let streamer = InputStreamer {
            context,
            active_space,
            attempt,
            call: None,
            position: CallPosition { step: question.step, index: 0 },
            audience,
        };
        context.unstored_answer.set(None);
        Self {
            caller,
            step: question.step,
            notes: Notes {
                messages: question.notes.to_vec(),
                places: question.note_places.clone(),
            },
            answer,
            is_complete: false,
            is_waiting,
            bytes: 0,
            streamer,
        }
    }

    /// The answer begins: the request waits no longer.
    pub(super) fn begin(&self) {
        if self.is_waiting && self.caller.context.dry_run.is_none() {
            self.caller.context.show_turn();
        }
    }

    /// Adds a piece. Returns true if it completes the answer.
    pub(super) fn add(&mut self, piece: Piece) -> Result<bool, ModelError> {
        let context = self.caller.context;
        self.answer.first_token_at.get_or_insert_with(|| context.now());
        match piece {
            Piece::Text(text) => {
                self.bytes += text.len();
                self.answer.text.push_str(&text);
            }
            Piece::CallStarted { index, name } => self.start_call(index, name),
            Piece::CallInput { index, json } => self.add_input(index, &json)?,
            Piece::CallId { index, id } => {
                self.bytes += id.len();
                self.begun(index)?.provider_id = id;
            }
            Piece::Origin { id, model } => {
                self.answer.origin.response_id = id;
                self.answer.origin.response_model = model;
            }
            Piece::Opaque(marks) => self.answer.opaque = Some(Opaque(marks)),
            Piece::Finished { reason, usage } => {
                // What is stored goes back to the provider, which may refuse a lone surrogate.
                for call in &mut self.answer.calls {
                    let replaced = json::replace_lone_surrogates(&call.input).into_owned();
                    call.input = replaced;
                }
                if reason == FinishReason::Refusal {
                    // A filter may cut the last call.
                    self.answer.calls.retain(|call| !is_incomplete(call));
                }
                self.answer.reason = reason;
                self.answer.usage = context.prices.priced(&self.answer.model, usage);
                return Ok(true);
            }
        }
        if self.bytes > MAX_ANSWER_BYTES {
            return Err(broken_stream(
                "the answer is longer than 256 KiB, the most that can be stored",
            ));
        }
        Ok(false)
    }

    /// The complete answer. A worker that is stopped now stores it as a partial one.
    pub(super) fn into_answer(mut self) -> ModelAnswer {
        self.is_complete = true;
        let answer = self.take_answer();
        let context = self.caller.context;
        let unstored_answer = answer.clone().partial_record(context, self.step, self.notes.clone());
        context.unstored_answer.set(Some(unstored_answer));
        answer
    }

    fn take_answer(&mut self) -> ModelAnswer {
        let ModelAnswer { attempt, started_at, .. } = self.answer;
        std::mem::replace(&mut self.answer, ModelAnswer::begun(String::new(), attempt, started_at))
    }

    fn start_call(&mut self, index: u32, name: String) {
        let context = self.caller.context;
        let tools = self.caller.tools;
        let call_id = CallId::of(context.run.id, self.step, index);
        let active = self.active_space();
        if context.dry_run.is_none() {
            let call = StreamedCall::new(call_id, &name, tools, active, context.is_in_one_space);
            self.streamer.start(call, CallPosition { step: self.step, index });
        }
        self.bytes += name.len() + CALL_OVERHEAD_BYTES;
        let provider_id = String::new();
        self.answer.calls.push(CallBegun { call_id, name, input: String::new(), provider_id });
    }

    /// The space that is active for the next call of the answer, if its earlier calls succeed. The
    /// stream itself checks that the agent is a member of it.
    fn active_space(&self) -> Option<SpaceId> {
        let changes_space = |call: &&CallBegun| self.caller.tools.changes_space(&call.name);
        match self.answer.calls.iter().rev().find(changes_space) {
            Some(call) => entered(&call.input, self.caller.spaces),
            None => self.streamer.active_space,
        }
    }

    fn add_input(&mut self, index: u32, json: &str) -> Result<(), ModelError> {
        self.bytes += json.len();
        self.begun(index)?.input.push_str(json);
        let begun = &self.answer.calls[index as usize];
        self.streamer.add(begun.call_id, &begun.input, json);
        Ok(())
    }

    fn begun(&mut self, index: u32) -> Result<&mut CallBegun, ModelError> {
        let begun = self.answer.calls.get_mut(index as usize);
        begun.ok_or_else(|| broken_stream("the answer continued a call that it had not begun"))
    }
}

/// The space that a call of `enter_space` names, by its id or as the prompt names it.
fn entered(input: &str, spaces: &[(SpaceId, String)]) -> Option<SpaceId> {
    let input = json::parse_written(input).ok()?;
    let given = text_of(&input, "spaceId");
    let known = spaces.iter().map(|(id, name)| (*id, name.as_str()));
    given.parse().ok().or_else(|| named(given, "space", known).ok())
}

/// Streams the input of the newest call, if it is shown.
struct InputStreamer<'a> {
    context: &'a RunContext,
    active_space: Option<SpaceId>,
    attempt: u32,
    call: Option<StreamedCall>,
    position: CallPosition,
    /// The audience of the active space, until the first stream takes it.
    audience: Option<PendingAudience>,
}

impl InputStreamer<'_> {
    fn start(&mut self, call: Option<StreamedCall>, position: CallPosition) {
        self.call = call;
        self.position = position;
        self.begin_stream("");
    }

    /// Adds the newest piece of a call's input. `input` is all of it so far.
    fn add(&mut self, id: CallId, input: &str, json: &str) {
        if self.call.as_ref().is_none_or(|call| call.id != id) {
            return;
        }
        self.begin_stream(input);
        if let Some(call) = &mut self.call {
            let text = call.new_text(input, json);
            if !text.is_empty() {
                self.context.streams.push(id, text);
            }
        }
    }

    /// Begins the stream as soon as the input so far shows to which space it goes.
    fn begin_stream(&mut self, input: &str) {
        let Some(call) = &mut self.call else { return };
        let Some(space) = call.take_space(input) else { return };
        let context = self.context;
        let audience = if Some(space) == self.active_space { self.audience.take() } else { None };
        let audience = audience.unwrap_or_else(|| recent_audience(&context.stream_deps, space));
        let info = StreamInfo {
            space,
            stream: StreamId::of(call.id, self.attempt),
            run: context.run.id,
            call: call.id,
            position: self.position,
            attempt: self.attempt,
            agent: context.run.agent_id,
            tool: call.tool.clone(),
        };
        let stream = LiveStream::start(context.stream_deps.clone(), info.clone(), audience);
        context.streams.add(info, stream);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use smartspace_domain::Time;

    use super::*;

    #[test]
    fn the_entered_space_is_known_by_its_id_or_a_name_that_only_one_space_has() {
        let space = |number| SpaceId::new(Time::from_millis(1), number);
        let spaces = ["Reports", "Twins", "Twins"];
        let spaces: Vec<_> =
            (1..).zip(spaces).map(|(number, name)| (space(number), name.to_owned())).collect();
        let entered = |given: &str| entered(&json!({"spaceId": given}).to_string(), &spaces);
        assert_eq!(entered("\"reports\""), Some(space(1)));
        assert_eq!(entered(&space(9).to_string()), Some(space(9)));
        assert_eq!(entered("Twins"), None);
        assert_eq!(entered("Nowhere"), None);
        assert_eq!(super::entered("{", &spaces), None);
    }
}
