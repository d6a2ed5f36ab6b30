//! Parses the text of a query and its filters, and collects all that is wrong with them.

use super::{
    Filters, QUERY_CHARS, Query, SENDERS, SPACES, WORDS,
    scanner::{Key, Piece, pieces},
};
use crate::{
    Error, Result, Time,
    days::Day,
    errors::Fault,
    quoting::{is_bidi_mark, is_invisible},
    search::{
        clauses::Clause,
        entry::{Has, HasFlags},
        words::tokens,
    },
};

/// How much of a wrong value an error repeats, in characters.
const SHOWN_CHARS: usize = 64;
/// The last day of the calendar. It begins after the last [`Time`].
const LAST_DAY: &str = "9999-12-31";

pub(super) fn parse(q: &str, filters: &Filters) -> Result<Query> {
    let mut parser = Parser::default();
    parser.check_text(q);
    if parser.faults.is_empty() {
        // Marks that nobody sees would hide the sign or the filter at the beginning of a word.
        let seen: String = q.chars().filter(|char| !is_unseen(*char)).collect();
        parser.has_wordless = seen.trim().is_empty() && !q.trim().is_empty();
        for piece in pieces(&seen) {
            parser.add_piece(piece);
        }
    }
    parser.add_filters(filters);
    parser.query()
}

fn is_unseen(char: char) -> bool {
    !char.is_ascii() && (is_bidi_mark(char) || is_invisible(char))
}

/// What of a query is parsed so far.
#[derive(Default)]
struct Parser {
    faults: Vec<Fault>,
    /// The spaces and the senders that words of the query name.
    spaces: Vec<String>,
    from: Vec<String>,
    /// The spaces and the senders that other parameters name.
    given_spaces: Vec<String>,
    given_from: Vec<String>,
    after: Option<Time>,
    before: Option<Time>,
    has: HasFlags,
    has_filter: bool,
    /// Whether a word or a phrase of the query gave no clause, such as `?`.
    has_wordless: bool,
    /// Whether the text of the query has a filter.
    has_written_filter: bool,
    wanted: Vec<Clause>,
    excluded: Vec<Clause>,
    ignored: Vec<String>,
}

impl Parser {
    fn fault(&mut self, pointer: &str, detail: impl Into<String>) {
        self.faults.push(Fault::new(pointer, detail));
    }

    fn check_text(&mut self, q: &str) {
        let chars = q.chars().count();
        if chars > QUERY_CHARS {
            self.fault("/q", format!("expected at most {QUERY_CHARS} characters, got {chars}"));
        }
        if q.contains('\0') {
            self.fault("/q", "expected a text without NUL");
        }
    }

