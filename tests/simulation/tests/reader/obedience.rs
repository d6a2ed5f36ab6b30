//! What a model does that obeys each sentence of its prompt to the letter, and knows nothing else.
//!
//! A sentence that is missing is not obeyed: without "another run of yours answers it" the news is
//! answered, and a line without `[NEW]` waits for nobody.

use serde_json::{Value, json};

use super::{
    reading::{Line, Reading},
    task::{Duty, Task},
};

const SPEAKS: &str = "Only send_message speaks";
const ENDS: &str = "When you have answered, end without a call.";
const NEW: &str = "[NEW] lines are new to you or wait for your answer.";
const OWN: &str = "Lines of `You` are what you said: do not say it again.";
const UNNAMED: &str = "If nobody named you, answer only if you add something that no one has said.";
const NEWS: &str = "If one of these is for you, another run of yours answers it:";
const OTHER_RUNS: &str = "Other runs of yours deal with other messages; you deal with TRIGGER.";

/// What the letters leave open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// Whether it answers every line that is `[NEW]`, also those that are not its trigger.
    pub(super) is_eager: bool,
    /// Whether it makes several calls in one answer.
    pub(super) is_fast: bool,
}

/// An answer of the model.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) calls: Vec<(String, Value)>,
}

pub(super) fn obey(reading: &Reading, style: Style) -> Answer {
    let task = Task::read(&reading.instructions);
    let messages = messages_to_answer(reading, style);
    let mut calls = Vec::new();
    for duty in task.duties.iter().filter(|duty| is_due(duty, reading, &messages)) {
        calls.extend(calls_of(duty, &task.bans, reading));
    }
    let all = calls.len();
    if !style.is_fast {
        calls.truncate(1);
    }
    if let Some((tool, input)) = calls.last_mut()
        && all > 1
        && !style.is_fast
        && reading.has_more
        && tool == "send_message"
    {
        input["more"] = true.into();
    }
    if calls.is_empty() {
        return end(reading);
    }
    if reading.rules.contains(SPEAKS) {
        return Answer { text: String::new(), calls };
    }
    let texts = calls.iter().filter_map(|(_, input)| input["text"].as_str());
    Answer { text: texts.collect(), calls: Vec::new() }
}

/// Ends the run as `INSTRUCTIONS` ask it to.
fn end(reading: &Reading) -> Answer {
    let has_answered = reading.calls.iter().any(|call| call.tool == "send_message");
    if has_answered && reading.rules.contains(ENDS) {
        return Answer::default();
    }
    let skip = ("skip_response".to_owned(), json!({"reason": "Nothing is left to say."}));
    Answer { text: String::new(), calls: vec![skip] }
}

/// The messages that wait for this run.
fn messages_to_answer(reading: &Reading, style: Style) -> Vec<Line> {
    let deals_with_others = reading.prompt.contains("\nACTIVE RUNS:\n");
    if deals_with_others && !reading.prompt.contains(OTHER_RUNS) {
        // The other runs that are listed may do it.
        return Vec::new();
    }
    let joined = joined(&reading.trigger);
    let is_wide = style.is_eager && !deals_with_others && reading.rules.contains(NEW);
    let waits = |line: &&Line| {
        if line.is_trigger {
            return trigger_waits(reading, line);
        }
        line.is_new && !line.is_own() && (is_wide || joined.contains(&line.seq))
    };
    let mut messages: Vec<Line> = reading.lines.iter().filter(waits).cloned().collect();
    let leaves_news = reading.notices.iter().any(|notice| notice.contains(NEWS));
    if !leaves_news {
        messages.extend(reading.news().into_iter().filter(|line| !line.is_own()));
    }
    messages
}

/// A trigger that is seen, or above a line of the agent, looks answered unless the prompt denies
/// it.
fn trigger_waits(reading: &Reading, trigger: &Line) -> bool {
    let is_denied = reading.trigger.contains(", not answered yet");
    let looks_answered = reading.lines.iter().any(|line| line.is_own() && line.seq > trigger.seq);
    is_denied || trigger.is_new && !looks_answered
}

