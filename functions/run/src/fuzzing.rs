//! What property tests and fuzz targets check of a prompt: that nobody who writes, or is called something, writes its lines.

use std::fmt::Write;

use smartspace_domain::agents::History;

use crate::context::{
    reading::Gathered,
    samples::{Written, all_of_it, by_message, elsewhere, news_of, prompt_of, text_of},
};

/// Checks the prompts of a person, an agent and two spaces of these names, where the texts were said and the last of them woke the agent;
/// the first text is also what is kept, planned and sent by services.
pub fn prompt(person: &str, agent: &str, space: &str, other_space: &str, texts: &[&str]) -> Result<(), String> {
    let note = texts.first().copied().unwrap_or_default();
    check(&Written { person, agent, space, other_space, note, key: note, texts })
}

/// Every prompt has the lines that it has with plain words, and everything that was written can be read back.
pub(crate) fn check(written: &Written<'_>) -> Result<(), String> {
    // A name or key in brackets is never shown bare, whatever else is in it.
    let [person, agent, space, other_space, key] =
        [written.person, written.agent, written.space, written.other_space, written.key].map(|name| format!("({name}"));
    let odd = Written { person: &person, agent: &agent, space: &space, other_space: &other_space, key: &key, ..written.clone() };
    let plain_texts: Vec<String> = (0..written.texts.len()).map(|number| format!("word {number}")).collect();
    let plain_texts: Vec<&str> = plain_texts.iter().map(String::as_str).collect();
    let plain = Written { person: "(P", agent: "(A", space: "(S", other_space: "(O", note: "a note", key: "(K", texts: &plain_texts };
    let names = [
        (plain.person, odd.person),
        (plain.agent, odd.agent),
        (plain.space, odd.space),
        (plain.other_space, odd.other_space),
        (plain.note, odd.note),
        (plain.key, odd.key),
    ];
    let pairs: Vec<(&str, &str)> = names.into_iter().chain(plain_texts.iter().copied().zip(written.texts.iter().copied())).collect();
    for (odd, plain) in texts(&odd).iter().zip(texts(&plain)) {
        same_lines(odd, &plain, &pairs)?;
    }
    Ok(())
}

/// The prompts of every kind of run.
fn texts(written: &Written<'_>) -> Vec<String> {
    let mut all = all_of_it(written, 1);
    let message = by_message(&all);
    let mut texts = vec![text_of(&prompt_of(&all, &message))];
    all.agent.agent.iter_mut().for_each(|agent| agent.context.history = History::Roles);
    texts.push(text_of(&prompt_of(&all, &message)));
    texts.extend(news_of(&all));
    let nowhere = Gathered { place: None, ..all };
    texts.extend(elsewhere(written).iter().map(|trigger| text_of(&prompt_of(&nowhere, trigger))));
    texts
}

/// Whether two prompts differ in what stands in quotes only, and there as `pairs` say.
fn same_lines(odd: &str, plain: &str, pairs: &[(&str, &str)]) -> Result<(), String> {
    let ((odd_lines, odd_quoted), (plain_lines, plain_quoted)) = (read(odd)?, read(plain)?);
    if odd_lines != plain_lines {
        return Err(format!("expected the lines\n{plain_lines}\ngot\n{odd_lines}"));
    }
    // Each quoted text stands where its plain one stands.
    for (plain, quoted) in plain_quoted.iter().zip(&odd_quoted) {
        let expected = pairs.iter().find(|(name, _)| name == plain).map_or(plain.as_str(), |(_, odd)| odd);
        if quoted != expected && !shortened(expected, quoted) {
            return Err(format!("{quoted:?} stands where {expected:?} should be"));
        }
    }
    Ok(())
}

/// Whether `shown` is the beginning of a long text.
fn shortened(text: &str, shown: &str) -> bool {
    let begins = shown.trim_end_matches(['.', '…', ' ']);
    text.chars().count() > 80 && text.trim_start().starts_with(begins)
}

/// A prompt with a `Q` for each text in quotes, and these texts.
fn read(prompt: &str) -> Result<(String, Vec<String>), String> {
    let (mut lines, mut quoted) = (String::new(), Vec::new());
    let mut rest = prompt;
    while let Some(at) = rest.find('"') {
        lines.push_str(&rest[..at]);
        let mut texts = serde_json::Deserializer::from_str(&rest[at..]).into_iter::<String>();
        match texts.next() {
            Some(Ok(text)) => quoted.push(text),
            other => return Err(format!("no text in quotes ({other:?}) at {:?}", rest[at..].chars().take(80).collect::<String>())),
        }
        // Writing to a String can't fail.
        let _ = write!(lines, "Q");
        rest = &rest[at + texts.byte_offset()..];
    }
    lines.push_str(rest);
    Ok((lines, quoted))
}
