//! A text with the places at which it has words of messages. What is stored for a model has them,
//! so that a deleted message can be cut out of it.

use smartspace_domain::{ids::SpaceId, jobs::MessageRef};
use smartspace_store::runs::places::{Passage, Places};

/// A text, and where it has words of messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) text: String,
    /// The places are in this text. They are in order, and one within another follows it.
    places: Vec<Passage>,
}

impl Placed {
    /// A text that repeats no message.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), places: Vec::new() }
    }

    /// A text that is all words of a message.
    pub(crate) fn of(message: MessageRef, text: impl Into<String>) -> Self {
        Self::plain(text).within(message)
    }

    /// The same text, of which all is words of a message, besides the places that it has.
    pub(crate) fn within(self, message: MessageRef) -> Self {
        self.covering(message.space_id, message.seq, message.seq)
    }

    /// The same text, which sums up the messages from `seq` to `last`.
    pub(crate) fn covering(mut self, space: SpaceId, seq: u64, last: u64) -> Self {
        let to = self.text.len();
        self.places.insert(0, Passage { at: String::new(), space, seq, last, from: 0, to });
        self
    }

    /// Adds text that repeats no message.
    pub(crate) fn push_str(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds words of a message.
    pub(crate) fn push_message(&mut self, message: MessageRef, text: &str) {
        self.append(&Self::of(message, text));
    }

    /// Adds another text with its places.
    pub(crate) fn append(&mut self, other: &Self) {
        let start = self.text.len();
        self.text.push_str(&other.text);
        self.places.extend(other.places.iter().map(|place| Passage {
            from: place.from + start,
            to: place.to + start,
            ..place.clone()
        }));
    }

    /// The same text without line breaks and blanks at its end.
    pub(crate) fn trimmed_end(mut self) -> Self {
        self.text.truncate(self.text.trim_end().len());
        let end = self.text.len();
        self.places.retain_mut(|place| {
            place.to = place.to.min(end);
            place.from < place.to
        });
        self
    }

    /// The places of the text, which is stored at the JSON pointer `at`.
    pub(crate) fn places_at(&self, at: &str) -> impl Iterator<Item = Passage> {
        self.places.iter().map(move |place| Passage { at: at.to_owned(), ..place.clone() })
    }

    /// The places of the text, which is stored as it is.
    pub(crate) fn places(&self) -> Places {
        Places(self.places.clone())
    }

    /// The length of the text in bytes.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use smartspace_domain::Time;
    use smartspace_store::runs::places::Forgotten;

    use super::*;

    #[test]
    fn places_move_with_their_texts() {
        let space_id = SpaceId::new(Time::default(), 1);
        let message = |seq| MessageRef { space_id, seq };
        let mut line = Placed::plain("#5 because ");
        line.push_message(message(4), "\"Go\"");
        line.push_str("\n");
        let mut text = Placed::plain("HISTORY:\n");
        text.append(&line.within(message(5)));
        text.push_message(message(6), "#6 six\n");
        let text = text.trimmed_end();
        assert_eq!(text.text, "HISTORY:\n#5 because \"Go\"\n#6 six");
        let cut = |seq| {
            let mut value = json!(text.text);
            assert!(text.places().cut(&mut value, Forgotten::Message(message(seq))));
            let Value::String(cut) = value else { panic!("no text") };
            cut
        };
        assert_eq!(cut(4), "HISTORY:\n#5 because #4 [deleted]\n#6 six");
        assert_eq!(cut(5), "HISTORY:\n#5 [deleted]\n#6 six");
        assert_eq!(cut(6), "HISTORY:\n#5 because \"Go\"\n#6 [deleted]");
    }
}
