//! The piece of a message that shows why it was found.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    clauses::{Clause, Term},
    entry::Entry,
    query::Query,
    words::{Token, tokens},
};

/// The longest excerpt, in characters.
const EXCERPT_CHARS: usize = 300;
/// How much of an excerpt stands before its first word of the query, in characters.
const LEAD_CHARS: usize = 60;
/// How many places of one word or phrase of the query count in a text.
const PLACES: usize = 2_000;
/// How many characters at the end of an excerpt may be left out, so that it ends with a word.
const TAIL_CHARS: usize = 30;
/// What stands where the text goes on before the excerpt, and after it.
const BEFORE: &str = "… ";
const AFTER: &str = " …";
/// The characters of each of both.
const MARK_CHARS: usize = 2;

/// The piece of a message around the best place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// Up to 300 characters. `…` stands where the text goes on.
    pub text: String,
    /// The words of the query in it, in order.
    pub matches: Vec<Span>,
}

/// A piece of an excerpt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Span {
    /// Where it begins, in UTF-16 code units.
    pub start: u32,
    /// Where it ends, in UTF-16 code units.
    pub end: u32,
}

impl Excerpt {
    /// The piece of a message around its best place for a query: where most of its words stand
    /// together. If there is none, the beginning.
    pub fn of(entry: &Entry, query: &Query) -> Self {
        let mut best: Option<(Best, &str, Vec<Found>)> = None;
        for text in &entry.texts {
            let found = found_in(text, &query.wanted);
            let place = best_place(text, &found, query.wanted.len());
            if best.as_ref().is_none_or(|(best, ..)| place.is_better_than(best)) {
                best = Some((place, text.as_str(), found));
            }
        }
        best.map_or_else(Self::default, |(place, text, found)| Self::cut(text, place.start, found))
    }

    /// The piece of a text from the byte `start` on.
    fn cut(text: &str, start: usize, found: Vec<Found>) -> Self {
        let mut excerpt = Self::default();
        if start > 0 {
            excerpt.text.push_str(BEFORE);
        }
        let end = end_of_piece(text, start);
        excerpt.text.push_str(&text[start..end]);
        if end < text.len() {
            excerpt.text.push_str(AFTER);
        }
        // Words may overlap and together reach beyond the piece, so each is cut before.
        let shown = found.into_iter().map(|found| Found {
            start: found.start.max(start),
            end: found.end.min(end),
            ..found
        });
        let shown = shown.filter(|found| found.start < found.end).collect();
        let mut at = start;
        let mut units = if start > 0 { utf16_units(BEFORE) } else { 0 };
        for found in merged(shown) {
            units += utf16_units(&text[at..found.start]);
            let length = utf16_units(&text[found.start..found.end]);
            excerpt.matches.push(Span { start: units, end: units + length });
            units += length;
            at = found.end;
        }
        excerpt
    }
}

/// A word or phrase of the query in a text, in bytes.
#[derive(Clone, Copy, Debug)]
struct Found {
    start: usize,
    end: usize,
    /// The index of the clause.
    clause: usize,
}

/// The places of a text that clauses stand for, in the order of their beginnings.
fn found_in(text: &str, clauses: &[Clause]) -> Vec<Found> {
    if clauses.is_empty() {
        return Vec::new();
    }
    let tokens = tokens(text);
    let mut found = Vec::new();
    for (clause, of_query) in clauses.iter().enumerate() {
        for terms in of_query.alternatives() {
            let places = tokens.windows(terms.len()).filter_map(|words| place_of(words, terms));
            // A character of two pairs stands in one place.
            let mut last = None;
            let new = places.filter(|place| last.replace(*place) != Some(*place)).take(PLACES);
            found.extend(new.map(|(start, end)| Found { start, end, clause }));
        }
    }
    found.sort_by_key(|found| (found.start, found.end));
    found
}

/// The place of a phrase, if the terms stand for these words.
fn place_of(words: &[Token], terms: &[Term]) -> Option<(usize, usize)> {
    let is_found = words.iter().zip(terms).all(|(token, term)| term.is_for(&token.word));
    let (start, _) = place(words.first()?, terms.first()?);
    let (_, end) = place(words.last()?, terms.last()?);
    is_found.then_some((start, end))
}

