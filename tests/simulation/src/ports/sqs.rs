//! What SQS refuses.

/// The most entries of a batch.
const ENTRIES: usize = 10;
/// The most bytes of a batch, and of a message.
const BYTES: usize = 1_048_576;

/// Why SQS refuses a message, or `None` if it accepts it.
pub(super) fn refusal(body: &str) -> Option<String> {
    if body.is_empty() || body.len() > BYTES {
        return Some(format!("a message has {} bytes", body.len()));
    }
    let refused = body.chars().find(|char| !is_accepted(*char))?;
    Some(format!("a message has the character U+{:04X}", refused as u32))
}

/// Why SQS refuses a batch, or `None` if it accepts it.
pub(super) fn refusal_of_batch(bodies: &[String]) -> Option<String> {
    let bytes: usize = bodies.iter().map(String::len).sum();
    let refused = bodies.is_empty() || bodies.len() > ENTRIES || bytes > BYTES;
    refused.then(|| format!("a batch has {} messages and {bytes} bytes", bodies.len()))
}

/// The characters of XML 1.0.
fn is_accepted(char: char) -> bool {
    matches!(
        char,
        '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_and_sizes_beyond_those_of_sqs_are_refused() {
        let is_refused = |body: &str| refusal(body).is_some();
        assert!(!is_refused("{\"text\": \"\t\u{7f}\u{fffd}\u{1fffe}\"}"));
        for refused in ["", "\u{1}", "\u{1f}", "\u{fffe}", "\u{ffff}", &"x".repeat(BYTES + 1)] {
            assert!(is_refused(refused), "{refused:.20}");
        }
        let batch = |count: usize, bytes: usize| vec!["x".repeat(bytes); count];
        assert_eq!(refusal_of_batch(&batch(10, BYTES / 10)), None);
        for refused in [batch(0, 0), batch(11, 1), batch(9, BYTES / 8)] {
            assert!(refusal_of_batch(&refused).is_some());
        }
    }
}
