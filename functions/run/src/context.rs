//! What a run's model reads: one structured text, the least volatile part first.
//!
//! [`reading`] reads what is needed, [`blocks`] and [`timeline`] write it, [`quoted`] keeps texts of others from being anything but data.

pub(crate) mod blocks;
pub(crate) mod quoted;
pub(crate) mod reading;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod samples;
#[cfg(test)]
mod tests;
mod timeline;
pub(crate) mod window;

use serde::{Deserialize, Serialize};
use smartspace_domain::{Time, agents::AgentConfig, dispatch::Source, ids::RunId};
use smartspace_models::port::Message;
use smartspace_store::steps::Marks;

use reading::Gathered;

/// What a model is first sent, in the form in which a run keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Prompt {
    /// The system message: instructions, identity, spaces.
    pub(crate) system: Vec<String>,
    /// The conversation; at first one message.
    pub(crate) messages: Vec<Message>,
}

/// Writes the prompt of a run that a message woke, and how far it reads.
pub(crate) fn prompt(gathered: &Gathered, config: &AgentConfig, run: RunId, source: Source, now: Time) -> (Prompt, Marks) {
    let mut system = String::new();
    if !config.instructions.is_empty() {
        system.push_str(config.instructions.trim_end());
        system.push_str("\n\n");
    }
    system.push_str(&blocks::instructions(gathered.space.settings.trigger_policy));
    system.push_str(&blocks::identity(&gathered.agent));
    system.push_str(&blocks::your_spaces(gathered, config.spaces_shown()));

    let timeline = timeline::timeline(gathered, config.context.window as usize, config.model.context_window);
    let volatile = [
        blocks::active_runs(gathered, run, config.spaces_shown()),
        blocks::active_space(gathered),
        blocks::trigger(gathered, source),
        blocks::now(now),
    ];
    let mut user = timeline.blocks;
    user.push(volatile.concat());
    let marks = Marks::from([(gathered.space.id, timeline.last)]);
    (Prompt { system: vec![system], messages: vec![Message::User { blocks: user }] }, marks)
}
