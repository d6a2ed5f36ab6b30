//! A dry run: a fork asks its model with the prompt and the first steps of another run, and changes
//! nothing.
//!
//! Calls of built-in tools that only read the table are made. All others are answered with the
//! result of the same call of the other run, or with `{"dryRun": true}`. Nothing is streamed or
//! announced.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use smartspace_domain::{
    agents::ForkChanges,
    json as parsing,
    runs::ForkOf,
    steps::{CallStatus, SystemMessage},
};
use smartspace_store::runs::{
    RunRecord,
    places::Places,
    steps::{CallBegun, CallFile, Progress},
};

/// The result of a call, as the other run stored it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StoredResult {
    pub(crate) status: CallStatus,
    pub(crate) output: Value,
    /// Where the output has words of messages of spaces.
    pub(crate) places: Places,
    pub(crate) files: Vec<CallFile>,
}

/// System messages before a step of the run that a dry run replays.
#[derive(Clone, Debug)]
pub(crate) struct ReplayedNotes {
    pub(crate) messages: Vec<SystemMessage>,
    /// Where these have words of messages of spaces.
    pub(crate) places: Places,
}

/// The results and messages of the run that a dry run replays.
#[derive(Debug)]
pub(crate) struct DryRun {
    /// The run that is replayed, and the first step that is asked again.
    pub(crate) fork: ForkOf,
    /// Whether the first part of the prompt is written anew.
    pub(crate) has_own_rules: bool,
    /// The system messages before the first step that is asked again. `None` if the other run did
    /// not reach that step.
    notes: Option<ReplayedNotes>,
    /// Whether the other run was for a message that somebody meant for its agent.
    pub(crate) names_agent: bool,
    /// The results of the calls, by the tools' names and the inputs as JSON. Of equal calls, the
    /// first one since the fork counts.
    results: BTreeMap<(String, String), StoredResult>,
}

impl DryRun {
    pub(crate) fn new(
        fork: ForkOf,
        original: &RunRecord,
        progress: &Progress,
        changes: &ForkChanges,
    ) -> Self {
        let mut notes = None;
        let mut results = BTreeMap::new();
        let (before, after): (Vec<_>, Vec<_>) =
            progress.steps.iter().partition(|step| step.index < fork.step);
        for step in after.into_iter().chain(before) {
            if step.index == fork.step {
                notes = Some(ReplayedNotes {
                    messages: step.system_messages.clone(),
                    places: step.places.clone(),
                });
            }
            for (index, call) in step.calls.iter().enumerate() {
                let Some(stored) = progress.calls.get(&(step.index, index as u32)) else {
                    continue;
                };
                // A call that was canceled was not made.
                if !matches!(stored.status, CallStatus::Pending | CallStatus::Canceled) {
                    results.entry(key(call)).or_insert_with(|| StoredResult {
                        status: stored.status,
                        output: stored.output.clone(),
                        places: stored.places.clone(),
                        files: stored.files.clone(),
                    });
                }
            }
        }
        Self {
            fork,
            has_own_rules: !changes.is_none(),
            notes,
            names_agent: original.triggered_by.names_agent(),
            results,
        }
    }

    /// The system messages before a step, if they are those of the other run.
    pub(crate) fn notes(&self, step: u32) -> Option<&ReplayedNotes> {
        self.notes.as_ref().filter(|_| step == self.fork.step)
    }

    /// The result of a call that is not made.
    pub(crate) fn result(&self, call: &CallBegun) -> StoredResult {
        self.results.get(&key(call)).cloned().unwrap_or_else(|| StoredResult {
            status: CallStatus::Completed,
            output: json!({"dryRun": true}),
            places: Places::default(),
            files: Vec::new(),
        })
    }
}

/// Equal calls have equal keys, however their JSON is spaced.
fn key(call: &CallBegun) -> (String, String) {
    let input = parsing::parse(&call.input).map(|input| input.to_string());
    (call.name.clone(), input.unwrap_or_else(|_| call.input.clone()))
}

#[cfg(test)]
mod tests {
    use smartspace_domain::{
        Time,
        ids::{CallId, RunId},
    };

    use super::*;

    #[test]
    fn a_call_is_answered_with_the_result_of_the_same_call() {
        let id = RunId::new(Time::from_millis(1), 1);
        let call = |name: &str, input: &str| CallBegun {
            call_id: CallId::of(id, 0, 0),
            name: name.into(),
            input: input.into(),
            provider_id: String::new(),
        };
        let fork = ForkOf { run_id: id, step: 0 };
        let results = BTreeMap::new();
        let mut dry =
            DryRun { fork, has_own_rules: false, notes: None, names_agent: false, results };
        dry.results.insert(
            key(&call("post", r#"{"a": 1, "b": 2}"#)),
            StoredResult {
                status: CallStatus::Failed,
                output: json!({"error": "no"}),
                places: Places::default(),
                files: Vec::new(),
            },
        );
        let same = dry.result(&call("post", r#"{"a":1,"b":2}"#));
        assert_eq!((same.status, same.output), (CallStatus::Failed, json!({"error": "no"})));
        for other in [call("post", r#"{"a":1}"#), call("put", r#"{"a": 1, "b": 2}"#)] {
            let result = dry.result(&other);
            assert_eq!(result.status, CallStatus::Completed);
            assert_eq!(result.output, json!({"dryRun": true}));
        }
    }
}
