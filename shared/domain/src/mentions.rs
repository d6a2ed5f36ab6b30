//! Mentions: `@` followed by an agent's name.

/// The mentions in a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mentions {
    /// Whether the text contains `@all`.
    pub all: bool,
    /// The indices of the mentioned names, ascending, each once.
    pub named: Vec<usize>,
}

impl Mentions {
    /// Whether the `index`-th name is mentioned, by its own mention or by `@all`.
    pub fn includes(&self, index: usize) -> bool {
        self.all || self.named.binary_search(&index).is_ok()
    }
}

/// Finds mentions of `names` in `text`.
///
/// Case is ignored, and the longest matching name counts. The `@` may not follow a letter, a digit,
/// `_` or `.`, and the name may not be followed by a letter, a digit or `_`. `@all` mentions all
/// names, unless a name that is at least as long matches.
pub fn find<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> Mentions {
    if !text.contains('@') {
        return Mentions::default();
    }
    let names: Vec<Vec<char>> = names.map(|name| fold(name).collect()).collect();
    let all: Vec<char> = "all".chars().collect();
    let chars: Vec<char> = text.chars().collect();
    let mut found = Mentions::default();
    for at in (0..chars.len()).filter(|&at| chars[at] == '@') {
        let follows_word = at > 0 && (is_word(chars[at - 1]) || chars[at - 1] == '.');
        if follows_word {
            continue;
        }
        let rest = &chars[at + 1..];
        let longest = names
            .iter()
            .enumerate()
            .filter_map(|(index, name)| Some((match_length(rest, name)?, index)))
            .max_by_key(|(length, _)| *length);
        match (longest, match_length(rest, &all)) {
            (Some((length, index)), all) if all.is_none_or(|all| length >= all) => {
                found.named.push(index);
            }
            (_, Some(_)) => found.all = true,
            _ => {}
        }
    }
    found.named.sort_unstable();
    found.named.dedup();
    found
}

/// How many characters of `rest` match the folded `name`. `None` if `rest` does not start with it,
/// or if the word goes on after it.
fn match_length(rest: &[char], name: &[char]) -> Option<usize> {
    if name.is_empty() {
        return None;
    }
    let mut matched = 0;
    for (taken, char) in rest.iter().enumerate() {
        for folded in char.to_lowercase() {
            if name.get(matched) != Some(&folded) {
                return None;
            }
            matched += 1;
        }
        if matched == name.len() {
            let ends = rest.get(taken + 1).is_none_or(|next| !is_word(*next));
            return ends.then_some(taken + 1);
        }
    }
    None
}

fn fold(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(char::to_lowercase)
}

fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

#[cfg(test)]
mod tests;