    fn add_piece(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Word { text, is_excluded } => match Clause::of_word(text) {
                Ok(clause) => self.add_clause(clause, text.to_owned(), is_excluded),
                Err(detail) => self.fault("/q", detail),
            },
            Piece::Phrase { text, is_excluded } => {
                self.add_clause(Clause::of_phrase(text), format!("\"{text}\""), is_excluded);
            }
            Piece::Filter { is_excluded: true, .. } => {
                self.fault("/q", "a filter cannot be excluded");
            }
            Piece::Filter { key, value: "", .. } => {
                self.fault("/q", format!("expected a name behind {}:", key.as_str()));
            }
            Piece::Filter { key, value, .. } => self.add_filter(key, value),
        }
    }

    /// Adds a clause, written so, as far as the query has room for its words.
    fn add_clause(&mut self, clause: Option<Clause>, written: String, is_excluded: bool) {
        let Some(mut clause) = clause else {
            self.has_wordless = true;
            return;
        };
        let clauses = if is_excluded { &self.excluded } else { &self.wanted };
        if clauses.contains(&clause) {
            return;
        }
        let used: usize = self.wanted.iter().chain(&self.excluded).map(Clause::word_count).sum();
        let room = WORDS.saturating_sub(used);
        // What has no room in any query is cut, except for exclusions: they would leave out more.
        let is_cut = clause.word_count() > WORDS && room > 0 && !is_excluded;
        if is_cut {
            self.ignored.push(rest_of(&written, room));
            clause.cut(room);
        }
        if clause.word_count() > room {
            // Nothing is left of a query whose only text is ignored.
            self.has_wordless = true;
            self.ignored.push(if is_excluded { format!("-{written}") } else { written });
        } else if is_excluded {
            self.excluded.push(clause);
        } else {
            self.wanted.push(clause);
        }
    }

    fn add_filter(&mut self, key: Key, value: &str) {
        self.has_written_filter = true;
        match key {
            Key::In => self.spaces.push(value.to_owned()),
            Key::From => self.from.push(value.strip_prefix('@').unwrap_or(value).to_owned()),
            Key::Has => self.add_has("/q", value),
            Key::Before => self.add_before("/q", value),
            Key::After => self.add_after("/q", value),
        }
    }

    fn add_filters(&mut self, filters: &Filters) {
        self.given_spaces.clone_from(&filters.spaces);
        self.given_from.clone_from(&filters.from);
        for has in &filters.has {
            self.add_has("/has", has);
        }
        if let Some(before) = &filters.before {
            self.add_before("/before", before);
        }
        if let Some(after) = &filters.after {
            self.add_after("/after", after);
        }
    }

    fn add_has(&mut self, pointer: &str, value: &str) {
        match value.parse::<Has>() {
            Ok(has) => {
                self.has = self.has | HasFlags::from(has);
                self.has_filter = true;
            }
            Err(detail) => self.fault(pointer, detail),
        }
    }

    /// Of two times, the earlier one counts.
    fn add_before(&mut self, pointer: &str, value: &str) {
        if let Some(time) = self.time(pointer, value) {
            self.before = Some(self.before.map_or(time, |before| before.min(time)));
        }
    }

    /// Of two times, the later one counts.
    fn add_after(&mut self, pointer: &str, value: &str) {
        if let Some(time) = self.time(pointer, value) {
            self.after = Some(self.after.map_or(time, |after| after.max(time)));
        }
    }

    /// A time in RFC 3339, or the beginning of a day in UTC.
    fn time(&mut self, pointer: &str, value: &str) -> Option<Time> {
        let day = value.parse::<Day>().ok().map(Day::begin);
        let time = day.or_else(|| value.parse().ok()).or_else(|| on_last_day(value));
        if time.is_none() {
            let got: String = value.chars().take(SHOWN_CHARS).collect();
            let expected = "expected an RFC 3339 time or a day such as 2026-02-18";
            self.fault(pointer, format!("{expected}, got {got:?}"));
        }
        time
    }

    /// The query, or all that is wrong with it.
    fn query(mut self) -> Result<Query> {
        self.check_counts();
        if self.faults.is_empty() {
            self.check_words();
        }
        if !self.faults.is_empty() {
            return Err(Error::Invalid(self.faults));
        }
        let lists = |lists: [Vec<String>; 2]| -> Vec<Vec<String>> {
            lists.into_iter().filter(|list| !list.is_empty()).collect()
        };
        Ok(Query {
            ignored: self.ignored,
            spaces: lists([self.given_spaces, self.spaces]),
            from: lists([self.given_from, self.from]),
            after: self.after,
            before: self.before,
            has: self.has,
            senders: None,
            wanted: self.wanted,
            excluded: self.excluded,
        })
    }

    fn check_counts(&mut self) {
        let spaces = self.given_spaces.len().max(self.spaces.len());
        if spaces > SPACES {
            let pointer = if self.spaces.len() == spaces { "/q" } else { "/spaceId" };
            self.fault(pointer, format!("expected at most {SPACES} spaces, got {spaces}"));
        }
        let senders = self.given_from.len().max(self.from.len());
        if senders > SENDERS {
            let pointer = if self.from.len() == senders { "/q" } else { "/from" };
            self.fault(pointer, format!("expected at most {SENDERS} senders, got {senders}"));
        }
    }

    /// Checks that there is something to search for: words or a filter. A space alone is no filter
    /// for what is left after an exclusion.
    fn check_words(&mut self) {
        if !self.wanted.is_empty() {
            return;
        }
        let has_filter = self.has_filter
            || self.before.is_some()
            || self.after.is_some()
            || !self.from.is_empty()
            || !self.given_from.is_empty();
        let has_space = !self.spaces.is_empty() || !self.given_spaces.is_empty();
        if !has_filter && !self.excluded.is_empty() {
            self.fault("/q", "expected a word to search for besides what is excluded");
        } else if self.has_wordless && !self.has_written_filter {
            self.fault("/q", "expected a word");
        } else if !has_filter && !has_space {
            self.fault("/q", format!("expected 1 to {QUERY_CHARS} characters with a word"));
        }
    }
}

/// What stands in a word or phrase of a query behind so many words.
fn rest_of(written: &str, words: usize) -> String {
    let rest = tokens(written).get(words).map_or("", |token| &written[token.start..]);
    match rest.strip_suffix('"') {
        Some(rest) => format!("\"{rest}\""),
        None => rest.to_owned(),
    }
}

/// A time on [`LAST_DAY`], or the day itself: the last time that there is.
fn on_last_day(value: &str) -> Option<Time> {
    let time = value.strip_prefix(LAST_DAY)?;
    let is_time = time.is_empty() || format!("2026-02-18{time}").parse::<Time>().is_ok();
    is_time.then(|| Time::from_millis(jiff::Timestamp::MAX.as_millisecond()))
}
