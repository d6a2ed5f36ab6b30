//! Chooses the blocks of a conversation that get a cache mark. Together with the mark of the system
//! message there are at most four.

use crate::{
    bedrock::families::Caching,
    port::{CachePoint, Message, Request},
};

/// The marked blocks, in order.
pub(super) fn marks(request: &Request, caching: Caching) -> Vec<CachePoint> {
    match caching {
        Caching::NoMarks => Vec::new(),
        Caching::LooksBack => request.cache_points.clone(),
        Caching::ExactMarks => ends_of_texts(request),
    }
}

/// Moves each cache point back to the end of a text. Also marks the text before the first point:
/// the last request had its mark there, and the model finds a cached prefix only at a mark.
fn ends_of_texts(request: &Request) -> Vec<CachePoint> {
    let texts: Vec<CachePoint> = request
        .messages
        .iter()
        .enumerate()
        .flat_map(|(index, message)| texts_of(index, message))
        .collect();
    let position = |point: &CachePoint| (point.message, point.block);
    let last_text_before =
        |point: &CachePoint| texts.iter().rposition(|text| position(text) <= position(point));
    let wanted: Vec<usize> = request.cache_points.iter().filter_map(last_text_before).collect();
    let before = wanted.first().and_then(|first| first.checked_sub(1));
    let mut marked: Vec<usize> = before.into_iter().chain(wanted).collect();
    marked.dedup();
    marked.into_iter().filter_map(|at| texts.get(at).copied()).collect()
}

/// The blocks of a user message that are sent as texts.
fn texts_of(index: usize, message: &Message) -> Vec<CachePoint> {
    let Message::User { blocks } = message else { return Vec::new() };
    let visible = blocks.iter().enumerate().filter(|(_, block)| !block.trim().is_empty());
    visible.map(|(block, _)| CachePoint { message: index, block }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{call_and_result, request};

    fn point(message: usize, block: usize) -> CachePoint {
        CachePoint { message, block }
    }

    fn marked(caching: Caching, blocks: &[&str], cache_points: &[CachePoint]) -> Vec<CachePoint> {
        let user =
            Message::User { blocks: blocks.iter().map(|block| (*block).to_owned()).collect() };
        let messages = [vec![user], call_and_result("f", "r".into()).to_vec()].concat();
        marks(&Request { messages, cache_points: cache_points.to_vec(), ..request() }, caching)
    }

    #[test]
    fn a_model_that_looks_back_gets_a_mark_at_each_cache_point() {
        let points = [point(0, 2), point(2, 0)];
        assert_eq!(marked(Caching::LooksBack, &["a", "b", "c", "d"], &points), points);
        assert_eq!(marked(Caching::NoMarks, &["a", "b", "c", "d"], &points), []);
    }

    #[test]
    fn a_model_with_exact_marks_gets_them_only_at_texts_and_one_more_before() {
        let marked =
            |blocks: &[&str], points: &[CachePoint]| marked(Caching::ExactMarks, blocks, points);
        assert_eq!(marked(&["a", "b", "c", "d"], &[point(0, 2)]), [point(0, 1), point(0, 2)]);
        assert_eq!(
            marked(&["a", "b", "c", "d"], &[point(0, 2), point(2, 0)]),
            [point(0, 1), point(0, 2), point(0, 3)]
        );
        assert_eq!(marked(&["a", " ", "c"], &[point(0, 1)]), [point(0, 0)]);
        assert_eq!(marked(&["a"], &[point(2, 0)]), [point(0, 0)]);
        assert_eq!(marked(&["a", "b"], &[point(0, 1), point(2, 0)]), [point(0, 0), point(0, 1)]);
        assert_eq!(marked(&["a"], &[]), []);
    }
}
