//! Mentions: `@` followed by a member's name, or by `all` for every agent.
//!
//! `findMentions` of the JavaScript client finds the same ones: both read one table of cases.

pub(crate) mod code;
mod folding;
mod names;
mod people;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use self::people::{MentionWhy, people};
use self::{
    folding::{Cluster, Clusters, is_word},
    names::{Named, Names},
};
use crate::{
    ids::EntityId,
    limits::{MENTION_SIGNS, MENTIONS},
};

/// A mention in a message's text. It has `entityId` or `all`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Mention {
    /// The member that it names; absent for `@all`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity_id: Option<EntityId>,
    /// True for `@all`, which mentions every agent of the space; absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
    /// Where it begins in the text, with its `@`, in UTF-16 code units.
    pub start: u32,
    /// Where it ends in the text, in UTF-16 code units.
    pub end: u32,
}

/// Finds the mentions of members in a text, in their order.
///
/// The longest name counts, and all members that have it are mentioned.
pub fn find<'a>(
    text: &str,
    members: impl IntoIterator<Item = (EntityId, &'a str)>,
) -> Vec<Mention> {
    let clusters = Clusters::of(text);
    let signs = signs(&clusters);
    if signs.is_empty() {
        return Vec::new();
    }
    let members: Vec<_> = members.into_iter().collect();
    let names = Names::new(members.iter().map(|(_, name)| *name));
    let hidden = code::hidden(text);
    let mut found = Vec::new();
    let mut end_of_last = 0;
    for sign in signs {
        if found.len() >= MENTIONS {
            break;
        }
        let at = &clusters.list[sign];
        if sign < end_of_last || hidden[at.at] || !may_begin(&clusters, sign) {
            continue;
        }
        let may_end = |end| may_end(&clusters, end);
        let Some((named, end)) = names.longest(&clusters, sign + 1, may_end) else { continue };
        end_of_last = end;
        let mention = Mention {
            entity_id: None,
            all: false,
            start: at.start,
            end: clusters.list[end - 1].end,
        };
        match named {
            Named::All => found.push(Mention { all: true, ..mention }),
            Named::Members(indices) => found.extend(
                indices
                    .iter()
                    .map(|index| Mention { entity_id: Some(members[*index].0), ..mention }),
            ),
        }
    }
    found.truncate(MENTIONS);
    found
}

/// A name as mentions compare it. Members whose names have the same fold are mentioned together.
pub fn fold(name: &str) -> String {
    Clusters::of(name).joined()
}

/// The positions of the first `@`.
fn signs(clusters: &Clusters) -> Vec<usize> {
    let is_sign = |cluster: &Cluster| clusters.folded(cluster) == ['@'];
    let signs = clusters.list.iter().enumerate().filter(|(_, cluster)| is_sign(cluster));
    signs.map(|(index, _)| index).take(MENTION_SIGNS).collect()
}

/// Whether an `@` can begin a mention: it does not stand in a word or a path.
fn may_begin(clusters: &Clusters, sign: usize) -> bool {
    let mut before = clusters.list[..sign].iter().rev().map(|cluster| cluster.base);
    let before = before.find(|base| !"_-".contains(*base));
    !before.is_some_and(|base| is_word(base) || "./+".contains(base))
}

/// Whether a name can end before a position: the word ends, too, and is no part of a longer one.
fn may_end(clusters: &Clusters, end: usize) -> bool {
    let base = |at: usize| clusters.list.get(at).map(|cluster| cluster.base);
    let is_word_at = |at| base(at).is_some_and(is_word);
    if is_word_at(end) {
        return !is_word_at(end - 1);
    }
    !(base(end).is_some_and(|next| "_-/@".contains(next)) && is_word_at(end + 1))
}

/// Whether `text` has the plain name of a person as a whole word, in the same case.
pub fn names_person(text: &str, name: &str) -> bool {
    let is_of_word = |char: char| char.is_alphanumeric() || char == '_';
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + name.len()..].chars().next();
            !before.is_some_and(is_of_word) && !after.is_some_and(is_of_word)
        })
}

#[cfg(test)]
mod tests;
