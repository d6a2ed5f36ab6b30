//! The order of hits.

use std::time::Duration;

use super::{Entry, Matches, NOW, Ranking, Sort, entry, query, space};
use crate::search::{Hit, join};

fn order(entries: &[Entry], q: &str, sort: Sort) -> Vec<u64> {
    let query = query(q);
    let mut ranking = Ranking::new(&query);
    ranking.add(space(1), Matches::of(entries, &query));
    ranking.ordered(sort, NOW).into_iter().map(|hit| hit.seq).collect()
}

#[test]
fn messages_with_all_words_come_first() {
    let entries = [
        entry(1, "rollback rollback rollback"),
        entry(2, "the plan of the rollback, at length, with many other words"),
        entry(3, "plan"),
        entry(4, "nothing"),
    ];
    assert_eq!(order(&entries, "rollback plan", Sort::Relevance)[0], 2);
    assert_eq!(order(&entries, "rollback plan", Sort::Newest), [3, 2, 1]);
    assert_eq!(order(&entries, "rollback -length", Sort::Relevance), [1]);
}

#[test]
fn rare_words_count_more_and_newer_messages_a_little_more() {
    let old = Entry { at: NOW - Duration::from_hours(24 * 300), ..entry(1, "plan") };
    let entries = [old, entry(2, "plan"), entry(3, "harbour"), entry(4, "other")];
    assert_eq!(order(&entries, "plan harbour", Sort::Relevance), [3, 2, 1]);
    let old = Entry { at: NOW - Duration::from_hours(24 * 300), ..entry(1, "plan plan plan") };
    let entries = [old, entry(2, "plan and another word"), entry(3, "other")];
    assert_eq!(order(&entries, "plan", Sort::Relevance), [1, 2]);
}

#[test]
fn a_query_without_words_finds_the_newest_first() {
    let entries = [entry(1, "a"), entry(2, "b"), entry(3, "-")];
    assert_eq!(order(&entries, "after:2026-01-01", Sort::Relevance), [3, 2, 1]);
    let query = query("after:2026-01-01");
    let mut ranking = Ranking::new(&query);
    ranking.add(space(1), Matches::of(&entries, &query));
    let hits = ranking.ordered(Sort::Relevance, NOW);
    assert!(hits.iter().all(|hit| hit.score.to_string() == "0"), "{hits:?}");
}

#[test]
fn a_prefix_stands_for_its_200_most_frequent_words() {
    let mut entries: Vec<_> = (1..=300).map(|seq| entry(seq, &format!("task{seq:03}"))).collect();
    entries.push(entry(301, "task300"));
    let found = order(&entries, "task*", Sort::Newest);
    assert_eq!(found.len(), 201);
    assert_eq!(found[..3], [301, 300, 199]);
    assert_eq!(found.last(), Some(&1));
}

#[test]
fn hits_next_to_each_other_are_one() {
    let hit = |of: u8, seq: u64| Hit { space: space(of), seq, at: NOW, has_all: true, score: 1.0 };
    let ordered =
        [hit(1, 10), hit(1, 13), hit(1, 12), hit(2, 11), hit(1, 8), hit(1, 16), hit(1, 14)];
    let joined: Vec<_> =
        join(&ordered).into_iter().map(|joined| (joined.hit.seq, joined.also)).collect();
    let expected = [(10, vec![8, 12]), (13, vec![14]), (11, Vec::new()), (16, Vec::new())];
    assert_eq!(joined, expected);
}
