//! What people do in the archive besides searching: they write messages, and edit and delete old
//! ones.

use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::{
    client::Caller,
    fixtures::archive,
    ledger::{ChangeKind, SentChange, SentMessage, searches::SearchQuery},
    locked, markers,
    searchers::Searcher,
};

/// How many changes each person makes.
const CHANGES: u64 = 8;
/// The longest pause between two changes, in seconds. Blocks that a change deletes are built again
/// after a minute.
const PAUSE: u64 = 25;

impl Searcher {
    /// Writes messages, and edits and deletes some of its own. `index` is its number among so many
    /// people, who took turns to write the past.
    pub(super) async fn write_often(&self, index: u64, people: usize) {
        for number in 0..CHANGES {
            let place = format!("{}/writes/{number}", self.name);
            let chance = &self.deployment.env.chance;
            sleep(chance.time(&place, Duration::ZERO, Duration::from_secs(PAUSE))).await;
            let turns = (self.archive.past.len() / people) as u64;
            let seq = chance.below(&place, turns) * people as u64 + index + 1;
            match chance.below(&place, 8) {
                0 | 1 => self.say(&place).await,
                2..5 => self.edit(&place, seq).await,
                5 | 6 => self.delete(seq).await,
                _ => {
                    tokio::join!(self.edit(&place, seq), self.delete(seq));
                }
            }
            // What the change took away is gone, and what it made is there.
            if chance.happens(&place, 500)
                && let Some(text) = self.past_text(seq)
                && let Some(marker) = markers::all_in(&text).first()
            {
                self.search(&place, SearchQuery::word(marker), true).await;
            }
        }
    }

    /// Writes a message, and retries with the same key until the outcome is known.
    async fn say(&self, place: &str) {
        let deployment = &self.deployment;
        let text = archive::text(&deployment.env.chance, place);
        let path = format!("/v1/spaces/{}/messages", self.archive.space);
        let body = json!({ "text": text });
        let own = Caller::Entity(self.id);
        let answer = deployment
            .http_with_retries(&self.name, own, Method::POST, &path, Some(place), Some(&body))
            .await;
        let accepted = answer.and_then(|(status, made)| match status {
            201 => Some((made["id"].as_str()?.to_owned(), made["seq"].as_u64()?)),
            _ => None,
        });
        let is_accepted = accepted.is_some();
        let marker = markers::of(place);
        locked(&deployment.env.ledger).sent_messages.push(SentMessage {
            person: self.id,
            space: self.archive.space,
            text,
            accepted,
        });
        if is_accepted {
            self.search(place, SearchQuery::word(&marker), true).await;
        }
    }

    /// Edits a message, and searches for its new text.
    async fn edit(&self, place: &str, seq: u64) {
        let place = format!("{place}/edit");
        let text = archive::text(&self.deployment.env.chance, &place);
        let body = json!({ "text": text });
        self.change(ChangeKind::Edit, seq, &text, Method::PATCH, Some(&body)).await;
        self.search(&place, SearchQuery::word(&markers::of(&place)), true).await;
    }

    async fn delete(&self, seq: u64) {
        self.change(ChangeKind::Delete, seq, "", Method::DELETE, None).await;
    }

    /// Sends a change again until its outcome is known. It is recorded before, so that the oracle
    /// knows of it even if no answer comes.
    async fn change(
        &self,
        kind: ChangeKind,
        seq: u64,
        text: &str,
        method: Method,
        body: Option<&Value>,
    ) {
        let Self { deployment, archive, name, .. } = self;
        let place = {
            let changes = &mut locked(&deployment.env.ledger).changes;
            changes.push(SentChange {
                by: self.id,
                kind,
                space: archive.space,
                seq,
                text: text.to_owned(),
                sent: Instant::now(),
                answered: None,
            });
            changes.len() - 1
        };
        let path = format!("/v1/spaces/{}/messages/{seq}", archive.space);
        deployment.env.history.note(name, || format!("{method} {path}"));
        let own = Caller::Entity(self.id);
        let answer = deployment.http_with_retries(name, own, method, &path, None, body).await;
        if let Some((status, _)) = answer {
            let changes = &mut locked(&deployment.env.ledger).changes;
            changes[place].answered = Some((Instant::now(), status));
        }
    }
}
