use proptest::prelude::*;

use super::*;

fn user(sender: &str, is_person: bool) -> QuotaUser {
    QuotaUser { sender: sender.to_owned(), is_person }
}

/// How many of `count` runs a user gets.
fn flood(minute: &mut RateWindow, limit: u32, user: &QuotaUser, count: u32) -> u32 {
    let got = (0..count).filter(|_| {
        let bucket = minute.room_in_space(limit, user);
        bucket.inspect(|bucket| minute.count(*bucket, user)).is_some()
    });
    got.count() as u32
}

#[test]
fn a_flood_leaves_room_for_other_senders() {
    let husam = user("husam", true);
    let sarah = user("sarah", true);
    let service = user("jira", false);
    let agent = user("ada", false);
    let mut minute = RateWindow::default();
    assert_eq!(flood(&mut minute, 120, &husam, 1_000), 60, "half of each half");
    assert_eq!(flood(&mut minute, 120, &service, 1_000), 30);
    assert_eq!(flood(&mut minute, 120, &agent, 1_000), 0, "the rest is used");
    assert_eq!(flood(&mut minute, 120, &sarah, 1_000), 30, "people's half is not");
    let mut minute = RateWindow::default();
    assert_eq!([&service, &agent].map(|user| flood(&mut minute, 60, user, 100)), [15, 15]);
    assert_eq!(flood(&mut minute, 60, &husam, 100), 15);
}

#[test]
fn one_service_may_use_all_runs_of_an_agent_that_are_not_reserved_for_people() {
    let mut minute = RateWindow::default();
    let mut flood = |user: &QuotaUser| {
        let got = (0..100).filter(|_| {
            let bucket = minute.room_of_agent(60, user);
            bucket.inspect(|bucket| minute.count(*bucket, user)).is_some()
        });
        got.count()
    };
    let service = user("jira", false);
    let other = user("stripe", false);
    let husam = user("husam", true);
    let sarah = user("sarah", true);
    assert_eq!([&service, &other, &husam, &sarah].map(&mut flood), [30, 0, 15, 15]);
}

#[test]
fn the_smallest_budgets() {
    let both = |limit| {
        let got = |is_person| flood(&mut RateWindow::default(), limit, &user("a", is_person), 10);
        (got(true), got(false))
    };
    assert_eq!([1, 2, 3, 4].map(both), [(1, 1), (2, 1), (2, 1), (2, 1)]);
}

#[test]
fn senders_beyond_the_limit_are_counted_together() {
    let mut minute = RateWindow::default();
    for number in 0..SENDERS {
        assert_eq!(flood(&mut minute, 400, &user(&format!("p{number}"), true), 1), 1);
    }
    let others =
        [100, 101].map(|number| flood(&mut minute, 400, &user(&format!("p{number}"), true), 1_000));
    assert_eq!((others, minute.by.len()), ([200, 0], SENDERS + 1));
    assert_eq!(flood(&mut minute, 400, &user("p1", true), 1_000), 100);
}

#[test]
fn a_new_minute_starts_with_an_empty_window() {
    let at = Time::from_millis(119_999);
    let mut minute = RateWindow::now(None, at);
    minute.count(Bucket::Rest, &user("a", false));
    assert_eq!(RateWindow::now(Some(&minute), Time::from_millis(60_000)), minute);
    assert_eq!(
        RateWindow::now(Some(&minute), Time::from_millis(120_000)),
        RateWindow { number: 2, ..RateWindow::default() }
    );
}

#[test]
fn a_process_whose_clock_is_behind_continues_with_the_minute_that_others_have_begun() {
    let mut minute = RateWindow::now(None, Time::from_millis(120_000));
    minute.count(Bucket::Rest, &user("a", false));
    let behind = Time::from_millis(119_000);
    assert_eq!(RateWindow::now(Some(&minute), behind), minute);
    assert_eq!(
        RateWindow::now(Some(&minute), Time::from_millis(59_999)),
        RateWindow { number: 0, ..RateWindow::default() },
        "a clock that is wrong by more does not stop a space"
    );
}

proptest! {
    #[test]
    fn the_limit_holds_and_a_new_person_gets_a_quarter(
        limit in 2_u32..300,
        floods in prop::collection::vec((0_u8..6, any::<bool>(), 1_u32..200), 0..12),
    ) {
        let mut minute = RateWindow::default();
        let mut by_one_person = 0;
        for (sender, is_person, count) in floods {
            // One flooding person, and any number of senders that are not people.
            let is_person = is_person && sender == 0;
            let name = if is_person { "p".to_owned() } else { format!("s{sender}") };
            let got = flood(&mut minute, limit, &user(&name, is_person), count);
            by_one_person += if is_person { got } else { 0 };
        }
        prop_assert!(minute.all.people + minute.all.rest <= limit);
        prop_assert!(by_one_person <= (limit / 2).div_ceil(2) + limit.div_ceil(2).div_ceil(2));
        let kept = limit / 2;
        prop_assert!(flood(&mut minute, limit, &user("new", true), 1_000) >= kept / 2);
    }
}
