//! What a run's model reads: one structured text, the least volatile part first.
//!
//! [`reading`] reads what is needed, [`blocks`], [`timeline`] and [`roles`] write it, [`window`] says how much of the history is shown, and
//! [`quoted`] keeps texts of others from being anything but data.

pub(crate) mod blocks;
pub(crate) mod doing;
pub(crate) mod quoted;
pub(crate) mod reading;
mod roles;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod samples;
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
use smartspace_store::steps::Marks;

use reading::{Gathered, Place};
use window::Window;

/// What a model is first sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Prompt {
    /// The system message: instructions, identity, spaces.
    pub(crate) system: Vec<String>,
    /// What follows it.
    pub(crate) rest: Rest,
    /// How far it reads in each space.
    pub(crate) marks: Marks,
    /// The first message of its history; 1 where there is none.
    pub(crate) first: u64,
    /// Where the blocks of its first message can be cut into parts that other runs will have too.
    pub(crate) cuts: Vec<usize>,
}

/// What follows the system message, in the form in which a run keeps it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rest {
    /// The conversation; with a timeline one message.
    pub(crate) messages: Vec<Message>,
    /// Where the part of the history ends that comes again as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) settled: Option<CachePoint>,
}

impl Rest {
    /// The parts up to the last of the `cuts`, and what is left.
    pub(crate) fn cut(&self, cuts: &[usize]) -> (Vec<Vec<String>>, Self) {
        let mut rest = self.clone();
        let Some(Message::User { blocks }) = rest.messages.first_mut() else { return (Vec::new(), rest) };
        let mut left = std::mem::take(blocks).into_iter();
        let starts = [0].into_iter().chain(cuts.iter().copied());
        let parts = starts.zip(cuts).map(|(start, end)| left.by_ref().take(end - start).collect()).collect();
        *blocks = left.collect();
        (parts, rest)
    }
}

/// Writes the prompt of a run.
pub(crate) fn prompt(gathered: &Gathered, config: &AgentConfig, run: RunId, trigger: &Trigger, now: Time) -> Prompt {
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
        blocks::kept::memories(&gathered.memories),
        blocks::kept::goals(&gathered.goals),
        blocks::kept::plans(&gathered.plans, now),
        blocks::active_runs::active_runs(gathered, run),
        blocks::spaces::active_space(gathered),
        blocks::trigger::trigger(trigger, gathered.place.as_ref()),
        blocks::now(now),
    ];
    let (system, volatile) = (vec![system], volatile.concat());
    if let Some(place) = &gathered.place {
        return behind_history(system, place, config, gathered.agent.id, volatile);
    }
    let messages = vec![Message::User { blocks: vec![volatile] }];
    Prompt { system, rest: Rest { messages, settled: None }, marks: Marks::new(), first: 1, cuts: Vec::new() }
}

/// The history of the space that woke the run, and behind it what changes with every run.
fn behind_history(system: Vec<String>, place: &Place, config: &AgentConfig, me: EntityId, volatile: String) -> Prompt {
    let window = window(place, config, me);
    let (rest, cuts) = match config.context.history {
        History::Timeline => {
            let timeline::Timeline { mut blocks, settled, cuts } = timeline::timeline(place, &window, me);
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
    Prompt { system, rest, marks: Marks::from([(place.space.id, window.last())]), first: window.first(), cuts }
}

/// The messages that the prompt of an agent shows of a space.
fn window<'a>(place: &'a Place, config: &AgentConfig, me: EntityId) -> Window<'a> {
    let write = |message: &_| timeline::entry(message, me, place.member.cursor, place.trigger.seq);
    Window::of(&place.messages, write, config.context.window as usize, config.model.context_window)
}
