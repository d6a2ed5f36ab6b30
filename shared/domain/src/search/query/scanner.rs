//! Splits the text of a query into words, phrases and filters.

/// The quotes around phrases. Some keyboards write those of a printed text.
const QUOTES: [char; 4] = ['"', '“', '”', '„'];

/// A filter that is written as a word of the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    In,
    From,
    Has,
    Before,
    After,
}

impl Key {
    fn of(text: &str) -> Option<Self> {
        match text.to_ascii_lowercase().as_str() {
            "in" => Some(Self::In),
            "from" => Some(Self::From),
            "has" => Some(Self::Has),
            "before" => Some(Self::Before),
            "after" => Some(Self::After),
            _ => None,
        }
    }

    /// The word before the colon.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::In => "in",
            Self::From => "from",
            Self::Has => "has",
            Self::Before => "before",
            Self::After => "after",
        }
    }

    /// Whether it is a filter without a value, too. `before:` and `after:` are also written in
    /// sentences.
    fn needs_value(self) -> bool {
        matches!(self, Self::In | Self::From | Self::Has)
    }
}

/// A piece of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    Word {
        text: &'a str,
        is_excluded: bool,
    },
    Phrase {
        text: &'a str,
        is_excluded: bool,
    },
    /// The value is empty if a blank or empty quotes follow the colon.
    Filter {
        key: Key,
        value: &'a str,
        is_excluded: bool,
    },
}

/// The pieces of a query in order.
pub(super) fn pieces(q: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = q.trim_start();
    while !rest.is_empty() {
        let (piece, after) = first_piece(rest);
        pieces.push(piece);
        rest = after.trim_start();
    }
    pieces
}

/// The first piece of a text that does not begin with a blank, and what follows it.
fn first_piece(text: &str) -> (Piece<'_>, &str) {
    let excluded = text.strip_prefix('-').filter(|rest| rest.starts_with(may_be_excluded));
    let is_excluded = excluded.is_some();
    let body = excluded.unwrap_or(text);
    if let Some((text, after)) = quoted(body) {
        return (Piece::Phrase { text, is_excluded }, after);
    }
    if let Some(found) = filter(body, is_excluded) {
        return found;
    }
    let (text, after) = until(body, |char| char.is_whitespace() || QUOTES.contains(&char));
    (Piece::Word { text, is_excluded }, after)
}

fn may_be_excluded(first: char) -> bool {
    !first.is_whitespace() && first != '-'
}

/// The text in quotes at the beginning, and what follows it. Open quotes end at the end.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let (inner, after) = until(text.strip_prefix(QUOTES)?, |char| QUOTES.contains(&char));
    Some((inner, after.strip_prefix(QUOTES).unwrap_or(after)))
}

/// The filter at the beginning, and what follows it.
fn filter(text: &str, is_excluded: bool) -> Option<(Piece<'_>, &str)> {
    let (key, rest) = text.split_once(':')?;
    let key = Key::of(key)?;
    let (value, after) = quoted(rest).unwrap_or_else(|| until(rest, char::is_whitespace));
    let value = value.trim();
    // At the end, the value is not written yet.
    let is_filter = !value.is_empty() || (key.needs_value() && !rest.is_empty());
    is_filter.then_some((Piece::Filter { key, value, is_excluded }, after))
}

/// The text before the first such character, and the rest.
fn until(text: &str, is_end: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(is_end).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(key: Key, value: &str) -> Piece<'_> {
        Piece::Filter { key, value, is_excluded: false }
    }

    fn word(text: &str) -> Piece<'_> {
        Piece::Word { text, is_excluded: false }
    }

    #[test]
    fn a_query_has_words_phrases_and_filters() {
        let q = r#"rollback in:"Ops room" FROM:sara -draft -"first draft" foo:bar "open plan"#;
        let expected = [
            word("rollback"),
            filter(Key::In, "Ops room"),
            filter(Key::From, "sara"),
            Piece::Word { text: "draft", is_excluded: true },
            Piece::Phrase { text: "first draft", is_excluded: true },
            word("foo:bar"),
            Piece::Phrase { text: "open plan", is_excluded: false },
        ];
        assert_eq!(pieces(q), expected);
    }

    #[test]
    fn what_is_no_filter_and_no_exclusion_is_text() {
        for text in ["from:", "after: x", "-", "--x", "a-b", "in:", "https://a.b"] {
            let first = pieces(text)[0];
            assert!(matches!(first, Piece::Word { is_excluded: false, .. }), "{text}: {first:?}");
        }
        assert_eq!(pieces("a “b c” d")[1], Piece::Phrase { text: "b c", is_excluded: false });
        assert!(pieces("  ").is_empty());
    }

    #[test]
    fn filters_without_a_value_and_excluded_ones_are_filters() {
        for (text, expected) in
            [("from: omar", Key::From), ("IN: x", Key::In), ("has:\"\"", Key::Has)]
        {
            assert_eq!(pieces(text)[0], filter(expected, ""), "{text}");
        }
        let excluded = Piece::Filter { key: Key::From, value: "Dup One", is_excluded: true };
        assert_eq!(pieces("-from:\"Dup One\""), [excluded]);
    }
}
