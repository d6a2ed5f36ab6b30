use super::*;
use crate::gate::{Dial, Gate, Score};

/// The decision about a message of the person 1 with these scores of the agents from 2 on, as
/// `number:source` or `number!reason` with the text, and how many of the agents that the router is
/// asked about it may choose.
fn gated(
    mode: GateMode,
    has_model: bool,
    scores: &[f64],
    routing: Routing<'_>,
    change: impl Fn(&mut [Candidate<'_>]),
) -> (String, Vec<u128>, usize) {
    let active = limits();
    let numbers = 2..2 + scores.len() as u128;
    let agents = numbers.clone().map(|number| member(number, "Agent", Some(&active)));
    let mut members: Vec<_> =
        [member(1, "Husam", None), member(99, "Sara", None)].into_iter().chain(agents).collect();
    change(&mut members);
    let score = |(number, score): (u128, &f64)| Score {
        agent_id: entity(number),
        score: *score,
        because: Vec::new(),
        words: "why".into(),
    };
    let scores: Vec<_> = numbers.clone().zip(scores).map(score).collect();
    let settings = GateSettings { mode, dial: Dial::Balanced };
    let gate = Gate::new(settings, has_model, &scores);
    let texts: Vec<_> = scores.iter().map(Score::reason_text).collect();
    let gating = Gating { gate: &gate, texts: &texts, would_wake: &[] };
    let space = SpaceSettings { gate: settings, ..space(TriggerPolicy::Router) };
    let mut window = RateWindow::default();
    let run = RunId::new(Time::from_millis(1), 1);
    let decided = decide(&space, &members, hi(), routing, Some(gating), &mut window, |_| run);
    let number = |agent| numbers.clone().find(|number| entity(*number) == agent).unwrap();
    let words = decided.dispatch.iter().map(|it| {
        let number = number(it.agent_id);
        let words = it.reason_text.as_deref().unwrap_or_default();
        match (it.source, it.reason) {
            (Some(source), _) => format!("{number}:{} {words}", source.as_str()),
            (_, Some(reason)) => format!("{number}!{} {words}", reason.as_str()),
            other => panic!("{other:?}"),
        }
    });
    let asked = decided.asks_router.iter().map(|agent| number(*agent)).collect();
    (words.collect::<Vec<_>>().join(", "), asked, decided.left_for_router)
}

fn no_change(_: &mut [Candidate<'_>]) {}

#[test]
fn without_a_model_the_gate_decides_alone() {
    let (words, asked, _) =
        gated(GateMode::On, false, &[0.5, 0.07, 0.069], Routing::Unasked, no_change);
    assert_eq!(words, "2:router gate 0.50: why, 3:router gate 0.07: why, 4!router gate 0.07: why");
    assert_eq!(asked, []);
}

#[test]
fn a_model_is_asked_about_the_agents_between_the_thresholds() {
    let scores = [0.5, 0.2, 0.1, 0.01];
    let decided = |routing| gated(GateMode::On, true, &scores, routing, no_change);
    let (_, asked, left) = decided(Routing::Unasked);
    assert_eq!((asked, left), (vec![3, 4], 2), "one of three is woken anyway");
    let choice = Choice {
        asked: [entity(3), entity(4)].into(),
        chosen: [(entity(4), "fits".to_owned())].into(),
        others: [(entity(3), "does not".to_owned())].into(),
        ..Choice::default()
    };
    let (words, asked, _) = decided(Routing::Chose(&choice));
    assert_eq!(
        words,
        "2:router gate 0.50: why, 3!router does not, 4:router fits, 5!router gate 0.01: why"
    );
    assert_eq!(asked, []);
    let (words, ..) = decided(Routing::Failed);
    assert_eq!(
        words,
        "2:router gate 0.50: why, 3:router gate 0.20: why, 4:router gate 0.10: why, \
         5!router gate 0.01: why"
    );
    let (words, ..) = decided(Routing::OverRate("too often"));
    assert_eq!(
        words,
        "2:router gate 0.50: why, 3!rate too often, 4!rate too often, 5!router gate 0.01: why"
    );
}

#[test]
fn the_best_scores_stay_within_the_most_agents() {
    let scores = [0.3, 0.6, 0.4, 0.5, 0.1];
    let (words, asked, left) = gated(GateMode::On, true, &scores, Routing::Unasked, no_change);
    let cut = |score| format!("gate {score}: 3 agents (maxAgents) have a better score");
    assert_eq!(
        words,
        format!(
            "2!router {}, 3:router gate 0.60: why, 4:router gate 0.40: why, \
             5:router gate 0.50: why, 6!router {}",
            cut("0.30"),
            cut("0.10")
        )
    );
    assert_eq!((asked, left), (vec![], 0), "the model may choose nobody besides");
    let busy = |members: &mut [Candidate<'_>]| members[3].is_busy = true;
    let (words, ..) = gated(GateMode::On, true, &scores, Routing::Unasked, busy);
    assert!(
        words.starts_with("2:router gate 0.30: why, 3!busy 50 of its runs"),
        "a busy agent takes no place: {words}"
    );
}

#[test]
fn an_agent_without_a_score_is_left_out() {
    let active = limits();
    let score = Score { agent_id: entity(3), score: 0.5, because: Vec::new(), words: "why".into() };
    let settings = GateSettings::default();
    let gate = Gate::new(settings, false, std::slice::from_ref(&score));
    let gating = Some(Gating { gate: &gate, texts: &[score.reason_text()], would_wake: &[] });
    let members = [
        member(1, "Husam", None),
        member(2, "Ada", Some(&active)),
        member(3, "Bob", Some(&active)),
    ];
    let space = SpaceSettings { gate: settings, ..space(TriggerPolicy::Router) };
    let run = RunId::new(Time::from_millis(1), 1);
    let window = &mut RateWindow::default();
    let decided = decide(&space, &members, hi(), Routing::Failed, gating, window, |_| run);
    let decisions: Vec<_> = decided.dispatch.iter().map(|it| (it.source, it.reason)).collect();
    assert_eq!(decisions, [(None, Some(Reason::Router)), (Some(Source::Router), None)]);
}

#[test]
fn a_shadow_changes_nothing() {
    let (words, ..) = gated(GateMode::Shadow, false, &[0.5, 0.0], Routing::Failed, no_change);
    assert_eq!(words, "2:broadcast , 3:broadcast ");
}

#[test]
fn a_gate_scores_the_agents_that_a_message_could_wake_and_does_not_address() {
    let active = limits();
    let paused = WakeLimits { paused: true, ..limits() };
    let members = team(&active, &paused);
    let of = |text, chain_depth| {
        let mentions = found(text);
        let incoming = IncomingMessage { text, mentions: &mentions, chain_depth, ..hi() };
        scored(&space(TriggerPolicy::Router), &members, incoming)
    };
    assert_eq!(of("hi", 0), [entity(2), entity(3)]);
    assert_eq!(of("hi @ada", 0), []);
    assert_eq!(of("hi @all", 0), []);
    assert_eq!(of("hi", 2), []);
    let pair = IncomingMessage { sender: entity(1), ..hi() };
    assert_eq!(scored(&space(TriggerPolicy::Router), &members[..2], pair), []);
}

/// The end of the chain with a message of the agent 2 at the depth of a space with a gate.
fn ended_at_depth(mode: GateMode, text: &str, would_wake: &[EntityId]) -> Option<ChainEnded> {
    let active = limits();
    let members = team(&active, &active);
    let settings = GateSettings { mode, dial: Dial::Balanced };
    let space = SpaceSettings { gate: settings, ..space(TriggerPolicy::Router) };
    let mentions = found(text);
    let incoming = IncomingMessage {
        sender: entity(2),
        sender_kind: EntityType::Agent,
        text,
        mentions: &mentions,
        chain_depth: 2,
        auto_since: Some(1),
        ..hi()
    };
    let gate = Gate::new(settings, false, &[]);
    let gating = Gating { gate: &gate, texts: &[], would_wake };
    let mut window = RateWindow::default();
    let run = RunId::new(Time::from_millis(1), 1);
    let decided =
        decide(&space, &members, incoming, Routing::Unasked, Some(gating), &mut window, |_| run);
    assert!(decided.dispatch.iter().all(|it| it.reason == Some(Reason::ChainDepth)));
    decided.chain_ended
}

#[test]
fn a_gate_that_would_wake_nobody_ends_no_chain() {
    let ended = Some(ChainEnded { by: ChainLimit::Depth, limit: 2 });
    assert_eq!(ended_at_depth(GateMode::On, "hi", &[]), None);
    assert_eq!(ended_at_depth(GateMode::On, "hi", &[entity(4)]), ended);
    assert_eq!(ended_at_depth(GateMode::On, "hi @bob", &[]), ended);
    assert_eq!(ended_at_depth(GateMode::Off, "hi", &[]), ended, "a model would be asked");
}

#[test]
fn a_gate_scores_who_is_stopped_by_the_depth_for_the_end_of_a_chain_alone() {
    let active = limits();
    let members = team(&active, &active);
    let of = |sender_kind, policy, text, chain_depth| {
        let mentions = found(text);
        let sender = entity(2);
        let incoming =
            IncomingMessage { sender, sender_kind, text, mentions: &mentions, chain_depth, ..hi() };
        let gate = GateSettings { mode: GateMode::On, dial: Dial::Balanced };
        stopped_by_depth(&SpaceSettings { gate, ..space(policy) }, &members, incoming)
    };
    let agent = EntityType::Agent;
    assert_eq!(of(agent, TriggerPolicy::Router, "hi", 2), [entity(3), entity(4)]);
    assert_eq!(of(agent, TriggerPolicy::Router, "hi", 1), []);
    assert_eq!(of(agent, TriggerPolicy::Router, "hi @bob", 2), []);
    assert_eq!(of(agent, TriggerPolicy::All, "hi", 2), []);
    assert_eq!(of(EntityType::Human, TriggerPolicy::Router, "hi", 2), []);
}
