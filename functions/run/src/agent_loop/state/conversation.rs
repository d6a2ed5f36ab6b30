//! The conversation with the model: the messages that the steps of a run add, and its size.

use smartspace_domain::tools::BUILT_IN;
use smartspace_models::port::{FileRef, Message, ModelData, ToolCall, ToolResult};
use smartspace_store::runs::steps::{CallFile, CallRecord, Opaque, StepRecord};

use crate::{
    agent_loop::state::State,
    model_files::{FileCapacity, file_ref},
    prompt::{format::Name, lines::file_line},
};

impl State {
    /// An estimate of the tokens in the conversation. `None` before the first answer.
    pub(crate) fn tokens(&self) -> Option<u64> {
        let last = self.last_usage?;
        let added = self
            .messages
            .iter()
            .rev()
            .take_while(|message| !matches!(message, Message::Assistant { .. }))
            .map(characters);
        Some(
            last.input_tokens
                .saturating_add(last.output_tokens)
                .saturating_add(added.sum::<u64>() / 4)
                .saturating_sub(self.saved_chars / 4),
        )
    }
}

fn characters(message: &Message) -> u64 {
    let texts = |texts: &[String]| texts.iter().map(|text| text.chars().count()).sum::<usize>();
    let count = match message {
        Message::User { blocks } => texts(blocks),
        Message::Files { files } => {
            // A token counts as four characters.
            let size =
                |file: &FileRef| file.label.chars().count() + 4 * file.estimated_tokens() as usize;
            files.iter().map(size).sum()
        }
        Message::Assistant { text, .. } | Message::System { text } => text.chars().count(),
        Message::ToolResults { results } => {
            results.iter().map(|result| result.output.to_string().chars().count()).sum()
        }
    };
    count as u64
}

/// The answer of a step, as a message of the model.
pub(super) fn assistant(step: &StepRecord) -> Message {
    let calls = step.calls.iter().map(|call| ToolCall {
        call_id: call.call_id,
        name: call.name.clone(),
        input: call.input.clone(),
    });
    let own = ModelData {
        model: step.model.clone(),
        call_ids: step.calls.iter().map(|call| call.provider_id.clone()).collect(),
        opaque: step.opaque.as_ref().map(|Opaque(marks)| marks.clone()),
    };
    let has_own = own.opaque.is_some() || own.call_ids.iter().any(|id| !id.is_empty());
    Message::Assistant {
        text: step.text.clone(),
        calls: calls.collect(),
        own: has_own.then(|| Box::new(own)),
    }
}

/// The results of an answer's calls, as messages to the model: first all results, then the pictures
/// that the calls have returned. None for an answer without calls.
pub(crate) fn results<'a>(
    made: impl Iterator<Item = &'a CallRecord> + Clone,
) -> impl Iterator<Item = Message> {
    let results: Vec<_> = made
        .clone()
        .map(|record| ToolResult {
            call_id: record.call_id,
            output: record.output.clone(),
            // Only a built-in tool returns lines as a text.
            has_lines: BUILT_IN.contains(&record.name.as_str()),
        })
        .collect();
    let files: Vec<_> = made.flat_map(files_of).collect();
    let results = (!results.is_empty()).then_some(Message::ToolResults { results });
    let files = (!files.is_empty()).then_some(Message::Files { files });
    results.into_iter().chain(files)
}

/// The pictures that a call has returned, or the files of its answer. One that no model takes is
/// only named.
fn files_of(record: &CallRecord) -> impl Iterator<Item = FileRef> {
    record.files.iter().zip(1..).map(|(CallFile { space_id, label, file }, number)| {
        let label = if label.is_empty() {
            format!("From the answer to {}: {}", Name(&record.name), file_line(number, &file.part))
        } else {
            label.clone()
        };
        FileRef {
            call_id: Some(record.call_id),
            is_cut: !FileCapacity::default().take(&file.part),
            ..file_ref(*space_id, file, label)
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use smartspace_domain::{
        Time,
        ids::{CallId, RunId},
        runs::Usage,
    };

    use super::*;

    fn step(fields: &serde_json::Value) -> StepRecord {
        let mut step = json!({
            "index": 0, "attempt": 1, "streamAttempt": 1, "lease": "l", "model": "deepseek/m",
            "text": "", "systemMessages": [], "finishReason": "tool_calls",
            "usage": Usage::default(),
            "startedAt": "2026-02-18T15:07:00Z", "firstTokenAt": null,
            "finishedAt": "2026-02-18T15:07:01Z",
        });
        step.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        serde_json::from_value(step).unwrap()
    }

    #[test]
    fn an_answer_keeps_the_ids_and_the_marks_of_its_model() {
        let id = CallId::of(RunId::new(Time::from_millis(1), 1), 0, 0);
        let call = json!({"callId": id, "name": "f", "input": "{}", "providerId": "b9mgIC84m"});
        // The marks are stored as text, since the table restricts what its maps may hold.
        let thought = step(&json!({"calls": [call], "opaque": r#"{"reasoning":"Hm."}"#}));
        let own = ModelData {
            model: "deepseek/m".into(),
            call_ids: vec!["b9mgIC84m".into()],
            opaque: Some(json!({"reasoning": "Hm."})),
        };
        let made = ToolCall { call_id: id, name: "f".into(), input: "{}".into() };
        let expected =
            Message::Assistant { text: String::new(), calls: vec![made], own: Some(own.into()) };
        assert_eq!(assistant(&thought), expected);
        let stored = serde_json::to_value(&thought).unwrap();
        assert_eq!(stored["opaque"], r#"{"reasoning":"Hm."}"#);
        let plain = step(&json!({"calls": [], "text": "Hi."}));
        let expected = Message::Assistant { text: "Hi.".into(), calls: Vec::new(), own: None };
        assert_eq!(assistant(&plain), expected);
    }

    #[test]
    fn only_a_built_in_tool_returns_lines() {
        let id = CallId::of(RunId::new(Time::from_millis(1), 1), 0, 0);
        let record = |name: &str| CallRecord {
            output: json!("#1 15:07 Ada: \"Hi\""),
            ..CallRecord::completed(id, 0, 0, name.into(), Time::from_millis(1))
        };
        let has_lines = |name: &str| {
            let message = results(std::iter::once(&record(name))).next();
            let Some(Message::ToolResults { results }) = message else { panic!("no results") };
            results[0].has_lines
        };
        assert!(has_lines("read_messages") && !has_lines("fetchPage"));
    }
}
