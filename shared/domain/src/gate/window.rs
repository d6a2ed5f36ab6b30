//! The last messages as sets of lines: what all agents share.
//!
//! A [`Set`] has a bit for each line before the message; the lowest bit is the line directly before
//! it. So "how long ago" and "how often" are one instruction each, and a hundred agents are cheap.

use std::collections::HashMap;

use crate::{
    gate::{
        Line, Talk, WINDOW,
        names::{Link, Named, Names, Sure},
        words::Words,
    },
    ids::EntityId,
};

/// Lines before the message.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Set(pub(super) u64);

impl Set {
    /// How many lines.
    pub(super) fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// How many messages ago the newest line is, from 1. `None` of an empty set.
    pub(super) fn ago(self) -> Option<u32> {
        (self.0 != 0).then(|| self.0.trailing_zeros() + 1)
    }

    /// The lines among the last `most`.
    pub(super) fn last(self, most: u32) -> Self {
        Self(self.0 & ((1 << most) - 1))
    }

    /// The lines that are newer than the newest one of `other`.
    pub(super) fn newer_than(self, other: Self) -> Self {
        other.ago().map_or(self, |ago| self.last(ago - 1))
    }

    /// The lines that stand directly after one of this set.
    pub(super) fn after(self) -> Self {
        Self(self.0 >> 1)
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// How many messages ago each line is, from the newest.
    pub(super) fn iter(self) -> impl Iterator<Item = u32> {
        let mut rest = self;
        std::iter::from_fn(move || {
            let ago = rest.ago()?;
            rest.0 &= rest.0 - 1;
            Some(ago)
        })
    }
}

/// What is known of a member.
#[derive(Clone, Copy, Default)]
pub(super) struct Sets {
    /// Its lines.
    pub(super) said: Set,
    /// The lines that name it.
    pub(super) to: Set,
    /// The lines that name nobody and probably go to it.
    pub(super) guessed: Set,
    /// Its lines that came first after a question that named nobody.
    pub(super) first: Set,
    /// The lines that came first after such a question of it.
    pub(super) answered: Set,
}

/// A line before the message.
pub(super) struct Parsed {
    /// The position of its sender among the members.
    pub(super) speaker: usize,
    /// The minute.
    pub(super) minute: i64,
    /// How many words it has.
    pub(super) length: usize,
    /// Its words without repetition, sorted.
    pub(super) words: Vec<u64>,
    /// The members that it names.
    pub(super) named: Vec<Named>,
    /// The member to which it probably goes if it names nobody.
    pub(super) guess: Option<usize>,
    /// Whether it begins like one with a name, which no member has: 1 with a comma, 2 with a colon.
    pub(super) names_stranger: u8,
    /// Whether it asks.
    pub(super) asks: bool,
    /// Whether its text ends with a question mark.
    pub(super) ends_asking: bool,
    /// How its text ends.
    pub(super) end: u8,
    /// Whether it has a link.
    pub(super) has_link: bool,
    /// Whether it has code.
    pub(super) has_code: bool,
    /// Whether it begins like a command of a bot.
    pub(super) is_command: bool,
    /// Whether it has a file.
    pub(super) has_file: bool,
}

/// A message and the lines before it.
pub(super) struct Window {
    /// The lines, oldest first; the message is the last one.
    pub(super) lines: Vec<Parsed>,
    /// What is known of each member.
    pub(super) sets: Vec<Sets>,
    /// The members that spoke or were named, by position. There may be 500 others.
    pub(super) active: Vec<usize>,
    /// The lines that name a member.
    pub(super) naming: Set,
    /// The lines that ask.
    pub(super) asking: Set,
    /// The lines that begin like a command of a bot.
    pub(super) commands: Set,
    /// The lines with a link.
    pub(super) links: Set,
    names: Names,
    places: HashMap<EntityId, usize>,
}

impl Window {
    pub(super) fn new(talk: &Talk<'_>, agents: &[EntityId]) -> Self {
        let start = talk.before.len().saturating_sub(WINDOW);
        let mut window = Self {
            lines: Vec::with_capacity(WINDOW + 1),
            sets: Vec::new(),
            active: Vec::new(),
            names: Names::default(),
            naming: Set::default(),
            asking: Set::default(),
            commands: Set::default(),
            links: Set::default(),
            places: HashMap::new(),
        };
        for member in talk.members {
            window.add(member.id, member.name);
        }
        for agent in agents {
            window.add(*agent, "");
        }
        for line in talk.before[start..].iter().chain([talk.message]) {
            // Who has left has no name to be called by.
            let speaker = window.add(line.sender, "");
            window.read(line, speaker);
        }
        window.collect();
        window
    }

    /// The message.
    pub(super) fn message(&self) -> &Parsed {
        &self.lines[self.lines.len() - 1]
    }

    /// The line that is `ago` messages before the message.
    pub(super) fn line(&self, ago: u32) -> &Parsed {
        &self.lines[self.lines.len() - 1 - ago as usize]
    }

