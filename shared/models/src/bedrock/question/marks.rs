//! Up to where a conversation is marked to be kept. With the system message's mark there are at most four.

use crate::{
    bedrock::families::Caching,
    port::{CachePoint, Message, Request},
};

/// In order.
pub(super) fn marks(request: &Request, caching: Caching) -> Vec<CachePoint> {
    match caching {
        Caching::Unmarked => Vec::new(),
        Caching::LooksBack => request.cache_points.clone(),
        Caching::AtMarks => behind_texts(request),
    }
}

/// Each point moves back to the end of a text. The block before the first one is marked too: there stood the mark of the run before, and
/// only where a mark stands again is found what was kept.
fn behind_texts(request: &Request) -> Vec<CachePoint> {
    let texts: Vec<CachePoint> = request.messages.iter().enumerate().flat_map(texts).collect();
    let place = |point: &CachePoint| (point.message, point.block);
    let behind = |point: &CachePoint| texts.iter().rposition(|text| place(text) <= place(point));
    let wanted: Vec<usize> = request.cache_points.iter().filter_map(behind).collect();
    let before = wanted.first().and_then(|first| first.checked_sub(1));
    let mut marked: Vec<usize> = before.into_iter().chain(wanted).collect();
    marked.dedup();
    marked.into_iter().filter_map(|at| texts.get(at).copied()).collect()
}

fn texts((message, said): (usize, &Message)) -> Vec<CachePoint> {
    let Message::User { blocks } = said else { return Vec::new() };
    let visible = blocks.iter().enumerate().filter(|(_, block)| !block.trim().is_empty());
    visible.map(|(block, _)| CachePoint { message, block }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{call_and_result, request};

    fn point(message: usize, block: usize) -> CachePoint {
        CachePoint { message, block }
    }

    fn found(caching: Caching, blocks: &[&str], cache_points: &[CachePoint]) -> Vec<CachePoint> {
        let user = Message::User { blocks: blocks.iter().map(|block| (*block).to_owned()).collect() };
        let messages = [vec![user], call_and_result("f", "r".into()).to_vec()].concat();
        marks(&Request { messages, cache_points: cache_points.to_vec(), ..request() }, caching)
    }

    #[test]
    fn who_looks_back_needs_no_mark_before() {
        let points = [point(0, 2), point(2, 0)];
        assert_eq!(found(Caching::LooksBack, &["a", "b", "c", "d"], &points), points);
        assert_eq!(found(Caching::Unmarked, &["a", "b", "c", "d"], &points), []);
    }

    #[test]
    fn who_does_not_gets_the_two_last_blocks_marked_and_texts_only() {
        let found = |blocks: &[&str], points: &[CachePoint]| found(Caching::AtMarks, blocks, points);
        assert_eq!(found(&["a", "b", "c", "d"], &[point(0, 2)]), [point(0, 1), point(0, 2)]);
        assert_eq!(found(&["a", "b", "c", "d"], &[point(0, 2), point(2, 0)]), [point(0, 1), point(0, 2), point(0, 3)]);
        assert_eq!(found(&["a", " ", "c"], &[point(0, 1)]), [point(0, 0)]);
        assert_eq!(found(&["a"], &[point(2, 0)]), [point(0, 0)]);
        assert_eq!(found(&["a", "b"], &[point(0, 1), point(2, 0)]), [point(0, 0), point(0, 1)]);
        assert_eq!(found(&["a"], &[]), []);
    }
}
