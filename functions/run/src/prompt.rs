//! Writes the prompt of a run: one structured text that starts with the parts that change least, so
//! that providers can cache them.
//!
//! [`reading`] reads the sources. [`instructions`], [`spaces`], [`waking`], [`agent_state`],
//! [`active_runs`], [`pinned`], [`reactions`] and [`trigger`] write the text around the history,
//! [`timeline`] and [`roles`] the history, and [`lines`] its lines. [`names`] decides how senders
//! are called, and [`window`] how much of the history is shown. [`parents`] writes older messages
//! that others reply to. [`news`] writes messages that arrive during the run, and [`changes`] what
//! changes in the agent's state. [`page`] writes the messages that a tool returns, and
//! [`found`] those that a search has found. [`format`] escapes texts of others, so that they are
//! never read as anything but data.

pub(crate) mod active_runs;
pub(crate) mod agent_state;
pub(crate) mod approvals;
pub(crate) mod changes;
mod files;
#[cfg(test)]
mod forgery;
pub(crate) mod format;
pub(crate) mod found;
mod instructions;
pub(crate) mod lines;
pub(crate) mod lists;
pub(crate) mod names;
pub(crate) mod news;
pub(crate) mod page;
mod parents;
mod pinned;
pub(crate) mod placed;
mod reactions;
pub(crate) mod reading;
mod roles;
pub(crate) mod run_activity;
#[cfg(test)]
pub(crate) mod samples;
pub(crate) mod spaces;
#[cfg(test)]
mod tests;
pub(crate) mod timeline;
#[cfg(test)]
pub(crate) mod tokens;
mod trigger;
pub(crate) mod waking;
pub(crate) mod why;
pub(crate) mod window;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    agents::{AgentConfig, History},
    ids::RunId,
    triggers::Trigger,
};
use smartspace_models::{
    file_support,
    port::{CachePoint, Message},
};
use smartspace_store::runs::{places::Places, steps::Marks};

use format::Quoted;
use lines::Lines;
use placed::Placed;
use reading::{PromptSources, SpaceContext};
use window::{Room, Window};

/// The first request to the model, before any step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Prompt {
    /// The blocks of the system message: instructions, identity, spaces.
    pub(crate) system: Vec<String>,
    pub(crate) body: PromptBody,
    /// The last message that the prompt shows of each space.
    pub(crate) marks: Marks,
    /// Up to which value of `HEAD.changed` it shows the changes of each space's messages.
    pub(crate) changed: Marks,
    /// The `seq` of the first message shown. 1 without a history.
    pub(crate) first_seq: u64,
    /// Indexes at which the blocks of the first message can be cut into parts that the prompts of
    /// other runs share.
    pub(crate) cuts: Vec<usize>,
}

/// The part of a prompt after the system message, as it is stored with a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PromptBody {
    /// The conversation. A timeline is a single message.
    pub(crate) messages: Vec<Message>,
    /// The names of the tools that the model was offered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tools: Vec<String>,
    /// The end of the settled history, which later prompts repeat unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) settled: Option<CachePoint>,
    /// Where the conversation has words of messages of spaces.
    #[serde(default, skip_serializing_if = "Places::is_empty")]
    pub(crate) places: Places,
}

impl PromptBody {
    /// The places in the parts into which `cuts` split the first message.
    pub(crate) fn places_of_parts(&self, cuts: &[usize]) -> Vec<Places> {
        self.places.clone().in_parts(cuts).0
    }

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
        rest.places = std::mem::take(&mut rest.places).in_parts(cuts).1;
        (parts, rest)
    }
}

/// The run that a prompt is for.
#[derive(Clone, Copy)]
pub(crate) struct PromptRun<'a> {
    pub(crate) id: RunId,
    pub(crate) trigger: &'a Trigger,
    pub(crate) chain_depth: u32,
}

/// Writes the prompt of a run.
pub(crate) fn write_prompt(
    sources: &PromptSources,
    config: &AgentConfig,
    run: PromptRun<'_>,
    now: Time,
    room: Room,
) -> Prompt {
    let mut system = String::new();
    if !config.instructions.is_empty() {
        system.push_str(config.instructions.trim_end());
        system.push_str("\n\n");
    }
    system.push_str(&write_rules(sources, config));
    let volatile = write_volatile(sources, config, run, now);
    let system = vec![system];
    if let Some(trigger_space) = &sources.trigger_space {
        return write_with_history(system, sources, trigger_space, config, volatile, room);
    }
    let (message, places) = in_one_message(vec![volatile]);
    let messages = vec![message];
    Prompt {
        system,
        body: PromptBody { messages, tools: Vec::new(), settled: None, places },
        marks: Marks::new(),
        changed: Marks::new(),
        first_seq: 1,
        cuts: Vec::new(),
    }
}

