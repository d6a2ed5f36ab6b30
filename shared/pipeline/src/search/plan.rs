//! Which messages one call searches: a part of the spaces that the caller may search.
//!
//! The first part has the 50 spaces with the newest messages. Later parts go on with what was not
//! read of them, then with the others, in descending order of their ids. A cursor can't hold a
//! thousand spaces, and an order by newest messages changes while somebody turns the pages.

#[cfg(test)]
mod tests;

use smartspace_domain::{
    found::cursor::{RestOfSpaces, SPACES_OF_PART, SearchCursor, SpaceKey, SpaceRange},
    ids::SpaceId,
};
use smartspace_store::spaces::rosters::Head;

/// The messages that one call searches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) spaces: Vec<SpacePart>,
    /// The spaces that later calls search.
    pub(super) rest: Option<RestOfSpaces>,
}

/// The messages of a space that one call searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SpacePart {
    pub(super) space: SpaceId,
    /// Only numbers below this one.
    pub(super) before: u64,
    /// The lowest number. It is 1 unless an earlier call has read this part and ended there.
    pub(super) first: u64,
    /// Whether the newest message of the space is in the part.
    pub(super) has_newest: bool,
}

impl SpacePart {
    /// A space that no call has read yet.
    fn whole(space: SpaceId, head: &Head) -> Self {
        Self { space, before: head.seq + 1, first: 1, has_newest: true }
    }

    /// The part in a cursor, of which numbers from `read_from` on were read.
    pub(super) fn read(&self, read_from: u64) -> SpaceRange {
        let first = Some(read_from).filter(|first| *first < self.before);
        SpaceRange { space: SpaceKey::of(self.space), before: self.before, first }
    }

    /// The part in a cursor that goes on below this number.
    pub(super) fn below(&self, before: u64) -> SpaceRange {
        SpaceRange { space: SpaceKey::of(self.space), before, first: None }
    }
}

/// The part that a call searches, given the caller's spaces.
pub(super) fn plan(spaces: Vec<(SpaceId, Head)>, cursor: Option<&SearchCursor>) -> Plan {
    match cursor {
        None => first_part(spaces),
        Some(SearchCursor { spaces: ranges, rest: Some(rest), .. }) if ranges.is_empty() => {
            next_spaces(spaces, rest)
        }
        Some(cursor) => same_spaces(&spaces, cursor),
    }
}

fn first_part(mut spaces: Vec<(SpaceId, Head)>) -> Plan {
    let newest =
        |(space, head): &(SpaceId, Head)| (head.second.as_ref().map(|second| second.at), *space);
    spaces.sort_by_key(|space| std::cmp::Reverse(newest(space)));
    let has_more = spaces.len() > SPACES_OF_PART;
    spaces.truncate(SPACES_OF_PART);
    let keys = spaces.iter().map(|(space, _)| SpaceKey::of(*space));
    let rest = has_more.then(|| RestOfSpaces { newest: keys.collect(), before: None });
    Plan { spaces: whole(&spaces), rest }
}

fn next_spaces(mut spaces: Vec<(SpaceId, Head)>, rest: &RestOfSpaces) -> Plan {
    spaces.retain(|(space, _)| {
        rest.before.is_none_or(|before| *space < before)
            && !rest.newest.contains(&SpaceKey::of(*space))
    });
    spaces.sort_by_key(|(space, _)| std::cmp::Reverse(*space));
    let has_more = spaces.len() > SPACES_OF_PART;
    spaces.truncate(SPACES_OF_PART);
    let before = spaces.last().map(|(space, _)| *space);
    let rest = has_more.then(|| RestOfSpaces { newest: rest.newest.clone(), before });
    Plan { spaces: whole(&spaces), rest }
}

/// The part of a cursor: the caller turns its pages, or it goes on below an earlier part.
fn same_spaces(spaces: &[(SpaceId, Head)], cursor: &SearchCursor) -> Plan {
    let find = |range: &SpaceRange| {
        // The caller may have left it meanwhile.
        let (space, head) = spaces.iter().find(|(id, _)| SpaceKey::of(*id) == range.space)?;
        let newest = head.seq + 1;
        let before = range.before.clamp(1, newest);
        // Of a part that is shown already, what was not read belongs to the next part.
        let unread = if cursor.last.is_some() { before } else { 1 };
        Some(SpacePart {
            space: *space,
            before,
            first: range.first.unwrap_or(unread).max(1),
            has_newest: range.before >= newest,
        })
    };
    Plan { spaces: cursor.spaces.iter().filter_map(find).collect(), rest: cursor.rest.clone() }
}

fn whole(spaces: &[(SpaceId, Head)]) -> Vec<SpacePart> {
    spaces.iter().map(|(space, head)| SpacePart::whole(*space, head)).collect()
}
