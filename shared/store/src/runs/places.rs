//! Where the texts that are stored for models have words of messages, so that a deleted message can
//! be cut out of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use smartspace_domain::{ids::SpaceId, jobs::MessageRef};

/// The first and the last message that a run has read, for each space.
pub type Reads = BTreeMap<SpaceId, (u64, u64)>;

/// The blocks of the first message of a prompt, whose beginning is stored in shared parts.
const FIRST_BLOCKS: &str = "/messages/0/blocks/";

/// A range of a text that says what a message says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The text: a JSON pointer into the value that is stored. Empty if that is the text itself.
    pub at: String,
    /// The space of the message.
    pub space: SpaceId,
    /// The number of the message, or of the first one that a summary covers.
    pub seq: u64,
    /// The number of the last message that a summary covers. The same number for a message.
    pub last: u64,
    /// Where its words begin, in bytes.
    pub from: usize,
    /// Where they end.
    pub to: usize,
}

/// The places of a stored value. They do not overlap, except that one may lie within another: a
/// line of an agent's message says in brackets which message it answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<OfText>", into = "Vec<OfText>")]
pub struct Places(pub Vec<Passage>);

/// Successive places of one text in one space, as they are stored: number, last number, beginning
/// and end.
#[derive(Clone, Serialize, Deserialize)]
struct OfText {
    at: String,
    space: SpaceId,
    ranges: Vec<(u64, u64, usize, usize)>,
}

impl From<Places> for Vec<OfText> {
    fn from(Places(places): Places) -> Self {
        let mut texts: Vec<OfText> = Vec::new();
        for Passage { at, space, seq, last, from, to } in places {
            let range = (seq, last, from, to);
            match texts.last_mut() {
                Some(text) if text.at == at && text.space == space => text.ranges.push(range),
                _ => texts.push(OfText { at, space, ranges: vec![range] }),
            }
        }
        texts
    }
}

impl From<Vec<OfText>> for Places {
    fn from(texts: Vec<OfText>) -> Self {
        let places = texts.into_iter().flat_map(|OfText { at, space, ranges }| {
            ranges.into_iter().map(move |(seq, last, from, to)| Passage {
                at: at.clone(),
                space,
                seq,
                last,
                from,
                to,
            })
        });
        Self(places.collect())
    }
}

/// A message or a space whose words are cut out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forgotten {
    /// One message, which is deleted.
    Message(MessageRef),
    /// All messages of a deleted space.
    Space(SpaceId),
}

impl Forgotten {
    /// The space of the message, or the deleted space.
    pub fn space(self) -> SpaceId {
        match self {
            Self::Message(MessageRef { space_id, .. }) | Self::Space(space_id) => space_id,
        }
    }

    /// Whether a run that has read these messages may have read it.
    pub fn is_among(self, reads: &Reads) -> bool {
        let read = reads.get(&self.space());
        read.is_some_and(|(first, last)| match self {
            Self::Message(MessageRef { seq, .. }) => (*first..=*last).contains(&seq),
            Self::Space(_) => true,
        })
    }

    fn is_at(self, place: &Passage) -> bool {
        place.space == self.space()
            && match self {
                Self::Message(MessageRef { seq, .. }) => (place.seq..=place.last).contains(&seq),
                Self::Space(_) => true,
            }
    }

    /// What takes the place of its words.
    fn mark(self, place: &Passage) -> String {
        match self {
            Self::Message(MessageRef { seq, .. }) => deleted_mark(seq),
            Self::Space(_) => deleted_mark(place.seq),
        }
    }
}

/// What a prompt says in place of a deleted message.
pub fn deleted_mark(seq: u64) -> String {
    format!("#{seq} [deleted]")
}

impl Places {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the messages at these places to those that a run has read.
    pub fn add_to(&self, reads: &mut Reads) {
        for place in &self.0 {
            let (first, last) = reads.entry(place.space).or_insert((place.seq, place.last));
            *first = (*first).min(place.seq);
            *last = (*last).max(place.last);
        }
    }

    /// Whether words of it are at one of these places.
    pub fn have(&self, forgotten: Forgotten) -> bool {
        self.0.iter().any(|place| forgotten.is_at(place))
    }