/// The numbers after `Answer these messages, too:`.
fn joined(trigger: &str) -> Vec<u64> {
    let line = trigger.lines().find_map(|it| it.strip_prefix("Answer these messages, too: "));
    let numbers = line.into_iter().flat_map(|line| line.split(", "));
    numbers.filter_map(|number| number.trim_start_matches('#').parse().ok()).collect()
}

fn is_due(duty: &Duty, reading: &Reading, messages: &[Line]) -> bool {
    let has_words = |line: &&Line| line.text.contains(&duty.words);
    let all = reading.lines.iter().filter(|line| !line.is_own() && has_words(line)).count();
    let remembers = |note: &String| reading.memories().iter().any(|line| line.contains(note));
    messages.iter().any(|line| has_words(&line))
        && all.max(1) >= duty.count
        && duty.note.as_ref().is_none_or(remembers)
        && !is_said(&duty.text, reading)
}

/// Whether the rules forbid to say a text that stands there already.
fn is_said(text: &str, reading: &Reading) -> bool {
    let news = reading.news();
    let mut said = reading.lines.iter().chain(&news).filter(|line| line.text.contains(text));
    let is_named = ["names you", "to you alone", "handed to you"]
        .iter()
        .any(|words| reading.trigger.contains(words));
    let minds_others = !is_named && reading.rules.contains(UNNAMED);
    said.any(|line| if line.is_own() { reading.rules.contains(OWN) } else { minds_others })
}

/// The calls that a duty still needs, as far as they do not wait for a result.
fn calls_of(duty: &Duty, bans: &[Duty], reading: &Reading) -> Vec<(String, Value)> {
    let made = |tool: &str| reading.calls.iter().find(|call| call.tool == tool);
    let mut calls = Vec::new();
    let mut text = duty.text.clone();
    if let Some(form) = &duty.form {
        let Some(answer) = made(form) else {
            let input = json!({"message": "May I?", "options": ["Approve", "Reject"]});
            return vec![(form.clone(), input)];
        };
        let agreed = answer.result.as_ref().is_some_and(|it| it["choice"] == "Approve");
        if !agreed {
            return Vec::new();
        }
    }
    let memories = reading.memories();
    let forbids = |ban: &&Duty| {
        let note = ban.note.as_deref().unwrap_or_default();
        ban.tool == duty.tool && memories.iter().any(|line| line.contains(note))
    };
    let ban = duty.tool.as_ref().and_then(|_| bans.iter().find(forbids));
    if let Some(ban) = ban {
        text.clone_from(&ban.text);
    } else if let Some(tool) = duty.tool.as_ref().filter(|tool| made(tool).is_none()) {
        calls.push((tool.clone(), json!({})));
    }
    if let Some(note) = duty.saved.as_ref().filter(|_| made("set_memories").is_none()) {
        let memories = json!({"memories": [{"key": "state", "value": note}]});
        calls.push(("set_memories".to_owned(), memories));
    }
    let text = addressed(&filled(&text, reading), duty, reading);
    let is_posted = |text: &str| {
        let of_run = reading.calls.iter().filter(|call| call.tool == "send_message");
        of_run.filter_map(|call| call.input["text"].as_str()).any(|it| it == text)
    };
    if !is_posted(&text) {
        calls.push(("send_message".to_owned(), json!({"text": text})));
    }
    calls.retain(|(tool, _)| reading.tools.contains(tool));
    calls
}

/// Names the person who answered the form, if the prompt tells.
fn filled(text: &str, reading: &Reading) -> String {
    let who = reading.answerer("getApproval").unwrap_or_else(|| "somebody".to_owned());
    text.replace("<who>", &who)
}

/// Writes `@Name` where the prompt says that it wakes the agent.
fn addressed(text: &str, duty: &Duty, reading: &Reading) -> String {
    let needs_name = ["write @Name", "@Name wakes that agent"]
        .iter()
        .any(|words| reading.prompt.contains(words));
    match &duty.to {
        Some(name) if needs_name => format!("@{name} {text}"),
        _ => text.to_owned(),
    }
}
