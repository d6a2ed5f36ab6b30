//! Finds the step to play: in the first rule that matches the trigger, the one after the answers
//! that the run already has.

use smartspace_domain::scripts::{Script, ScriptStep, When};

use crate::{
    port::{Message, Request},
    scripted::{blanks::Blanks, trigger::Trigger},
};

/// The step to play, and the values of its blanks.
pub(super) fn current_step(request: &Request) -> Option<(&ScriptStep, Blanks<'_>)> {
    let script = request.model.script.as_ref()?;
    let (at, trigger) =
        request.messages.iter().enumerate().rev().find_map(|(at, message)| match message {
            Message::User { blocks } => Some((at, Trigger::read(blocks)?)),
            _ => None,
        })?;
    // A history in roles also contains answers. They come before the trigger and are not steps of
    // this run.
    let since = &request.messages[at..];
    let index = since.iter().filter(|message| matches!(message, Message::Assistant { .. })).count();
    let result = since.iter().rev().find_map(|message| match message {
        Message::ToolResults { results } => results.last().map(|result| &result.output),
        _ => None,
    });
    let step = steps_for(script, &trigger)?.get(index)?;
    Some((step, Blanks { trigger, result }))
}

fn steps_for<'a>(script: &'a Script, trigger: &Trigger) -> Option<&'a [ScriptStep]> {
    script.rules.iter().find(|rule| matches(&rule.when, trigger)).map(|rule| rule.steps.as_slice())
}

fn matches(when: &When, trigger: &Trigger) -> bool {
    let texts = [&trigger.message, &trigger.instruction, &trigger.payload];
    let texts = texts.map(|text| text.to_lowercase());
    when.trigger.as_ref().is_none_or(|kind| *kind == trigger.kind)
        && when.sender.is_none_or(|sender| sender.as_str() == trigger.sender_kind)
        && when.source.as_ref().is_none_or(|source| *source == trigger.source)
        && when
            .contains
            .as_ref()
            .is_none_or(|part| texts.iter().any(|text| text.contains(&part.to_lowercase())))
}
