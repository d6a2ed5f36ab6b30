mod chains;
mod gating;
mod plays;
mod replies;

use super::*;
use crate::{
    Time,
    budgets::Budget,
    gate::{GateMode, GateSettings},
    ids::MessageId,
    mentions,
    spaces::TriggerPolicy,
};

fn limits() -> WakeLimits {
    WakeLimits {
        paused: false,
        max_chain_depth: 5,
        mode: ConcurrencyMode::Parallel,
        max_runs: 5,
        runs_per_minute: 60,
        per_day: DailyLimit::default(),
        model: None,
    }
}

/// A message of the person 1.
fn hi() -> IncomingMessage<'static> {
    IncomingMessage {
        sender: entity(1),
        sender_kind: EntityType::Human,
        text: "hi",
        mentions: &[],
        chain_depth: 0,
        chain_stopped: false,
        auto_since: None,
        partner: None,
        reply_to: None,
        replies_to_expired: false,
    }
}

/// The mentions of the agents in a text.
fn found(text: &str) -> Vec<Mention> {
    let names = [(2, "Ada"), (3, "Bob"), (4, "Eve"), (5, "Kim")];
    mentions::find(text, names.map(|(number, name)| (entity(number), name)))
}

fn entity(number: u128) -> EntityId {
    EntityId::new(Time::from_millis(1), number)
}

fn space(policy: TriggerPolicy) -> SpaceSettings {
    SpaceSettings {
        name: "s".into(),
        trigger_policy: policy,
        admin_agent_id: Some(entity(3)),
        router: None,
        gate: GateSettings { mode: GateMode::Off, ..GateSettings::default() },
        max_chain_depth: 2,
        answer_questions: true,
        max_auto_replies: 3,
        paused: false,
        budget: Budget::of_space(),
    }
}

/// A member who has had no run in this minute.
fn member<'a>(number: u128, name: &'a str, wake_limits: Option<&'a WakeLimits>) -> Candidate<'a> {
    Candidate {
        id: entity(number),
        name,
        wake_limits,
        window: None,
        is_busy: false,
        joins: false,
        auto_replies: None,
        used_budget: None,
    }
}

/// A person and three agents, of which the last one is paused.
fn team<'a>(active: &'a WakeLimits, paused: &'a WakeLimits) -> [Candidate<'a>; 4] {
    [
        member(1, "Husam", None),
        member(2, "Ada", Some(active)),
        member(3, "Bob", Some(active)),
        member(4, "Eve", Some(paused)),
    ]
}

/// The dispatch of a message of `sender`, as `number:source` or `number!reason`. The members are
/// the person 1 and the agents 2 (Ada), 3 (Bob) and 4 (Eve, paused).
fn decided(space: &SpaceSettings, sender: u128, text: &str, chain_depth: u32) -> String {
    routed(space, sender, text, chain_depth, Routing::Unasked)
}

fn routed(
    space: &SpaceSettings,
    sender: u128,
    text: &str,
    chain_depth: u32,
    routing: Routing<'_>,
) -> String {
    let kind = if sender == 1 { EntityType::Human } else { EntityType::Agent };
    let incoming = IncomingMessage {
        sender: entity(sender),
        sender_kind: kind,
        text,
        mentions: &found(text),
        chain_depth,
        partner: (sender == 1).then(|| entity(3)),
        ..hi()
    };
    dispatched(space, incoming, routing)
}

