//! Format 2 of a prompt. Its lines are short: a message has its number, its time in minutes and the
//! name of its sender. Types and ids stand once, in `YOUR SPACES`.

pub(crate) mod active_runs;
mod instructions;
pub(crate) mod lines;
mod spaces;
mod trigger;

use smartspace_domain::{Time, agents::AgentConfig, ids::RunId, triggers::Trigger};

use crate::prompt::{agent_state, blocks::Layout, quoted::Quoted, reading::Gathered};

/// Writes the rules for every agent, who this one is, and its spaces.
pub(crate) fn system(gathered: &Gathered, config: &AgentConfig) -> String {
    let identity = format!("IDENTITY: {} ({})\n", Quoted(&gathered.agent.name), gathered.agent.id);
    [
        instructions::instructions(gathered, config),
        identity,
        spaces::your_spaces(gathered, config.spaces_shown()),
    ]
    .concat()
}

/// Writes the part that changes with each run.
pub(crate) fn volatile(
    gathered: &Gathered,
    config: &AgentConfig,
    run: RunId,
    trigger: &Trigger,
    now: Time,
) -> String {
    let active_runs =
        if config.builtins.runs { active_runs::active_runs(gathered, run) } else { String::new() };
    [
        agent_state::blocks(gathered, config.builtins, Layout::Flat, now),
        active_runs,
        spaces::active_space(gathered),
        trigger::trigger(gathered, trigger),
        format!("NOW: {} ({})\n", now.to_whole_seconds(), now.weekday()),
    ]
    .concat()
}
