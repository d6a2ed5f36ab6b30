//! The work of an absorbed run, as the result of `absorb_run` shows it: its trigger and its
//! actions.

use futures::try_join;
use serde_json::{Value, json};
use smartspace_domain::{
    Result, ids::SpaceId, jobs::MessageRef, steps::CallStatus, triggers::Trigger,
};
use smartspace_store::{
    Store,
    runs::{
        RunRecord,
        places::{Passage, Places, Reads},
        steps::{CallRecord, Progress},
    },
};

use crate::tools::output::{MAX_OUTPUT_BYTES, bounded_to, count_that_fit};

/// How much of an input or output is shown, in bytes.
const MAX_VALUE_BYTES: usize = 4_000;

/// The trigger and the actions of a run, as many as fit a result, and where they have words of
/// messages, if they are stored at the JSON pointer `at`.
pub(crate) async fn absorbed(
    store: &Store,
    other: &RunRecord,
    at: &str,
) -> Result<(Value, Places)> {
    let (run, progress) = try_join!(store.runs().get(other), store.steps().progress(other.id))?;
    let trigger = json!(run.trigger);
    let mut places = Places::default();
    if let Trigger::SpaceMessage { space_id, seq, text, .. } = &run.trigger {
        let message = MessageRef { space_id: *space_id, seq: *seq };
        places.0.push(whole(format!("{at}/trigger/text"), message, text.len()));
    }
    let (actions, of_actions) = actions(progress, &format!("{at}/actionsTaken"));
    let count =
        count_that_fit(&actions, MAX_OUTPUT_BYTES.saturating_sub(trigger.to_string().len()));
    let mut absorbed = json!({"trigger": trigger, "actionsTaken": actions[..count]});
    if count < actions.len() {
        absorbed["more"] = json!(actions.len() - count);
    }
    // Places in actions that do not fit point to nothing.
    places.0.extend(of_actions);
    Ok((absorbed, places))
}

/// The place of a text that is all words of a message.
fn whole(at: String, message: MessageRef, to: usize) -> Passage {
    let MessageRef { space_id: space, seq } = message;
    Passage { at, space, seq, last: seq, from: 0, to }
}

/// Where an action has words of messages. If its output was cut, a message takes all of it along.
fn places_of(done: &CallRecord, input: &Value, output: &Value, at: &str) -> Vec<Passage> {
    let mut places = Vec::new();
    if let Some(message) = done.sent_to() {
        places.push(whole(format!("{at}/input"), message, input.to_string().len()));
    }
    let at = format!("{at}/output");
    if *output == done.output {
        let moved = |it: &Passage| Passage { at: format!("{at}{}", it.at), ..it.clone() };
        places.extend(done.places.0.iter().map(moved));
        return places;
    }
    let mut reads = Reads::new();
    done.places.add_to(&mut reads);
    let to = output.as_str().map_or(0, str::len);
    let of_space = |(space, (seq, last)): (SpaceId, (u64, u64))| Passage {
        at: at.clone(),
        space,
        seq,
        last,
        from: 0,
        to,
    };
    places.extend(reads.into_iter().map(of_space));
    places
}

/// The actions of a run, in order, and where they have words of messages.
fn actions(mut progress: Progress, at: &str) -> (Vec<Value>, Vec<Passage>) {
    let mut actions = Vec::new();
    let mut places = Vec::new();
    for step in &progress.steps {
        for (index, begun) in step.calls.iter().enumerate() {
            let Some(done) = progress.calls.remove(&(step.index, index as u32)) else { continue };
            let output = match done.status {
                CallStatus::Pending if done.is_external => {
                    json!({"error": "it was under way; whether it took effect is not known"})
                }
                CallStatus::Pending => json!({"error": "canceled"}),
                _ => done.output.clone(),
            };
            let input = smartspace_domain::json::parse_written(&begun.input)
                .unwrap_or_else(|_| Value::String(begun.input.clone()));
            let input = bounded_to(input, MAX_VALUE_BYTES);
            let output = bounded_to(output, MAX_VALUE_BYTES);
            let at = format!("{at}/{}", actions.len());
            places.extend(places_of(&done, &input, &output, &at));
            actions.push(json!({"tool": begun.name, "input": input, "output": output}));
        }
    }
    (actions, places)
}
