//! What agents' messages trigger that name nobody: auto replies, and the end of a chain.

use super::*;

/// An agent that answers other agents, with so many auto replies.
fn talker<'a>(
    number: u128,
    name: &'a str,
    limits: &'a WakeLimits,
    runs: Option<u32>,
) -> Candidate<'a> {
    Candidate { auto_replies: runs, ..member(number, name, Some(limits)) }
}

/// The decision on a message of the agent 2 after the outside cause #40, for the agents 3 (Bob) and
/// 4 (Eve) with so many auto replies, in a space with the person 1.
fn decided(
    space: &SpaceSettings,
    text: &str,
    chain_depth: u32,
    auto_replies: [Option<u32>; 2],
) -> Decided {
    let limits = limits();
    let [bob, eve] = auto_replies;
    let members = [
        member(1, "Husam", None),
        talker(2, "Ada", &limits, Some(9)),
        talker(3, "Bob", &limits, bob),
        talker(4, "Eve", &limits, eve),
    ];
    let incoming = IncomingMessage {
        sender: entity(2),
        sender_kind: EntityType::Agent,
        text,
        mentions: &found(text),
        chain_depth,
        chain_stopped: false,
        auto_since: Some(40),
        partner: None,
        reply_to: None,
        replies_to_expired: false,
    };
    let run = RunId::new(Time::from_millis(1), 1);
    let mut window = RateWindow::default();
    decide(space, &members, incoming, Routing::Unasked, None, &mut window, |_| run)
}

fn sources(decided: &Decided) -> Vec<Result<Source, Reason>> {
    let entries = decided.dispatch.iter();
    entries.map(|it| it.source.ok_or_else(|| it.reason.unwrap())).collect()
}

const fn ended(by: ChainLimit, limit: u32) -> ChainEnded {
    ChainEnded { by, limit }
}

#[test]
fn an_agent_answers_agents_that_do_not_name_it_up_to_the_limit() {
    let all = space(TriggerPolicy::All);
    let first = decided(&all, "hi", 1, [Some(2), Some(3)]);
    assert_eq!(sources(&first), [Ok(Source::Broadcast), Err(Reason::AutoReplies)]);
    assert_eq!(first.dispatch[1].reason_text.as_deref(), Some("3 answers to agents since #40"));
    assert_eq!(first.chain_ended, None, "it wakes Bob");

    let named = decided(&all, "hi @eve", 1, [Some(3), Some(3)]);
    assert_eq!(sources(&named), [Err(Reason::AutoReplies), Ok(Source::Mention)]);
    let joins = decided(&all, "hi", 1, [Some(3), None]);
    assert_eq!(sources(&joins), [Err(Reason::AutoReplies), Ok(Source::Broadcast)]);

    let last = decided(&all, "hi", 1, [Some(3), Some(4)]);
    assert_eq!(sources(&last), [Err(Reason::AutoReplies); 2]);
    assert_eq!(last.chain_ended, Some(ended(ChainLimit::AutoReplies, 3)));
    let none = SpaceSettings { max_auto_replies: 0, ..all };
    let none = decided(&none, "hi", 1, [Some(0), Some(0)]);
    assert_eq!(sources(&none), [Err(Reason::AutoReplies); 2]);
}

#[test]
fn auto_replies_of_an_outside_cause_are_not_limited() {
    let limits = limits();
    let members = [member(1, "Husam", None), talker(2, "Ada", &limits, Some(9))];
    let mut window = RateWindow::default();
    let run = RunId::new(Time::from_millis(1), 1);
    let space = space(TriggerPolicy::All);
    let decided = decide(&space, &members, hi(), Routing::Unasked, None, &mut window, |_| run);
    assert_eq!(sources(&decided), [Ok(Source::Auto)]);
}

#[test]
fn a_chain_ends_with_a_message_that_would_have_triggered_others() {
    let by_depth = Some(ended(ChainLimit::Depth, 2));
    let unspent = [Some(0); 2];
    for (policy, text, expected) in [
        (TriggerPolicy::All, "hi", by_depth),
        (TriggerPolicy::Router, "hi", by_depth),
        (TriggerPolicy::Mention, "hi", None),
        (TriggerPolicy::Mention, "hi @eve", by_depth),
        (TriggerPolicy::Partner, "hi", None),
    ] {
        let found = decided(&space(policy), text, 2, unspent);
        assert_eq!(sources(&found), [Err(Reason::ChainDepth); 2]);
        assert_eq!(found.chain_ended, expected, "{policy:?} {text}");
    }
    let paused = SpaceSettings { paused: true, ..space(TriggerPolicy::All) };
    assert_eq!(decided(&paused, "hi", 2, unspent).chain_ended, None);
    let spent = Budget { runs_per_minute: 0, ..Budget::of_space() };
    let spent = SpaceSettings { budget: spent, ..space(TriggerPolicy::All) };
    assert_eq!(decided(&spent, "hi", 2, unspent).chain_ended, by_depth, "the rate is used, too");
}

