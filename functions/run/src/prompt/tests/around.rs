//! What stands around the history: pinned messages before it, and reactions behind it.

use std::sync::Arc;

use smartspace_domain::{
    Time,
    ids::EntityId,
    messages::{Emoji, Reactions},
};
use smartspace_store::spaces::PinRecord;

use crate::prompt::{
    reading::PromptSources,
    samples::sources,
    tests::{PLAIN, long, text},
    tokens::count,
};

fn pin(sources: &mut PromptSources, seqs: impl IntoIterator<Item = u64>) {
    let pin = |seq| PinRecord { seq, by: None, at: Time::from_millis(1) };
    let trigger_space = sources.trigger_space.as_mut().unwrap();
    trigger_space.space.pins = seqs.into_iter().map(pin).collect();
}

/// The block `PINNED` of a prompt. Empty if it has none.
fn pinned(text: &str) -> &str {
    let begin = text.find("PINNED:\n");
    begin.map_or("", |begin| &text[begin..begin + text[begin..].find("----").unwrap()])
}

#[test]
fn pins_stand_before_the_history_the_last_one_first() {
    let mut all = sources(&PLAIN, 3);
    let plain = text(&all);
    assert!(!plain.contains("PINNED"), "{plain}");
    // Message 9 has expired.
    pin(&mut all, [5, 9, 1]);
    let shown = text(&all);
    assert_eq!(
        pinned(&shown),
        "PINNED:\n\
         #1 2026-02-18 Husam: \"Let's finalize the Q4 report\"\n\
         #5 2026-02-18 Husam: \"five\"\n"
    );
    // It is a part of the conversation of its own.
    assert_eq!(shown.replace(&format!("{}----\n", pinned(&shown)), ""), plain);
}

#[test]
fn many_long_pins_have_a_limit_and_none_costs_nothing() {
    let mut all = long(60, 0);
    let words = "We ship on Fridays after lunch. ".repeat(20);
    let trigger_space = all.trigger_space.as_mut().unwrap();
    for message in &mut trigger_space.messages {
        Arc::make_mut(message).text.clone_from(&words);
    }
    assert_eq!(pinned(&text(&all)), "");
    pin(&mut all, 1..=20);
    let shown = text(&all);
    let shown = pinned(&shown);
    let lines: Vec<_> = shown.lines().collect();
    assert!(lines[1].starts_with("#20 ") && lines[2].starts_with("#19 "), "{shown}");
    let last = lines.last().unwrap();
    assert!(
        last.starts_with("… and #") && last.ends_with(", #1; read_messages shows them"),
        "{last}"
    );
    assert!(count(shown) <= 900, "{} tokens: {shown}", count(shown));
}

#[test]
fn reactions_are_one_line_behind_the_history() {
    let mut all = sources(&PLAIN, 3);
    let plain = text(&all);
    assert!(!plain.contains("REACTIONS"), "{plain}");
    let at = Time::from_millis;
    let trigger_space = all.trigger_space.as_mut().unwrap();
    let [person, me] = [0, 1].map(|index| trigger_space.messages[index].sender.id);
    let stranger = |number| EntityId::new(at(7), number);
    let emoji = |text| Emoji::of(text).unwrap();
    let of = |given: &[(&'static str, EntityId)]| {
        let given = given.iter().zip(1..).map(|((text, id), time)| (emoji(text), *id, at(time)));
        Reactions::of(given).view()
    };
    let party: Vec<_> = (0..4).map(|number| ("🎉", stranger(number))).collect();
    trigger_space.reactions = [
        (1, of(&[("👍", me), ("👍", person), ("👀", person)])),
        (4, of(&party)),
        (5, of(&[("👍", stranger(1))])),
        (6, Vec::new()),
    ]
    .into();
    let shown = text(&all);
    let line = "REACTIONS: #5 👍 1; #4 🎉 4; #1 👍 You, Husam 👀 Husam\n";
    assert_eq!(shown.replace(line, ""), plain, "{shown}");
    let history = shown.find("SPACE HISTORY").unwrap();
    let found = shown.find(line).unwrap();
    assert!(history < found && found < shown.find("\nTRIGGER: ").unwrap());
}
