//! Tests how many tokens prompts have, by a tokenizer of OpenAI's models (`o200k`). The figures of
//! docs/performance.md come from here: `cargo nextest run tokens_of --no-capture` prints them.

use std::sync::Arc;

use serde_json::json;
use smartspace_domain::{
    Time,
    dispatch::Source,
    entities::EntityType,
    ids::{EntityId, MessageId, RunId, SpaceId},
    messages::{Origin, Sender},
    triggers::Trigger,
};
use smartspace_models::port::Message;
use smartspace_store::{messages::MessageRecord, spaces::OverviewMember};

use crate::prompt::{
    Prompt,
    names::Names,
    reading::PromptSources,
    samples::{SampleTexts, message_trigger, prompt_of, sources},
};

const WORDS: [&str; 24] = [
    "the", "report", "for", "quarter", "four", "shows", "that", "revenue", "grew", "in", "every",
    "region", "but", "costs", "rose", "faster", "than", "we", "planned", "so", "please", "check",
    "numbers", "again",
];

pub(crate) fn count(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}

/// A text of so many tokens.
fn text_of_tokens(tokens: usize, seed: usize) -> String {
    let mut text = String::new();
    for index in 0.. {
        let more = format!("{} {}", text, WORDS[(seed * 7 + index * 5) % WORDS.len()]);
        let more = more.trim().to_owned();
        if count(&more) > tokens {
            break;
        }
        text = more;
    }
    text
}

/// An id's random part, which a counter does not resemble.
fn random(number: u64) -> u128 {
    let half =
        |salt: u64| u128::from((number ^ salt).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29));
    (half(1) << 16 ^ half(77)) & ((1 << 80) - 1)
}

fn at(minutes: u64) -> Time {
    Time::from_millis(1_771_427_220_000 + minutes as i64 * 67_000)
}

/// A conversation of two people and the agent, who sends every third message. Its run is triggered
/// by the last one.
pub(crate) fn conversation(messages: u64, tokens: usize) -> (PromptSources, Vec<String>) {
    let texts: Vec<String> =
        (1..=messages).map(|seq| text_of_tokens(tokens, seq as usize)).collect();
    let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
    let sample = SampleTexts {
        person: "Husam",
        agent: "Ada",
        space: "Project Alpha",
        other_space: "Daily Reports",
        note: "",
        key: "",
        texts: &borrowed,
    };
    let mut sources = sources(&sample, messages.saturating_sub(2));
    sources.active.truncate(1);
    sources.active_count = 1;
    sources.states.clear();
    let [husam, ada, sarah] = [("Husam", 1), ("Ada", 2), ("Sarah", 3)].map(|(name, number)| {
        let kind = if number == 2 { EntityType::Agent } else { EntityType::Human };
        Sender { id: EntityId::new(at(0), random(number)), name: name.into(), kind, guest: false }
    });
    let space = SpaceId::new(at(0), random(9));
    sources.agent.id = ada.id;
    let members = [&husam, &sarah, &ada];
    sources.names = Names::new(ada.id, members);
    let mut card = sources.cards.values().next().unwrap().clone();
    card.members = members
        .map(|sender| OverviewMember { sender: sender.clone(), about: None, chain_limit: None })
        .into();
    card.count = 3;
    sources.cards = [(space, card)].into();
    sources.space_count = 1;
    let trigger_space = sources.trigger_space.as_mut().unwrap();
    trigger_space.space.id = space;
    trigger_space.member.entity_id = ada.id;
    let written: Vec<Arc<MessageRecord>> = (1..=messages)
        .map(|seq| Arc::new(message(seq, &texts, space, [&husam, &sarah, &ada])))
        .collect();
    trigger_space.trigger = Arc::clone(written.last().unwrap());
    trigger_space.messages = written;
    (sources, texts)
}