/// Writes the rules for every agent, its identity, and its spaces.
fn write_rules(sources: &PromptSources, config: &AgentConfig) -> String {
    let identity = format!("IDENTITY: {} ({})\n", Quoted(&sources.agent.name), sources.agent.id);
    [
        instructions::write_instructions(sources, config),
        identity,
        spaces::write_your_spaces(sources, config.spaces_shown()),
    ]
    .concat()
}

/// Writes the part that changes with each run.
fn write_volatile(
    sources: &PromptSources,
    config: &AgentConfig,
    run: PromptRun<'_>,
    now: Time,
) -> Placed {
    let active_runs = if config.builtins.runs {
        active_runs::write_active_runs(sources, run.id, config.runtime.is_none())
    } else {
        Placed::default()
    };
    let chain_ends = chain_ends(sources, run.chain_depth);
    let mut volatile = Placed::plain(reactions::write_reactions(sources));
    volatile.push_str(&agent_state::write_agent_state(sources, config.builtins, now));
    volatile.append(&active_runs);
    volatile.push_str(&spaces::write_active_space(sources, chain_ends));
    volatile.append(&trigger::write_trigger(sources, run.trigger, chain_ends));
    volatile.push_str(&format!("NOW: {} ({})\n", now.to_whole_seconds(), now.weekday()));
    volatile
}

/// Whether the run's message has a chain depth at which it can wake nobody in its space.
fn chain_ends(sources: &PromptSources, chain_depth: u32) -> bool {
    sources.trigger_space.as_ref().is_some_and(|SpaceContext { space, .. }| {
        let overview = sources.cards.get(&space.id);
        waking::chain_ends(&space.settings, overview, sources.agent.id, chain_depth)
    })
}

/// Up to which change of the space the prompt shows its messages, if any ever changed.
fn changed_of(trigger_space: &SpaceContext) -> Marks {
    let changed = Some((trigger_space.space.id, trigger_space.changed));
    changed.into_iter().filter(|(_, changed)| *changed > 0).collect()
}

/// The first message of a conversation, and its places.
fn in_one_message(blocks: Vec<Placed>) -> (Message, Places) {
    let mut places = Places::default();
    for (index, block) in blocks.iter().enumerate() {
        places.0.extend(block.places_at(&format!("/messages/0/blocks/{index}")));
    }
    (Message::User { blocks: blocks.into_iter().map(|block| block.text).collect() }, places)
}

/// Writes the prompt of a run that a message triggered: the history of its space, followed by the
/// part that changes with each run.
fn write_with_history(
    system: Vec<String>,
    sources: &PromptSources,
    trigger_space: &SpaceContext,
    config: &AgentConfig,
    volatile: Placed,
    room: Room,
) -> Prompt {
    let lines = Lines {
        trigger: trigger_space.trigger.seq,
        joined: &trigger_space.joined,
        searches: sources.searches,
        ..Lines::of(&sources.names, trigger_space.space.id, &trigger_space.member)
    };
    let window = Window::of(
        &trigger_space.messages,
        |message| lines.entry(message),
        config.context.window as usize,
        room,
        system.iter().map(String::len).sum::<usize>() + volatile.len(),
    );
    let mut last = parents::write_replied_to(trigger_space, &window, &lines);
    last.append(&volatile);
    let (mut messages, mut places, settled, cuts) = match config.context.history {
        History::Timeline => {
            let timeline::Timeline { mut blocks, settled, cuts } =
                timeline::write_timeline(trigger_space, &window, &lines);
            blocks.push(last);
            let settled = settled.map(|block| CachePoint { message: 0, block });
            let (message, places) = in_one_message(blocks);
            (vec![message], places, settled, cuts)
        }
        History::Roles => {
            let roles = roles::write_roles(trigger_space, &window, &lines);
            let settled = roles.settled;
            let (messages, places) = roles.close(&last);
            (messages, places, settled, Vec::new())
        }
    };
    let file_support = config.model.as_ref().map(file_support::of_model).unwrap_or_default();
    let files = files::chosen(
        trigger_space.space.id,
        window.messages.iter().map(Arc::as_ref),
        file_support,
    );
    if !files.is_empty() {
        places.0.extend(files::places(messages.len(), &files));
        let files = files.into_iter().map(|(_, file)| file).collect();
        messages.push(Message::Files { files });
    }
    Prompt {
        system,
        body: PromptBody { messages, tools: Vec::new(), settled, places },
        marks: Marks::from([(trigger_space.space.id, window.last_seq())]),
        changed: changed_of(trigger_space),
        first_seq: window.first_seq(),
        cuts,
    }
}
