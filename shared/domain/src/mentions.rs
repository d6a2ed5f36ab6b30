//! Mentions: `@` followed by an agent's name.

use std::collections::BTreeMap;

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
    let mut found = Mentions::default();
    for named in in_order(text, names) {
        match named {
            Named::One(index) => found.named.push(index),
            Named::All => found.all = true,
        }
    }
    found.named.sort_unstable();
    found.named.dedup();
    found
}

/// The index of the name that `text` mentions first. `@all` mentions none in particular.
pub fn first<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> Option<usize> {
    in_order(text, names).into_iter().find_map(|named| match named {
        Named::One(index) => Some(index),
        Named::All => None,
    })
}

/// Whether `text` has the plain name of a person as a whole word, in the same case.
pub fn names_person(text: &str, name: &str) -> bool {
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + name.len()..].chars().next();
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        })
}

/// The mentions in the order in which they stand in `text`.
fn in_order<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> Vec<Named> {
    if !text.contains('@') {
        return Vec::new();
    }
    let names = Names::new(names);
    let chars: Vec<char> = text.chars().collect();
    let follows_word = |at: usize| at > 0 && (is_word(chars[at - 1]) || chars[at - 1] == '.');
    (0..chars.len())
        .filter(|&at| chars[at] == '@' && !follows_word(at))
        .filter_map(|at| names.longest(&chars[at + 1..]))
        .collect()
}

/// Names that are looked for at the beginning of a text, folded.
struct Names {
    /// A node for each beginning of a name. The first one is of the empty beginning.
    nodes: Vec<Node>,
}

#[derive(Default)]
struct Node {
    next: BTreeMap<char, usize>,
    /// The name that ends here. Of equal names this is the last one.
    ends: Option<Named>,
}

#[derive(Clone, Copy)]
enum Named {
    One(usize),
    All,
}

impl Names {
    fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut tree = Self { nodes: vec![Node::default()] };
        tree.add("all", Named::All);
        for (index, name) in names.enumerate().filter(|(_, name)| !name.is_empty()) {
            tree.add(name, Named::One(index));
        }
        tree
    }

    fn add(&mut self, name: &str, named: Named) {
        let mut node = 0;
        for char in fold(name) {
            let new = self.nodes.len();
            let next = *self.nodes[node].next.entry(char).or_insert(new);
            if next == new {
                self.nodes.push(Node::default());
            }
            node = next;
        }
        self.nodes[node].ends = Some(named);
    }

    /// The longest name that `rest` starts with and after which the word ends.
    fn longest(&self, rest: &[char]) -> Option<Named> {
        let mut found = None;
        let mut node = &self.nodes[0];
        for (at, char) in rest.iter().enumerate() {
            for folded in char.to_lowercase() {
                match node.next.get(&folded) {
                    Some(next) => node = &self.nodes[*next],
                    None => return found,
                }
            }
            if node.ends.is_some() && rest.get(at + 1).is_none_or(|next| !is_word(*next)) {
                found = node.ends;
            }
        }
        found
    }
}

fn fold(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(char::to_lowercase)
}

fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

#[cfg(test)]
mod tests;
