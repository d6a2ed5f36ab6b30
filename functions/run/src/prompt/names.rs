//! The names of senders and members in prompts. A name is never proof of who somebody is, so two
//! entities whose names look alike get the last letters of their ids.

use std::collections::{BTreeMap, BTreeSet};

use smartspace_domain::{
    approvals::MadeDecision, entities::EntityType, ids::EntityId, jobs::MessageRef,
    messages::Sender, names::look_alike::Look,
};
use smartspace_store::{
    messages::{Asks, MessageRecord},
    runs::MessageTexts,
};

use crate::prompt::format::{Name, Quoted};

/// The fewest letters of an id after a name.
const MIN_LETTERS: usize = 4;
/// How prompts call the agent itself.
const YOU: &str = "You";

/// The beginning of a message of another space.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Words<'a> {
    Text(&'a str),
    Deleted,
    Expired,
}

/// The names of all senders and members that a prompt mentions, as it writes them.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    me: EntityId,
    /// How each name looks, because most lines of a prompt have the same few senders.
    looks: BTreeMap<String, Look>,
    /// The entities that share a form of their names, see [`Look`].
    namesakes: BTreeMap<String, BTreeSet<EntityId>>,
    /// The beginnings of messages of other spaces that its lines repeat.
    texts: MessageTexts,
}

impl Names {
    /// The names that a prompt for the agent `me` mentions.
    pub(crate) fn new<'a>(me: EntityId, mentioned: impl IntoIterator<Item = &'a Sender>) -> Self {
        let mut names = Self {
            me,
            looks: BTreeMap::from([(YOU.to_owned(), Look::of(YOU))]),
            namesakes: BTreeMap::new(),
            texts: MessageTexts::new(),
        };
        names.add(mentioned);
        names
    }

    /// Adds names. They do not change those that earlier lines of the conversation show.
    pub(crate) fn add<'a>(&mut self, mentioned: impl IntoIterator<Item = &'a Sender>) {
        for sender in mentioned {
            if !self.looks.contains_key(&sender.name) {
                self.looks.insert(sender.name.clone(), Look::of(&sender.name));
            }
            for form in self.looks[&sender.name].forms() {
                if !self.namesakes.get(form).is_some_and(|known| known.contains(&sender.id)) {
                    self.namesakes.entry(form.clone()).or_default().insert(sender.id);
                }
            }
        }
    }

    /// Adds the beginnings of messages of other spaces, as they are now.
    pub(crate) fn add_texts(&mut self, texts: MessageTexts) {
        self.texts.extend(texts);
    }

    /// The beginning of a message of another space, as it is now.
    pub(crate) fn words_of(&self, message: MessageRef) -> Words<'_> {
        match self.texts.get(&message) {
            Some(Some(text)) => Words::Text(text),
            Some(None) => Words::Deleted,
            None => Words::Expired,
        }
    }

    /// Whether this is the agent itself.
    pub(crate) fn is_me(&self, id: EntityId) -> bool {
        id == self.me
    }

    /// Writes a name: `You` for the agent itself, for an entity whose name is not its own alone
    /// `"Husam"~7K2P`, and for a guest `Husam (guest)`. No name has brackets outside of quotes.
    pub(crate) fn of(&self, sender: &Sender) -> String {
        if sender.id == self.me {
            return YOU.to_owned();
        }
        let new;
        let own = if let Some(known) = self.looks.get(&sender.name) {
            known
        } else {
            new = Look::of(&sender.name);
            &new
        };
        let others: BTreeSet<EntityId> = own
            .forms()
            .iter()
            .filter_map(|form| self.namesakes.get(form))
            .flatten()
            .filter(|other| **other != sender.id)
            .copied()
            .collect();
        let others: Vec<String> = others.iter().map(ToString::to_string).collect();
        if others.is_empty() && !own.is_like(&self.looks[YOU]) {
            return format!("{}{}", Name(&sender.name), sender.mark());
        }
        let end = distinct_end(&sender.id.to_string(), &others).to_owned();
        format!("{}~{end}{}", Quoted(&sender.name), sender.mark())
    }
}

/// The entity that answered a form. `None` if nobody has answered, or the operator has.
pub(crate) fn answerer(asks: &Asks) -> Option<Sender> {
    let id = asks.resolved_by?;
    // People answer most forms, and names do not depend on the type.
    let name = asks.resolved_name.clone()?;
    Some(Sender { id, name, kind: EntityType::Human, guest: asks.resolved_by_guest })
}

/// The person who made a decision. Only people decide, and no guests.
pub(crate) fn decider(decision: &MadeDecision) -> Sender {
    let MadeDecision { by, name, .. } = decision;
    Sender { id: *by, name: name.clone(), kind: EntityType::Human, guest: false }
}

