//! The place of a hit in the order of a search. Unlike the number of a hit in a list, it stays what
//! it is when messages are edited, deleted or posted between two pages.

use crate::{
    Time,
    ids::SpaceId,
    search::{Hit, Joined, Sort},
};

/// The place of a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HitPlace {
    /// The space of the message.
    pub space: SpaceId,
    /// The message's number.
    pub seq: u64,
    /// When the message was posted.
    pub at: Time,
    /// Whether it has all words.
    pub has_all: bool,
    /// The bits of its score.
    pub score: u64,
}

impl HitPlace {
    /// The place of a hit.
    pub fn of(hit: &Hit) -> Self {
        let Hit { space, seq, at, has_all, score } = *hit;
        Self { space, seq, at, has_all, score: score.to_bits() }
    }

    /// How many of the ordered hits are not behind this place: those up to the hit itself, or if it
    /// is no hit any longer, those before the first that comes after it in the order.
    pub fn passed(&self, hits: &[Joined], sort: Sort) -> usize {
        let is_same =
            |joined: &Joined| (joined.hit.space, joined.hit.seq) == (self.space, self.seq);
        if let Some(position) = hits.iter().position(is_same) {
            return position + 1;
        }
        let here = self.hit();
        let is_behind = |joined: &Joined| sort.compare(&here, &joined.hit).is_lt();
        hits.iter().position(is_behind).unwrap_or(hits.len())
    }

    fn hit(&self) -> Hit {
        let Self { space, seq, at, has_all, score } = *self;
        Hit { space, seq, at, has_all, score: f64::from_bits(score) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(seq: u64, has_all: bool, score: f64) -> Joined {
        let space = SpaceId::new(Time::from_millis(0), 1);
        let at = Time::from_millis(i64::try_from(seq).unwrap());
        Joined { hit: Hit { space, seq, at, has_all, score }, also: Vec::new() }
    }

    #[test]
    fn a_search_goes_on_behind_a_hit_wherever_it_stands_now() {
        let hits = [hit(5, true, 2.0), hit(9, true, 1.0), hit(1, false, 3.0)];
        let passed =
            |hits: &[Joined]| HitPlace::of(&hit(9, true, 1.5).hit).passed(hits, Sort::Relevance);
        assert_eq!(passed(&hits), 2);
        let more = [hit(12, true, 4.0), hit(5, true, 2.0), hit(9, true, 1.0), hit(1, false, 3.0)];
        assert_eq!(passed(&more), 3);
    }

    #[test]
    fn a_search_goes_on_behind_the_place_of_a_hit_that_is_gone() {
        let hits = [hit(12, true, 4.0), hit(7, true, 2.0), hit(5, true, 2.0), hit(1, false, 3.0)];
        let passed = |last: Joined| HitPlace::of(&last.hit).passed(&hits, Sort::Relevance);
        assert_eq!(passed(hit(9, true, 3.0)), 1);
        assert_eq!(passed(hit(6, true, 2.0)), 2, "the newer one of equal hits comes first");
        assert_eq!(passed(hit(9, true, 1.0)), 3);
        assert_eq!(passed(hit(9, false, 1.0)), 4);
        let newest = [hit(12, true, 1.0), hit(9, false, 1.0), hit(3, true, 9.0)];
        let passed = |last: Joined| HitPlace::of(&last.hit).passed(&newest, Sort::Newest);
        assert_eq!((passed(hit(10, true, 0.0)), passed(hit(2, true, 9.0))), (1, 3));
    }
}
