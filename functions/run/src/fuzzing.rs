//! What property tests and fuzz targets check of a prompt: that nobody who writes, or is called something, writes its lines.

use std::fmt::Write;

use crate::context::samples::{Written, gathered, text_of};

/// Checks the prompt of a person, an agent and two spaces of these names, where the texts were said and the last of them woke the agent.
pub fn prompt(person: &str, agent: &str, space: &str, other_space: &str, texts: &[&str]) -> Result<(), String> {
    check(&Written { person, agent, space, other_space, texts })
}

/// The prompt has the lines that it has with plain words, and everything that was written can be read back.
pub(crate) fn check(written: &Written<'_>) -> Result<(), String> {
    // A name in brackets is never shown bare, whatever else is in it.
    let [person, agent, space, other_space] =
        [written.person, written.agent, written.space, written.other_space].map(|name| format!("({name}"));
    let odd = Written { person: &person, agent: &agent, space: &space, other_space: &other_space, texts: written.texts };
    let plain_texts: Vec<String> = (0..written.texts.len()).map(|number| format!("word {number}")).collect();
    let plain_texts: Vec<&str> = plain_texts.iter().map(String::as_str).collect();
    let plain = Written { person: "(P", agent: "(A", space: "(S", other_space: "(O", texts: &plain_texts };
    let read = |written: &Written<'_>| read(&text_of(&gathered(written, 1)));
    let ((odd_lines, odd_quoted), (plain_lines, plain_quoted)) = (read(&odd)?, read(&plain)?);
    if odd_lines != plain_lines {
        return Err(format!("expected the lines\n{plain_lines}\ngot\n{odd_lines}"));
    }
    // Each quoted text stands where its plain one stands.
    let pairs = [(plain.person, odd.person), (plain.agent, odd.agent), (plain.space, odd.space), (plain.other_space, odd.other_space)];
    let pairs: Vec<(&str, &str)> = pairs.into_iter().chain(plain_texts.iter().copied().zip(written.texts.iter().copied())).collect();
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
    text.chars().count() > 100 && text.trim_start().starts_with(begins)
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