    /// Cuts what is forgotten out of the texts of a value. Returns whether there was any. The
    /// places end with the words, so repeating this changes nothing.
    pub fn cut(&mut self, value: &mut Value, forgotten: Forgotten) -> bool {
        let mut is_cut = false;
        while let Some(index) = self.0.iter().position(|place| forgotten.is_at(place)) {
            let place = self.0.remove(index);
            is_cut = true;
            let mut mark = forgotten.mark(&place);
            let text = match value.pointer_mut(&place.at) {
                Some(Value::String(text)) => text,
                // Words within JSON take all of it along.
                Some(other) => {
                    *other = Value::String(mark);
                    continue;
                }
                None => continue,
            };
            let to = place.to.min(text.len());
            match text.get(place.from..to) {
                Some(words) => {
                    mark.push_str(if words.ends_with('\n') { "\n" } else { "" });
                    text.replace_range(place.from..to, &mark);
                    self.moved(&place, to, mark.len());
                }
                // Rather lose the text than keep the words.
                None => *text = mark,
            }
        }
        is_cut
    }

    /// Moves the other places of a text after one of them has got another length. Those within it
    /// are gone.
    fn moved(&mut self, cut: &Passage, to: usize, length: usize) {
        let moved = |at: usize| at + length - (to - cut.from);
        self.0.retain_mut(|other| {
            if other.at != cut.at || other.to <= cut.from {
                return true;
            }
            if other.from >= to {
                (other.from, other.to) = (moved(other.from), moved(other.to));
                return true;
            }
            let is_around = other.from <= cut.from && other.to >= to;
            if is_around {
                other.to = moved(other.to);
            }
            is_around
        });
    }

    /// The places of a prompt whose first blocks are stored in shared parts, which begin at the
    /// first block and end before those of `cuts`: the places of each part, and those of the rest.
    #[must_use]
    pub fn in_parts(self, cuts: &[usize]) -> (Vec<Self>, Self) {
        let mut parts = vec![Self::default(); cuts.len()];
        let mut rest = Self::default();
        let shared = cuts.last().copied().unwrap_or(0);
        for place in self.0 {
            let Some(block) = first_block(&place) else {
                rest.0.push(place);
                continue;
            };
            let part = cuts.partition_point(|end| *end <= block);
            if let Some(places) = parts.get_mut(part) {
                let start = part.checked_sub(1).map_or(0, |before| cuts[before]);
                places.0.push(Passage { at: format!("/{}", block - start), ..place });
            } else {
                rest.0.push(Passage { at: format!("{FIRST_BLOCKS}{}", block - shared), ..place });
            }
        }
        (parts, rest)
    }

    /// The places of the whole prompt, whose `parts` have these numbers of blocks and places.
    #[must_use]
    pub(crate) fn with_parts<'a>(self, parts: impl IntoIterator<Item = (usize, &'a Self)>) -> Self {
        let mut whole = Self::default();
        let mut shared = 0;
        for (blocks, places) in parts {
            whole.0.extend(places.0.iter().filter_map(|place| {
                let block: usize = place.at.strip_prefix('/')?.parse().ok()?;
                Some(Passage { at: format!("{FIRST_BLOCKS}{}", shared + block), ..place.clone() })
            }));
            shared += blocks;
        }
        whole.0.extend(self.0.into_iter().map(|place| match first_block(&place) {
            Some(block) => Passage { at: format!("{FIRST_BLOCKS}{}", shared + block), ..place },
            None => place,
        }));
        whole
    }
}

