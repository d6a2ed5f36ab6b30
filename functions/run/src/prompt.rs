//! Writes the prompt of a run: one structured text that starts with the parts that change least, so
//! that providers can cache them.
//!
//! [`reading`] reads the sources. [`blocks`], [`timeline`] and [`roles`] write the text. [`window`]
//! decides how much of the history is shown. [`news`] writes messages that arrive during the run.
//! [`quoted`] escapes texts of others, so that they are never read as anything but data.

pub(crate) mod blocks;
pub(crate) mod news;
pub(crate) mod quoted;
pub(crate) mod reading;
mod roles;
pub(crate) mod run_activity;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod samples;
pub(crate) mod summary;
#[cfg(test)]
mod tests;
pub(crate) mod timeline;
pub(crate) mod window;

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    agents::{AgentConfig, History},
    ids::{EntityId, RunId},
    triggers::Trigger,
};
use smartspace_models::port::{CachePoint, Message};
use smartspace_store::runs::steps::Marks;

use reading::{Gathered, SpaceContext};
use window::Window;

/// The first request to the model, before any step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Prompt {
    /// The blocks of the system message: instructions, identity, spaces.
    pub(crate) system: Vec<String>,
    pub(crate) rest: Rest,
    /// The last message that the prompt shows of each space.
    pub(crate) marks: Marks,
    /// The number of the first message shown. 1 without a history.
    pub(crate) first: u64,
    /// Indexes at which the blocks of the first message can be cut into parts that the prompts of
    /// other runs share.
    pub(crate) cuts: Vec<usize>,
}

/// The part of a prompt after the system message, as it is stored with a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rest {
    /// The conversation. A timeline is a single message.
    pub(crate) messages: Vec<Message>,
    /// The end of the settled history, which later prompts repeat unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) settled: Option<CachePoint>,
}

impl Rest {
    /// Splits the blocks of the first message at `cuts`. Returns the parts and the remainder.
    pub(crate) fn cut(&self, cuts: &[usize]) -> (Vec<Vec<String>>, Self) {
        let mut rest = self.clone();
        let Some(Message::User { blocks }) = rest.messages.first_mut() else {
            return (Vec::new(), rest);
        };
        let mut remaining = std::mem::take(blocks).into_iter();
        let starts = [0].into_iter().chain(cuts.iter().copied());
        let parts = starts
            .zip(cuts)
            .map(|(start, end)| remaining.by_ref().take(end - start).collect())
            .collect();
        *blocks = remaining.collect();
        (parts, rest)
    }
}

/// Writes the prompt of a run.
pub(crate) fn prompt(
    gathered: &Gathered,
    config: &AgentConfig,
    run: RunId,
    trigger: &Trigger,
    now: Time,
) -> Prompt {
    let shown = config.spaces_shown();
    let mut system = String::new();
    if !config.instructions.is_empty() {
        system.push_str(config.instructions.trim_end());
        system.push_str("\n\n");
    }
    let space = gathered.place.as_ref().map(|place| &place.space.settings);
    system.push_str(&blocks::instructions(space, config.context.history));
    system.push_str(&blocks::identity(&gathered.agent));
    system.push_str(&blocks::spaces::your_spaces(gathered, shown));

    let volatile = [
        blocks::agent_state::memories(&gathered.memories),
        blocks::agent_state::goals(&gathered.goals),
        blocks::agent_state::plans(&gathered.plans, now),
        blocks::active_runs::active_runs(gathered, run),
        blocks::spaces::active_space(gathered),
        blocks::trigger::trigger(trigger, gathered.place.as_ref()),
        blocks::now(now),
    ];
    let system = vec![system];
    let volatile = volatile.concat();
    if let Some(place) = &gathered.place {
        return with_history(system, place, config, gathered.agent.id, volatile);
    }
    let messages = vec![Message::User { blocks: vec![volatile] }];
    Prompt {
        system,
        rest: Rest { messages, settled: None },
        marks: Marks::new(),
        first: 1,
        cuts: Vec::new(),
    }
}

/// Writes the prompt of a run that a message triggered: the history of its space, followed by the
/// part that changes with each run.
fn with_history(
    system: Vec<String>,
    place: &SpaceContext,
    config: &AgentConfig,
    me: EntityId,
    volatile: String,
) -> Prompt {
    let window = window(place, config, me);
    let (rest, cuts) = match config.context.history {
        History::Timeline => {
            let timeline::Timeline { mut blocks, settled, cuts } =
                timeline::timeline(place, &window, me);
            blocks.push(volatile);
            let settled = settled.map(|block| CachePoint { message: 0, block });
            (Rest { messages: vec![Message::User { blocks }], settled }, cuts)
        }
        History::Roles => {
            let roles = roles::roles(place, &window, me);
            let settled = roles.settled;
            (Rest { messages: roles.close(volatile), settled }, Vec::new())
        }
    };
    Prompt {
        system,
        rest,
        marks: Marks::from([(place.space.id, window.last())]),
        first: window.first(),
        cuts,
    }
}

/// Chooses the messages of a space that the prompt of an agent shows.
fn window<'a>(place: &'a SpaceContext, config: &AgentConfig, me: EntityId) -> Window<'a> {
    let write = |message: &_| timeline::entry(message, me, place.member.cursor, place.trigger.seq);
    Window::of(&place.messages, write, config.context.window as usize, config.model.context_window)
}