/// The part of a token for which a term stands.
fn place(token: &Token, term: &Term) -> (usize, usize) {
    let is_alone = token.middle == token.end;
    match term {
        Term::FirstChar(_) => (token.start, token.middle),
        Term::Char(char) if token.word.starts_with(*char) => (token.start, token.middle),
        Term::Char(_) | Term::LastChar(_) if !is_alone => (token.middle, token.end),
        _ => (token.start, token.end),
    }
}

/// A place in a text, and how many words of the query stand there.
#[derive(Clone, Copy, Debug, Default)]
struct Best {
    /// Where the excerpt begins, in bytes.
    start: usize,
    clauses: usize,
    words: usize,
}

impl Best {
    fn is_better_than(&self, other: &Self) -> bool {
        (self.clauses, self.words) > (other.clauses, other.words)
    }
}

/// The first place where most clauses stand together.
fn best_place(text: &str, found: &[Found], clauses: usize) -> Best {
    let fits_whole = text.chars().nth(EXCERPT_CHARS).is_none();
    let room = if fits_whole { EXCERPT_CHARS } else { EXCERPT_CHARS - LEAD_CHARS - 2 * MARK_CHARS };
    let chars = chars_before(text);
    let mut best = Best::default();
    let mut counts = vec![0_usize; clauses];
    let mut different = 0;
    let mut next = 0;
    for (index, first) in found.iter().enumerate() {
        let end = chars[first.start] + room;
        // A phrase that is longer than the excerpt is shown as far as it goes.
        while let Some(last) = found.get(next).filter(|it| chars[it.end] <= end || next == index) {
            different += usize::from(counts[last.clause] == 0);
            counts[last.clause] += 1;
            next += 1;
        }
        let place = Best { start: first.start, clauses: different, words: next - index };
        if place.is_better_than(&best) {
            best = place;
        }
        counts[first.clause] -= 1;
        different -= usize::from(counts[first.clause] == 0);
    }
    let start = if fits_whole { 0 } else { start_of_piece(text, best.start) };
    Best { start, ..best }
}

/// How many characters begin before each byte of a text, and before its end.
fn chars_before(text: &str) -> Vec<usize> {
    let mut chars = 0;
    let before = (0..=text.len()).map(|at| {
        let before = chars;
        chars += usize::from(text.is_char_boundary(at));
        before
    });
    before.collect()
}

/// Where an excerpt begins whose first word of the query is at `first`: some words before.
fn start_of_piece(text: &str, first: usize) -> usize {
    let start = before_chars(text, first, LEAD_CHARS);
    if start == 0 {
        return 0;
    }
    // The end of the text fills the excerpt.
    let most = EXCERPT_CHARS - MARK_CHARS;
    let start = start.min(before_chars(text, text.len(), most));
    let blank = text[start..first].find(char::is_whitespace).map(|at| start + at);
    blank.map_or(start, |blank| first - text[blank..first].trim_start().len())
}

/// Where the excerpt ends that begins at `start`.
fn end_of_piece(text: &str, start: usize) -> usize {
    let room = if start > 0 { EXCERPT_CHARS - MARK_CHARS } else { EXCERPT_CHARS };
    let end = after_chars(text, start, room);
    if end == text.len() {
        return end;
    }
    let end = after_chars(text, start, room - MARK_CHARS);
    let tail = before_chars(text, end, TAIL_CHARS);
    let blank = text[tail..end].rfind(char::is_whitespace).map(|at| tail + at);
    blank.filter(|blank| *blank > start).unwrap_or(end)
}

/// The byte that is so many characters after another one, or the end.
fn after_chars(text: &str, from: usize, chars: usize) -> usize {
    text[from..].char_indices().nth(chars).map_or(text.len(), |(at, _)| from + at)
}

/// The byte that is so many characters before another one, or the beginning.
fn before_chars(text: &str, to: usize, chars: usize) -> usize {
    let before = text[..to].char_indices().rev().take(chars).last();
    before.map_or(to, |(at, _)| at)
}

/// Words that overlap, as the pairs of a phrase do, are one.
fn merged(found: Vec<Found>) -> Vec<Found> {
    let mut merged: Vec<Found> = Vec::new();
    for found in found {
        match merged.last_mut() {
            Some(last) if found.start < last.end => last.end = last.end.max(found.end),
            _ => merged.push(found),
        }
    }
    merged
}

fn utf16_units(text: &str) -> u32 {
    text.chars().map(|char| char.len_utf16() as u32).sum()
}
