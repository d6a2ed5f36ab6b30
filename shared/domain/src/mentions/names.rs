//! Names that are looked for at the beginning of a text.

use crate::mentions::folding::Clusters;

/// The folded names of members, and `all`.
pub(super) struct Names {
    /// A node for each beginning of a name. The first one is of the empty beginning.
    nodes: Vec<Node>,
}

#[derive(Default)]
struct Node {
    /// What follows. Most beginnings go on in one way.
    next: Vec<(char, usize)>,
    ends: Option<Named>,
}

/// Who has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// Every agent.
    All,
    /// The members at these positions.
    Members(Vec<usize>),
}

impl Names {
    pub(super) fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut tree = Self { nodes: vec![Node::default()] };
        tree.at("all").ends = Some(Named::All);
        for (index, name) in names.enumerate() {
            let name = super::fold(name);
            if name.is_empty() {
                continue;
            }
            // A member with the name `all` takes its place.
            match &mut tree.at(&name).ends {
                Some(Named::Members(members)) => members.push(index),
                ends => *ends = Some(Named::Members(vec![index])),
            }
        }
        tree
    }

    /// The node of a name.
    fn at(&mut self, name: &str) -> &mut Node {
        let mut node = 0;
        for char in name.chars() {
            node = self.follow(node, char).unwrap_or_else(|| {
                let new = self.nodes.len();
                self.nodes.push(Node::default());
                self.nodes[node].next.push((char, new));
                new
            });
        }
        &mut self.nodes[node]
    }

    fn follow(&self, node: usize, char: char) -> Option<usize> {
        let next = &self.nodes[node].next;
        next.iter().find(|(known, _)| *known == char).map(|(_, next)| *next)
    }

    /// The longest name that `text` starts with at a position, and the position after it. `may_end`
    /// says whether a name may end before a position.
    pub(super) fn longest(
        &self,
        text: &Clusters,
        from: usize,
        may_end: impl Fn(usize) -> bool,
    ) -> Option<(&Named, usize)> {
        let mut found = None;
        let mut node = 0;
        let mut last = '\0';
        for (at, cluster) in text.list.iter().enumerate().skip(from) {
            match self.follow_all(node, text.folded(cluster), &mut last) {
                Some(next) => node = next,
                None => break,
            }
            if let Some(named) = self.nodes[node].ends.as_ref().filter(|_| may_end(at + 1)) {
                found = Some((named, at + 1));
            }
        }
        found
    }

    /// The node after the characters of a cluster. A blank after a blank is no other one.
    fn follow_all(&self, mut node: usize, chars: &[char], last: &mut char) -> Option<usize> {
        for char in chars {
            if *char != ' ' || *last != ' ' {
                node = self.follow(node, *char)?;
            }
            *last = *char;
        }
        Some(node)
    }
}
