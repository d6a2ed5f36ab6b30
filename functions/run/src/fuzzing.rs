//! The check that property tests and fuzz targets run on prompts: a text or a name cannot add or
//! change a line of a prompt.

use smartspace_domain::agents::History;

use crate::prompt::{
    reading::Gathered,
    samples::{
        SampleTexts, full_gathered, message_trigger, news_of, other_triggers, prompt_of, text_of,
    },
};

/// Checks the prompts of an agent that shares two spaces with a person, all with the given names.
/// The person's last text triggers the agent. The first text also serves as the content of
/// memories, goals, plans and service calls.
pub fn prompt(
    person: &str,
    agent: &str,
    space: &str,
    other_space: &str,
    texts: &[&str],
) -> Result<(), String> {
    let note = texts.first().copied().unwrap_or_default();
    check(&SampleTexts { person, agent, space, other_space, note, key: note, texts })
}

/// Checks that every prompt has the same lines as with plain words, and that each quoted text
/// parses back to what was written.
pub(crate) fn check(written: &SampleTexts<'_>) -> Result<(), String> {
    // A name or key that starts with a bracket is always quoted, so it can be found in the prompt.
    let [person, agent, space, other_space, key] =
        [written.person, written.agent, written.space, written.other_space, written.key]
            .map(|name| format!("({name}"));
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
        person: "(P",
        agent: "(A",
        space: "(S",
        other_space: "(O",
        note: "a note",
        key: "(K",
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

/// Writes the prompt of every kind of run, and the news between two steps.
fn all_prompts(written: &SampleTexts<'_>) -> Vec<String> {
    let mut all = full_gathered(written, 1);
    let message = message_trigger(&all);
    let mut texts = vec![text_of(&prompt_of(&all, &message))];
    all.agent.agent.iter_mut().for_each(|agent| agent.context.history = History::Roles);
    texts.push(text_of(&prompt_of(&all, &message)));
    texts.extend(news_of(&all));
    let without_space = Gathered { place: None, ..all };
    texts.extend(
        other_triggers(written).iter().map(|trigger| text_of(&prompt_of(&without_space, trigger))),
    );
    texts
}

/// Checks that two prompts differ only in their quoted texts. `pairs` gives the odd text for each
/// plain one.
fn compare(odd: &str, plain: &str, pairs: &[(&str, &str)]) -> Result<(), String> {
    let (odd_lines, odd_quoted) = split_quoted(odd)?;
    let (plain_lines, plain_quoted) = split_quoted(plain)?;
    if odd_lines != plain_lines {
        return Err(format!("expected the lines\n{plain_lines}\ngot\n{odd_lines}"));
    }
    // The quoted texts of both prompts are in the same order.
    for (plain, quoted) in plain_quoted.iter().zip(&odd_quoted) {
        let expected =
            pairs.iter().find(|(name, _)| name == plain).map_or(plain.as_str(), |(_, odd)| odd);
        if quoted != expected && !shortened(expected, quoted) {
            return Err(format!("expected the quoted text {expected:?}, got {quoted:?}"));
        }
    }
    Ok(())
}

/// Whether `shown` is the beginning of the long `text`.
fn shortened(text: &str, shown: &str) -> bool {
    let beginning = shown.trim_end_matches(['.', '…', ' ']);
    text.chars().count() > 80 && text.trim_start().starts_with(beginning)
}

/// Replaces each quoted text of a prompt with `Q`. Returns the result and the texts.
fn split_quoted(prompt: &str) -> Result<(String, Vec<String>), String> {
    let mut lines = String::new();
    let mut quoted = Vec::new();
    let mut rest = prompt;
    while let Some(at) = rest.find('"') {
        lines.push_str(&rest[..at]);
        let mut texts = serde_json::Deserializer::from_str(&rest[at..]).into_iter::<String>();
        match texts.next() {
            Some(Ok(text)) => quoted.push(text),
            other => {
                return Err(format!(
                    "expected a JSON string, got {other:?} at {:?}",
                    rest[at..].chars().take(80).collect::<String>()
                ));
            }
        }
        lines.push('Q');
        rest = &rest[at + texts.byte_offset()..];
    }
    lines.push_str(rest);
    Ok((lines, quoted))
}
