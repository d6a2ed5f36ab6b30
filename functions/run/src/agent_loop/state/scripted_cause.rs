//! Writes why a run was started, for a model that plays a script.

use std::sync::Arc;

use serde_json::Value;
use smartspace_domain::{
    providers::{ProviderApi, ProviderName},
    triggers::Trigger,
};
use smartspace_models::port::ScriptCause;

use crate::{prompt::reading::PromptSources, run_context::RunContext};

/// Why a run was started. `None` if none of its models plays a script.
pub(super) fn scripted_cause(
    context: &RunContext,
    sources: &PromptSources,
    prompt_messages: usize,
) -> Option<Arc<ScriptCause>> {
    let model = &context.model;
    let is_scripted = |provider: &ProviderName| provider.is(ProviderApi::Scripted);
    let is_scripted = is_scripted(&model.provider)
        || model.fallback.iter().any(|model| is_scripted(&model.provider));
    let cause = is_scripted.then(|| of_trigger(&context.trigger, sources))?;
    Some(Arc::new(ScriptCause { now: context.now().to_whole_seconds(), prompt_messages, ..cause }))
}

fn of_trigger(trigger: &Trigger, sources: &PromptSources) -> ScriptCause {
    let kind = trigger.kind().as_str().to_owned();
    match trigger {
        Trigger::SpaceMessage { source, space_name, sender, text, .. } => {
            // The trigger has only the beginning of a long message.
            let message = sources.trigger_space.as_ref().map(|it| &it.trigger);
            let whole = message.filter(|message| message.card.is_none()).map(|it| &it.text);
            ScriptCause {
                kind,
                source: source.as_str().to_owned(),
                space: space_name.clone(),
                sender: sender.name.clone(),
                sender_kind: sender.kind.as_str().to_owned(),
                message: whole.unwrap_or(text).clone(),
                ..ScriptCause::default()
            }
        }
        Trigger::Plan { instruction, .. } => {
            ScriptCause { kind, instruction: instruction.clone(), ..ScriptCause::default() }
        }
        Trigger::Service { payload, .. } => {
            let payload = match payload {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            ScriptCause { kind, payload, ..ScriptCause::default() }
        }
        Trigger::Reference(_) | Trigger::Hidden(_) => {
            ScriptCause { kind, ..ScriptCause::default() }
        }
    }
}
