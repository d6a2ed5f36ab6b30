use super::*;

const LIMIT: DailyLimit = DailyLimit { tokens: Some(100), nanodollars: Some(1_000) };

fn amount(tokens: u64, nanodollars: u64) -> Amount {
    Amount { tokens, nanodollars }
}

#[test]
fn a_call_has_room_if_every_limit_has() {
    assert!(LIMIT.has_room(amount(90, 900), amount(10, 100)));
    assert!(!LIMIT.has_room(amount(90, 0), amount(11, 0)));
    assert!(!LIMIT.has_room(amount(0, 900), amount(0, 101)));
    assert!(!LIMIT.has_room(amount(0, 0), amount(u64::MAX, 0)));
    assert!(!LIMIT.has_room(amount(u64::MAX, 0), amount(u64::MAX, 0)));
    assert!(DailyLimit::default().has_room(amount(u64::MAX, u64::MAX), amount(1, 1)));
}

#[test]
fn the_closer_limit_counts() {
    assert_eq!(LIMIT.percent(amount(80, 100)), 80);
    assert_eq!(LIMIT.percent(amount(10, 1_500)), 150);
    assert_eq!(LIMIT.percent(amount(u64::MAX, 0)), u64::MAX);
    assert_eq!(DailyLimit { tokens: Some(0), nanodollars: None }.percent(amount(0, 0)), 100);
    assert_eq!(DailyLimit::default().percent(amount(1, 1)), 0);
}

#[test]
fn a_budget_is_used_while_the_call_that_found_no_room_would_find_none() {
    let spent =
        |tokens, refused| Spent { amount: amount(tokens, 0), settled: Amount::default(), refused };
    assert!(!spent(99, None).is_used(LIMIT));
    assert!(spent(100, None).is_used(LIMIT));
    let refused = Some(amount(30, 0));
    assert!(spent(71, refused).is_used(LIMIT));
    // Other calls cost less than was reserved for them.
    assert!(!spent(70, refused).is_used(LIMIT));
    // The limit was raised.
    assert!(!spent(71, refused).is_used(DailyLimit { tokens: Some(101), nanodollars: None }));
}

#[test]
fn a_budget_in_dollars_is_exact() {
    let budget = Budget { cost_per_day: Some(0.1), ..Budget::of_agent() };
    assert_eq!(budget.per_day().nanodollars, Some(100_000_000));
    assert!(Budget::of_space().per_day().is_none());
}

#[test]
fn a_count_that_nobody_can_have_used_does_not_end_all_sums() {
    let wrong = Usage { input_tokens: u64::MAX, cost: Some(1e30), ..Usage::default() };
    let amount = Amount::of(&wrong);
    assert!(amount.tokens <= 1 << 40 && amount.nanodollars <= 1 << 60);
}
