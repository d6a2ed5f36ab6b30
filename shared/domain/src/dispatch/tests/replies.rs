//! Replies: which agents they trigger.

use super::*;

/// The dispatch of a message of the person 1, or of the agent 2, that replies to a message of a
/// member.
fn reply(space: &SpaceSettings, sender: u128, text: &str, to: u128) -> String {
    let sender_kind = if sender == 1 { EntityType::Human } else { EntityType::Agent };
    let incoming = IncomingMessage {
        sender: entity(sender),
        sender_kind,
        text,
        mentions: &found(text),
        partner: (sender == 1).then(|| entity(3)),
        reply_to: Some(entity(to)),
        ..hi()
    };
    dispatched(space, incoming, Routing::Unasked)
}

#[test]
fn a_reply_triggers_the_agent_under_every_policy_in_which_a_mention_would() {
    for (policy, expected) in [
        (TriggerPolicy::All, "2:reply 3:broadcast 4!Paused"),
        (TriggerPolicy::Mention, "2:reply 3!Policy 4!Paused"),
        (TriggerPolicy::Router, "2:reply 3!Policy 4!Paused"),
        (TriggerPolicy::Partner, "2:reply 3!Policy 4!Paused"),
        (TriggerPolicy::Admin, "2!Policy 3:admin 4!Paused"),
    ] {
        let space = space(policy);
        assert_eq!(reply(&space, 1, "yes", 2), expected, "{policy:?}");
        let mentioned = decided(&space, 1, "@ada yes", 0).replace("2:mention", "2:reply");
        assert_eq!(mentioned, expected, "{policy:?}");
    }
    let no_admin = SpaceSettings { admin_agent_id: None, ..space(TriggerPolicy::Admin) };
    assert_eq!(reply(&no_admin, 1, "yes", 2), "2:reply 3!NoAdmin 4!Paused");
}

#[test]
fn an_agent_triggers_the_agent_to_which_it_replies() {
    for policy in [TriggerPolicy::Mention, TriggerPolicy::Router, TriggerPolicy::Partner] {
        assert_eq!(reply(&space(policy), 2, "yes", 3), "3:reply 4!Paused", "{policy:?}");
    }
    assert_eq!(reply(&space(TriggerPolicy::Admin), 2, "yes", 3), "3:reply 4!Paused");
}

#[test]
fn a_mention_comes_before_a_reply() {
    let space = space(TriggerPolicy::Mention);
    assert_eq!(reply(&space, 1, "@ada yes", 2), "2:mention 3!Policy 4!Paused");
    assert_eq!(reply(&space, 1, "@bob yes", 2), "2:reply 3:mention 4!Paused");
}

#[test]
fn a_reply_to_a_person_triggers_by_policy() {
    for (policy, expected) in [
        (TriggerPolicy::All, "2:broadcast 3:broadcast 4!Paused"),
        (TriggerPolicy::Mention, "2!Policy 3!Policy 4!Paused"),
        (TriggerPolicy::Router, "2:broadcast 3:broadcast 4!Paused"),
        (TriggerPolicy::Partner, "2!Policy 3:partner 4!Paused"),
        (TriggerPolicy::Admin, "2!Policy 3:admin 4!Paused"),
    ] {
        assert_eq!(reply(&space(policy), 1, "yes", 9), expected, "{policy:?}");
    }
}

#[test]
fn a_reply_to_an_expired_message_triggers_whom_it_mentions() {
    let space = space(TriggerPolicy::All);
    let expired = |text| {
        let mentions = found(text);
        let mentions = &mentions;
        let incoming = IncomingMessage { text, mentions, replies_to_expired: true, ..hi() };
        dispatched(&space, incoming, Routing::Unasked)
    };
    assert_eq!(expired("yes"), "2!Policy 3!Policy 4!Paused");
    assert_eq!(expired("@ada yes"), "2:mention 3!Policy 4!Paused");
}

#[test]
fn a_reply_is_no_auto_reply() {
    let active = limits();
    let [husam, ada, bob, eve] = team(&active, &active);
    let members = [husam, ada, Candidate { auto_replies: Some(3), ..bob }, eve];
    let incoming = IncomingMessage {
        sender: entity(2),
        sender_kind: EntityType::Agent,
        auto_since: Some(40),
        reply_to: Some(entity(3)),
        ..hi()
    };
    let window = &mut RateWindow::default();
    let space = space(TriggerPolicy::All);
    let run = RunId::new(Time::from_millis(1), 1);
    let decided = decide(&space, &members, incoming, Routing::Unasked, None, window, |_| run);
    let bob = decided.dispatch.iter().find(|it| it.agent_id == entity(3)).unwrap();
    assert_eq!((bob.source, bob.reason), (Some(Source::Reply), None));
}

#[test]
fn a_gate_scores_nobody_if_a_message_replies_to_an_agent() {
    let active = limits();
    let paused = WakeLimits { paused: true, ..limits() };
    let members = team(&active, &paused);
    let of = |to| {
        let incoming = IncomingMessage { reply_to: Some(entity(to)), ..hi() };
        scored(&space(TriggerPolicy::Router), &members, incoming)
    };
    assert_eq!(of(2), []);
    assert_eq!(of(4), [], "it is paused");
    assert_eq!(of(9), [entity(2), entity(3)], "a person");
}
