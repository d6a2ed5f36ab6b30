//! Rebuilds the state of a run from its stored steps, of which none may have expired.

use smartspace_domain::Time;
use smartspace_store::runs::{RunRecord, steps::Progress};

use crate::{
    agent_loop::state::{State, conversation::results},
    tools::toolbox::Toolbox,
};

/// Whether the run has a prompt that its model was asked with. A fork begins with one.
pub(crate) fn has_asked(run: &RunRecord) -> bool {
    run.step_count > 0 || run.fork_of().is_some()
}

/// Whether the stored steps are all that the run did.
/// They expire after a time, even if the run still waits.
/// A worker that resumed from an incomplete record would repeat work.
pub(crate) fn is_whole(progress: &Progress, run: &RunRecord, now: Time) -> bool {
    // The table deletes expired items at any later time, in any order.
    let lasts = |expires_at: Option<i64>| expires_at.is_none_or(|at| at > now.as_seconds());
    // Every prompt has system texts. If there are none, a part of the prompt is gone.
    let prompt = progress
        .prompt
        .as_ref()
        .filter(|prompt| !prompt.system.is_empty() && lasts(prompt.expires_at));
    let steps = progress.steps.iter().filter(|step| lasts(step.expires_at));
    // A step and the step count are stored in one write.
    prompt.is_some() == has_asked(run)
        && steps.map(|step| step.index).eq(0..run.step_count)
        && progress.calls.values().all(|call| lasts(call.expires_at))
}

impl State {
    /// Adds the stored steps. Those before `own` are of the run that a fork replays.
    pub(super) fn replay(&mut self, progress: Progress, own: u32, tools: &Toolbox) {
        let mut calls = progress.calls;
        let last = progress.steps.len();
        for (step, number) in progress.steps.into_iter().zip(1..) {
            self.add_system_messages(&step.system_messages);
            self.add_marks(&step.marks);
            self.add_places(&step.places);
            self.add_known_changes(&step.changed);
            if step.index >= own {
                self.used.add(&step.model, step.usage);
            }
            self.cut_opaque_up_to(step.cut_opaque);
            self.cut_up_to(step.cut_results, tools);
            let mut pending = self.add_answer(&step, tools);
            if step.index < own {
                self.first_token_at = None;
            }
            let begun = pending.calls.iter();
            for (index, (record, begun)) in pending.records.iter_mut().zip(begun).enumerate() {
                *record = calls.remove(&(step.index, index as u32));
                if let Some(record) = record {
                    self.note_own_change(begun, record);
                    self.note_declined(begun, record);
                    self.add_result(record);
                    if step.index >= own {
                        self.add_usage(record);
                    }
                }
            }
            if number < last {
                self.messages.extend(results(pending.made()));
            } else {
                // The loop alone decides what follows from the calls, even if all of them are done.
                // A text that was streamed before its message was stored is replaced by that
                // message, since the stream keeps its id.
                let rest = std::mem::take(&mut calls).into_values();
                pending.reload(rest.filter(|call| call.step == step.index).collect());
                self.pending = Some(pending);
            }
        }
    }
}
