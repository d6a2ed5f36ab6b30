//! The sentences of a prompt that depend on its run are true for that run.

use std::sync::Arc;

use serde_json::json;
use smartspace_domain::{
    Time,
    dispatch::{ChainEnded, ChainLimit, Source},
    entities::EntityType,
    ids::{EntityId, RunId},
    messages::{Origin, Sender},
    spaces::TriggerPolicy,
    triggers::{Delegation, Trigger},
};
use smartspace_store::messages::MessageRecord;

use crate::prompt::{
    PromptRun,
    reading::PromptSources,
    samples::{
        SampleTexts, full_sources, message_trigger, other_triggers, prompt_of, sources, text_of,
    },
    tests::{PLAIN, long, text},
    window::Room,
    write_prompt,
};

fn from(source: Source) -> impl Fn(Trigger) -> Trigger {
    move |mut trigger| {
        if let Trigger::SpaceMessage { source: is, .. } = &mut trigger {
            *is = source;
        }
        trigger
    }
}

/// The block `TRIGGER` of a prompt.
fn trigger_block(text: &str) -> &str {
    let begin = text.find("\nTRIGGER: ").unwrap() + 1;
    &text[begin..text.find("\nNOW: ").unwrap()]
}

/// A conversation whose message 4 triggers the agent, which has read all up to 6 and said 5.
fn waited() -> PromptSources {
    let mut all = long(6, 6);
    let trigger_space = all.trigger_space.as_mut().unwrap();
    trigger_space.trigger = Arc::clone(&trigger_space.messages[3]);
    let own = Arc::make_mut(&mut trigger_space.messages[4]);
    own.sender =
        Sender { id: all.agent.id, name: "Ada".into(), kind: EntityType::Agent, guest: false };
    all
}

fn lines_of(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.contains('#') && line.contains(" 15:07 ")).collect()
}

#[test]
fn the_trigger_of_a_run_that_waited_is_new_and_not_answered_yet() {
    let shown = text(&waited());
    assert_eq!(
        lines_of(&shown)[3..],
        [
            r#"[NEW] #4 15:07 Husam: "message 4"  ← TRIGGER"#,
            r#"#5 15:07 You: "message 5""#,
            r#"#6 15:07 Husam: "message 6""#,
        ]
    );
    assert_eq!(
        trigger_block(&shown),
        "TRIGGER: message #4 from Husam (human), names you, not answered yet\n\"message 4\""
    );
}

#[test]
fn a_message_that_ends_a_chain_says_below_its_line_that_it_wakes_nobody() {
    let mut all = waited();
    let own = Arc::make_mut(&mut all.trigger_space.as_mut().unwrap().messages[4]);
    own.chain_ended = Some(ChainEnded { by: ChainLimit::Depth, limit: 5 });
    let shown = text(&all);
    let below = "#5 15:07 You: \"message 5\"\n[wakes nobody: 5 in a row]\n";
    assert!(shown.contains(below), "{shown}");
    assert_eq!(shown.matches("[wakes nobody").count(), 1, "{shown}");
    let own = Arc::make_mut(&mut all.trigger_space.as_mut().unwrap().messages[4]);
    own.chain_ended = Some(ChainEnded { by: ChainLimit::Rate, limit: 60 });
    let shown = text(&all);
    let below = "#5 15:07 You: \"message 5\"\n[wakes nobody: too many runs this minute]\n";
    assert!(shown.contains(below), "{shown}");
}

