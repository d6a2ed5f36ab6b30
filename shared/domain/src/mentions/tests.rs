use super::*;

fn named(text: &str) -> Vec<&'static str> {
    let names = ["Ada", "Ada Lovelace", "bob.2", "ÉMILE", "allan"];
    let found = find(text, names.into_iter());
    if found.all { vec!["*"] } else { found.named.iter().map(|&index| names[index]).collect() }
}

#[test]
fn the_longest_matching_name_is_mentioned() {
    assert_eq!(named("@ada, look"), ["Ada"]);
    assert_eq!(named("hi @ADA LOVELACE!"), ["Ada Lovelace"]);
    assert_eq!(named("@Ada Lovelaces"), ["Ada"]);
    assert_eq!(named("(@bob.2) and @ada"), ["Ada", "bob.2"]);
    assert_eq!(named("@émile."), ["ÉMILE"]);
}

#[test]
fn parts_of_words_are_not_mentions() {
    for text in [
        "ada",
        "x@ada",
        "1@ada",
        "_@ada",
        "mail.@ada",
        "@adam",
        "@ada_",
        "@ada2",
        "@",
        "@ ada",
        "@bob",
    ] {
        assert_eq!(named(text), [""; 0], "{text}");
    }
    assert_eq!(named("@ada-like"), ["Ada"]);
}

#[test]
fn at_all_mentions_everyone() {
    assert_eq!(named("@all: hello"), ["*"]);
    assert_eq!(named("@Allan"), ["allan"]);
    assert_eq!(named("@allow"), [""; 0]);
}

#[test]
fn long_names_and_texts_of_marks_are_compared_quickly() {
    let marks = "@".repeat(100);
    let names: Vec<String> = (0..400).map(|number| format!("{marks}{number}")).collect();
    let text = "@".repeat(32_000);
    let began = std::time::Instant::now();
    let found = find(&text, names.iter().map(String::as_str));
    assert_eq!(found, Mentions::default());
    // Comparing each name at each mark takes over a minute here.
    assert!(began.elapsed() < std::time::Duration::from_secs(4), "{:?}", began.elapsed());
    let last = format!("hi {}@{}", "@".repeat(50), names[399]);
    assert_eq!(find(&last, names.iter().map(String::as_str)).named, [399]);
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

#[test]
fn the_first_mention_is_the_first_in_the_text() {
    let first = |text| first(text, ["Ada", "Bob"].into_iter());
    assert_eq!(first("@bob and @ada"), Some(1));
    assert_eq!(first("@all, or @ada"), Some(0));
    assert_eq!(first("@all"), None);
    assert_eq!(first("bob"), None);
}
