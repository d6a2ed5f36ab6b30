//! Writes prompts of the samples, and their triggers.

use serde_json::json;
use smartspace_domain::{
    dispatch::Source,
    ids::{DeliveryId, PlanId, RunId},
    triggers::Trigger,
};
use smartspace_models::port::Message;
use smartspace_store::{
    messages::MessageRecord,
    runs::{RunRecord, triggers},
};

use crate::prompt::{
    Prompt, PromptRun,
    agent_state::plan_entry,
    lines::Lines,
    lists::write_list,
    news::write_news,
    page::{Extent, Page},
    reading::PromptSources,
    samples::{SampleTexts, at, id},
    spaces::write_entered_space,
    waking::write_waking,
    window::Room,
    write_prompt,
};

/// Returns a trigger of each kind that is not a message.
pub(crate) fn other_triggers(written: &SampleTexts<'_>) -> [Trigger; 2] {
    let note = written.note.to_owned();
    [
        Trigger::Plan {
            plan_id: PlanId::new(at(0), 1),
            name: note.clone(),
            instruction: note.clone(),
            scheduled_at: at(30),
            missed: 2,
        },
        Trigger::Service {
            service: note,
            payload: json!({"a": [written.note]}),
            delivery_id: DeliveryId::new(at(0), 1),
            at: at(30),
        },
    ]
}

/// Returns the trigger for the last message of the space.
pub(crate) fn message_trigger(sources: &PromptSources) -> Trigger {
    let trigger_space = sources.trigger_space.as_ref().unwrap();
    let run = RunRecord::triggered(
        RunId::new(at(0), 7),
        id(2),
        trigger_space.space.id,
        &trigger_space.trigger,
        Source::Mention,
        at(9),
    );
    triggers::of_message(&run, &trigger_space.space.settings.name, &trigger_space.trigger, None)
}

/// Writes the prompt of a run with this trigger.
pub(crate) fn prompt_of(sources: &PromptSources, trigger: &Trigger) -> Prompt {
    write_prompt(
        sources,
        sources.agent.agent.as_ref().unwrap(),
        PromptRun { id: RunId::new(at(0), 7), trigger, chain_depth: 0 },
        at(60),
        Room::without_tools(sources.agent.agent.as_ref().unwrap()),
    )
}

/// Writes the messages of the space as the news that a run reads between two steps.
pub(crate) fn news_of(sources: &PromptSources) -> Option<String> {
    let trigger_space = sources.trigger_space.as_ref().unwrap();
    let messages: Vec<MessageRecord> =
        trigger_space.messages.iter().map(|message| MessageRecord::clone(message)).collect();
    write_news(
        &trigger_space.space.settings.name,
        &Lines::unmarked(&sources.names, trigger_space.space.id, sources.agent.id),
        RunId::new(at(0), 7),
        0,
        &messages,
    )
    .text
    .map(|news| news.text)
}

/// Writes the other texts that a run reads from tools: a space that it has entered, and its plans.
pub(crate) fn tool_texts_of(sources: &PromptSources) -> String {
    let trigger_space = sources.trigger_space.as_ref().unwrap();
    let id = trigger_space.space.id;
    let settings = &trigger_space.space.settings;
    let card = &sources.cards[&id];
    let messages: Vec<MessageRecord> =
        trigger_space.messages.iter().map(|message| MessageRecord::clone(message)).collect();
    let lines = Lines::of(&sources.names, id, &trigger_space.member);
    let page = Page::newest(&messages, &lines, usize::MAX);
    let extent = Extent { before: u64::MAX, total: page.last().unwrap_or(0) };
    let plans = sources.plans.iter().map(|plan| plan_entry(plan, at(60)));
    [
        write_entered_space(&sources.names, id, card),
        format!("{}\n", write_waking(settings, Some(card))),
        page.write(&settings.name, &lines, extent, Some(&settings.name)).text,
        write_list("PLANS", plans, 0),
    ]
    .concat()
}

/// Returns the text of a prompt. Lines of dashes separate its blocks. Before each message after the
/// first, such a line names the role.
pub(crate) fn text_of(prompt: &Prompt) -> String {
    let mut text = prompt.system.join("\n----\n");
    for (index, message) in prompt.body.messages.iter().enumerate() {
        let (role, blocks) = match message {
            Message::User { blocks } => ("---- user\n", blocks.join("----\n")),
            Message::Assistant { text, .. } => ("---- assistant\n", format!("{text}\n")),
            other => panic!("expected a user or assistant message, got {other:?}"),
        };
        text.push_str(if index == 0 { "\n----\n" } else { role });
        text.push_str(&blocks);
    }
    text
}
