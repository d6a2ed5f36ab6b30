//! Compares two prompts apart from their quoted texts.

/// Checks that two prompts differ only in their quoted texts. `pairs` gives the odd text for each
/// plain one.
pub(super) fn compare(odd: &str, plain: &str, pairs: &[(&str, &str)]) -> Result<(), String> {
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
