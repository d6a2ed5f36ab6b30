//! Finds the step to play: in the first rule that matches the trigger, the one after the answers
//! that the run already has.

use smartspace_domain::scripts::{Script, ScriptStep, When};

use crate::{
    port::{Message, Request, ScriptCause},
    scripted::blanks::Blanks,
};

/// The step to play, and the values of its blanks.
pub(super) fn current_step(request: &Request) -> Option<(&ScriptStep, Blanks<'_>)> {
    let script = request.model.script.as_ref()?;
    let cause = request.cause.as_ref()?;
    let since = request.messages.get(cause.prompt_messages..)?;
    let index = since.iter().filter(|message| matches!(message, Message::Assistant { .. })).count();
    let result = since.iter().rev().find_map(|message| match message {
        Message::ToolResults { results } => results.last().map(|result| &result.output),
        _ => None,
    });
    let step = steps_for(script, cause)?.get(index)?;
    Some((step, Blanks { cause, result }))
}

fn steps_for<'a>(script: &'a Script, cause: &ScriptCause) -> Option<&'a [ScriptStep]> {
    script.rules.iter().find(|rule| matches(&rule.when, cause)).map(|rule| rule.steps.as_slice())
}

fn matches(when: &When, cause: &ScriptCause) -> bool {
    let texts = [&cause.message, &cause.instruction, &cause.payload];
    let texts = texts.map(|text| text.to_lowercase());
    when.trigger.as_ref().is_none_or(|kind| *kind == cause.kind)
        && when.sender.is_none_or(|sender| sender.as_str() == cause.sender_kind)
        && when.source.as_ref().is_none_or(|source| *source == cause.source)
        && when
            .contains
            .as_ref()
            .is_none_or(|part| texts.iter().any(|text| text.contains(&part.to_lowercase())))
}
