mod golden;

use super::{words::WORDS, *};

#[test]
fn a_score_leads_to_a_wake_a_question_or_silence() {
    let alone = Dial::Balanced.thresholds(false);
    let with_model = Dial::Balanced.thresholds(true);
    let all =
        |thresholds: Thresholds| [0.27, 0.26, 0.07, 0.06].map(|score| thresholds.would(score));
    assert_eq!(all(alone), [Would::Wake, Would::Wake, Would::Wake, Would::Silent]);
    assert_eq!(all(with_model), [Would::Wake, Would::Ask, Would::Ask, Would::Silent]);
}

const PEOPLE: [&str; 4] = ["Sara", "Omar", "Ana", "Release Bot"];

fn id(who: usize) -> EntityId {
    EntityId::new(Time::from_millis(1), who as u128)
}

fn members() -> Vec<Member<'static>> {
    let member = |(who, name)| Member { id: id(who), name, description: None };
    PEOPLE.into_iter().enumerate().map(member).collect()
}

/// Messages of one minute each, by their senders' positions.
fn lines<'a>(said: &[(usize, &'a str)]) -> Vec<Line<'a>> {
    let line = |(at, (who, text)): (usize, &(usize, &'a str))| {
        Line::new(at as u64 + 1, Time::from_millis(at as i64 * 60_000), id(*who), text)
    };
    said.iter().enumerate().map(line).collect()
}

/// The scores of Ana and Release Bot for the last of some messages.
fn scored(said: &[(usize, &str)]) -> Vec<Score> {
    let lines = lines(said);
    let (message, before) = lines.split_last().unwrap();
    scores(&Talk { before, message, members: &members() }, &[id(2), id(3)])
}

#[test]
fn an_answer_to_its_question_wakes_the_agent_that_asked() {
    let scores = scored(&[
        (0, "Ana, can you plan the release?"),
        (2, "Sara, on which day?"),
        (0, "on Thursday"),
    ]);
    assert!(scores[0].score > 0.27, "{scores:?}");
    assert!(scores[0].score > 3.0 * scores[1].score, "{scores:?}");
}

#[test]
fn a_name_without_a_mark_counts_also_by_its_beginning() {
    for text in ["ana: is it done?", "release bot is it done", "Release, is it done?"] {
        let scores = scored(&[(1, "hi"), (0, text)]);
        let is_first = scores[0].score > scores[1].score;
        assert_eq!(is_first, text.starts_with("ana"), "{text}: {scores:?}");
    }
}

#[test]
fn words_and_codes_say_by_what_a_message_is_for_a_member() {
    let said = lines(&[(0, "what is new?"), (2, "nothing")]);
    let members = members();
    let words = |link: fn(&mut Line<'static>)| {
        let mut message = lines(&[(0, "what is new?"), (2, "nothing")]).pop().unwrap();
        link(&mut message);
        let talk = Talk { before: &said[..1], message: &message, members: &members };
        let window = Window::new(&talk, &[]);
        let content = Content::new(&window);
        let pair = pair(&talk, &window, &content, id(3));
        let moved = [(Because::OtherNamed, 1.0), (Because::Named, 0.5)];
        let because = because::strongest(&moved, &pair);
        let words: Vec<_> = because.iter().map(|code| code.words(&pair, &members)).collect();
        (because, words.join(", "))
    };
    let other = vec![Because::OtherNamed, Because::NotNamed];
    assert_eq!(
        words(|_| ()),
        (
            vec![Because::NobodyNamed, Because::NotNamed],
            "Ana names nobody, Ana does not name it".to_owned()
        )
    );
    let not = "Ana does not name it";
    assert_eq!(
        words(|message| message.answers = Some(id(0))),
        (other.clone(), format!("Ana answers Sara, {not}"))
    );
    assert_eq!(
        words(|message| message.reply_to = Some(id(0))),
        (other.clone(), format!("Ana replies to Sara, {not}"))
    );
    assert_eq!(
        words(|message| message.named = vec![id(0)]),
        (other, format!("Ana names Sara, {not}"))
    );
    assert_eq!(
        words(|message| message.answers = Some(id(3))),
        (
            vec![Because::NobodyNamed, Because::Named],
            "Ana names nobody else, Ana answers it".to_owned()
        )
    );
}

#[test]
fn an_empty_space_has_scores_and_the_first_of_equal_ones_is_best() {
    let scores = scored(&[(0, "hello")]);
    assert!(scores[0].score.to_bits() == scores[1].score.to_bits(), "{scores:?}");
    assert_eq!(best(&scores).unwrap().agent_id, id(2));
    assert!(best(&[]).is_none());
}

#[test]
fn scores_do_not_depend_on_more_than_the_last_50_messages_and_200_words() {
    let mut said = vec![(1, "Ana, where is the handbook?"), (2, "Omar: on the shelf")];
    said.extend([(1, "one"), (0, "two")].into_iter().cycle().take(WINDOW));
    let long = "word ".repeat(WORDS) + "Ana?";
    let short = "word ".repeat(WORDS) + "Omar!";
    said.push((0, &long));
    let whole = scored(&said);
    said.drain(..2);
    said.pop();
    said.push((0, &short));
    let moved = Time::from_millis(2 * 60_000);
    let mut lines = lines(&said);
    for line in &mut lines {
        line.at = line.at + moved.since(Time::from_millis(0));
    }
    let (message, before) = lines.split_last().unwrap();
    assert_eq!(scores(&Talk { before, message, members: &members() }, &[id(2), id(3)]), whole);
}

#[test]
fn the_words_name_what_moved_the_score() {
    let scores = scored(&[(2, "Sara, on which day?"), (0, "on Thursday")]);
    let text = scores[0].reason_text();
    assert!(text.starts_with(&format!("gate {:.2}: ", scores[0].score)), "{text}");
    assert_eq!(scores[0].because.len(), 2);
}