    /// The position of a member.
    pub(super) fn place(&self, id: EntityId) -> Option<usize> {
        self.places.get(&id).copied()
    }

    fn add(&mut self, id: EntityId, name: &str) -> usize {
        let next = self.places.len();
        let place = *self.places.entry(id).or_insert(next);
        if place == next {
            self.names.add(name);
        }
        place
    }

    fn read(&mut self, line: &Line<'_>, speaker: usize) {
        let text = Words::new(line.text);
        let mut named = self.names.find(&text);
        named.retain(|named| named.who != speaker);
        let starts_with_name = named.first().is_some_and(|named| named.at == 0);
        let in_text = line.named.iter().map(|id| (Link::Text, id));
        let certain = in_text
            .chain(line.reply_to.iter().map(|id| (Link::Reply, id)))
            .chain(line.answers.iter().map(|id| (Link::Answer, id)));
        for (link, id) in certain {
            let Some(who) = self.place(*id).filter(|who| *who != speaker) else { continue };
            match named.iter_mut().find(|known| known.who == who) {
                Some(known) => known.sure = Sure::Certain,
                None => named.push(Named { who, sure: Sure::Certain, link, at: 0, has_mark: true }),
            }
        }
        let mark = text.list.first().map_or(0, |word| match (word.has_mark, word.has_colon) {
            (true, true) => 2,
            (true, false) => 1,
            (false, _) => 0,
        });
        self.lines.push(Parsed {
            speaker,
            minute: line.at.as_millis().div_euclid(60_000),
            length: text.list.len(),
            words: text.distinct(),
            guess: None,
            names_stranger: if starts_with_name { 0 } else { mark },
            asks: text.asks,
            ends_asking: text.ends_asking,
            end: text.end,
            has_link: text.has_link,
            has_code: text.has_code,
            is_command: line.text.starts_with(['!', '/']),
            has_file: line.has_file,
            named,
        });
    }

    /// Collects the lines into sets.
    fn collect(&mut self) {
        self.sets = vec![Sets::default(); self.places.len()];
        let count = self.lines.len() - 1;
        for at in 0..=count {
            let guess = if self.lines[at].named.is_empty() { self.guess(at) } else { None };
            self.lines[at].guess = guess;
            if at == count {
                break;
            }
            let bit = Set(1 << (count - 1 - at));
            let line = &self.lines[at];
            self.sets[line.speaker].said = self.sets[line.speaker].said.or(bit);
            for named in &line.named {
                self.sets[named.who].to = self.sets[named.who].to.or(bit);
                self.naming = self.naming.or(bit);
            }
            if let Some(who) = guess {
                self.sets[who].guessed = self.sets[who].guessed.or(bit);
            }
            if line.is_command {
                self.commands = self.commands.or(bit);
            }
            if line.has_link {
                self.links = self.links.or(bit);
            }
            if line.asks {
                self.asking = self.asking.or(bit);
                if line.named.is_empty() {
                    self.answered_first(at);
                }
            }
        }
        let is_active = |who: &usize| self.sets[*who].said.or(self.sets[*who].to).count() > 0;
        self.active = (0..self.sets.len()).filter(is_active).collect();
    }

    /// Notes who spoke first after a question that named nobody.
    fn answered_first(&mut self, asked: usize) {
        let count = self.lines.len() - 1;
        let asker = self.lines[asked].speaker;
        let first = (asked + 1..count).find(|at| self.lines[*at].speaker != asker);
        if let Some(at) = first {
            let bit = Set(1 << (count - 1 - at));
            let sets = &mut self.sets[self.lines[at].speaker];
            sets.first = sets.first.or(bit);
            self.sets[asker].answered = self.sets[asker].answered.or(bit);
        }
    }

    /// To whom a line probably goes that names nobody: to the one that wrote to its sender since
    /// that spoke last, else to the one to whom its sender wrote just before, else to the line
    /// before it, unless it asks.
    fn guess(&self, at: usize) -> Option<usize> {
        let line = &self.lines[at];
        let names_it = |other: &Parsed| other.named.iter().any(|named| named.who == line.speaker);
        let before = || self.lines[..at].iter().enumerate().rev();
        let own = before().find(|(_, other)| other.speaker == line.speaker);
        let to_it = before().find(|(_, other)| names_it(other));
        let own_at = own.map(|(at, _)| at);
        if let Some((_, writer)) = to_it.filter(|(to_at, _)| own_at.is_none_or(|own| own < *to_at))
        {
            return Some(writer.speaker);
        }
        if let Some((_, own)) = own.filter(|(own_at, _)| at - own_at <= 5) {
            let same = own.named.first().map(|named| named.who).or(own.guess);
            if same.is_some() {
                return same;
            }
        }
        let last = self.lines[..at].last().filter(|last| last.speaker != line.speaker);
        last.filter(|_| !line.asks && own.is_some()).map(|last| last.speaker)
    }
}
