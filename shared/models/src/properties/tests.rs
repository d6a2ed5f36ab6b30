//! Streams of providers: complete, truncated, shuffled, damaged, and random.

mod answers;
mod events;
mod mutations;
mod recorded;

use proptest::{prelude::*, sample::Index};
use serde_json::Value;
use smartspace_domain::runs::FailureCode;

use self::{
    answers::{any_parts, data, expected, written},
    events::any_event,
};
use super::*;

fn any_api() -> impl Strategy<Value = Api> {
    prop::sample::select(vec![Api::OpenAi, Api::Anthropic])
}

fn cut(bytes: &[u8], cuts: &[Index]) -> Vec<Vec<u8>> {
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    ends.extend([0, bytes.len()]);
    ends.sort_unstable();
    ends.windows(2).map(|range| bytes[range[0]..range[1]].to_vec()).collect()
}

fn without_signs_of_life(pieces: Vec<Result<Piece, ModelError>>) -> Vec<Result<Piece, ModelError>> {
    pieces.into_iter().filter(|piece| *piece != Ok(Piece::Text(String::new()))).collect()
}

/// Bytes that are replaced at a position.
#[derive(Clone, Debug)]
struct Damage {
    at: Index,
    removed: usize,
    inserted: Vec<u8>,
}

fn any_damage() -> impl Strategy<Value = Damage> {
    (any::<Index>(), 0..6_usize, prop::collection::vec(any::<u8>(), 0..4))
        .prop_map(|(at, removed, inserted)| Damage { at, removed, inserted })
}

proptest! {
    #[test]
    fn a_complete_answer_gives_the_same_pieces_however_it_is_split(
        api in any_api(),
        parts in any_parts(),
        line_end in prop::sample::select(vec!["\n", "\r\n"]),
        cuts in prop::collection::vec(any::<Index>(), 0..30),
    ) {
        let bytes = written(&data(api, &parts), line_end);
        let pieces = answer(api, cut(&bytes, &cuts));
        prop_assert_eq!(check(&pieces), Ok(()));
        prop_assert_eq!(without_signs_of_life(pieces), expected(api, &parts));
    }

    #[test]
    fn a_truncated_answer_ends_with_an_error_after_its_pieces(
        api in any_api(),
        parts in any_parts(),
        end: Index,
    ) {
        let bytes = written(&data(api, &parts), "\n");
        let pieces = answer(api, vec![bytes[..end.index(bytes.len())].to_vec()]);
        prop_assert_eq!(check(&pieces), Ok(()));
        let (last, before) = pieces.split_last().unwrap();
        let whole = expected(api, &parts);
        let before = without_signs_of_life(before.to_vec());
        prop_assert!(whole.starts_with(&before), "{:?} does not start with {:?}", whole, before);
        match last {
            Ok(Piece::Finished { reason, .. }) => {
                // A chat completion is complete once it has its finish reason, even without its
                // token counts and its `[DONE]`.
                prop_assert_eq!(api, Api::OpenAi);
                prop_assert_eq!(before.len() + 1, whole.len());
                let Some(Ok(Piece::Finished { reason: expected, .. })) = whole.last() else {
                    unreachable!("a complete answer ends with `Finished`")
                };
                prop_assert_eq!(expected, reason);
            }
            Ok(other) => prop_assert!(false, "the answer ends with {:?}", other),
            Err(error) => prop_assert_eq!(error.code, FailureCode::BrokenStream),
        }
    }

    #[test]
    fn events_in_any_order_give_valid_pieces(
        api in any_api(),
        parts in any_parts(),
        order in prop::collection::vec(any::<Index>(), 0..40),
    ) {
        let data = data(api, &parts);
        // Some events occur twice, and some are missing.
        let shuffled: Vec<Value> =
            order.iter().map(|index| data[index.index(data.len())].clone()).collect();
        prop_assert_eq!(check(&answer(api, vec![written(&shuffled, "\n")])), Ok(()));
    }

    #[test]
    fn damaged_answers_give_valid_pieces(
        api in any_api(),
        parts in any_parts(),
        damages in prop::collection::vec(any_damage(), 1..6),
    ) {
        let mut bytes = written(&data(api, &parts), "\n");
        for damage in damages {
            let start = damage.at.index(bytes.len() + 1);
            let end = (start + damage.removed).min(bytes.len());
            bytes.splice(start..end, damage.inserted);
        }
        prop_assert_eq!(check(&answer(api, vec![bytes])), Ok(()));
    }

    #[test]
    fn random_bytes_give_valid_pieces(
        api in any_api(),
        parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..10),
    ) {
        prop_assert_eq!(check(&answer(api, parts)), Ok(()));
    }

    #[test]
    fn events_with_known_fields_in_wrong_places_give_valid_pieces(
        api in any_api(),
        events in prop::collection::vec(any_event(), 0..12),
    ) {
        prop_assert_eq!(check(&answer(api, vec![written(&events, "\n")])), Ok(()));
    }
}
