use proptest::prelude::*;

use super::*;
use crate::limits::MESSAGE_BYTES;

const NOW: Time = Time::from_millis(1_795_000_000_250);

/// A sender of messages.
#[derive(Clone, Copy)]
struct Sender {
    id: EntityId,
    kind: EntityType,
}

fn sender(number: u128, kind: EntityType) -> Sender {
    Sender { id: EntityId::new(NOW, number), kind }
}

fn person(number: u128) -> Sender {
    sender(number, EntityType::Human)
}

fn agent(number: u128) -> Sender {
    sender(number, EntityType::Agent)
}

/// How many of `count` messages are accepted.
fn flood(window: &mut AppendWindow, from: &Sender, bytes: usize, count: usize) -> usize {
    let accepted = (0..count).filter(|_| {
        match window.clone().count(AppendLimit::SPACE, from.id, from.kind, bytes, NOW) {
            Ok(counted) => {
                *window = counted;
                true
            }
            Err(_) => false,
        }
    });
    accepted.count()
}

#[test]
fn one_sender_gets_half_and_the_others_get_the_rest() {
    let mut window = AppendWindow::of(None, NOW);
    assert_eq!(flood(&mut window, &person(1), 100, 50), 10);
    assert_eq!(flood(&mut window, &person(2), 100, 50), 5, "a quarter is reserved");
    for quiet in 3..8 {
        assert_eq!(flood(&mut window, &person(quiet), 100, 3), 1, "the first message");
    }
    assert_eq!(flood(&mut window, &person(8), 100, 1), 0);
    assert_eq!(window.all, Count { messages: 20, bytes: 2_000 });
}

#[test]
fn one_message_of_the_largest_size_fits_and_a_second_one_does_not() {
    let mut window = AppendWindow::of(None, NOW);
    assert_eq!(flood(&mut window, &person(1), MESSAGE_BYTES, 5), 1);
    assert_eq!(flood(&mut window, &person(1), 1, 1), 0);
    assert_eq!(flood(&mut window, &person(2), MESSAGE_BYTES, 5), 1);
    assert_eq!(flood(&mut window, &person(3), 1, 1), 0, "64 KiB in all");
}

#[test]
fn a_card_that_is_larger_than_the_share_counts_as_the_share() {
    let mut window = AppendWindow::of(None, NOW);
    assert_eq!(flood(&mut window, &agent(1), 2 * MESSAGE_BYTES, 2), 1);
    assert_eq!(window.all.bytes, 32 * 1024);
}

#[test]
fn three_flooding_agents_leave_room_for_a_person() {
    let mut window = AppendWindow::of(None, NOW);
    let agents = [1, 2, 3].map(|number| flood(&mut window, &agent(number), 10, 50));
    assert_eq!(agents, [10, 5, 0]);
    assert_eq!(flood(&mut window, &person(4), 10, 50), 1);
}

#[test]
fn a_flooding_person_and_the_agents_that_answer_leave_room_for_another_person() {
    for agent_first in [true, false] {
        let mut window = AppendWindow::of(None, NOW);
        let mut senders = [person(1), agent(2)];
        if agent_first {
            senders.reverse();
        }
        for from in senders {
            flood(&mut window, &from, 10, 50);
        }
        assert_eq!(window.all.messages, 15);
        assert_eq!(flood(&mut window, &person(3), 10, 1), 1);
    }
}

