//! Steps as the API shows them.

use serde_json::{Value, json};
use smartspace_domain::{
    Time,
    runs::{Hint, Run, RunStatus, Usage},
    steps::{
        Call, CallStatus, FinishReason, Prompt, ResponseOrigin, ReturnedFile, Step, SystemMessage,
    },
};

use crate::{
    Result,
    runs::{
        prompts::PromptRecord,
        steps::{CallBegun, CallFile, CallRecord, Opaque, Progress, StepRecord},
    },
};

/// The name in place of a model in the step of a remote agent.
const REMOTE: &str = "webhook";

/// The steps of a run, as the API shows them. Step 0 has the whole prompt, and later steps only the
/// additions to it. If the run has ended, calls without a result count as canceled. If its model
/// (`asked`) is at work, that step is the last one.
pub fn view(progress: Progress, run: &Run, asked: &str) -> Result<Vec<Step>> {
    let unfinished =
        if run.status.is_active() { CallStatus::Pending } else { CallStatus::Canceled };
    let tools = progress.prompt.as_ref().map(PromptRecord::tools).transpose()?.unwrap_or_default();
    let mut prompt =
        progress.prompt.as_ref().map(PromptRecord::view).transpose()?.unwrap_or_default();
    let mut steps = Vec::with_capacity(progress.steps.len());
    for step in progress.steps {
        let system = step.system_messages.iter().filter(|message| message.is_for_model());
        prompt
            .messages
            .extend(system.map(|message| json!({"role": "system", "text": message.text})));
        let stored = |index: usize| progress.calls.get(&(step.index, index as u32));
        let begun = step.calls.iter().enumerate();
        let calls = begun.map(|(index, begun)| call_view(begun, stored(index), unfinished));
        let calls: Vec<_> = calls.collect();
        let files = (0..step.calls.len()).filter_map(stored).flat_map(|call| &call.files);
        let messages = added_messages(&step, &calls, &files.collect::<Vec<_>>());
        let next = Prompt { system: Vec::new(), messages };
        steps.push(Step {
            index: step.index,
            attempt: step.attempt,
            config_revision: step.config_revision,
            model: step.model,
            origin: step.origin,
            prompt: std::mem::replace(&mut prompt, next),
            cut_results: (step.cut_results > 0).then_some(step.cut_results),
            shared_prefix: None,
            tools: tools.clone(),
            system_messages: step.system_messages,
            text: step.text,
            thinking: step.opaque.map(|Opaque(marks)| marks),
            calls,
            partial: step.partial,
            finish_reason: (!step.partial).then_some(step.finish_reason),
            usage: step.usage,
            started_at: step.started_at,
            first_token_at: step.first_token_at,
            finished_at: Some(step.finished_at),
        });
    }
    if run.remote {
        let posted = progress.calls.into_values().skip_while(|call| call.step < steps.len() as u32);
        let calls = posted.map(|call| remote_call(&call)).collect();
        steps.extend(remote_step(&steps, run, calls).map(|step| Step { prompt, ..step }));
        return Ok(steps);
    }
    steps.extend(under_way(&steps, run, asked).map(|step| Step { prompt, tools, ..step }));
    Ok(steps)
}

/// The messages that a step adds to the prompt of the next one.
fn added_messages(step: &StepRecord, calls: &[Call], files: &[&CallFile]) -> Vec<Value> {
    let result = |call: &Call| json!({"callId": call.call_id, "output": call.output});
    let results: Vec<_> = calls.iter().map(result).collect();
    let mut added = vec![
        json!({"role": "assistant", "text": step.text, "calls": step.calls}),
        json!({"role": "tool_results", "results": results}),
    ];
    added.extend((!files.is_empty()).then(|| json!({"role": "files", "files": files})));
    added
}

/// The work of a remote agent: one step, of which only the messages are known.
fn remote_step(before: &[Step], run: &Run, calls: Vec<Call>) -> Option<Step> {
    let failed = run.status == RunStatus::Failed;
    let ended = if failed { FinishReason::Error } else { FinishReason::Stop };
    Some(Step {
        calls,
        model: REMOTE.into(),
        finish_reason: run.finished_at.map(|_| ended),
        finished_at: run.finished_at,
        ..begun(before, run, run.started_at?)
    })
}

/// A message that a remote agent has posted, as a call.
fn remote_call(stored: &CallRecord) -> Call {
    let begun = CallBegun {
        call_id: stored.call_id,
        name: stored.name.clone(),
        input: json!({"text": stored.sent_excerpt}).to_string(),
        provider_id: String::new(),
    };
    call_view(&begun, Some(stored), CallStatus::Canceled)
}

/// The step whose answer the model is writing. Nothing of it is stored, so it follows from the last
/// stored step: all of its calls have a result.
fn under_way(steps: &[Step], run: &Run, asked: &str) -> Option<Step> {
    let since = match steps.last() {
        None => run.started_at,
        Some(last) => {
            let ends = last.calls.iter().map(|call| call.finished_at);
            ends.collect::<Option<Vec<_>>>().and_then(|ends| ends.into_iter().max())
        }
    };
    // The last step of a fork may be one of the run that it replays.
    let since = since.map(|since| run.started_at.map_or(since, |started| since.max(started)));
    let started_at = since.filter(|_| run.status == RunStatus::Running)?;
    Some(Step { model: asked.to_owned(), ..begun(steps, run, started_at) })
}

/// A step of which nothing is known but its beginning.
fn begun(before: &[Step], run: &Run, started_at: Time) -> Step {
    Step {
        index: before.len() as u32,
        attempt: run.attempt,
        config_revision: None,
        model: String::new(),
        origin: ResponseOrigin::default(),
        prompt: Prompt::default(),
        cut_results: None,
        shared_prefix: None,
        tools: Vec::new(),
        system_messages: Vec::new(),
        text: String::new(),
        thinking: None,
        calls: Vec::new(),
        partial: false,
        finish_reason: None,
        usage: Usage::default(),
        started_at,
        first_token_at: None,
        finished_at: None,
    }
}

/// The system messages of watchers to the model of a run, as members may see them.
pub fn hints(steps: &[StepRecord]) -> Vec<Hint> {
    let of_step = |step: &StepRecord| {
        let shown = step.system_messages.iter().filter(|message| !message.is_for_operator());
        let hint = |message: &SystemMessage| Hint {
            watcher: message.watcher.clone(),
            text: message.text.clone(),
            at: step.started_at,
        };
        shown.map(hint).collect::<Vec<_>>()
    };
    steps.iter().flat_map(of_step).collect()
}

fn files_view(call: &CallRecord) -> Vec<ReturnedFile> {
    let view =
        |kept: &CallFile| ReturnedFile { space_id: kept.space_id, file: kept.file.part.clone() };
    call.files.iter().map(view).collect()
}

fn call_view(begun: &CallBegun, stored: Option<&CallRecord>, unfinished: CallStatus) -> Call {
    let done = stored.filter(|call| call.status != CallStatus::Pending);
    Call {
        call_id: begun.call_id,
        name: begun.name.clone(),
        input: smartspace_domain::json::parse_written(&begun.input)
            .unwrap_or_else(|_| Value::String(begun.input.clone())),
        output: done.map(|done| done.output.clone()),
        files: done.map(files_view).unwrap_or_default(),
        status: done.map_or(unfinished, |done| done.status),
        started_at: stored.map(|stored| stored.started_at),
        finished_at: done.map(|done| done.finished_at),
    }
}
