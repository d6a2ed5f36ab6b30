//! Search without blocks: every message is compared with every word of a query.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use crate::{
    Time,
    ids::{EntityId, SpaceId},
    search::{
        entry::{Entry, Has, HasFlags},
        rank::Sort,
        stems::stem,
        words::tokens,
    },
    unspaced::is_unspaced,
};

const DAY_MILLIS: f64 = 24.0 * 60.0 * 60.0 * 1_000.0;

/// A word, a prefix or a phrase of a query.
#[derive(Clone, Debug)]
pub(super) enum Wanted {
    Word(String),
    Prefix(String),
    Phrase { written: String, words: Vec<String> },
}

impl Wanted {
    fn written(&self) -> String {
        match self {
            Self::Word(word) => word.clone(),
            Self::Prefix(start) => format!("{start}*"),
            Self::Phrase { written, .. } => format!("\"{written}\""),
        }
    }

    /// Equal for words that a query takes for the same.
    fn key(&self) -> (u8, Vec<String>) {
        match self {
            Self::Word(word) => (0, vec![stem(word).into_owned()]),
            Self::Prefix(start) => (1, vec![start.clone()]),
            Self::Phrase { words, .. } => (2, words.clone()),
        }
    }
}

/// A query before it is written.
#[derive(Clone, Debug, Default)]
pub(super) struct NaiveQuery {
    pub(super) wanted: Vec<Wanted>,
    pub(super) excluded: Vec<Wanted>,
    pub(super) sender: Option<EntityId>,
    pub(super) has: Option<Has>,
    pub(super) after: Option<Time>,
    pub(super) before: Option<Time>,
}

impl NaiveQuery {
    /// The query as a person writes it.
    pub(super) fn written(&self) -> String {
        let mut text = String::new();
        for wanted in &self.wanted {
            write!(text, "{} ", wanted.written()).unwrap();
        }
        for excluded in &self.excluded {
            write!(text, "-{} ", excluded.written()).unwrap();
        }
        if let Some(sender) = self.sender {
            write!(text, "from:{sender} ").unwrap();
        }
        if let Some(has) = self.has {
            write!(text, "has:{has} ").unwrap();
        }
        if let Some(after) = self.after {
            write!(text, "after:{after} ").unwrap();
        }
        if let Some(before) = self.before {
            write!(text, "before:{before} ").unwrap();
        }
        text
    }

    pub(super) fn has_prefix(&self) -> bool {
        self.wanted.iter().any(|wanted| matches!(wanted, Wanted::Prefix(_)))
    }

    fn passes(&self, message: &NaiveMessage) -> bool {
        self.sender.is_none_or(|sender| message.sender == sender)
            && self.has.is_none_or(|has| message.has.contains(has.into()))
            && self.after.is_none_or(|after| message.at >= after)
            && self.before.is_none_or(|before| message.at < before)
            && self.excluded.iter().all(|excluded| message.count(excluded, None) == 0)
    }
}

/// A message with its words.
pub(super) struct NaiveMessage {
    space: SpaceId,
    seq: u64,
    at: Time,
    sender: EntityId,
    has: HasFlags,
    texts: Vec<Vec<String>>,
    stems: Vec<Vec<String>>,
}

impl NaiveMessage {
    pub(super) fn of(space: SpaceId, entry: &Entry) -> Self {
        let words = |text: &String| tokens(text).into_iter().map(|token| token.word).collect();
        let texts: Vec<Vec<String>> = entry.texts.iter().map(words).collect();
        let stems = |text: &Vec<String>| text.iter().map(|it| stem(it).into_owned()).collect();
        Self {
            space,
            seq: entry.seq,
            at: entry.at,
            sender: entry.sender,
            has: entry.has,
            stems: texts.iter().map(stems).collect(),
            texts,
        }
    }

    fn length(&self) -> usize {
        self.texts.iter().map(Vec::len).sum()
    }