/// The same for any message.
fn dispatched(
    space: &SpaceSettings,
    incoming: IncomingMessage<'_>,
    routing: Routing<'_>,
) -> String {
    let active = limits();
    let paused = WakeLimits { paused: true, ..limits() };
    let members = team(&active, &paused);
    let message = MessageId::new(Time::from_millis(1), 9);
    let decided =
        decide(space, &members, incoming, routing, None, &mut RateWindow::default(), |agent| {
            RunId::of_message(agent, message, Time::from_millis(2))
        });
    let words = decided.dispatch.iter().map(|decision| {
        let number = (1..=4).find(|&number| entity(number) == decision.agent_id).unwrap();
        assert_eq!(
            decision.run_id,
            decision.source.map(|_| RunId::of_message(
                decision.agent_id,
                message,
                Time::from_millis(2)
            ))
        );
        let words = decision.reason_text.as_ref().map(|text| format!("({text})"));
        let words = words.unwrap_or_default();
        match (decision.source, decision.reason) {
            (Some(source), None) => format!("{number}:{}{words}", source.as_str()),
            (None, Some(reason)) => format!("{number}!{reason:?}{words}"),
            other => panic!("{other:?}"),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn each_policy_triggers_the_agents_it_selects() {
    use TriggerPolicy::{Admin, All, Mention, Partner, Router};
    let table = [
        (All, 1, "hi", 0, "2:broadcast 3:broadcast 4!Paused"),
        (All, 1, "hi @bob", 0, "2:broadcast 3:mention 4!Paused"),
        (All, 2, "hi", 1, "3:broadcast 4!Paused"),
        (All, 2, "hi", 2, "3!ChainDepth 4!Paused"),
        (Mention, 1, "hi", 0, "2!Policy 3!Policy 4!Paused"),
        (Mention, 1, "@all", 0, "2:mention 3:mention 4!Paused"),
        (Mention, 2, "@bob @ada", 1, "3:mention 4!Paused"),
        (Router, 1, "@ada", 0, "2:mention 3!Policy 4!Paused"),
        (Router, 1, "hi", 0, "2:broadcast 3:broadcast 4!Paused"),
        (Partner, 1, "hi", 0, "2!Policy 3:partner 4!Paused"),
        (Partner, 1, "@ada", 0, "2:mention 3!Policy 4!Paused"),
        (Partner, 1, "@all", 0, "2:mention 3:mention 4!Paused"),
        (Partner, 2, "hi", 1, "3!Policy 4!Paused"),
        (Partner, 2, "@bob", 1, "3:mention 4!Paused"),
        (Admin, 1, "@ada", 0, "2!Policy 3:admin 4!Paused"),
        (Admin, 3, "@ada", 1, "2:mention 4!Paused"),
        (Admin, 3, "done", 1, "2!Policy 4!Paused"),
    ];
    for (policy, sender, text, depth, expected) in table {
        assert_eq!(
            decided(&space(policy), sender, text, depth),
            expected,
            "{policy:?} {sender} {text:?} {depth}"
        );
    }
}

#[test]
fn without_an_admin_agent_the_policy_admin_acts_as_mention() {
    let left = SpaceSettings { admin_agent_id: None, ..space(TriggerPolicy::Admin) };
    let table = [
        (1, "@ada", 0, "2:mention 3!NoAdmin 4!Paused"),
        (1, "hi", 0, "2!NoAdmin 3!NoAdmin 4!Paused"),
        (3, "@ada", 1, "2:mention 4!Paused"),
        (3, "done", 1, "2!NoAdmin 4!Paused"),
    ];
    for (sender, text, depth, expected) in table {
        assert_eq!(decided(&left, sender, text, depth), expected, "{sender} {text:?}");
    }
}

#[test]
fn a_paused_space_triggers_nobody_and_a_pair_needs_no_mention() {
    let paused = SpaceSettings { paused: true, ..space(TriggerPolicy::All) };
    assert_eq!(decided(&paused, 1, "@all", 0), "2!Paused 3!Paused 4!Paused");

    let active = limits();
    let pair = [member(1, "Husam", None), member(2, "Ada", Some(&active))];
    let run = RunId::new(Time::from_millis(1), 1);
    for policy in [TriggerPolicy::All, TriggerPolicy::Mention, TriggerPolicy::Partner] {
        let expected = Dispatch {
            agent_id: entity(2),
            run_id: Some(run),
            source: Some(Source::Auto),
            reason: None,
            reason_text: None,
        };
        assert_eq!(
            decide(
                &space(policy),
                &pair,
                hi(),
                Routing::Unasked,
                None,
                &mut RateWindow::default(),
                |_| run
            )
            .dispatch,
            [expected]
        );
    }
}

#[test]
fn a_used_rate_of_the_space_or_of_the_agent_triggers_nobody() {
    let of_space = |runs| SpaceSettings {
        budget: Budget { runs_per_minute: runs, ..Budget::of_space() },
        ..space(TriggerPolicy::All)
    };
    let run = RunId::new(Time::from_millis(1), 1);
    // How many agents are triggered, and how many are refused.
    let counts = |space_runs, agent_runs, own: &RateWindow, window: &mut RateWindow| {
        let limits = WakeLimits { runs_per_minute: agent_runs, ..limits() };
        let members = [2, 3, 4].map(|it| Candidate {
            id: entity(it),
            name: "Ada",
            wake_limits: Some(&limits),
            window: Some(own),
            is_busy: false,
            joins: false,
            auto_replies: None,
            used_budget: None,
        });
        let decided =
            decide(&of_space(space_runs), &members, hi(), Routing::Unasked, None, window, |_| run);
        assert_eq!(
            decided.taken.len(),
            decided.dispatch.iter().filter(|it| it.run_id.is_some()).count()
        );
        let refused = decided.dispatch.iter().filter(|it| it.reason == Some(Reason::Rate)).count();
        (decided.taken.len(), refused)
    };
    let unused = RateWindow::default();
    let mut window = RateWindow::default();
    assert_eq!(
        [(); 3].map(|()| counts(8, 60, &unused, &mut window)),
        [(3, 0), (1, 2), (0, 3)],
        "one person gets half of each half of eight"
    );
    let mut used = RateWindow::default();
    let user = hi().quota_user();
    while let Some(bucket) = used.room_of_agent(4, &user) {
        used.count(bucket, &user);
    }
    assert_eq!(counts(120, 4, &used, &mut RateWindow::default()), (0, 3));
    assert_eq!(counts(120, 60, &used, &mut RateWindow::default()), (3, 0));
}

#[test]
fn a_router_chooses_among_the_agents_that_nobody_mentions() {
    let space = space(TriggerPolicy::Router);
    let choice = Choice {
        asked: [entity(2), entity(3)].into(),
        chosen: [(entity(3), "Bob sings".to_owned()), (entity(4), "she is paused".to_owned())]
            .into(),
        others: [(entity(2), "Ada counts".to_owned())].into(),
        summary: "the router chose Bob".to_owned(),
    };
    let chose = Routing::Chose(&choice);
    let table = [
        ("hi", chose, "2!Router(Ada counts) 3:router(Bob sings) 4!Paused"),
        ("hi", Routing::Failed, "2:broadcast 3:broadcast 4!Paused"),
        ("@ada", chose, "2:mention 3!Policy 4!Paused"),
    ];
    for (text, routing, expected) in table {
        assert_eq!(routed(&space, 1, text, 0, routing), expected, "{text}");
    }
    let summary = "the router chose nobody".to_owned();
    let nobody = Choice { asked: choice.asked.clone(), summary, ..Choice::default() };
    assert_eq!(
        routed(&space, 1, "hi", 0, Routing::Chose(&nobody)),
        "2!Router(the router chose nobody) 3!Router(the router chose nobody) 4!Paused"
    );
    assert_eq!(
        routed(&space, 1, "hi", 0, Routing::OverRate("too often")),
        "2!Rate(too often) 3!Rate(too often) 4!Paused"
    );
}

#[test]
fn the_router_is_asked_about_agents_that_can_wake_and_counts_one_run_until_it_has_chosen() {
    let router = serde_json::json!({"model": {"provider": "openai", "name": "m"}, "maxAgents": 2});
    let router: crate::spaces::RouterConfig = serde_json::from_value(router).unwrap();
    let space = SpaceSettings { router: Some(router), ..space(TriggerPolicy::Router) };
    let active = limits();
    let paused = WakeLimits { paused: true, ..limits() };
    let [husam, ada, bob, eve] = team(&active, &paused);
    let members = [husam, ada, bob, eve, member(5, "Kim", Some(&active))];
    let run = RunId::new(Time::from_millis(1), 1);
    let counted = |text, routing| {
        let mut window = RateWindow::default();
        let mentions = found(text);
        let incoming = IncomingMessage { text, mentions: &mentions, ..hi() };
        let decided = decide(&space, &members, incoming, routing, None, &mut window, |_| run);
        assert_eq!(decided.counted as u32, window.all.people + window.all.rest);
        (decided.asks_router, decided.taken.len(), decided.counted)
    };
    let asked = vec![entity(2), entity(3), entity(5)];
    assert_eq!(counted("hi", Routing::Unasked), (asked, 3, 1));
    assert_eq!(counted("hi", Routing::Failed), (vec![], 3, 3));
    assert_eq!(counted("hi", Routing::OverRate("too often")), (vec![], 0, 0));
    assert_eq!(counted("@bob", Routing::Unasked), (vec![], 1, 1));
}

#[test]
fn an_agent_with_a_used_budget_is_not_triggered_and_its_rate_is_not_used() {
    let active = limits();
    let [husam, ada, bob, eve] = team(&active, &active);
    let day = Day::of(Time::from_millis(1_771_427_220_000));
    let used = |scope| Some((scope, day));
    let members = [
        husam,
        Candidate { used_budget: used(BudgetScope::Agent(entity(2))), is_busy: true, ..ada },
        Candidate { used_budget: used(BudgetScope::Deployment), ..bob },
        eve,
    ];
    let mut window = RateWindow::default();
    let run = RunId::new(Time::from_millis(1), 1);
    let space = space(TriggerPolicy::All);
    let decided = decide(&space, &members, hi(), Routing::Unasked, None, &mut window, |_| run);
    let reasons: Vec<_> =
        decided.dispatch.iter().map(|it| (it.reason, it.reason_text.as_deref())).collect();
    assert_eq!(
        reasons,
        [
            (
                Some(Reason::Budget),
                Some(
                    "the budget of this agent for today has no room for another call; \
                     calls under way count with the most that they may use; \
                     it is renewed at 2026-02-19T00:00:00Z"
                )
            ),
            (
                Some(Reason::Budget),
                Some(
                    "the budget of the deployment for today has no room for another call; \
                     calls under way count with the most that they may use; \
                     it is renewed at 2026-02-19T00:00:00Z"
                )
            ),
            (None, None),
        ]
    );
    assert_eq!(window.all.people + window.all.rest, 1);
}

#[test]
fn a_message_that_joins_a_run_takes_none_of_the_runs_per_minute() {
    let spent = WakeLimits { runs_per_minute: 0, ..limits() };
    let used = RateWindow::default();
    let busy = |number, name, joins| Candidate {
        window: Some(&used),
        joins,
        ..member(number, name, Some(&spent))
    };
    let settings = SpaceSettings {
        budget: Budget { runs_per_minute: 0, ..Budget::of_space() },
        ..space(TriggerPolicy::All)
    };
    let members = [member(1, "Husam", None), busy(2, "Ada", true), busy(3, "Bob", false)];
    let mut window = RateWindow::default();
    let run = RunId::new(Time::from_millis(1), 1);
    let decided = decide(&settings, &members, hi(), Routing::Unasked, None, &mut window, |_| run);
    let reasons: Vec<_> = decided.dispatch.iter().map(|it| it.reason).collect();
    assert_eq!(reasons, [None, Some(Reason::Rate)]);
    assert_eq!((decided.woken(), decided.taken.len(), decided.counted), (1, 0, 0));
    assert_eq!(window, RateWindow::default());
    let router = SpaceSettings { trigger_policy: TriggerPolicy::Router, ..settings };
    let asked = decide(&router, &members, hi(), Routing::Unasked, None, &mut window, |_| run);
    assert_eq!((asked.asks_router, asked.counted), (vec![entity(2)], 0));
}

/// The dispatch of a question of the person 1 whose router chose nobody, after the best is woken.
fn answered(bob_is_busy: bool, runs: u32, scores: &[(u128, f64)]) -> String {
    let settings = SpaceSettings {
        budget: Budget { runs_per_minute: runs, ..Budget::of_space() },
        ..space(TriggerPolicy::Router)
    };
    let active = limits();
    let paused = WakeLimits { paused: true, ..limits() };
    let mut members = team(&active, &paused);
    members[2].is_busy = bob_is_busy;
    let asked = [2, 3].into_iter().filter(|number| *number == 2 || !bob_is_busy);
    let choice = Choice { asked: asked.map(entity).collect(), ..Choice::default() };
    let message = MessageId::new(Time::from_millis(1), 9);
    let run_of = |agent| RunId::of_message(agent, message, Time::from_millis(2));
    let mut window = RateWindow::default();
    let routing = Routing::Chose(&choice);
    let mut decided = decide(&settings, &members, hi(), routing, None, &mut window, run_of);
    assert_eq!(decided.all_left_out().len(), 2 - usize::from(bob_is_busy));
    let scores: Vec<_> = scores.iter().map(|(number, score)| (entity(*number), *score)).collect();
    let best = Best { scores: &scores, threshold: 0.07 };
    decided.wake_best(best, &settings, &members, hi(), &mut window, run_of);
    assert!(decided.taken.len() <= 1 && decided.counted == decided.taken.len());
    let entries = decided.dispatch.iter().map(|entry| {
        assert_eq!(entry.run_id, entry.source.map(|_| run_of(entry.agent_id)));
        let number = (1..=4).find(|&number| entity(number) == entry.agent_id).unwrap();
        let source = entry.source.map_or("-", Source::as_str);
        format!("{number}:{source}({})", entry.reason_text.as_deref().unwrap_or_default())
    });
    entries.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_question_that_wakes_nobody_wakes_the_agent_with_the_best_score() {
    let scores = [(2, 0.031), (3, 0.049), (4, 0.9)];
    assert_eq!(
        answered(false, 120, &scores),
        "2:-() 3:router(nobody reached 0.07; best is 0.05) 4:-()"
    );
    assert_eq!(
        answered(false, 120, &[(2, 0.3), (3, 0.3)]),
        "2:router(nobody was chosen; best is 0.30) 3:-() 4:-()"
    );
    let busy = "50 of its runs are at work or wait";
    assert_eq!(
        answered(true, 120, &scores),
        format!("2:router(nobody reached 0.07; best is 0.03) 3:-({busy}) 4:-()")
    );
    assert_eq!(answered(false, 0, &scores), "2:-() 3:-() 4:-()");
    assert_eq!(answered(false, 120, &[]), "2:-() 3:-() 4:-()");
}
