//! The words, prefixes and phrases of a query.

use super::{
    folding::{Folded, is_of_word},
    stems::stem,
    words::{Token, tokens},
};

/// How many characters a prefix has at least.
const PREFIX_CHARS: usize = 2;
/// The shortest stem whose words may differ from it in its last letter.
const LONG_STEM: usize = 3;

/// What stands for one word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Term {
    /// All words with this stem.
    Stem(String),
    /// This word only.
    Whole(String),
    /// All words that begin so.
    Prefix(String),
    /// The pairs that contain this character of a script without blanks, and the character alone.
    Char(char),
    /// Those that begin with it, since it stands behind a word.
    FirstChar(char),
    /// Those that end with it, since it stands before a word.
    LastChar(char),
}

impl Term {
    fn whole(token: Token) -> Self {
        let mut chars = token.word.chars();
        match (chars.next(), chars.next()) {
            (Some(only), None) if token.is_pair => Self::Char(only),
            _ => Self::Whole(token.word),
        }
    }

    fn single(token: Token) -> Self {
        if token.is_pair { Self::whole(token) } else { Self::Stem(stem(&token.word).into_owned()) }
    }

    /// Whether it stands for this folded word.
    pub(super) fn is_for(&self, word: &str) -> bool {
        match self {
            Self::Stem(own) => stem(word) == own.as_str(),
            Self::Whole(own) => word == own,
            Self::Prefix(start) => word.starts_with(start.as_str()),
            // Only pairs have such characters.
            Self::Char(char) => word.contains(*char),
            Self::FirstChar(char) => word.starts_with(*char),
            Self::LastChar(char) => word.ends_with(*char),
        }
    }

    /// How all words begin for which it stands.
    pub(super) fn start(&self) -> &str {
        match self {
            // `query` has the stem `queri`.
            Self::Stem(stem) if stem.len() >= LONG_STEM => {
                let last = stem.char_indices().next_back();
                last.map_or("", |(at, _)| &stem[..at])
            }
            Self::Stem(own) | Self::Whole(own) | Self::Prefix(own) => own,
            Self::Char(_) | Self::FirstChar(_) | Self::LastChar(_) => "",
        }
    }
}

/// A word, a prefix or a phrase of a query: terms that stand next to each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Clause {
    pub(super) terms: Vec<Term>,
    /// Other terms that may stand in their place: `l'av*` is the beginning of one word, and of the
    /// second of the two words `l'avion`. Empty if there are none.
    others: Vec<Term>,
}

impl Clause {
    /// The clause of a word as it is written, such as `plan`, `deploy*` or `foo_bar`. `None` if the
    /// text has no words.
    ///
    /// # Errors
    /// A text for the caller, if too little stands before `*`.
    pub(super) fn of_word(text: &str) -> Result<Option<Self>, String> {
        let tokens = tokens(text);
        let Some(last) = tokens.last().cloned() else { return Ok(None) };
        let is_single = tokens.len() == 1;
        let mut terms = terms_of(tokens);
        if !text.ends_with('*') {
            if is_single {
                terms = vec![Term::single(last)];
            }
            return Ok(Some(Self { terms, others: Vec::new() }));
        }
        let chars = Folded::of(text).text.chars().filter(|char| is_of_word(*char)).count();
        if chars < PREFIX_CHARS {
            let got: String = text.chars().take(64).collect();
            return Err(format!(
                "expected at least {PREFIX_CHARS} characters before *, got {got:?}"
            ));
        }
        if last.is_pair {
            return Ok(Some(Self { terms, others: Vec::new() }));
        }
        terms.pop();
        let others = match last.word.rsplit_once('\'') {
            Some((before, begun)) => {
                let split = [Term::Whole(before.to_owned()), Term::Prefix(begun.to_owned())];
                terms.iter().cloned().chain(split).collect()
            }
            None => Vec::new(),
        };
        terms.push(Term::Prefix(last.word));
        Ok(Some(Self { terms, others }))
    }

    /// The clause of a text in quotes. `None` if the text has no words.
    pub(super) fn of_phrase(text: &str) -> Option<Self> {
        let terms = terms_of(tokens(text));
        (!terms.is_empty()).then_some(Self { terms, others: Vec::new() })
    }

    /// How many words it has. Overlapping pairs are words.
    pub(super) fn word_count(&self) -> usize {
        self.terms.len()
    }

    /// Leaves only so many words at its beginning.
    pub(super) fn cut(&mut self, words: usize) {
        if self.terms.len() > words {
            self.terms.truncate(words);
            self.others.clear();
        }
    }

    /// The terms of which the clause has one or the other, each next to each other.
    pub(super) fn alternatives(&self) -> impl Iterator<Item = &[Term]> {
        let all = [self.terms.as_slice(), self.others.as_slice()];
        all.into_iter().filter(|terms| !terms.is_empty())
    }

    /// Whether it is a prefix that stands alone.
    pub(super) fn is_prefix(&self) -> bool {
        self.others.is_empty() && matches!(self.terms[..], [Term::Prefix(_)])
    }
}

/// The terms of a phrase. The pairs of a single character at a word stand at that word, too.
fn terms_of(tokens: Vec<Token>) -> Vec<Term> {
    let is_word: Vec<bool> = tokens.iter().map(|token| !token.is_pair).collect();
    let is_word_at = |index: Option<usize>| {
        index.and_then(|index| is_word.get(index)).copied().unwrap_or_default()
    };
    let terms = tokens.into_iter().enumerate().map(|(index, token)| {
        let is_behind = is_word_at(index.checked_sub(1));
        let is_before = is_word_at(index.checked_add(1));
        match Term::whole(token) {
            // Only the character alone stands at both.
            Term::Char(char) if is_behind && is_before => Term::Whole(char.to_string()),
            Term::Char(char) if is_behind => Term::FirstChar(char),
            Term::Char(char) if is_before => Term::LastChar(char),
            term => term,
        }
    });
    terms.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(text: &str) -> Clause {
        Clause::of_word(text).unwrap().unwrap()
    }

    #[test]
    fn a_begun_word_with_an_apostrophe_is_one_word_or_two() {
        let [whole, begun] = ["l'av", "av"].map(|text| Term::Prefix(text.to_owned()));
        let both = vec![Term::Whole("l".to_owned()), begun];
        let clause = prefix("l'av*");
        assert_eq!(clause, Clause { terms: vec![whole], others: both });
        assert!(!clause.is_prefix());
        assert_eq!(clause.alternatives().count(), 2);
        assert!(prefix("sara'*").is_prefix());
        assert!(prefix("l'avio*").others.is_empty());
    }
}
