//! Questions: texts with a question mark that name nobody, so that nobody in particular answers.

#[cfg(test)]
mod tests;

use crate::{mentions::code::in_code, unspaced::is_unspaced};

/// The question marks of all writing systems that have one of their own.
const MARKS: [char; 5] = ['?', '？', '؟', '՞', '\u{37E}'];

/// Whether `text` has a question mark outside of links and code, and names nobody. `mentions_other`
/// says whether it mentions an agent or another person.
///
/// A person is also named by the plain name as a whole word in the same case. Leave the sender out
/// of `people`: people may name themselves.
pub fn is_question<'a>(
    text: &str,
    mentions_other: bool,
    mut people: impl Iterator<Item = &'a str>,
) -> bool {
    if mentions_other || !text.contains(MARKS) {
        return false;
    }
    let prose = without_links(&without_code(text));
    prose.contains(MARKS) && !people.any(|name| has_word(&prose, name))
}

/// The text with a blank in place of each piece of code.
fn without_code(text: &str) -> String {
    let hidden = in_code(text);
    let mut prose = String::with_capacity(text.len());
    let mut was_code = false;
    for (at, char) in text.char_indices() {
        if !hidden[at] {
            prose.push(char);
        } else if !was_code {
            prose.push(' ');
        }
        was_code = hidden[at];
    }
    prose
}

/// The text without its links. Marks at the end of a link belong to the sentence.
fn without_links(text: &str) -> String {
    let mut prose = String::with_capacity(text.len());
    for token in text.split_inclusive(ends_link) {
        let body = token.trim_end_matches(ends_link);
        let Some(start) = start_of_link(body) else {
            prose.push_str(token);
            continue;
        };
        let link = if start == 0 && prose.ends_with('<') {
            body
        } else {
            body[start..].trim_end_matches(|char: char| "?!.,:;'*_~)]}".contains(char))
        };
        prose.push_str(&body[..start]);
        prose.push_str(&token[start + link.len()..]);
    }
    prose
}

fn ends_link(char: char) -> bool {
    char.is_whitespace() || "<>\"".contains(char) || MARKS[1..].contains(&char)
}

/// Where the link in a text without spaces begins, if there is one.
fn start_of_link(token: &str) -> Option<usize> {
    let schemed = token.find("://").map(|at| {
        let is_of_scheme = |char: char| char.is_ascii_alphanumeric() || "+-.".contains(char);
        token[..at].trim_end_matches(is_of_scheme).len()
    });
    let bare = ["www.", "mailto:"].into_iter().filter_map(|prefix| token.find(prefix));
    schemed.into_iter().chain(bare).chain(start_of_query(token)).min()
}

/// The question mark that begins the query of an address without a scheme: `a.com/b?c=d`.
fn start_of_query(text: &str) -> Option<usize> {
    text.match_indices('?').map(|(at, _)| at).find(|&at| {
        let rest = &text[at + 1..];
        let name = rest.trim_start_matches(|char: char| {
            char.is_ascii_alphanumeric() || "_-.%[]".contains(char)
        });
        name.len() < rest.len() && name.starts_with('=')
    })
}

/// Whether `name` is in the text as a whole word.
fn has_word(text: &str, name: &str) -> bool {
    let (Some(first), Some(last)) = (name.chars().next(), name.chars().next_back()) else {
        return false;
    };
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        before.is_none_or(|before| is_apart(before, first))
            && after.is_none_or(|after| is_apart(last, after))
    })
}

/// Whether a word may end between two letters. Some scripts write no spaces there.
fn is_apart(left: char, right: char) -> bool {
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    !is_word(left) || !is_word(right) || is_unspaced(left) || is_unspaced(right)
}
