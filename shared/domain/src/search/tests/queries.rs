//! What a query means, and what is wrong with one.

use super::{Query, entry, query, sender};
use crate::{Error, search::Filters};

fn faults(q: &str, filters: &Filters) -> Vec<(String, String)> {
    match Query::parse(q, filters) {
        Ok(query) => panic!("{query:?}"),
        Err(Error::Invalid(faults)) => {
            faults.into_iter().map(|fault| (fault.pointer, fault.detail)).collect()
        }
        Err(error) => panic!("{error}"),
    }
}

fn texts(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}

#[test]
fn words_find_their_forms_and_their_parts() {
    for (q, text) in [
        ("rollback plan", "the plan"),
        ("plans", "we planned it"),
        ("café", "at the CAFE"),
        ("strasse", "Straße"),
        ("istanbul", "İstanbul"),
        ("foo_bar", "call foo_bar()"),
        ("bar", "call foo_bar()"),
        ("v2.1", "released v2.1 today"),
        ("a-b", "an a-b test"),
        ("https://ex.com/a?b=c", "see <https://ex.com/a?b=c>"),
        ("ex.com", "see https://www.ex.com/a"),
        ("sara", "Sara’s plan"),
        ("検索", "全文検索する"),
        ("字", "漢字検索"),
        ("漢", "漢字検索"),
        ("검색", "한글 검색기"),
        ("สวัสดี", "สวัสดีครับ"),
        ("محمد", "مُحَمَّد"),
        ("👍", "fine 👍🏽"),
        ("invisible", "in\u{200b}visible"),
        ("in\u{200b}visible", "invisible"),
        ("deploy*", "deployments"),
        ("v2.1*", "v2.10"),
        ("l'av*", "l'avion"),
        ("l'av*", "l'av"),
        ("don't*", "I don't know"),
        ("\"字 plan\"", "漢字 plan"),
        ("字plan", "字plan"),
        ("plan字検", "plan 字検索"),
        ("\"plan 字\"", "plan 字検"),
        ("a字b", "a字b"),
        ("\"rollback plan\"", "the Rollback, plan B"),
        ("“rollback plan", "the rollback plan"),
        ("foo:bar", "foo: bar"),
        ("plan -draft", "the plan"),
        ("plan -\"first draft\"", "first plan, second draft"),
        ("ＰＬＡＮ", "plan"),
    ] {
        assert!(query(q).is_hit(&entry(1, text)), "{q} {text}");
    }
}

#[test]
fn other_words_find_nothing() {
    for (q, text) in [
        ("not", "note"),
        ("\"plans\"", "plan"),
        ("\"rollback plan\"", "plan rollback"),
        ("\"rollback plan\"", "rollback the plan"),
        ("字検", "漢字 検索"),
        ("deploy*", "redeploy"),
        ("plan -draft", "the draft of the plan"),
        ("plan -drafts", "the draft of the plan"),
        ("plan -dra*", "the draft of the plan"),
        ("plan -\"first draft\"", "first draft of the plan"),
        ("foo_bar", "foo baz bar"),
        ("\"字 plan\"", "漢字検 plan"),
        ("字plan", "漢字検 plan"),
        ("\"plan 字\"", "plan 漢字検"),
        ("a字b", "a字検b"),
        ("l'av*", "le avion"),
    ] {
        assert!(!query(q).is_hit(&entry(1, text)), "{q} {text}");
    }
}

#[test]
fn filters_in_the_text_and_beside_it_hold_together() {
    let filters = Filters {
        spaces: texts(&["spc_1"]),
        from: texts(&["me"]),
        before: Some("2026-02-18".into()),
        after: Some("2026-02-01T12:00:00Z".into()),
        has: texts(&["file"]),
    };
    let q = r#"in:"Ops room" from:@sara from:omar has:link before:2026-03-01 after:2026-02-02 x"#;
    let query = Query::parse(q, &filters).unwrap();
    assert_eq!(query.spaces, [texts(&["spc_1"]), texts(&["Ops room"])]);
    assert_eq!(query.from, [texts(&["me"]), texts(&["sara", "omar"])]);
    assert_eq!(query.before.unwrap().to_string(), "2026-02-18T00:00:00.000Z");
    assert_eq!(query.after.unwrap().to_string(), "2026-02-02T00:00:00.000Z");
    assert_eq!(query.ignored, texts(&[]));
    assert!(query.has_words());
}

#[test]
fn a_time_before_is_left_out_and_a_time_after_is_not() {
    let message = entry(1, "plan");
    let at = |filter: &str| format!("{filter}:{}", message.at);
    assert!(query(&at("after")).is_hit(&message));
    assert!(!query(&at("before")).is_hit(&message));
}

