//! What a run reads that enters a space, and how many tokens that takes.

use serde_json::json;
use smartspace_domain::{
    Time,
    agents::Builtins,
    ids::{MessageId, PlanId},
    triggers::Trigger,
};
use smartspace_models::port::{Message, ToolSpec};

use super::*;
use crate::{
    prompt::{
        reading::PromptSources,
        samples::prompt_of,
        tokens::{conversation, count},
    },
    tools::toolbox::Toolbox,
};

/// The last `limit` messages of the space of a conversation, as a run reads them.
fn entered(sources: &PromptSources, limit: usize) -> String {
    let space = sources.trigger_space.as_ref().unwrap();
    let messages: Vec<MessageRecord> =
        space.messages.iter().map(|message| MessageRecord::clone(message)).collect();
    let total = messages.last().unwrap().seq;
    let last = &messages[messages.len() - limit..];
    let lines = Lines::of(&sources.names, space.space.id, &space.member);
    let overview = &sources.cards[&space.space.id];
    let settings = &space.space.settings;
    let wakes = write_waking(settings, Some(overview));
    write_entered(settings, wakes, overview, &lines, last, total).text
}

#[test]
fn a_run_that_enters_a_space_reads_who_is_there_and_lines_of_the_timeline() {
    let (mut sources, _) = conversation(6, 3);
    let space = sources.trigger_space.as_ref().unwrap().space.id;
    let about = &mut sources.cards.get_mut(&space).unwrap().members[0];
    about.about = Some("leads the project".into());
    insta::assert_snapshot!(entered(&sources, 3));
    let counted = entered(&sources, 0);
    assert_eq!(
        counted.lines().last().unwrap(),
        "… 6 earlier messages, 2 of them [NEW]; read_messages({\"before\":7}) shows them"
    );
}

/// As a provider counts a tool: its name, its description and its schema.
fn tokens_of_tool(spec: &ToolSpec) -> usize {
    let ToolSpec { name, description, .. } = spec;
    let schema = spec.input_schema();
    let text =
        format!(r#"{{"name":{name:?},"description":{description:?},"parameters":{schema}}}"#);
    count(&text)
}

#[test]
fn the_tokens_of_a_plan_that_posts_into_another_space() {
    let (sources, _) = conversation(50, 28);
    let result = entered(&sources, DEFAULT_LIMIT as usize);
    let at = Time::from_millis(1_771_427_220_000);
    let trigger = Trigger::Plan {
        plan_id: PlanId::new(at, 77),
        name: "Daily Report".into(),
        instruction: "Enter Project Alpha and post the daily metrics in one line.".into(),
        scheduled_at: at,
        missed: 0,
    };
    let without_space = PromptSources { trigger_space: None, ..sources };
    let prompt = prompt_of(&without_space, &trigger);
    let Message::User { blocks } = &prompt.body.messages[0] else { panic!() };
    // All messages of the space are in the agent's window.
    let builtins = Builtins { search: false, ..Builtins::default() };
    let toolbox = Toolbox::new(builtins, &[], Vec::new());
    let tools: usize = toolbox.specs().iter().map(tokens_of_tool).sum();
    assert!(tools <= 1_260, "{tools} tokens of tools");
    let sent = json!({
        "success": true, "messageId": MessageId::new(at, 1 << 70), "status": "delivered",
        "wakes": [], "why": "policy",
    });
    let texts = [
        prompt.system.concat(),
        blocks.concat(),
        json!({"name": "enter_space", "input": {"spaceId": "Project Alpha"}}).to_string(),
        result,
        json!({"name": "send_message", "input": {"text": "Revenue is 2.1 M."}}).to_string(),
        sent.to_string(),
    ];
    let counts: Vec<usize> = texts.iter().map(|text| count(text)).collect();
    let all = tools + counts.iter().sum::<usize>();
    println!("plan run: {all} tokens, {tools} of them tools, texts {counts:?}");
    assert!(all <= 2_600, "{all} tokens, {tools} of them tools, texts {counts:?}");
}
