//! Searches beside edits and deletions: no answer has words that were gone before it was asked for.

use std::{
    env,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

use futures::future::join;
use serde_json::json;

use super::{found, items, search, unlimited};
use crate::support::{client::Client, stack::Stack};

/// How many messages are edited, and how many are deleted.
const CHANGES: usize = 30;

/// Messages that are changed one after the other.
struct Scene {
    stack: Stack,
    space: String,
    sara: String,
    changes: usize,
    /// How many messages are changed, as far as that is answered.
    changed: AtomicUsize,
    is_over: AtomicBool,
}

impl Scene {
    /// The searches of one reader until the changes are over.
    async fn search_all_the_time(&self, reader: &Client) {
        let mut round = 0;
        while !self.is_over.load(Ordering::SeqCst) {
            let gone = self.changed.load(Ordering::SeqCst);
            let q = ["old*", "old0001 old0002 old0003", "hay"][round % 3];
            let answer = search(reader, &[("q", q), ("limit", "20")]).await;
            let texts = items(&answer).iter().map(ToString::to_string).collect::<String>();
            for number in 0..gone {
                let old = format!("old{number:04}");
                assert!(!texts.contains(&old), "{old} was gone, {q} found {texts}");
            }
            round += 1;
        }
        assert!(round > 0);
    }

    /// The numbers of the messages that have a word.
    async fn numbers(&self, word: &str) -> Vec<u64> {
        found(&search(&self.stack, &[("q", word), ("spaceId", &*self.space)]).await)
    }

    /// Edits every other message, and deletes the others.
    async fn change_all(&self) {
        for number in 0..2 * self.changes {
            let path = format!("/v1/spaces/{}/messages/{}", self.space, number + 1);
            let old = format!("old{number:04}");
            if number % 2 == 0 {
                let body = json!({"text": format!("new{number:04}"), "senderId": self.sara});
                self.stack.patch(&path, body).await.must_be(200);
            } else {
                self.stack.delete(&path).await.must_be(204);
            }
            self.changed.fetch_add(1, Ordering::SeqCst);
            assert!(self.numbers(&old).await.is_empty(), "{number}");
            if number % 2 == 0 {
                let new = format!("new{number:04}");
                assert_eq!(self.numbers(&new).await, [number as u64 + 1]);
            }
        }
        self.is_over.store(true, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn nothing_that_was_edited_away_or_deleted_is_found() {
    let Some(stack) = unlimited().await else { return };
    let changes = env::var("SMARTSPACE_SEARCH_CHANGES");
    let changes = changes.map_or(CHANGES, |text| text.parse().unwrap());
    let sara = stack.person("Sara").await;
    let space = stack.space("Hay", &[&sara]).await;
    for number in 0..2 * changes {
        stack.post(&space, &sara, &format!("old{number:04} hay")).await;
    }
    for _ in 2 * changes..210 {
        stack.post(&space, &sara, "hay").await;
    }
    // Blocks have the words that are changed next.
    search(&stack, &[("q", "hay"), ("spaceId", &*space)]).await;
    let reader = stack.as_entity(&sara);
    let scene = Scene {
        stack,
        space,
        sara,
        changes,
        changed: AtomicUsize::new(0),
        is_over: AtomicBool::new(false),
    };
    join(scene.search_all_the_time(&reader), scene.change_all()).await;
    let rest = search(&reader, &[("q", "old*")]).await;
    assert_eq!(items(&rest).len(), 0, "{rest}");
}