#[test]
fn only_messages_of_the_senders_are_found() {
    let mut query = query("from:sara");
    assert!(!query.has_words());
    query.set_senders([sender(2)]);
    assert!(!query.is_hit(&entry(1, "plan")));
    query.set_senders([sender(1), sender(2)]);
    assert!(query.is_hit(&entry(1, "plan")));
}

#[test]
fn faults_say_where_they_are() {
    let none = Filters::default();
    let long = "x".repeat(257);
    for (q, detail) in [
        ("", "expected 1 to 256 characters with a word"),
        (" ", "expected 1 to 256 characters with a word"),
        (" ?! ", "expected a word"),
        ("-from:omar", "a filter cannot be excluded"),
        ("plan -has:link", "a filter cannot be excluded"),
        ("plan -in:x", "a filter cannot be excluded"),
        ("plan -from:\"Dup One\"", "a filter cannot be excluded"),
        ("from: omar", "expected a name behind from:"),
        ("plan in: Ops", "expected a name behind in:"),
        ("has: link", "expected a name behind has:"),
        (long.as_str(), "expected at most 256 characters, got 257"),
        ("a\0b", "expected a text without NUL"),
        ("-draft", "expected a word to search for besides what is excluded"),
        ("-draft in:Ops", "expected a word to search for besides what is excluded"),
        ("a*", "expected at least 2 characters before *, got \"a*\""),
        ("plan -b*", "expected at least 2 characters before *, got \"b*\""),
        ("has:files", "expected one of file, image, link, code, card, reply, got \"files\""),
        ("before:soon", "expected an RFC 3339 time or a day such as 2026-02-18, got \"soon\""),
    ] {
        assert_eq!(faults(q, &none), [("/q".to_owned(), detail.to_owned())], "{q:?}");
    }
    let wrong = Filters {
        spaces: vec!["spc".into(); 21],
        from: vec!["ent".into(); 11],
        before: Some("2026-02-30".into()),
        after: Some(String::new()),
        has: texts(&["file", ""]),
    };
    let pointers: Vec<_> = faults("x", &wrong).into_iter().map(|(pointer, _)| pointer).collect();
    assert_eq!(pointers, ["/has", "/before", "/after", "/spaceId", "/from"]);
}

#[test]
fn a_query_without_words_needs_a_filter() {
    for q in ["has:file", "from:sara", "before:2026-02-18", "in:Ops", "has:file -draft"] {
        assert!(!query(q).has_words(), "{q}");
    }
}

#[test]
fn the_first_32_words_count() {
    let words: Vec<_> = (10..50).map(|number| number.to_string()).collect();
    let q = format!("{} 10 -99 \"so long\"", words.join(" "));
    let parsed = query(&q);
    let ignored: Vec<_> =
        words[32..].iter().map(String::as_str).chain(["-99", "\"so long\""]).collect();
    assert_eq!(parsed.ignored, ignored);
    assert!(parsed.is_hit(&entry(1, "41 99")));
    assert!(!parsed.is_hit(&entry(1, "42")));
}

#[test]
fn a_text_without_a_word_does_not_find_everything() {
    let filters = Filters { spaces: texts(&["spc_1"]), ..Filters::default() };
    for q in ["!!!", "?", "*", "%", "\"\"", "-", "-\"\"", "\u{200b}"] {
        assert_eq!(faults(q, &filters), [("/q".to_owned(), "expected a word".to_owned())], "{q}");
    }
    for q in ["", " ", "has:file ?", "in:Ops !!!"] {
        assert!(!Query::parse(q, &filters).unwrap().has_words(), "{q}");
    }
}

#[test]
fn the_words_of_phrases_count() {
    let long: Vec<_> = (10..60).map(|number| number.to_string()).collect();
    let cut = query(&format!("\"{}\"", long.join(" ")));
    assert_eq!(cut.ignored, [format!("\"{}\"", long[32..].join(" "))]);
    assert!(cut.is_hit(&entry(1, &long[..32].join(" "))));
    assert!(!cut.is_hit(&entry(1, &long[..31].join(" "))));
    let most = long[..31].join(" ");
    let full = query(&format!("\"{most}\" \"so long\" so long"));
    assert_eq!(full.ignored, texts(&["\"so long\"", "long"]));
    let excluded = query(&format!("plan -\"{}\"", long.join(" ")));
    assert_eq!(excluded.ignored, [format!("-\"{}\"", long.join(" "))]);
}

#[test]
fn the_last_day_of_the_calendar_is_a_day() {
    for q in ["before:9999-12-31", "before:9999-12-31T23:59:59Z", "before:9999-12-30"] {
        assert!(query(q).is_hit(&entry(1, "plan")), "{q}");
    }
    let refused = faults("before:9999-12-31x", &Filters::default());
    assert!(refused[0].1.starts_with("expected an RFC 3339 time or a day"), "{refused:?}");
}
