//! Steps as the API shows them.

use serde_json::{Value, json};
use smartspace_domain::steps::{Call, CallStatus, Prompt, Step};

use crate::{
    Result,
    runs::{
        prompts::PromptRecord,
        steps::{CallBegun, CallRecord, Progress},
    },
};

/// The steps of a run, as the API shows them. Step 0 has the whole prompt, and later steps only the
/// additions to it. If the run has `ended`, calls without a result count as canceled.
pub fn view(progress: Progress, ended: bool) -> Result<Vec<Step>> {
    let unfinished = if ended { CallStatus::Canceled } else { CallStatus::Pending };
    let mut prompt =
        progress.prompt.as_ref().map(PromptRecord::view).transpose()?.unwrap_or_default();
    let mut steps = Vec::with_capacity(progress.steps.len());
    for step in progress.steps {
        let system = step
            .system_messages
            .iter()
            .map(|message| json!({"role": "system", "text": message.text}));
        prompt.messages.extend(system);
        let calls: Vec<Call> = step
            .calls
            .iter()
            .enumerate()
            .map(|(index, begun)| {
                call_view(begun, progress.calls.get(&(step.index, index as u32)), unfinished)
            })
            .collect();
        let results: Vec<Value> = calls
            .iter()
            .map(|call| json!({"callId": call.call_id, "output": call.output}))
            .collect();
        let added = vec![
            json!({"role": "assistant", "text": step.text, "calls": step.calls}),
            json!({"role": "tool_results", "results": results}),
        ];
        steps.push(Step {
            index: step.index,
            attempt: step.attempt,
            model: step.model,
            prompt: std::mem::replace(&mut prompt, Prompt { system: Vec::new(), messages: added }),
            cut_results: (step.cut_results > 0).then_some(step.cut_results),
            system_messages: step.system_messages,
            text: step.text,
            calls,
            finish_reason: step.finish_reason,
            usage: step.usage,
            started_at: step.started_at,
            first_token_at: step.first_token_at,
            finished_at: step.finished_at,
        });
    }
    Ok(steps)
}

fn call_view(begun: &CallBegun, stored: Option<&CallRecord>, unfinished: CallStatus) -> Call {
    let done = stored.filter(|call| call.status != CallStatus::Pending);
    Call {
        call_id: begun.call_id,
        name: begun.name.clone(),
        input: smartspace_domain::json::parse(&begun.input)
            .unwrap_or_else(|_| Value::String(begun.input.clone())),
        output: done.map(|done| done.output.clone()),
        status: done.map_or(unfinished, |done| done.status),
        started_at: stored.map(|stored| stored.started_at),
        finished_at: done.map(|done| done.finished_at),
    }
}