/// A message of the conversation. The agent `ada` sends every third one, because of the one before.
fn message(
    seq: u64,
    texts: &[String],
    space: SpaceId,
    [husam, sarah, ada]: [&Sender; 3],
) -> MessageRecord {
    let id = MessageId::new(at(seq), random(seq + 100));
    let sender = match seq % 3 {
        1 => husam,
        2 => sarah,
        _ => ada,
    };
    let mut message: MessageRecord = serde_json::from_value(json!({
        "id": id, "seq": seq, "rev": 1, "sender": sender, "text": texts[seq as usize - 1],
        "chainDepth": 0, "createdAt": at(seq), "updatedAt": at(seq), "dispatch": [],
    }))
    .unwrap();
    if sender.id == ada.id {
        let trigger = Trigger::SpaceMessage {
            source: Source::Mention,
            space_id: space,
            space_name: "Project Alpha".into(),
            message_id: id,
            seq: seq - 1,
            sender: sarah.clone(),
            text: texts[seq as usize - 2].chars().take(200).collect(),
            at: at(seq),
            delegated_by: None,
            note: None,
        };
        message.origin = Some(Origin { trigger, tools_used: Vec::new() });
    }
    message
}

fn prompt_for(sources: &PromptSources) -> Prompt {
    prompt_of(sources, &message_trigger(sources))
}

fn whole(prompt: &Prompt) -> String {
    let Message::User { blocks } = &prompt.body.messages[0] else { panic!() };
    prompt.system.concat() + &blocks.concat()
}

/// The tokens of each line of the history that shows a message, without those of its text.
fn beside_texts(prompt: &Prompt, texts: &[String]) -> Vec<usize> {
    let whole = whole(prompt);
    let history = &whole[whole.find("SPACE HISTORY").unwrap()..];
    let mut beside: Vec<usize> = history
        .lines()
        .filter(|line| line.contains('#') && line.contains(": \""))
        .filter(|line| !line.ends_with("TRIGGER") && !line.starts_with("TRIGGER"))
        .filter_map(|line| {
            let text = texts.iter().find(|text| line.ends_with(&format!("{text}\"")))?;
            Some(count(&format!("{line}\n")) - count(text))
        })
        .collect();
    beside.sort_unstable();
    beside
}

#[test]
fn the_tokens_of_prompts() {
    for tokens in [12, 33, 200] {
        // The window shows as many as 74 just before it moves on.
        for (messages, shown) in [(50, 50), (98, 74)] {
            let (sources, texts) = conversation(messages, tokens);
            let texts = &texts[texts.len() - shown..];
            let prompt = prompt_for(&sources);
            let all = count(&whole(&prompt));
            let beside = beside_texts(&prompt, texts);
            // Long texts fill the 60,000 characters of a history sooner.
            let expected = if tokens < 200 { shown - 2 } else { 20 };
            assert!(beside.len() >= expected, "{} lines", beside.len());
            let line = beside[beside.len() / 2];
            let text: usize = texts.iter().map(|text| count(text)).sum();
            println!(
                "{shown} messages of {tokens} tokens: text {text}, prompt {all} ({line} a line)"
            );
            assert!(line <= 14, "{line} tokens beside the text of a line");
            if tokens <= 33 {
                assert!(all - text <= shown * 14 + 500, "{all} tokens, {text} of them texts");
            }
        }
    }
}

/// The rules of an agent with all tools.
#[test]
fn the_tokens_of_the_instructions() {
    let (mut sources, _) = conversation(3, 12);
    let tokens = |sources: &PromptSources| {
        let system = prompt_for(sources).system.concat();
        let begin = system.find("INSTRUCTIONS").unwrap();
        count(&system[begin..system.find("IDENTITY").unwrap()])
    };
    let plain = tokens(&sources);
    sources.cards.values_mut().for_each(|card| card.admin = Some(sources.agent.id));
    let admin = tokens(&sources);
    println!("instructions: {plain}, of an admin agent {admin}");
    assert!(plain <= 215, "{plain} tokens");
    assert!(admin <= 230, "{admin} tokens of an admin agent");
}

#[test]
fn the_sample_run_is_one_of_its_agent() {
    // `message_trigger` and `prompt_of` use this run, and `active` holds it.
    let (sources, _) = conversation(3, 12);
    assert_eq!(sources.active[0].run_id, RunId::new(Time::from_millis(1_771_427_220_000), 7));
}
