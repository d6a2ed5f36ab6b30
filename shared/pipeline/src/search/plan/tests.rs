use smartspace_domain::{
    Time,
    append_limits::AppendWindow,
    found::{cursor::BoundTo, place::HitPlace},
};

use super::*;

fn space(number: u128) -> SpaceId {
    SpaceId::new(Time::from_millis(1_771_427_220_000), number)
}

/// Spaces 1 to `count`, in which a message was sent at the second of their number.
fn spaces(count: u128) -> Vec<(SpaceId, Head)> {
    let head = |number: u128| Head {
        seq: 10,
        depth: 0,
        chain: None,
        outside: None,
        changed: 0,
        roster: 1,
        minute: None,
        second: Some(AppendWindow { at: number as i64, ..AppendWindow::default() }),
        cards: 0,
        at: None,
        g2pk: None,
        g2sk: None,
    };
    (1..=count).map(|number| (space(number), head(number))).collect()
}

fn ids(plan: &Plan) -> Vec<SpaceId> {
    plan.spaces.iter().map(|part| part.space).collect()
}

fn cursor(spaces: Vec<SpaceRange>, rest: Option<RestOfSpaces>) -> SearchCursor {
    let bound_to = BoundTo::of("", "");
    SearchCursor { bound_to, began: Time::default(), shown: 0, last: None, spaces, rest }
}

#[test]
fn every_space_is_searched_once_although_messages_come_meanwhile() {
    let mut all = spaces(120);
    let first = plan(all.clone(), None);
    assert_eq!(ids(&first), (71..=120).rev().map(space).collect::<Vec<_>>());
    assert_eq!(first.spaces[0].before, 11);
    // The oldest space gets a message.
    all[0].1.second = Some(AppendWindow { at: 500, ..AppendWindow::default() });
    let second = plan(all.clone(), Some(&cursor(Vec::new(), first.rest.clone())));
    assert_eq!(ids(&second), (21..=70).rev().map(space).collect::<Vec<_>>());
    let third = plan(all, Some(&cursor(Vec::new(), second.rest)));
    assert_eq!(ids(&third), (1..=20).rev().map(space).collect::<Vec<_>>());
    assert_eq!(third.rest, None);
    assert_eq!(plan(spaces(50), None).rest, None);
}

#[test]
fn a_part_keeps_its_spaces_and_goes_on_below_what_was_read() {
    let range =
        |number, before, first| SpaceRange { space: SpaceKey::of(space(number)), before, first };
    let ranges = vec![range(1, 5, Some(3)), range(2, 11, None), range(9, 5, None)];
    let part = plan(spaces(3), Some(&cursor(ranges, None)));
    let expected = [
        SpacePart { space: space(1), before: 5, first: 3, has_newest: false },
        SpacePart { space: space(2), before: 11, first: 1, has_newest: true },
    ];
    assert_eq!(part, Plan { spaces: expected.to_vec(), rest: None });
    assert_eq!(expected[0].read(3), range(1, 5, Some(3)));
    assert_eq!(expected[0].read(5), range(1, 5, None));
}

#[test]
fn what_was_not_read_of_a_part_is_not_read_by_its_later_pages() {
    let at = Time::default();
    let last = HitPlace { space: space(1), seq: 4, at, has_all: true, score: 0 };
    let range = |number, first| SpaceRange { space: SpaceKey::of(space(number)), before: 5, first };
    let ranges = vec![range(1, Some(3)), range(2, None)];
    let page = SearchCursor { shown: 1, last: Some(last), ..cursor(ranges, None) };
    let parts = plan(spaces(2), Some(&page)).spaces;
    assert_eq!((parts[0].first, parts[1].first), (3, 5));
    assert_eq!(parts[1].read(5), range(2, None));
}
