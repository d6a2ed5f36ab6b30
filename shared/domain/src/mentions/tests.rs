use serde::Deserialize;

use super::*;
use crate::Time;

/// A mention: where it begins and ends, and the index of its member, or none for `@all`.
type Found = (u32, u32, Option<usize>);

/// Cases with the same members.
#[derive(Deserialize)]
struct Section {
    about: String,
    members: Vec<String>,
    /// Texts with their mentions.
    cases: Vec<(String, Vec<Found>)>,
}

fn entity(index: usize) -> EntityId {
    EntityId::new(Time::from_millis(1), index as u128)
}

fn found(text: &str, members: &[String]) -> Vec<Found> {
    let named = members.iter().enumerate().map(|(index, name)| (entity(index), name.as_str()));
    let index_of = |id| (0..members.len()).find(|index| entity(*index) == id).unwrap();
    let mentions = find(text, named).into_iter();
    mentions.map(|it| (it.start, it.end, it.entity_id.map(index_of))).collect()
}

/// The test of `findMentions` reads the same table.
#[test]
fn the_mentions_of_every_case_are_found() {
    let sections: Vec<Section> = serde_json::from_str(include_str!("cases.json")).unwrap();
    let mut count = 0;
    for Section { about, members, cases } in sections {
        for (text, expected) in cases {
            count += 1;
            assert_eq!(found(&text, &members), expected, "{about}: {text:?}");
        }
    }
    assert!(count >= 150, "{count}");
}

#[test]
fn the_first_thousand_signs_are_looked_at_and_fifty_mentions_stay() {
    let members = ["A".to_owned(), "a".to_owned()];
    let count = |text: &str| found(text, &members).len();
    assert_eq!(count(&format!("{}@A", "@x ".repeat(999))), 2);
    assert_eq!(count(&format!("{}@A", "@x ".repeat(1_000))), 0);
    assert_eq!(count(&format!("{} @A", "`@`".repeat(1_000))), 0);
    assert_eq!(count(&"@A ".repeat(60)), 50);
}

#[test]
fn names_with_the_same_fold_are_equal() {
    assert_eq!(fold("  Zoe\u{308}\u{a0} \u{200b}Stra\u{df}e "), fold("zo\u{eb} STRASSE"));
    assert_eq!(fold("\u{200b}"), "");
    assert_ne!(fold("Zoe"), fold("Zo\u{eb}"));
}

#[test]
fn long_names_and_texts_of_signs_take_at_most_twenty_times_as_long_as_prose() {
    const BYTES: usize = 32 * 1024;
    let begins: Vec<String> = (0..500).map(|it| format!("{}{it}", "@".repeat(97))).collect();
    let time = |text: &str| {
        let took = (0..5).map(|_| {
            let began = std::time::Instant::now();
            find(text, begins.iter().map(|name| (entity(0), name.as_str())));
            began.elapsed()
        });
        took.min().unwrap()
    };
    let prose = time(&"We ship on Friday, ask @Bob. ".repeat(BYTES / 29));
    for unit in ["@", "\u{ff20}", "@a", "`", "` ``", "\\", "-", "- ", "> ", "\u{200d}", "\n"] {
        let text = format!("@{}@", unit.repeat(BYTES / unit.len()));
        assert!(time(&text) <= prose * 20, "{unit:?}: {:?}, prose {prose:?}", time(&text));
    }
}

#[test]
fn a_person_is_named_by_a_whole_word_in_the_same_case() {
    for (text, name, expected) in [
        ("Done, Ana.", "Ana", true),
        ("@Ana: done", "Ana", true),
        ("done, ana", "Ana", false),
        ("Anas and Diana", "Ana", false),
        ("Anas, and then Ana", "Ana", true),
        ("ask Ana Lima", "Ana Lima", true),
        ("ask Ana Limas", "Ana Lima", false),
        ("Ana_1", "Ana", false),
        ("anything", "", false),
    ] {
        assert_eq!(names_person(text, name), expected, "{text}");
    }
}