/// The entities that lines of these messages name: senders, and those that answered forms or
/// decided calls.
pub(crate) fn mentioned<'a>(
    messages: impl Iterator<Item = &'a MessageRecord> + Clone,
) -> impl Iterator<Item = Sender> {
    let senders = messages.clone().map(|message| message.sender.clone());
    let asks = messages.filter_map(|message| message.card.as_ref()?.asks.as_ref());
    senders.chain(asks.flat_map(|asks| {
        let approval = asks.approval.iter();
        answerer(asks).into_iter().chain(approval.flat_map(|it| it.decisions.iter().map(decider)))
    }))
}

/// Whether two names look the same to a reader.
pub(crate) fn look_alike(one: &str, other: &str) -> bool {
    Look::of(one).is_like(&Look::of(other))
}

/// The shortest end of an id that none of the others has.
pub(crate) fn distinct_end<'a>(id: &'a str, others: &[String]) -> &'a str {
    let end = |letters: usize| &id[id.len() - letters..];
    let is_distinct = |letters: &usize| others.iter().all(|other| !other.ends_with(end(*letters)));
    (MIN_LETTERS..id.len()).find(is_distinct).map_or(id, end)
}

#[cfg(test)]
mod tests {
    use smartspace_domain::Time;

    use super::*;

    fn sender(number: u128, name: &str) -> Sender {
        let id = EntityId::new(Time::from_millis(1), number);
        Sender { id, name: name.into(), kind: EntityType::Human, guest: false }
    }

    fn written(names: &[&str]) -> Vec<String> {
        let senders: Vec<_> = (1..).zip(names).map(|(id, name)| sender(id, name)).collect();
        let names = Names::new(senders[0].id, &senders);
        senders.iter().map(|sender| names.of(sender)).collect()
    }

    #[test]
    fn a_name_of_its_own_stays_as_it_is() {
        assert_eq!(written(&["Ada", "Husam", "Zoë (x)"]), ["You", "Husam", "\"Zoë (x)\""]);
    }

    #[test]
    fn names_that_look_alike_get_the_ends_of_their_ids() {
        assert_eq!(
            written(&["Ada", "Husam", "HUSAM", "Hus\u{0430}m", "Hu sam\u{200b}"]),
            [
                "You",
                "\"Husam\"~0002",
                "\"HUSAM\"~0003",
                "\"Hus\u{0430}m\"~0004",
                "\"Hu sam\\u200b\"~0005"
            ]
        );
        assert_eq!(written(&["Ada", "ADA"]), ["You", "\"ADA\"~0002"]);
    }

    #[test]
    fn a_guest_is_marked_and_no_name_marks_itself() {
        let guest = Sender { guest: true, ..sender(3, "Husam") };
        let names = Names::new(sender(1, "Ada").id, &[sender(2, "Zoe"), guest.clone()]);
        assert_eq!(names.of(&guest), "Husam (guest)");
        let names = Names::new(sender(1, "Ada").id, &[sender(2, "husam"), guest.clone()]);
        assert_eq!(names.of(&guest), "\"Husam\"~0003 (guest)");
        assert_eq!(written(&["Ada", "Bob (guest)"]), ["You", "\"Bob (guest)\""]);
    }

    #[test]
    fn nobody_else_is_called_you() {
        assert_eq!(
            written(&["Ada", "you", "Y\u{043e}u", "Y o\u{ad}u"]),
            ["You", "\"you\"~0002", "\"Y\u{043e}u\"~0003", "\"Y o\\u00adu\"~0004"]
        );
        let disguised = ["You\u{332}", "Y\u{2800}ou", "\u{24ce}ou", "\u{1d67}ou"];
        for name in disguised {
            let written = written(&["Ada", name]);
            assert!(written[1].ends_with("~0002"), "{written:?}");
        }
    }

    #[test]
    fn capitals_of_other_alphabets_and_dots_make_no_difference() {
        for (one, other) in [
            ("\u{3a5}ou", "You"),
            ("You.", "You"),
            ("\u{422}om", "Tom"),
            ("\u{41d}usam_", "Husam"),
            ("\u{39c}aria", "Maria"),
            ("BiIl", "Bill"),
            ("Ida", "ida"),
        ] {
            assert!(look_alike(one, other), "{one} and {other}");
        }
        assert!(!look_alike("Ada", "Ida"));
        assert_eq!(written(&["Ada", "\u{3a5}ou"]), ["You", "\"\u{3a5}ou\"~0002"]);
    }

    #[test]
    fn more_letters_are_shown_until_the_ends_differ() {
        let others = ["ent_1AB77K2P".to_owned(), "ent_1AC97K2P".to_owned()];
        assert_eq!(distinct_end("ent_1AC77K2P", &others), "C77K2P");
        assert_eq!(distinct_end("ent_1AC77K2P", &[]), "7K2P");
        assert_eq!(distinct_end("ent_1AB77K2P", &others[..1]), "ent_1AB77K2P");
    }
}