#[test]
fn a_chain_that_the_rate_stops_says_so() {
    let with = |runs_per_minute| {
        let budget = Budget { runs_per_minute, ..Budget::of_space() };
        SpaceSettings { budget, ..space(TriggerPolicy::All) }
    };
    let by_rate = |limit| Some(ended(ChainLimit::Rate, limit));
    let both = decided(&with(0), "hi", 1, [Some(0); 2]);
    assert_eq!(sources(&both), [Err(Reason::Rate); 2]);
    assert_eq!(both.chain_ended, by_rate(0));
    let one = decided(&with(2), "hi", 1, [Some(0); 2]);
    assert_eq!(sources(&one), [Ok(Source::Broadcast), Err(Reason::Rate)]);
    assert_eq!(one.chain_ended, None, "it wakes Bob");
    let spent = decided(&with(0), "hi", 1, [Some(3), Some(0)]);
    let auto = Some(ended(ChainLimit::AutoReplies, 3));
    assert_eq!(spent.chain_ended, auto, "the first limit counts");

    let mut late = decided(&with(2), "hi", 1, [Some(0), Some(3)]);
    late.refuse_by_rate(entity(3), 2, true);
    assert_eq!(sources(&late), [Err(Reason::Rate), Err(Reason::AutoReplies)]);
    assert_eq!(late.chain_ended, by_rate(2));
}

#[test]
fn a_person_ends_no_chain_and_the_highest_limit_of_an_agent_counts() {
    let low = WakeLimits { max_chain_depth: 1, ..limits() };
    let members =
        [member(2, "Ada", Some(&low)), member(3, "Bob", Some(&low)), member(4, "Eve", None)];
    let run = RunId::new(Time::from_millis(1), 1);
    let of = |sender_kind, chain_depth| {
        let incoming = IncomingMessage { sender: entity(2), sender_kind, chain_depth, ..hi() };
        let space = space(TriggerPolicy::All);
        let mut window = RateWindow::default();
        decide(&space, &members, incoming, Routing::Unasked, None, &mut window, |_| run).chain_ended
    };
    assert_eq!(of(EntityType::Human, 1), None);
    assert_eq!(of(EntityType::Agent, 1), Some(ended(ChainLimit::Depth, 1)));
    assert_eq!(of(EntityType::Agent, 0), None);
    let depth = |limit| ChainEnded { by: ChainLimit::Depth, limit };
    let auto = ChainEnded { by: ChainLimit::AutoReplies, limit: 9 };
    assert_eq!(depth(2).or(Some(depth(5))), depth(5));
    assert_eq!(auto.or(Some(depth(2))), depth(2));
    assert_eq!(depth(2).or(Some(auto)), depth(2));
}

#[test]
fn a_message_of_a_stopped_chain_wakes_nobody_whomever_it_names() {
    let limits = limits();
    let paused = WakeLimits { paused: true, ..limits.clone() };
    let deep = WakeLimits { max_chain_depth: 1, ..limits.clone() };
    let members = [
        member(1, "Husam", None),
        talker(2, "Ada", &limits, None),
        talker(3, "Bob", &limits, None),
        talker(4, "Eve", &paused, None),
        talker(5, "Kim", &deep, None),
    ];
    let text = "hi @Bob @Eve";
    let mentions = found(text);
    let incoming = IncomingMessage {
        sender: entity(2),
        sender_kind: EntityType::Agent,
        text,
        mentions: &mentions,
        chain_depth: 1,
        chain_stopped: true,
        auto_since: Some(40),
        ..hi()
    };
    let run = RunId::new(Time::from_millis(1), 1);
    let mut window = RateWindow::default();
    let all = space(TriggerPolicy::All);
    let decided = decide(&all, &members, incoming, Routing::Unasked, None, &mut window, |_| run);
    let expected = [Reason::ChainStopped, Reason::Paused, Reason::ChainStopped];
    assert_eq!(sources(&decided), expected.map(Err));
    assert_eq!((decided.counted, decided.chain_ended), (0, None));
}
