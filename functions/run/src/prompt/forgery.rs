//! The check that property tests run on prompts: a text or a name cannot add or change a line of a
//! prompt.

mod comparison;

use smartspace_domain::agents::History;

use self::comparison::compare;
use crate::prompt::{
    reading::PromptSources,
    samples::{
        SampleTexts, full_sources, message_trigger, news_of, other_triggers, prompt_of, text_of,
        tool_texts_of,
    },
};

/// Checks that every prompt has the same lines as with plain words, and that each quoted text
/// parses back to what was written.
pub(super) fn check(written: &SampleTexts<'_>) -> Result<(), String> {
    // A name or key that starts with a bracket is always quoted, so it can be found in the prompt.
    // The letter after it keeps names apart that would look alike.
    let [person, agent, space, other_space, key] = [
        ("p", written.person),
        ("a", written.agent),
        ("s", written.space),
        ("o", written.other_space),
        ("k", written.key),
    ]
    .map(|(letter, name)| format!("({letter}{name}"));
    let odd = SampleTexts {
        person: &person,
        agent: &agent,
        space: &space,
        other_space: &other_space,
        key: &key,
        ..written.clone()
    };
    let plain_texts: Vec<String> =
        (0..written.texts.len()).map(|number| format!("word {number}")).collect();
    let plain_texts: Vec<&str> = plain_texts.iter().map(String::as_str).collect();
    let plain = SampleTexts {
        person: "(p",
        agent: "(a",
        space: "(s",
        other_space: "(o",
        note: "a note",
        key: "(k",
        texts: &plain_texts,
    };
    let names = [
        (plain.person, odd.person),
        (plain.agent, odd.agent),
        (plain.space, odd.space),
        (plain.other_space, odd.other_space),
        (plain.note, odd.note),
        (plain.key, odd.key),
    ];
    let pairs: Vec<(&str, &str)> = names
        .into_iter()
        .chain(plain_texts.iter().copied().zip(written.texts.iter().copied()))
        .collect();
    for (odd, plain) in all_prompts(&odd).iter().zip(all_prompts(&plain)) {
        compare(odd, &plain, &pairs)?;
    }
    Ok(())
}

/// Writes the prompt of every kind of run, the news between two steps, and the results of tools.
fn all_prompts(written: &SampleTexts<'_>) -> Vec<String> {
    let mut all = full_sources(written, 1);
    let message = message_trigger(&all);
    let mut texts = vec![text_of(&prompt_of(&all, &message))];
    all.agent.agent.iter_mut().for_each(|agent| agent.context.history = History::Roles);
    texts.push(text_of(&prompt_of(&all, &message)));
    texts.extend(news_of(&all));
    texts.push(tool_texts_of(&all));
    let without_space = PromptSources { trigger_space: None, ..all };
    texts.extend(
        other_triggers(written).iter().map(|trigger| text_of(&prompt_of(&without_space, trigger))),
    );
    texts
}
