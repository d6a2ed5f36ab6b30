//! The cursor of a search. It says which part of the messages the search is at: up to which number
//! each space was read, and which item of the part was shown last.
//!
//! It names spaces by a hash of their ids, so that it stays short. It needs no signature: a caller
//! that makes one up reads its own spaces only.

#[cfg(test)]
mod tests;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};

use crate::{Error, Result, Time, found::place::HitPlace, ids::SpaceId};

/// The longest cursor, in characters.
pub const CURSOR_CHARS: usize = 2_048;
/// How many spaces one part has.
pub const SPACES_OF_PART: usize = 50;
/// How many items of one part are shown, if their order depends on what the part has.
pub const ITEMS_OF_PART: usize = 100;
/// The characters of a space's id.
const SPACE_CHARS: usize = 30;
/// What stands before the place of an item in a cursor.
const NO_PLACE: u64 = 0;
const HAS_SOME: u64 = 1;
const HAS_ALL: u64 = 2;

/// A space in a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpaceKey([u8; 6]);

/// The caller and the query of a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundTo([u8; 8]);

/// Where a search goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchCursor {
    /// The caller and the query that it works for.
    pub bound_to: BoundTo,
    /// When the search began, so that each page ranks by the same age of messages.
    pub began: Time,
    /// How many items of the part were shown: [`ITEMS_OF_PART`] if it was more.
    pub shown: usize,
    /// The item of the part that was shown last. `None` if the part was not read yet.
    pub last: Option<HitPlace>,
    /// The spaces of the part. If there are none, the part begins with `rest`.
    pub spaces: Vec<SpaceRange>,
    /// The spaces that follow those of the part. `None` if there are none.
    pub rest: Option<RestOfSpaces>,
}

/// The messages of a space in a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceRange {
    /// The space that the part belongs to.
    pub space: SpaceKey,
    /// Only numbers below this one.
    pub before: u64,
    /// The lowest number of the part. `None` if the part was not read yet.
    pub first: Option<u64>,
}

/// The spaces after the first [`SPACES_OF_PART`], in descending order of their ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestOfSpaces {
    /// The spaces of the first part. They had the newest messages.
    pub newest: Vec<SpaceKey>,
    /// Only ids below this one. `None` if no others were read yet.
    pub before: Option<SpaceId>,
}

impl SpaceKey {
    /// The key of a space.
    pub fn of(space: SpaceId) -> Self {
        Self(first_bytes(&[space.to_string().as_str()]))
    }
}

impl BoundTo {
    /// What a cursor of this caller and query is bound to.
    pub fn of(caller: &str, query: &str) -> Self {
        Self(first_bytes(&[caller, query]))
    }
}

impl SearchCursor {
    /// The text of the cursor.
    pub fn to_text(&self) -> String {
        let mut bytes = self.bound_to.0.to_vec();
        put_number(&mut bytes, u64::try_from(self.began.as_millis()).unwrap_or_default());
        put_number(&mut bytes, self.shown as u64);
        put_place(&mut bytes, self.last.as_ref());
        put_number(&mut bytes, self.spaces.len() as u64);
        for range in &self.spaces {
            bytes.extend(range.space.0);
            put_number(&mut bytes, range.before);
            // A part that was read has at least one number, so 0 stands for none.
            let numbers = range.first.map_or(0, |first| range.before.saturating_sub(first));
            put_number(&mut bytes, numbers);
        }
        if let Some(rest) = &self.rest {
            put_number(&mut bytes, rest.newest.len() as u64);
            bytes.extend(rest.newest.iter().flat_map(|space| space.0));
            bytes.extend(rest.before.map(|space| space.to_string()).unwrap_or_default().bytes());
        }
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Reads a cursor.
    ///
    /// # Errors
    /// [`Error::Invalid`] if no search of this caller with this query has returned it.
    pub fn read(text: &str, bound_to: BoundTo) -> Result<Self> {
        let cursor = (text.len() <= CURSOR_CHARS).then(|| URL_SAFE_NO_PAD.decode(text).ok());
        let cursor = cursor.flatten().and_then(|bytes| Bytes(&bytes).cursor());
        cursor.filter(|cursor| cursor.bound_to == bound_to).ok_or_else(|| {
            Error::invalid("/cursor", "expected the nextCursor of an earlier answer to this search")
        })
    }
}

fn first_bytes<const N: usize>(parts: &[&str]) -> [u8; N] {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part.as_bytes());
    }
    let mut first = [0; N];
    first.copy_from_slice(&digest.finalize()[..N]);
    first
}

/// Adds a number: seven bits in each byte, the lowest first.
fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn put_place(bytes: &mut Vec<u8>, place: Option<&HitPlace>) {
    let Some(HitPlace { space, seq, at, has_all, score }) = place else {
        put_number(bytes, NO_PLACE);
        return;
    };
    put_number(bytes, if *has_all { HAS_ALL } else { HAS_SOME });
    bytes.extend(space.to_string().bytes());
    put_number(bytes, *seq);
    put_number(bytes, u64::try_from(at.as_millis()).unwrap_or_default());
    bytes.extend(score.to_be_bytes());
}

/// The bytes of a cursor that are not read yet.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn cursor(mut self) -> Option<SearchCursor> {
        let bound_to = BoundTo(self.array()?);
        let began = self.time()?;
        let shown = self.count(ITEMS_OF_PART)?;
        let last = match self.number()? {
            NO_PLACE => None,
            mark => Some(self.place(mark)?),
        };
        let spaces = self.count(SPACES_OF_PART)?;
        let spaces = (0..spaces).map(|_| self.range()).collect::<Option<Vec<_>>>()?;
        let rest = if self.0.is_empty() { None } else { Some(self.rest()?) };
        Some(SearchCursor { bound_to, began, shown, last, spaces, rest })
    }

    /// The place that follows its mark.
    fn place(&mut self, mark: u64) -> Option<HitPlace> {
        let has_all = match mark {
            HAS_SOME => false,
            HAS_ALL => true,
            _ => return None,
        };
        let space: [u8; SPACE_CHARS] = self.array()?;
        let space = std::str::from_utf8(&space).ok()?.parse().ok()?;
        let seq = self.number()?;
        let at = self.time()?;
        let score = u64::from_be_bytes(self.array()?);
        Some(HitPlace { space, seq, at, has_all, score })
    }

    fn time(&mut self) -> Option<Time> {
        Some(Time::from_millis(i64::try_from(self.number()?).ok()?))
    }

    fn range(&mut self) -> Option<SpaceRange> {
        let space = SpaceKey(self.array()?);
        let before = self.number()?;
        let numbers = self.number()?;
        let first = if numbers == 0 { None } else { Some(before.checked_sub(numbers)?) };
        Some(SpaceRange { space, before, first })
    }

    fn rest(&mut self) -> Option<RestOfSpaces> {
        let newest = self.count(SPACES_OF_PART)?;
        let newest = (0..newest).map(|_| self.array().map(SpaceKey)).collect::<Option<Vec<_>>>()?;
        let before = std::str::from_utf8(self.0).ok()?;
        let before = if before.is_empty() { None } else { Some(before.parse().ok()?) };
        Some(RestOfSpaces { newest, before })
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*array)
    }

    fn count(&mut self, most: usize) -> Option<usize> {
        usize::try_from(self.number()?).ok().filter(|count| *count <= most)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return None;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }
}
