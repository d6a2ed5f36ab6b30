//! What a prompt shows of replies.

use std::sync::Arc;

use smartspace_domain::messages::ReplyTo;

use crate::prompt::{
    reading::{PARENTS_SHOWN, PromptSources},
    tests::{long, text},
    tokens::count,
};

/// Lets a message of a conversation reply to another one.
fn reply(all: &mut PromptSources, seq: u64, to: u64) {
    let trigger_space = all.trigger_space.as_mut().unwrap();
    let at = |seq: u64| seq as usize - 1;
    let parent = &trigger_space.messages[at(to)];
    let reply_to =
        ReplyTo { seq: to, message_id: Some(parent.id), sender_id: Some(parent.sender.id) };
    let message = &mut trigger_space.messages[at(seq)];
    Arc::make_mut(message).reply_to = Some(reply_to);
    if trigger_space.trigger.seq == seq {
        trigger_space.trigger = Arc::clone(message);
    }
}

/// The lines of `REPLIED TO`.
fn replied_to(shown: &str) -> Vec<&str> {
    let lines = shown.lines().skip_while(|line| *line != "REPLIED TO:").skip(1);
    lines.take_while(|line| line.starts_with('#')).collect()
}

#[test]
fn a_line_names_its_parent_and_parents_outside_of_the_window_follow() {
    // The window begins with the message 25.
    let mut all = long(90, 87);
    reply(&mut all, 60, 5);
    reply(&mut all, 88, 80);
    reply(&mut all, 89, 4);
    reply(&mut all, 90, 2);
    let shown = text(&all);
    for line in [
        r#"#60 15:08 Husam ↩#5: "message 60""#,
        r#"[NEW] #88 15:08 Husam ↩#80: "message 88""#,
        r#"[NEW] #90 15:08 Husam ↩#2: "message 90"  ← TRIGGER"#,
    ] {
        assert!(shown.lines().any(|it| it == line), "{line} in {shown}");
    }
    assert_eq!(
        replied_to(&shown),
        [r#"#2 2026-02-18 15:07 You: "message 2""#, r#"#4 2026-02-18 15:07 Husam: "message 4""#],
        "neither the parent of a seen message nor one in the window"
    );
}

#[test]
fn long_parents_are_cut_and_there_are_five_of_them() {
    let mut all = long(90, 74);
    for (seq, to) in (75..=90).zip(1..) {
        reply(&mut all, seq, to);
    }
    for message in &mut all.trigger_space.as_mut().unwrap().messages[..24] {
        let message = Arc::make_mut(message);
        message.card = None;
        message.text = "x".repeat(1_500);
    }
    let shown = text(&all);
    let parents = replied_to(&shown);
    assert_eq!(parents.len(), PARENTS_SHOWN);
    let of_trigger = parents.last().unwrap();
    assert!(of_trigger.starts_with("#16 "), "{of_trigger}");
    assert!(of_trigger.ends_with("… (500 more characters; read_messages shows all)"));
    assert!(parents[0].starts_with("#12 "), "of the newest messages");
    assert!(parents[0].ends_with("… (1,200 more characters; read_messages shows all)"));
}

#[test]
fn a_prompt_without_replies_says_nothing_of_them() {
    assert!(!text(&long(90, 87)).contains("REPLIED TO"));
}

#[test]
fn a_reply_costs_at_most_five_tokens() {
    for parent in ["9", "17", "1249", "12345"] {
        let with = count(&format!("#1250 14:52 Husam ↩#{parent}: \"Yes.\"\n"));
        let without = count("#1250 14:52 Husam: \"Yes.\"\n");
        assert!(with - without <= 5, "{parent}: {}", with - without);
    }
}
