//! The pieces of messages that show why they were found.

use super::{Entry, Excerpt, Span, entry, query};

/// The excerpt with brackets around its matches.
fn shown(text: &str, q: &str) -> String {
    marked(&Excerpt::of(&entry(1, text), &query(q)))
}

fn marked(excerpt: &Excerpt) -> String {
    let units: Vec<u16> = excerpt.text.encode_utf16().collect();
    let piece =
        |from: u32, to: u32| String::from_utf16(&units[from as usize..to as usize]).unwrap();
    let mut text = String::new();
    let mut at = 0;
    for span in &excerpt.matches {
        text.push_str(&piece(at, span.start));
        text.push('[');
        text.push_str(&piece(span.start, span.end));
        text.push(']');
        at = span.end;
    }
    text + &piece(at, units.len() as u32)
}

#[test]
fn the_words_of_the_query_are_marked() {
    for (text, q, expected) in [
        ("The rollback plan.", "plan rollback", "The [rollback] [plan]."),
        ("👩\u{200d}💻 Tür, Plan", "plan", "👩\u{200d}💻 Tür, [Plan]"),
        ("foo_bar bar", "foo_bar", "[foo_bar] bar"),
        ("Deployments deploy", "deploym*", "[Deployments] deploy"),
        ("全文検索する", "文検索", "全[文検索]する"),
        ("漢字検", "字", "漢[字]検"),
        ("漢字 plan", "\"字 plan\"", "漢[字 plan]"),
        ("plan字検", "plan字", "[plan字]検"),
        ("plan 字", "plan字", "[plan 字]"),
        ("l'avion", "l'av*", "[l'avion]"),
        ("in\u{200b}visible", "invisible", "[in\u{200b}visible]"),
        ("Straße", "strasse", "[Straße]"),
        ("plan A, plan B", "\"plan b\"", "plan A, [plan B]"),
        ("nothing", "has:reply", "nothing"),
    ] {
        assert_eq!(shown(text, q), expected, "{q}");
    }
}

#[test]
fn a_long_text_is_cut_around_the_place_with_most_words() {
    let filler = "some words about other things ".repeat(20);
    let text = format!("rollback {filler}the rollback plan is in the second file {filler}");
    let shown = shown(&text, "rollback plan");
    assert!(shown.starts_with("… "), "{shown}");
    assert!(shown.contains("the [rollback] [plan] is in the second file"), "{shown}");
    assert!(shown.ends_with(" …"), "{shown}");
    let chars = shown.chars().filter(|char| !"[]".contains(*char)).count();
    assert!((250..=300).contains(&chars), "{chars} {shown}");
}

#[test]
fn no_text_has_a_longer_excerpt() {
    let texts = [
        "漢字".repeat(400),
        "x".repeat(1_000),
        "👍".repeat(400),
        format!("{} plan", "a b ".repeat(99)),
    ];
    for text in &texts {
        for q in ["漢字", "x*x", "👍", "plan", "b"] {
            let excerpt = Excerpt::of(&entry(1, text), &query(q));
            assert!(excerpt.text.chars().count() <= 300, "{q} {}", excerpt.text);
            marked(&excerpt);
        }
    }
}

#[test]
fn the_name_of_a_file_is_an_excerpt_if_only_it_is_found() {
    let mut message = entry(1, "see this");
    message.texts.push("rollback-plan.pdf".into());
    let shown = |q: &str| marked(&Excerpt::of(&message, &query(q)));
    assert_eq!(shown("plan"), "rollback-[plan].pdf");
    assert_eq!(shown("this plan"), "see [this]");
    let empty = Entry { texts: Vec::new(), ..entry(1, "") };
    assert_eq!(Excerpt::of(&empty, &query("x")), Excerpt::default());
}

#[test]
fn overlapping_words_are_marked_up_to_the_ends_of_the_excerpt() {
    let excerpt = Excerpt::of(&entry(1, &"哈".repeat(400)), &query("哈哈"));
    assert_eq!(excerpt.text, format!("{} …", "哈".repeat(298)));
    assert_eq!(excerpt.matches, [Span { start: 0, end: 298 }]);
    let blanks = " ".repeat(400);
    let text = format!("{blanks}rollback{blanks}plan");
    let shown = shown(&text, "\"rollback plan\"");
    assert!(shown.contains("[rollback "), "{shown}");
}

#[test]
fn a_long_text_with_one_word_only_has_an_excerpt() {
    for (text, q) in [
        ("漢".repeat(10_000), "漢".repeat(256)),
        ("a ".repeat(16_000), format!("\"{}\"", "a ".repeat(126))),
    ] {
        let (message, query) = (entry(1, &text), query(&q));
        assert_eq!(query.ignored.len(), 1);
        assert!(query.is_hit(&message));
        let excerpt = Excerpt::of(&message, &query);
        assert_eq!(excerpt.matches.len(), 1, "{:?}", excerpt.matches);
        assert!(excerpt.matches[0].end > 290, "{:?}", excerpt.matches);
    }
}

#[test]
fn the_place_with_most_words_may_follow_thousands_of_places() {
    let text = format!("{} the rollback of a plan", "a b ".repeat(3_000));
    let shown = shown(&text, "a rollback plan");
    assert!(shown.ends_with("the [rollback] of a [plan]"), "{shown}");
}