/// The block of the first message of a prompt in which a place is, if it is in one.
fn first_block(place: &Passage) -> Option<usize> {
    place.at.strip_prefix(FIRST_BLOCKS)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use smartspace_domain::Time;

    use super::*;

    fn space(number: u128) -> SpaceId {
        SpaceId::new(Time::default(), number)
    }

    fn place(at: &str, seq: u64, from: usize, to: usize) -> Passage {
        Passage { at: at.into(), space: space(1), seq, last: seq, from, to }
    }

    fn message(seq: u64) -> Forgotten {
        Forgotten::Message(MessageRef { space_id: space(1), seq })
    }

    #[test]
    fn a_message_is_cut_once_and_the_others_move() {
        let mut value = json!({"texts": ["#1 one\n#2 two\n#3 three\n"]});
        let at = "/texts/0";
        let mut places =
            Places(vec![place(at, 1, 0, 7), place(at, 2, 7, 14), place(at, 3, 14, 23)]);
        assert!(places.have(message(2)) && places.cut(&mut value, message(2)));
        assert_eq!(value, json!({"texts": ["#1 one\n#2 [deleted]\n#3 three\n"]}));
        assert!(!places.have(message(2)) && !places.cut(&mut value, message(2)));
        assert!(places.cut(&mut value, message(3)) && places.cut(&mut value, message(1)));
        assert_eq!(value, json!({"texts": ["#1 [deleted]\n#2 [deleted]\n#3 [deleted]\n"]}));
        assert_eq!(places, Places::default());
    }

    #[test]
    fn a_place_within_another_one_is_cut_alone_or_with_it() {
        let text = "#5 Yes.\n[because Bob wrote \"Restart\" in Ops]\n#6 No.\n";
        let from = text.find("\"Restart\"").unwrap();
        let inner = Passage { space: space(2), ..place("", 9, from, from + 9) };
        let line = text.find("#6").unwrap();
        let outer = place("", 5, 0, line);
        let all = Places(vec![outer, inner, place("", 6, line, text.len())]);
        let cause = Forgotten::Message(MessageRef { space_id: space(2), seq: 9 });

        let (mut value, mut places) = (json!(text), all.clone());
        assert!(places.cut(&mut value, cause));
        let expected = "#5 Yes.\n[because Bob wrote #9 [deleted] in Ops]\n#6 No.\n";
        assert_eq!(value, json!(expected));
        assert!(places.cut(&mut value, message(5)));
        assert_eq!(value, json!("#5 [deleted]\n#6 No.\n"));

        let (mut value, mut places) = (json!(text), all);
        assert!(places.cut(&mut value, Forgotten::Space(space(1))));
        assert_eq!(value, json!("#5 [deleted]\n#6 [deleted]\n"));
        assert!(!places.have(cause));
    }

    #[test]
    fn a_summary_is_cut_with_each_message_that_it_covers() {
        let mut value = json!("EARLIER: \"They met.\"\n");
        let mut places = Places(vec![Passage { last: 50, ..place("", 1, 9, 20) }]);
        assert!(!places.have(message(51)));
        assert!(places.cut(&mut value, message(17)));
        assert_eq!(value, json!("EARLIER: #17 [deleted]\n"));
    }

    #[test]
    fn words_that_are_not_where_they_should_be_take_their_text_along() {
        let mut value = json!("é");
        let mut places = Places(vec![place("", 3, 1, 2)]);
        assert!(places.cut(&mut value, message(3)));
        assert_eq!(value, json!("#3 [deleted]"));
    }

    #[test]
    fn places_go_into_parts_and_come_back() {
        let at = |block: usize| format!("{FIRST_BLOCKS}{block}");
        let places = Places(vec![
            place(&at(0), 1, 0, 3),
            place(&at(1), 2, 0, 3),
            place(&at(2), 3, 0, 3),
            place(&at(4), 4, 0, 3),
            place("/messages/1/text", 5, 0, 3),
        ]);
        let (parts, rest) = places.clone().in_parts(&[2, 3]);
        assert_eq!(parts[0], Places(vec![place("/0", 1, 0, 3), place("/1", 2, 0, 3)]));
        assert_eq!(parts[1], Places(vec![place("/0", 3, 0, 3)]));
        let expected = vec![place(&at(1), 4, 0, 3), place("/messages/1/text", 5, 0, 3)];
        assert_eq!(rest, Places(expected));
        assert_eq!(rest.with_parts([(2, &parts[0]), (1, &parts[1])]), places);
        assert_eq!(places.clone().in_parts(&[]), (Vec::new(), places));
    }

    #[test]
    fn places_are_stored_by_text() {
        let places = Places(vec![place("/0", 1, 0, 3), place("/0", 2, 3, 6), place("/1", 2, 0, 4)]);
        let stored = serde_json::to_value(&places).unwrap();
        let space = space(1);
        assert_eq!(
            stored,
            json!([
                {"at": "/0", "space": space, "ranges": [[1, 1, 0, 3], [2, 2, 3, 6]]},
                {"at": "/1", "space": space, "ranges": [[2, 2, 0, 4]]}
            ])
        );
        assert_eq!(serde_json::from_value::<Places>(stored).unwrap(), places);
        let mut reads = Reads::new();
        places.add_to(&mut reads);
        assert_eq!(reads, Reads::from([(space, (1, 2))]));
        assert!(message(1).is_among(&reads) && !message(3).is_among(&reads));
    }
}