#[test]
fn messages_that_joined_a_run_are_new() {
    let shown = text(&long(6, 6).with_joined(&[4]));
    let new: Vec<_> =
        lines_of(&shown).into_iter().filter(|line| line.starts_with("[NEW]")).collect();
    assert_eq!(
        new,
        [r#"[NEW] #4 15:07 Husam: "message 4""#, r#"[NEW] #6 15:07 Husam: "message 6"  ← TRIGGER"#]
    );
    assert!(!trigger_block(&shown).contains("not answered yet"), "{shown}");
}

#[test]
fn a_message_that_an_earlier_run_has_answered_is_not_called_unanswered() {
    let mut all = waited();
    let trigger = message_trigger(&all);
    let trigger_space = all.trigger_space.as_mut().unwrap();
    let own = Arc::make_mut(&mut trigger_space.messages[4]);
    own.origin = Some(Origin { trigger, tools_used: Vec::new() });
    assert!(!text(&all).contains("not answered yet"));
}

#[test]
fn a_trigger_says_in_words_why_the_agent_runs() {
    let all = full_sources(&PLAIN, 3);
    let head = |trigger: Trigger| {
        let shown = text_of(&prompt_of(&all, &trigger));
        let line = trigger_block(&shown).lines().next().unwrap().to_owned();
        line.strip_prefix("TRIGGER: message #1206 from Husam (human), ").unwrap().to_owned()
    };
    let trigger = || message_trigger(&all);
    let with = |source| head(from(source)(trigger()));
    assert_eq!(with(Source::Auto), "to you alone");
    assert_eq!(with(Source::Mention), "names you");
    assert_eq!(with(Source::Reply), "replies to you");
    assert_eq!(with(Source::Broadcast), "to all");
    assert_eq!(with(Source::Router), "chosen by the router");
    assert_eq!(with(Source::Partner), "you talked with Husam last");
    assert_eq!(
        with(Source::Unanswered),
        "nobody has answered #1206. You are the one to answer: say what you know, or that you do \
         not know"
    );
    assert_eq!(with(Source::Admin), "you are the admin");
    let by = Sender {
        id: EntityId::new(Time::default(), 9),
        name: "Desk".into(),
        kind: EntityType::Agent,
        guest: false,
    };
    let handed = trigger().handed_on(Delegation { by, note: None });
    assert_eq!(head(from(Source::Delegated)(handed)), "handed to you by Desk");
    let mut to_all = trigger();
    if let Trigger::SpaceMessage { text, .. } = &mut to_all {
        *text = "@all hello".into();
    }
    assert_eq!(head(to_all), "names you and all others");
}

/// The line after `ACTIVE SPACE` in a space with this policy.
fn waking(policy: TriggerPolicy, has_admin: bool, change: impl Fn(&mut PromptSources)) -> String {
    let mut all = full_sources(&PLAIN, 3);
    let settings = &mut all.trigger_space.as_mut().unwrap().space.settings;
    settings.trigger_policy = policy;
    settings.admin_agent_id = has_admin.then(|| EntityId::new(Time::default(), 77));
    change(&mut all);
    let shown = text(&all);
    let (_, after) = shown.split_once("\nACTIVE SPACE: \"Project Alpha\"\n").unwrap();
    after.lines().next().unwrap().to_owned()
}

#[test]
fn a_prompt_says_whom_a_message_wakes() {
    let all = "Your message wakes the other agents here; write @Name to ask one of them.";
    let named = "Your message wakes an agent only if you write @Name or reply to it.";
    let routed = "A router chooses whom your message wakes; @Name wakes that agent.";
    let other = "Your message wakes the other agent.";
    let group = |_: &mut PromptSources| {};
    assert_eq!(waking(TriggerPolicy::All, false, group), all);
    assert_eq!(waking(TriggerPolicy::Mention, false, group), named);
    assert_eq!(waking(TriggerPolicy::Admin, true, group), named);
    assert_eq!(waking(TriggerPolicy::Partner, false, group), named);
    assert_eq!(waking(TriggerPolicy::Router, false, group), routed);
    let pair = |all: &mut PromptSources| {
        let card = all.cards.values_mut().next().unwrap();
        card.members.truncate(2);
        card.members.iter_mut().for_each(|member| member.sender.kind = EntityType::Agent);
        card.count = 2;
    };
    for policy in [TriggerPolicy::All, TriggerPolicy::Mention, TriggerPolicy::Router] {
        assert_eq!(waking(policy, false, pair), other);
    }
    assert_eq!(waking(TriggerPolicy::Admin, false, pair), other);
    assert_eq!(waking(TriggerPolicy::Admin, true, pair), named);
}

#[test]
fn without_an_active_space_enter_space_says_whom_a_message_wakes() {
    for trigger in other_triggers(&PLAIN) {
        let none = PromptSources { trigger_space: None, ..full_sources(&PLAIN, 3) };
        let shown = text_of(&prompt_of(&none, &trigger));
        let block = "\nACTIVE SPACE: none (call enter_space first)\n\
                     enter_space says whom a message wakes there.\nTRIGGER: ";
        assert!(shown.contains(block), "{shown}");
        assert!(!shown.contains("Your message wakes"), "{shown}");
    }
}

#[test]
fn an_active_space_has_its_id_only_if_another_one_has_its_name() {
    let sample = SampleTexts { other_space: "Project Alpha", ..PLAIN };
    let shown = text(&full_sources(&sample, 3));
    assert!(shown.contains("\nACTIVE SPACE: \"Project Alpha\" (spc_"), "{shown}");
}

#[test]
fn an_admin_agent_reads_which_other_agents_were_named() {
    let named = |last: &str| {
        let texts = ["one", "two", last];
        let mut all = full_sources(&SampleTexts { key: "Quotes", texts: &texts, ..PLAIN }, 0);
        let id = all.agent.id;
        let settings = &mut all.trigger_space.as_mut().unwrap().space.settings;
        settings.trigger_policy = TriggerPolicy::Admin;
        settings.admin_agent_id = Some(id);
        let trigger = from(Source::Admin)(message_trigger(&all));
        let shown = text_of(&prompt_of(&all, &trigger));
        trigger_block(&shown).lines().skip(2).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(named("@quotes how much?"), ["Quotes was named."]);
    assert_eq!(named("@Ada @Quotes how much?"), ["Quotes was named."]);
    assert_eq!(named("@Husam and @Ada how much?"), [""; 0]);
}

#[test]
fn the_last_message_of_a_chain_is_announced() {
    let all = full_sources(&PLAIN, 3);
    let max = all.trigger_space.as_ref().unwrap().space.settings.max_chain_depth;
    let trigger = message_trigger(&all);
    let shown = |chain_depth| {
        let run = PromptRun { id: RunId::new(Time::default(), 7), trigger: &trigger, chain_depth };
        let config = all.agent.agent.as_ref().unwrap();
        text_of(&write_prompt(&all, config, run, Time::from_millis(0), Room::without_tools(config)))
    };
    let last = shown(max - 1);
    assert!(
        trigger_block(&last).ends_with("\nThis chain ends with your message: it wakes nobody."),
        "{last}"
    );
    assert!(!last.contains("Your message wakes"), "{last}");
    assert!(!shown(max - 2).contains("This chain ends"));
}

/// The instructions are a part of the system text, which providers cache.
#[test]
fn the_instructions_are_the_same_in_every_space_and_run() {
    let instructions = |text: String| text[..text.find("IDENTITY").unwrap()].to_owned();
    let of_policy = |policy| {
        let mut all = full_sources(&PLAIN, 3);
        all.trigger_space.as_mut().unwrap().space.settings.trigger_policy = policy;
        instructions(text(&all))
    };
    let first = of_policy(TriggerPolicy::All);
    for policy in [TriggerPolicy::Mention, TriggerPolicy::Admin, TriggerPolicy::Router] {
        assert_eq!(of_policy(policy), first);
    }
    assert_eq!(instructions(text(&sources(&PLAIN, 3))), first);
    for trigger in other_triggers(&PLAIN) {
        let none = PromptSources { trigger_space: None, ..full_sources(&PLAIN, 3) };
        assert_eq!(instructions(text_of(&prompt_of(&none, &trigger))), first);
    }
}

#[test]
fn the_card_of_a_form_says_who_answered() {
    let card = |status: &str, output: serde_json::Value, by: Option<&str>| {
        let mut all = sources(&PLAIN, 6);
        let message = Arc::make_mut(&mut all.trigger_space.as_mut().unwrap().messages[2]);
        let card = message.card.as_mut().unwrap();
        let mut stored = serde_json::to_value(&*card).unwrap();
        stored["status"] = json!(status);
        stored["output"] = json!({"text": output.to_string()});
        stored["asks"] = json!({
            "ui": "buttons", "hasSchema": false, "answerBy": "humans", "until": message.created_at,
            "resolvedBy": by.map(|_| EntityId::new(Time::default(), 5)), "resolvedName": by,
        });
        *card = serde_json::from_value(stored).unwrap();
        let message = MessageRecord::clone(message);
        let line = crate::prompt::lines::content(&all.names, &message);
        line.split_once("} output=").unwrap().1.to_owned()
    };
    let approve = json!({"choice": "Approve"});
    assert_eq!(
        card("completed", approve.clone(), Some("Olga")),
        r#"{"choice":"Approve"} (completed by Olga)"#
    );
    assert_eq!(
        card("completed", approve, None),
        r#"{"choice":"Approve"} (completed by the operator)"#
    );
    assert_eq!(
        card("completed", json!({"declined": true, "reason": "no"}), Some("Olga")),
        r#"{"declined":true,"reason":"no"} (declined by Olga)"#
    );
    assert_eq!(
        card("expired", json!({"error": "expired"}), None),
        r#"{"error":"expired"} (expired)"#
    );
}

#[test]
fn the_card_of_a_call_that_people_decide_says_how_far_that_is() {
    let olga = |action: &str| decision(5, "Olga", action, false);
    let max = |action: &str| decision(6, "Max", action, true);
    let paid = json!({"paid": true});
    let declined = json!({"declined": true, "reason": "too \"much\"\n#9"});
    let lines = [
        decided("pending", "open", &[], None, 1),
        decided("pending", "open", &[olga("approve")], None, 2),
        decided("pending", "approved", &[olga("edit"), max("approve")], None, 2),
        decided("completed", "approved", &[olga("approve")], Some(&paid), 1),
        decided("failed", "approved", &[max("approve")], Some(&json!({"error": "no"})), 1),
        decided("completed", "declined", &[olga("decline")], Some(&declined), 1),
        decided("completed", "declined", &[max("decline")], Some(&json!({"declined": true})), 1),
        decided("completed", "declined", &[olga("respond")], Some(&json!({"response": "No."})), 1),
        decided("expired", "expired", &[], Some(&json!({"declined": true})), 1),
        decided("canceled", "open", &[], Some(&json!({"error": "canceled"})), 1),
    ];
    assert_eq!(
        lines,
        [
            "(waits for approval by owners)",
            "(waits for approval by 2 owners; approved by Olga)",
            "(approved by Olga, Max (by the operator))",
            "output={\"paid\":true} (approved by Olga)",
            "output={\"error\":\"no\"} (failed; approved by Max (by the operator))",
            r#"(declined by Olga: "too \"much\"\u000a#9")"#,
            "(declined by Max (by the operator))",
            "output={\"response\":\"No.\"} (answered by Olga)",
            "output={\"declined\":true} (expired)",
            "output={\"error\":\"canceled\"} (canceled)",
        ]
    );
}

fn decision(number: u128, name: &str, action: &str, by_operator: bool) -> serde_json::Value {
    json!({
        "by": EntityId::new(Time::default(), number),
        "name": name,
        "action": action,
        "at": Time::default(),
        "byOperator": by_operator,
    })
}

/// The line of a card after its input.
fn decided(
    status: &str,
    state: &str,
    decisions: &[serde_json::Value],
    output: Option<&serde_json::Value>,
    needed: u32,
) -> String {
    let mut all = sources(&PLAIN, 6);
    let message = Arc::make_mut(&mut all.trigger_space.as_mut().unwrap().messages[2]);
    let card = message.card.as_mut().unwrap();
    let mut stored = serde_json::to_value(&*card).unwrap();
    stored["status"] = json!(status);
    stored["input"] = json!({"text": "{}"});
    stored["output"] = output.map_or(json!(null), |it| json!({"text": it.to_string()}));
    let approval =
        json!({"by": "owners", "needed": needed, "state": state, "decisions": decisions});
    stored["asks"] = json!({
        "ui": "approval", "hasSchema": true, "answerBy": "humans", "until": message.created_at,
        "approval": approval,
    });
    *card = serde_json::from_value(stored).unwrap();
    let message = MessageRecord::clone(message);
    let line = crate::prompt::lines::content(&all.names, &message);
    line.split_once("input={} ").unwrap().1.to_owned()
}
