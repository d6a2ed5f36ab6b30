//! The prompt of a run of a remote agent, and the webhook that triggers the agent.
//!
//! The webhook carries a token with which the agent answers. It is computed from the lease, so a
//! webhook that is sent again, because the worker before died, carries the same one.

pub(crate) mod webhook;

use smartspace_domain::{Result, Time, callbacks::CallbackKey, triggers::Trigger};
use smartspace_store::runs::{RunRecord, prompts::PromptRecord};

use crate::prompt::{Prompt, PromptRun, reading::PromptSources, window::Room, write_prompt};

/// The key and the address with which remote agents answer.
#[derive(Clone, Debug)]
pub struct Callbacks {
    /// The key of the tokens.
    pub key: CallbackKey,
    /// The address of the API, without a slash at its end.
    pub api_url: String,
}

/// The content of a webhook.
pub(crate) struct WebhookPayload<'a> {
    pub(crate) run: &'a RunRecord,
    pub(crate) sources: &'a PromptSources,
    pub(crate) trigger: &'a Trigger,
    pub(crate) prompt: &'a Prompt,
}

/// The prompt that an agent gets. `None` if it is no agent.
pub(crate) fn agent_prompt(
    run: &RunRecord,
    sources: &PromptSources,
    trigger: &Trigger,
    now: Time,
) -> Option<Prompt> {
    let config = sources.agent.agent.as_ref()?;
    let run = PromptRun { id: run.id, trigger, chain_depth: run.chain_depth };
    Some(write_prompt(sources, config, run, now, Room::without_tools(config)))
}

/// The record of a prompt that a remote agent is sent.
pub(crate) fn prompt_record(prompt: &Prompt) -> Result<PromptRecord> {
    let places = prompt.body.places_of_parts(&prompt.cuts);
    let (history, body) = prompt.body.cut(&prompt.cuts);
    let record = PromptRecord::new(&prompt.system, &body, prompt.marks.clone())?;
    Ok(record.with_history(history).with_places(places))
}
