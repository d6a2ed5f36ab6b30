use proptest::prelude::*;

use super::*;

fn space(random: u128) -> SpaceId {
    SpaceId::new(Time::from_millis(1_771_427_220_000), random)
}

fn place(seq: u64) -> HitPlace {
    let at = Time::from_millis(1_771_427_220_000);
    HitPlace { space: space(7), seq, at, has_all: true, score: 7.31_f64.to_bits() }
}

fn full(before: u64) -> SearchCursor {
    let keys = |from: u128| (from..from + 50).map(|random| SpaceKey::of(space(random)));
    let range = |space| SpaceRange { space, before, first: Some(1) };
    SearchCursor {
        bound_to: BoundTo::of("ent_1", "deploy"),
        began: Time::from_millis(1_771_427_220_000),
        shown: 90,
        last: Some(place(before)),
        spaces: keys(0).map(range).collect(),
        rest: Some(RestOfSpaces { newest: keys(50).collect(), before: Some(space(7)) }),
    }
}

#[test]
fn a_cursor_is_at_most_two_kibibytes_and_reads_as_what_it_was() {
    let cursor = full(999_999_999_999);
    let text = cursor.to_text();
    assert!(text.len() <= CURSOR_CHARS, "{}", text.len());
    assert_eq!(SearchCursor::read(&text, cursor.bound_to), Ok(cursor.clone()));
    let last = SearchCursor { rest: None, last: None, spaces: Vec::new(), ..cursor };
    assert_eq!(SearchCursor::read(&last.to_text(), last.bound_to), Ok(last.clone()));
    let rest = RestOfSpaces { newest: Vec::new(), before: None };
    let first = SearchCursor { rest: Some(rest), ..last };
    assert_eq!(SearchCursor::read(&first.to_text(), first.bound_to), Ok(first.clone()));
}

#[test]
fn a_cursor_works_for_its_caller_and_query_only() {
    let text = full(1_000).to_text();
    for (caller, query) in [("ent_2", "deploy"), ("ent_1", "deploys"), ("ent_1d", "eploy")] {
        assert!(matches!(
            SearchCursor::read(&text, BoundTo::of(caller, query)),
            Err(Error::Invalid(_))
        ));
    }
    let own = BoundTo::of("ent_1", "deploy");
    for made_up in ["", "?", &text[1..], &text[..40], &"A".repeat(3_000)] {
        assert!(matches!(SearchCursor::read(made_up, own), Err(Error::Invalid(_))), "{made_up}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
        if let Some(cursor) = Bytes(&bytes).cursor() {
            let text = cursor.to_text();
            prop_assert_eq!(SearchCursor::read(&text, cursor.bound_to), Ok(cursor));
        }
    }
}
