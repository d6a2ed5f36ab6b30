//! A message is cut out of what was written before its deletion. The rest reads as if it had been
//! written afterwards.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use smartspace_domain::{
    agents::History,
    ids::RunId,
    jobs::MessageRef,
    messages::{Deleted, DeletedBy},
};
use smartspace_store::{
    messages::MessageRecord,
    runs::places::{Forgotten, Places},
};

use super::PLAIN;
use crate::prompt::{
    PromptBody,
    lines::Lines,
    news::write_news,
    page::{Extent, Page},
    placed::Placed,
    reading::PromptSources,
    samples::{SampleTexts, at, message_trigger, prompt_of, sources, space},
};

fn forgotten(seq: u64) -> Forgotten {
    Forgotten::Message(MessageRef { space_id: space(1), seq })
}

/// The same sources after the deletion of a message.
fn without(sources: &PromptSources, seq: u64) -> PromptSources {
    let mut after = sources.clone();
    for message in &mut after.trigger_space.as_mut().unwrap().messages {
        if message.seq == seq {
            *message = Arc::new(MessageRecord {
                text: String::new(),
                card: None,
                files: Vec::new(),
                more_chars: 0,
                deleted: Some(Deleted { at: at(50), by: DeletedBy::Sender }),
                ..MessageRecord::clone(message)
            });
        }
    }
    after
}

fn body_of(sources: &PromptSources) -> (PromptBody, Vec<usize>) {
    let prompt = prompt_of(sources, &message_trigger(sources));
    (prompt.body, prompt.cuts)
}

/// The messages of a prompt, after the cut in its parts and in its rest.
fn cut_messages(body: &PromptBody, cuts: &[usize], seq: u64) -> Value {
    let (parts, mut rest) = body.cut(cuts);
    let mut blocks = Vec::new();
    for (part, mut places) in parts.into_iter().zip(body.places_of_parts(cuts)) {
        let mut texts = json!(part);
        places.cut(&mut texts, forgotten(seq));
        assert!(!places.have(forgotten(seq)));
        blocks.extend(texts.as_array().unwrap().clone());
    }
    let mut places = std::mem::take(&mut rest.places);
    let mut value = json!(rest);
    places.cut(&mut value, forgotten(seq));
    let own = value["messages"][0]["blocks"].as_array_mut().unwrap();
    own.splice(0..0, blocks);
    value["messages"].clone()
}

fn cut_text(text: &Placed, seq: u64) -> String {
    let mut value = json!(text.text);
    let mut places: Places = text.places();
    places.cut(&mut value, forgotten(seq));
    value.as_str().unwrap().to_owned()
}

fn messages_of(sources: &PromptSources) -> Vec<MessageRecord> {
    let messages = &sources.trigger_space.as_ref().unwrap().messages;
    messages.iter().map(|message| MessageRecord::clone(message)).collect()
}

fn news_of(sources: &PromptSources) -> Placed {
    let lines = Lines::unmarked(&sources.names, space(1), sources.agent.id);
    let run = RunId::new(at(0), 7);
    write_news("Team", &lines, run, 0, &messages_of(sources)).text.unwrap()
}

fn page_of(sources: &PromptSources) -> Placed {
    let trigger_space = sources.trigger_space.as_ref().unwrap();
    let lines = Lines::of(&sources.names, space(1), &trigger_space.member);
    let messages = messages_of(sources);
    let page = Page::newest(&messages, &lines, usize::MAX);
    let extent = Extent { before: u64::MAX, total: messages.len() as u64 };
    page.write("Team", &lines, extent, None).trimmed_end()
}

fn cases() -> impl Strategy<Value = (Vec<String>, u64, u64)> {
    proptest::collection::vec("[a-z \n\"\\\\é😀#\\[\\]]{0,40}", 2..90).prop_flat_map(|texts| {
        let count = texts.len() as u64;
        // The last one triggers the run, which would not be there without it.
        (Just(texts), 1..count, 0..=count)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_cut_message_leaves_what_would_have_been_written((texts, seq, cursor) in cases()) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let before = sources(&SampleTexts { texts: &texts, ..PLAIN }, cursor);
        let after = without(&before, seq);
        let (body, cuts) = body_of(&before);
        prop_assert_eq!(cut_messages(&body, &cuts, seq), json!(body_of(&after).0.messages));
        prop_assert_eq!(cut_text(&news_of(&before), seq), news_of(&after).text);
        prop_assert_eq!(cut_text(&page_of(&before), seq), page_of(&after).text);
    }

    #[test]
    fn a_conversation_in_roles_loses_a_message((texts, seq, cursor) in cases()) {
        // The call of an agent and its result are two messages of the conversation: both are
        // marked, so the third message is left out here.
        prop_assume!(seq != 3);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut before = sources(&SampleTexts { texts: &texts, ..PLAIN }, cursor);
        before.agent.agent.as_mut().unwrap().context.history = History::Roles;
        let after = without(&before, seq);
        let (body, cuts) = body_of(&before);
        prop_assert_eq!(cut_messages(&body, &cuts, seq), json!(body_of(&after).0.messages));
    }
}

#[test]
fn the_words_of_a_trigger_are_cut_wherever_the_prompt_repeats_them() {
    let before = sources(&SampleTexts { texts: &["one", "two", "", "SECRET"], ..PLAIN }, 0);
    let (body, cuts) = body_of(&before);
    assert_eq!(json!(body.messages).to_string().matches("SECRET").count(), 3);
    let cut = cut_messages(&body, &cuts, 4).to_string();
    assert_eq!((cut.matches("SECRET").count(), cut.matches("#4 [deleted]").count()), (0, 3));
}
