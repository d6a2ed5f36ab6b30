use super::*;
use crate::{Time, ids::EntityId, mentions};

fn asks_all(text: &str) -> bool {
    let agents = ["Ada", "Help Desk"];
    let people = ["Sara", "Jean-Luc Picard", "王伟", "민수", "Øystein", "Мария", "سارة"];
    let members = agents.into_iter().chain(people).zip(1..);
    let members = members.map(|(name, number)| (EntityId::new(Time::default(), number), name));
    is_question(text, !mentions::find(text, members).is_empty(), people.into_iter())
}

#[test]
fn a_question_mark_of_any_writing_system_asks() {
    for text in [
        "Where is the report?",
        "Wo ist der Bericht?!",
        "¿Dónde está el informe?",
        "报告在哪里？",
        "レポートはどこですか？",
        "보고서는 어디에 있나요?",
        "รายงานอยู่ที่ไหน?",
        "रिपोर्ट कहाँ है?",
        "Πού είναι η αναφορά\u{37E}",
        "Где отчёт?",
        "איפה הדוח?",
        "أين التقرير؟",
        "گزارش کجاست؟",
        "Ո՞ւր է հաշվետվությունը",
        "?",
        "Who knows? I don't.",
    ] {
        assert!(asks_all(text), "{text}");
    }
    for text in ["Where is the report", "Wow!", "", "报告在这里。", "Ω; no", "¿", "Look⁇"]
    {
        assert!(!asks_all(text), "{text}");
    }
}

#[test]
fn marks_in_code_and_links_do_not_ask() {
    for text in [
        "Run `ls ?.txt` now",
        "Run ``a ` b?`` now",
        "```\nlet x = y?;\n```",
        "See:\n```rust\nlet x = y?;",
        "~~~\nlet x = y?;\n~~~",
        "See:\n~~~rust\nlet x = y?;",
        "> ~~~\n> x?\n",
        "See https://example.com/a?b=c.",
        "See https://example.com/?q and tell me.",
        "[here](https://example.com/a?b=c)",
        "<https://example.com/?>x",
        "www.example.com/?q",
        "mailto:sara@example.com?subject=x",
        "example.com/find?q=cats&x[]=1",
        "see git+ssh://host/x?y",
    ] {
        assert!(!asks_all(text), "{text}");
    }
    for text in [
        "Did you see https://example.com/a?",
        "Did you see https://example.com/a?b=c?",
        "[really?](https://example.com/a)",
        "(see https://example.com/a)?",
        "看过 https://example.com/a？",
        "What does `a?b:c` do?",
        "Is a lone ` fine?",
        "Why ```x``` here?",
        "~~~\nlet x = y;\n~~~\nDoes it work?",
        "Does ~~this~~ it work?",
        "What is :// for?",
    ] {
        assert!(asks_all(text), "{text}");
    }
}

#[test]
fn a_question_that_names_somebody_does_not_ask_all() {
    for text in [
        "@Ada, where is it?",
        "@ada?",
        "@all, where is it?",
        "Where is it, @help desk?",
        "Sara, where is it?",
        "Does Sara's mail work?",
        "@sara where is it?",
        "Is Jean-Luc Picard here?",
        "王伟知道吗？",
        "민수는 알아?",
        "Hva mener Øystein?",
        "Мария, где отчёт?",
        "هل سارة هنا؟",
    ] {
        assert!(!asks_all(text), "{text}");
    }
    for text in [
        "Ada, where is it?",
        "sara?",
        "SARA?",
        "Is Sarah here?",
        "Who wants asara-Sarai?",
        "Is that Jean-Luc?",
        "Где Мариям?",
        "See https://example.com/Sara - who wrote it?",
        "Was it mail@Ada?",
    ] {
        assert!(asks_all(text), "{text}");
    }
    assert!(is_question("Who?", false, [""].into_iter()));
}

#[test]
fn a_long_text_is_read_to_its_end() {
    let text = format!("{}?", "words and `code` ".repeat(2_000));
    assert!(asks_all(&text));
    assert!(!asks_all(&"`?` https://a.b/?c ".repeat(2_000)));
    assert!(!asks_all(&"`".repeat(32 * 1024)));
}
