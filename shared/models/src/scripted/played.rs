//! Turns a step of a script into the pieces of an answer, word by word.

use serde_json::{Value, json};
use smartspace_domain::scripts::ScriptStep;

use super::blanks::Blanks;
use crate::port::{ModelError, Piece};

/// A piece of a scripted answer.
pub(super) struct Word {
    /// Whether the delay between words applies before this piece.
    pub(super) is_delayed: bool,
    pub(super) piece: Result<Piece, ModelError>,
}

impl Word {
    pub(super) fn without_delay(piece: Result<Piece, ModelError>) -> Self {
        Self { is_delayed: false, piece }
    }

    pub(super) fn characters(&self) -> usize {
        self.piece.as_ref().map_or(0, Piece::characters)
    }
}

/// The pieces of a step's text and calls.
pub(super) fn words(step: &ScriptStep, blanks: &Blanks<'_>) -> Vec<Word> {
    let mut pieces: Vec<(bool, Piece)> = Vec::new();
    pieces.extend(split(&blanks.fill(&step.text)).map(|word| (true, Piece::Text(word.to_owned()))));
    for (index, call) in (0..).zip(&step.calls) {
        pieces.push((false, Piece::CallStarted { index, name: call.tool.clone() }));
        // A missing input means an input without fields.
        let input = if call.input.is_null() { json!({}) } else { blanks.fill_all(&call.input) };
        let mut json = JsonInWords::default();
        json.value(&input);
        let parts = json.finished();
        pieces.extend(
            parts.into_iter().map(|(is_word, json)| (is_word, Piece::CallInput { index, json })),
        );
    }
    // The delay is between words, so the first word has none.
    let first = pieces.iter().position(|(is_word, _)| *is_word);
    let word = |(at, (is_word, piece))| Word {
        is_delayed: is_word && Some(at) != first,
        piece: Ok(piece),
    };
    pieces.into_iter().enumerate().map(word).collect()
}

/// Splits a text into words. Each word includes the whitespace before it.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let space = rest.len() - rest.trim_start().len();
        let end =
            rest[space..].find(char::is_whitespace).map_or(rest.len(), |length| space + length);
        let (word, after) = rest.split_at(end);
        rest = after;
        (!word.is_empty()).then_some(word)
    })
}

/// JSON text, split after each word of its strings.
#[derive(Default)]
struct JsonInWords {
    /// The parts so far, and whether each contains a word.
    parts: Vec<(bool, String)>,
    /// The text after the last word.
    rest: String,
}

impl JsonInWords {
    fn value(&mut self, value: &Value) {
        match value {
            Value::String(text) => {
                self.rest.push('"');
                for word in split(text) {
                    let quoted = Value::from(word).to_string();
                    self.rest += &quoted[1..quoted.len() - 1];
                    self.parts.push((true, std::mem::take(&mut self.rest)));
                }
                self.rest.push('"');
            }
            Value::Array(items) => {
                self.rest.push('[');
                for (index, item) in items.iter().enumerate() {
                    self.rest += if index == 0 { "" } else { "," };
                    self.value(item);
                }
                self.rest.push(']');
            }
            Value::Object(fields) => {
                self.rest.push('{');
                for (index, (key, field)) in fields.iter().enumerate() {
                    self.rest += if index == 0 { "" } else { "," };
                    self.rest += &Value::from(key.as_str()).to_string();
                    self.rest.push(':');
                    self.value(field);
                }
                self.rest.push('}');
            }
            other => self.rest += &other.to_string(),
        }
    }

    fn finished(mut self) -> Vec<(bool, String)> {
        self.parts.push((false, self.rest));
        self.parts
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parts(value: &Value) -> Vec<(bool, String)> {
        let mut json = JsonInWords::default();
        json.value(value);
        json.finished()
    }

    #[test]
    fn json_is_split_after_each_word() {
        let expected = [
            (true, r#"{"text":"It"#),
            (true, " is"),
            (true, r#" \"grey\""#),
            (false, r#"","n":[1,null]}"#),
        ];
        let expected = expected.map(|(word, json)| (word, json.to_owned()));
        assert_eq!(parts(&json!({"text": "It is \"grey\"", "n": [1, null]})), expected);
        assert_eq!(parts(&json!({})), [(false, "{}".to_owned())]);
    }

    proptest! {
        #[test]
        fn parts_join_to_the_value(
            texts in prop::collection::vec(any::<String>(), 0..5),
            key: String,
        ) {
            let value = json!({key: texts, "n": 1});
            let joined: String = parts(&value).into_iter().map(|(_, json)| json).collect();
            prop_assert_eq!(joined, value.to_string());
        }

        #[test]
        fn words_join_to_the_text(text: String) {
            prop_assert_eq!(split(&text).collect::<String>(), text);
        }
    }
}