    /// How often it has what is wanted. A prefix stands for `chosen` only, or for all words.
    fn count(&self, wanted: &Wanted, chosen: Option<&BTreeSet<String>>) -> usize {
        match wanted {
            Wanted::Word(word) => {
                let wanted = stem(word);
                self.stems.iter().flatten().filter(|own| **own == *wanted).count()
            }
            Wanted::Prefix(start) => {
                let words = self.texts.iter().flatten().filter(|word| word.starts_with(start));
                words.filter(|word| chosen.is_none_or(|chosen| chosen.contains(*word))).count()
            }
            Wanted::Phrase { words, .. } => {
                let is_same = |(own, wanted): (&String, &String)| is_same(own, wanted);
                let places = self.texts.iter().flat_map(|text| text.windows(words.len()));
                places.filter(|place| place.iter().zip(words).all(is_same)).count()
            }
        }
    }
}

fn is_same(own: &str, wanted: &str) -> bool {
    let is_single = wanted.chars().count() == 1 && wanted.chars().all(is_unspaced);
    if is_single { own.contains(wanted) } else { own == wanted }
}

/// The 200 words that begin so and that most messages have.
fn chosen(messages: &[NaiveMessage], wanted: &Wanted) -> Option<BTreeSet<String>> {
    let Wanted::Prefix(start) = wanted else { return None };
    let mut counts = BTreeMap::<&String, usize>::new();
    for message in messages {
        let words = message.texts.iter().flatten().filter(|word| word.starts_with(start));
        for word in words.collect::<BTreeSet<_>>() {
            *counts.entry(word).or_default() += 1;
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
    Some(counts.into_iter().take(200).map(|(word, _)| word.clone()).collect())
}

/// The hits in order: space and number.
pub(super) fn search(
    messages: &[NaiveMessage],
    query: &NaiveQuery,
    sort: Sort,
    now: Time,
) -> Vec<(SpaceId, u64)> {
    let mut keys = BTreeSet::new();
    let wanted = query.wanted.iter().filter(|wanted| keys.insert(wanted.key()));
    let columns: Vec<Vec<usize>> = wanted
        .map(|wanted| {
            let chosen = chosen(messages, wanted);
            messages.iter().map(|message| message.count(wanted, chosen.as_ref())).collect()
        })
        .collect();
    let count = messages.len() as f64;
    let average = messages.iter().map(NaiveMessage::length).sum::<usize>() as f64 / count;
    let weight = |column: &Vec<usize>| {
        let having = column.iter().filter(|count| **count > 0).count() as f64;
        (1.0 + (count - having + 0.5) / (having + 0.5)).ln()
    };
    let weights: Vec<_> = columns.iter().map(weight).collect();
    let mut hits = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let counts: Vec<_> = columns.iter().map(|column| column[index]).collect();
        if counts.iter().all(|count| *count == 0) || !query.passes(message) {
            continue;
        }
        let mut score = 0.0;
        for (weight, column) in weights.iter().zip(&columns) {
            let times = column[index] as f64;
            let long = 1.2 * (1.0 - 0.5 + 0.5 * message.length() as f64 / average);
            score += weight * times * (1.2 + 1.0) / (times + long);
        }
        let age = (now.as_millis() - message.at.as_millis()) as f64 / DAY_MILLIS;
        score *= 1.0 + 0.25 * (-age / 30.0).exp2();
        let has_all = counts.iter().all(|count| *count > 0);
        hits.push((has_all, score, message.at, message.seq, message.space));
    }
    hits.sort_by(|one, other| {
        let newer = (other.2, other.3, other.4).cmp(&(one.2, one.3, one.4));
        match sort {
            Sort::Newest => newer,
            Sort::Relevance => other.0.cmp(&one.0).then(other.1.total_cmp(&one.1)).then(newer),
        }
    });
    hits.into_iter().map(|(.., seq, space)| (space, seq)).collect()
}
