//! Reactions: members answer a message with an emoji, which wakes nobody.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Error, Result, Time, ids::EntityId, limits, messages::Reaction};

/// One emoji of Unicode's recommended list. Forms with and without U+FE0F are one emoji.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Emoji(&'static str);

impl Emoji {
    /// The emoji that a text is, or `None` if it is anything else.
    pub fn of(text: &str) -> Option<Self> {
        emojis::get(text).map(|emoji| Self(emoji.as_str()))
    }

    /// The emoji of a request.
    ///
    /// # Errors
    /// `invalid` at `/emoji`.
    pub fn parse(text: &str) -> Result<Self> {
        let got = if text.is_empty() { ", got none" } else { "" };
        let refused = || Error::invalid("/emoji", format!("expected one emoji, such as 👍{got}"));
        Self::of(text).ok_or_else(refused)
    }

    /// The emoji, as clients show it.
    pub fn as_str(self) -> &'static str {
        self.0
    }

    /// The bytes of the emoji as hexadecimal digits, for names that may only have letters and
    /// digits.
    pub fn hex(self) -> String {
        use std::fmt::Write as _;
        self.0.bytes().fold(String::with_capacity(2 * self.0.len()), |mut hex, byte| {
            // Writing to a String can't fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }

    /// The emoji with these hexadecimal digits.
    pub fn of_hex(hex: &str) -> Option<Self> {
        let digits = hex.as_bytes().chunks(2).map(|pair| {
            let pair = std::str::from_utf8(pair).ok()?;
            u8::from_str_radix(pair, 16).ok()
        });
        let bytes: Vec<u8> = digits.collect::<Option<_>>()?;
        Self::of(std::str::from_utf8(&bytes).ok()?)
    }
}

/// All reactions to a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reactions {
    /// When each member reacted with an emoji.
    given: BTreeMap<(Emoji, EntityId), Time>,
}

impl Reactions {
    /// The reactions that these members have given. Each counts once.
    pub fn of(given: impl IntoIterator<Item = (Emoji, EntityId, Time)>) -> Self {
        let given = given.into_iter().map(|(emoji, entity, at)| ((emoji, entity), at));
        Self { given: given.collect() }
    }

    /// Whether a member has reacted with an emoji.
    pub fn has(&self, emoji: Emoji, entity: EntityId) -> bool {
        self.given.contains_key(&(emoji, entity))
    }

    /// The reactions after a member reacted at `at`, or took its reaction back.
    #[must_use]
    pub fn changed(mut self, emoji: Emoji, entity: EntityId, at: Option<Time>) -> Self {
        match at {
            Some(at) => self.given.insert((emoji, entity), at),
            None => self.given.remove(&(emoji, entity)),
        };
        self
    }

    /// Checks whether the message takes a further reaction with this emoji.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the message has too many reactions or too many different ones.
    pub fn take_another(&self, emoji: Emoji) -> Result<()> {
        let (different, all) = (limits::EMOJI_OF_MESSAGE, limits::REACTIONS_OF_MESSAGE);
        if self.given.len() >= all {
            return Err(Error::Conflict(format!("the message has {all} reactions, which is all")));
        }
        let emojis: BTreeSet<Emoji> = self.given.keys().map(|(emoji, _)| *emoji).collect();
        if !emojis.contains(&emoji) && emojis.len() >= different {
            return Err(Error::Conflict(format!(
                "the message has {different} different emoji, which is all; react with one of them"
            )));
        }
        Ok(())
    }

    /// The same reactions as the API shows them: an emoji stands where it was first given.
    pub fn view(&self) -> Vec<Reaction> {
        let mut by_emoji: BTreeMap<Emoji, Vec<(Time, EntityId)>> = BTreeMap::new();
        for ((emoji, entity), at) in &self.given {
            by_emoji.entry(*emoji).or_default().push((*at, *entity));
        }
        let mut ordered: Vec<_> = by_emoji
            .into_iter()
            .map(|(emoji, mut members)| {
                members.sort_unstable();
                (members, emoji)
            })
            .collect();
        // Of two emoji that were first given at the same moment, any order holds that stays.
        ordered.sort_by_key(|(members, emoji)| (members.first().copied(), *emoji));
        let shown = ordered.into_iter().map(|(members, emoji)| Reaction {
            emoji: emoji.as_str().to_owned(),
            count: members.len(),
            entity_ids: members
                .into_iter()
                .take(limits::REACTORS_SHOWN)
                .map(|(_, entity)| entity)
                .collect(),
        });
        shown.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entity(number: u128) -> EntityId {
        EntityId::new(Time::from_millis(1), number)
    }

    fn emoji(text: &str) -> Emoji {
        Emoji::of(text).unwrap()
    }

    #[test]
    fn an_emoji_is_one_of_the_recommended_list() {
        let with = "\u{2764}\u{fe0f}";
        assert_eq!(emoji("\u{2764}"), emoji(with));
        assert_eq!(emoji(with).as_str(), with);
        let family =
            "\u{1f9d1}\u{1f3fb}\u{200d}\u{2764}\u{fe0f}\u{200d}\u{1f48b}\u{200d}\u{1f9d1}\u{1f3ff}";
        for text in ["👍", "👍🏽", "🇩🇪", "#️⃣", family] {
            assert_eq!(Emoji::of_hex(&emoji(text).hex()), Some(emoji(text)), "{text}");
        }
        for text in ["", "a", "👍👍", "👍 ", ":+1:", "thumbsup", "#", "\u{200d}", "\u{fe0f}"]
        {
            let error = Emoji::parse(text).unwrap_err().to_string();
            let got = if text.is_empty() { ", got none" } else { "" };
            assert_eq!(error, format!("/emoji: expected one emoji, such as 👍{got}"), "{text}");
        }
        for hex in ["", "f", "zz", "61", "f09f918"] {
            assert_eq!(Emoji::of_hex(hex), None, "{hex}");
        }
    }

    #[test]
    fn reactions_stand_in_the_order_of_their_first_ones() {
        let at = Time::from_millis;
        let reactions = Reactions::of([
            (emoji("🎉"), entity(1), at(5)),
            (emoji("👍"), entity(2), at(9)),
            (emoji("👍"), entity(1), at(4)),
            (emoji("👍"), entity(1), at(4)),
        ]);
        let shown = |emoji: &str, entity_ids: &[EntityId]| Reaction {
            emoji: emoji.into(),
            count: entity_ids.len(),
            entity_ids: entity_ids.to_vec(),
        };
        let expected = [shown("👍", &[entity(1), entity(2)]), shown("🎉", &[entity(1)])];
        assert_eq!(reactions.view(), expected);
        assert!(reactions.has(emoji("🎉"), entity(1)) && !reactions.has(emoji("🎉"), entity(2)));
    }

    #[test]
    fn a_message_takes_a_limited_number_of_reactions() {
        let all: Vec<Emoji> = emojis::iter().map(|it| Emoji::of(it.as_str()).unwrap()).collect();
        let given = |emoji: &[Emoji], members: u128| {
            let one =
                |emoji: Emoji| (0..members).map(move |it| (emoji, entity(it), Time::default()));
            Reactions::of(emoji.iter().copied().flat_map(one))
        };
        let twenty = given(&all[..20], 1);
        assert_eq!(twenty.take_another(all[3]), Ok(()));
        assert_eq!(
            twenty.take_another(all[20]).unwrap_err().to_string(),
            "the message has 20 different emoji, which is all; react with one of them"
        );
        assert_eq!(given(&all[..19], 1).take_another(all[20]), Ok(()));
        let full = given(&all[..1], 1_000);
        assert_eq!(
            full.take_another(all[0]).unwrap_err().to_string(),
            "the message has 1000 reactions, which is all"
        );
        let shown = full.view();
        assert_eq!((shown[0].count, shown[0].entity_ids.len()), (1_000, 50));
    }
}