#[test]
fn a_refusal_names_the_limit_and_ends_with_the_second() {
    let mut window = AppendWindow::of(None, NOW);
    flood(&mut window, &person(1), 7, 10);
    let refused = window.refusal(AppendLimit::SPACE, person(1).id, 7, NOW).unwrap();
    let same = window.clone().count(AppendLimit::SPACE, person(1).id, EntityType::Human, 7, NOW);
    assert_eq!(same, Err(refused.clone()));
    assert_eq!(window.refusal(AppendLimit::SPACE, person(2).id, 7, NOW), None, "a stranger");
    let later = NOW + Duration::from_secs(1);
    assert_eq!(window.refusal(AppendLimit::SPACE, person(1).id, 7, later), None);
    let Error::TooMany { text, wait } = refused else { panic!("{refused}") };
    assert_eq!(wait, Duration::from_millis(750));
    assert_eq!(
        text,
        "a space accepts 20 messages and 65536 bytes a second: at most half from one sender, and \
         the last quarter only as the first message of a person. In this second it has 10 messages \
         with 70 bytes of this sender, and this message would be too much. Repeat it in the next \
         second"
    );
}

#[test]
fn a_later_second_stays_unless_it_comes_from_a_wrong_clock() {
    let at = |seconds: i64| AppendWindow {
        at: NOW.as_seconds() + seconds,
        all: Count { messages: 3, bytes: 3 },
        ..AppendWindow::default()
    };
    for kept in [0, 1, 10] {
        assert_eq!(AppendWindow::of(Some(&at(kept)), NOW), at(kept));
    }
    let empty = AppendWindow { at: NOW.as_seconds(), ..AppendWindow::default() };
    for other in [-100, -1, 11, 3_600] {
        assert_eq!(AppendWindow::of(Some(&at(other)), NOW), empty);
    }
    assert_eq!(AppendWindow::of(None, NOW), empty);
}

#[test]
fn a_full_second_of_many_senders_is_small() {
    let mut window = AppendWindow::of(None, NOW);
    for number in 0..20 {
        let from = sender(u128::from(u64::MAX) * (number + 1), EntityType::Human);
        assert_eq!(flood(&mut window, &from, 3_000, 1), 1);
    }
    let stored = serde_json::to_string(&window).unwrap();
    assert!(stored.len() < 700, "{} bytes: {stored}", stored.len());
    assert_eq!(serde_json::from_str::<AppendWindow>(&stored).unwrap(), window);
}

proptest! {
    #[test]
    fn no_second_holds_more_than_its_limits_and_nobody_is_refused_within_them(
        messages in 1_u32..12,
        bytes in 1_u32..2_000,
        posts in prop::collection::vec(
            (0_u128..6, any::<bool>(), 1_usize..1_500, 0_i64..400), 1..80
        ),
    ) {
        let limit = AppendLimit { messages, bytes };
        let mut now = NOW;
        let mut window = None;
        // The accepted messages of each second, with their senders.
        let mut accepted: BTreeMap<i64, Vec<(u128, u32)>> = BTreeMap::new();
        for (number, is_agent, size, pause) in posts {
            now = now + Duration::from_millis(pause as u64);
            let number = number * 2 + u128::from(is_agent);
            let from = if is_agent { agent(number) } else { person(number) };
            let counted = (size as u32).min(limit.of_sender().bytes);
            let second = accepted.entry(now.as_seconds()).or_default();
            let fits = |share: AppendLimit, of: &dyn Fn(&(u128, u32)) -> bool| {
                let of_share: Vec<_> = second.iter().filter(|post| of(post)).collect();
                of_share.len() < share.messages as usize
                    && of_share.iter().map(|post| post.1).sum::<u32>() + counted <= share.bytes
            };
            let may = fits(limit, &|_| true)
                && fits(limit.of_sender(), &|post| post.0 == number)
                && (fits(limit.unreserved(), &|_| true)
                    || (!is_agent && second.iter().all(|post| post.0 != number)));
            let current = AppendWindow::of(window.as_ref(), now);
            match current.count(limit, from.id, from.kind, size, now) {
                Ok(next) => {
                    prop_assert!(may);
                    second.push((number, counted));
                    window = Some(next);
                }
                Err(Error::TooMany { wait, .. }) => {
                    prop_assert!(!may);
                    prop_assert!(wait > Duration::ZERO && wait <= Duration::from_secs(1));
                }
                Err(other) => prop_assert!(false, "{other}"),
            }
        }
    }
}
