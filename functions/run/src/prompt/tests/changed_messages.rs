//! Edited and deleted messages in prompts and news.

use std::sync::Arc;

use smartspace_domain::{
    Time,
    messages::{Deleted, DeletedBy},
};
use smartspace_store::messages::MessageRecord;

use super::{PLAIN, text};
use crate::prompt::{
    lines::Lines,
    news::write_changes,
    reading::PromptSources,
    samples::{full_sources, sources},
    timeline::write_summary,
};

fn change(sources: &mut PromptSources, index: usize, change: impl Fn(&mut MessageRecord)) {
    let trigger_space = sources.trigger_space.as_mut().unwrap();
    change(Arc::make_mut(&mut trigger_space.messages[index]));
}

fn delete(message: &mut MessageRecord) {
    let at = Time::from_millis(1_771_427_280_000);
    message.text.clear();
    message.deleted = Some(Deleted { at, by: DeletedBy::Sender });
}

fn edit(message: &mut MessageRecord) {
    message.edited_at = Some(Time::from_millis(1_771_427_280_000));
}

#[test]
fn an_edited_text_is_marked_and_a_deleted_message_is_a_line_without_content() {
    let mut changed = sources(&PLAIN, 3);
    change(&mut changed, 0, edit);
    change(&mut changed, 4, delete);
    let written = text(&changed);
    assert!(written.contains(": \"Let's finalize the Q4 report\" (edited)\n"), "{written}");
    assert!(written.contains("\n#5 [deleted]\n"), "{written}");
    assert!(!written.contains("five"), "{written}");
}

#[test]
fn the_only_message_of_a_run_that_is_deleted_leaves_nothing_to_answer() {
    let mut all = sources(&PLAIN, 3);
    let trigger_space = all.trigger_space.as_mut().unwrap();
    assert!(!trigger_space.is_deleted());
    delete(Arc::make_mut(&mut trigger_space.trigger));
    assert!(trigger_space.is_deleted());
    trigger_space.joined = vec![5];
    assert!(!trigger_space.is_deleted(), "message 5 still exists");
    let written = text(&all);
    assert!(
        written.contains("\nTRIGGER: #6 [deleted]\nAnswer these messages, too: #5\n"),
        "{written}"
    );
    let trigger_space = all.trigger_space.as_mut().unwrap();
    delete(Arc::make_mut(&mut trigger_space.messages[4]));
    assert!(trigger_space.is_deleted());
}

#[test]
fn a_summary_names_the_messages_that_were_edited_since() {
    let all = full_sources(&PLAIN, 3);
    let mut summary = all.trigger_space.unwrap().summary.unwrap();
    assert!(!write_summary(&summary, false).contains("edited"));
    summary.edited = vec![17, 4];
    assert!(write_summary(&summary, false).contains(", edited since: #17, #4): "));
    summary.edited = (1..=25).collect();
    assert!(write_summary(&summary, false).contains(", #20 and 5 more): "));
}

#[test]
fn news_of_changes_are_the_lines_of_the_messages_as_they_are_now() {
    let all = sources(&PLAIN, 3);
    let trigger_space = all.trigger_space.as_ref().unwrap();
    let space = trigger_space.space.id;
    let lines = Lines::unmarked(&all.names, space, all.agent.id);
    let mut messages: Vec<_> =
        [0, 4].map(|index| MessageRecord::clone(&trigger_space.messages[index])).into();
    edit(&mut messages[0]);
    delete(&mut messages[1]);
    let written = write_changes("Ops", &lines, &messages).unwrap().text;
    let written: Vec<_> = written.lines().collect();
    assert_eq!(written[0], format!("Edited or deleted in \"Ops\" ({space}) since you read it:"));
    assert!(written[2].starts_with("#1 ") && written[2].ends_with(" (edited)"), "{written:?}");
    assert_eq!(written[3..], ["#5 [deleted]"]);
    assert_eq!(write_changes("Ops", &lines, &[]), None);
}
