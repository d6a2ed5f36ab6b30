//! What people do with messages: they reply to them, edit, delete and pin them, and react to them,
//! often two of these at once.

use std::sync::Arc;

use axum::http::Method;
use serde_json::{Value, json};
use smartspace_domain::ids::SpaceId;
use tokio::time::Instant;

use crate::{
    client::Caller,
    ledger::{ChangeKind, SentChange},
    locked,
    people::Person,
};

/// The emoji that people use. The last two are one with and without a selector.
const EMOJI: [&str; 4] = ["👍", "🎉", "❤️", "❤"];
/// People change one of so many newest messages.
const NEWEST: usize = 12;

impl Person {
    /// Replies to a message of a space or changes one, or does nothing.
    pub(super) async fn change_messages(&self, place: &str, space: SpaceId) {
        let deployment = Arc::clone(&self.deployment);
        let chance = &deployment.env.chance;
        if !chance.happens(place, 700) {
            return;
        }
        let number = chance.below(place, 18);
        let is_own = (5..11).contains(&number) && chance.happens(place, 900);
        let Some(seq) = self.some_message(place, space, is_own) else { return };
        match number {
            0..5 => self.reply(place, space, seq).await,
            5..8 => self.edit(place, space, seq).await,
            8 | 9 => self.delete(place, space, seq).await,
            10 => {
                tokio::join!(self.edit(place, space, seq), self.delete(place, space, seq));
            }
            11..14 => self.react(place, space, seq).await,
            14 => {
                let second = format!("{place}/second");
                tokio::join!(self.react(place, space, seq), self.react(&second, space, seq));
            }
            15 => {
                tokio::join!(self.react(place, space, seq), self.delete(place, space, seq));
            }
            _ => self.pin(place, space, seq).await,
        }
    }

    /// The number of one of the newest messages that it knows, perhaps only of its own ones.
    fn some_message(&self, place: &str, space: SpaceId, is_own: bool) -> Option<u64> {
        let own = self.id.to_string();
        let space = space.to_string();
        let numbers: Vec<u64> = self.view.with(|seen| {
            let of_space = (space.clone(), 0)..=(space, u64::MAX);
            let known = seen.senders.range(of_space).rev();
            let wanted = known.filter(|(_, sender)| !is_own || **sender == own);
            wanted.map(|((_, seq), _)| *seq).take(NEWEST).collect()
        });
        let chosen = self.deployment.env.chance.below(place, numbers.len() as u64) as usize;
        numbers.get(chosen).copied()
    }

    /// Replies to a message, and retries with the same key until the outcome is known.
    async fn reply(&self, place: &str, space: SpaceId, seq: u64) {
        let place = format!("{place}/reply");
        let text = self.text(&place);
        let body = json!({"text": text, "replyTo": seq});
        let path = format!("/v1/spaces/{space}/messages");
        self.deployment.env.history.note(&self.name, || format!("replies to {seq} of {space}"));
        self.begin(ChangeKind::Reply, space, seq, &text);
        let caller = Caller::Entity(self.id);
        let answer = self
            .deployment
            .http_with_retries(&self.name, caller, Method::POST, &path, Some(&place), Some(&body))
            .await;
        let accepted = answer.and_then(|(status, made)| match status {
            201 => Some((made["id"].as_str()?.to_owned(), made["seq"].as_u64()?)),
            _ => None,
        });
        self.note(&text, space, accepted);
    }

    async fn edit(&self, place: &str, space: SpaceId, seq: u64) {
        let text = self.text(&format!("{place}/edit"));
        let path = format!("/v1/spaces/{space}/messages/{seq}");
        let change = self.begin(ChangeKind::Edit, space, seq, &text);
        self.send_change(change, Method::PATCH, &path, Some(&json!({ "text": text }))).await;
    }

    /// Deletes a message, now and then twice at once, or in the name of the operator.
    async fn delete(&self, place: &str, space: SpaceId, seq: u64) {
        let place = format!("{place}/delete");
        let path = format!("/v1/spaces/{space}/messages/{seq}");
        let chance = &self.deployment.env.chance;
        if chance.happens(&place, 300) {
            let change = self.begin(ChangeKind::Delete, space, seq, "");
            let sent = Caller::Operator;
            return self.send_change_as(sent, change, Method::DELETE, &path, None).await;
        }
        let first = self.begin(ChangeKind::Delete, space, seq, "");
        if chance.happens(&place, 200) {
            let second = self.begin(ChangeKind::Delete, space, seq, "");
            tokio::join!(
                self.send_change(first, Method::DELETE, &path, None),
                self.send_change(second, Method::DELETE, &path, None),
            );
        } else {
            self.send_change(first, Method::DELETE, &path, None).await;
        }
    }

    async fn react(&self, place: &str, space: SpaceId, seq: u64) {
        let place = format!("{place}/react");
        let chance = &self.deployment.env.chance;
        let emoji = EMOJI[chance.below(&place, EMOJI.len() as u64) as usize];
        let on = chance.happens(&place, 750);
        let kind = if on { ChangeKind::React } else { ChangeKind::Unreact };
        let path = format!("/v1/spaces/{space}/messages/{seq}/reactions");
        let change = self.begin(kind, space, seq, emoji);
        let body = json!({"emoji": emoji, "on": on});
        self.send_change(change, Method::PUT, &path, Some(&body)).await;
    }

    /// Pins a message or unpins it.
    async fn pin(&self, place: &str, space: SpaceId, seq: u64) {
        let place = format!("{place}/pin");
        let path = format!("/v1/spaces/{space}/pins/{seq}");
        if self.deployment.env.chance.happens(&place, 700) {
            let change = self.begin(ChangeKind::Pin, space, seq, "");
            self.send_change(change, Method::PUT, &path, None).await;
        } else {
            let change = self.begin(ChangeKind::Unpin, space, seq, "");
            self.send_change(change, Method::DELETE, &path, None).await;
        }
    }

    /// Records a change before it is sent, so that the oracle knows of it even if no answer comes.
    fn begin(&self, kind: ChangeKind, space: SpaceId, seq: u64, text: &str) -> usize {
        let changes = &mut locked(&self.deployment.env.ledger).changes;
        changes.push(SentChange {
            by: self.id,
            kind,
            space,
            seq,
            text: text.to_owned(),
            sent: Instant::now(),
            answered: None,
        });
        changes.len() - 1
    }

    async fn send_change(&self, change: usize, method: Method, path: &str, body: Option<&Value>) {
        self.send_change_as(Caller::Entity(self.id), change, method, path, body).await;
    }

    /// Sends a change again until its outcome is known, and records it.
    async fn send_change_as(
        &self,
        caller: Caller,
        change: usize,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) {
        let about = format!("{method} {path}");
        self.deployment.env.history.note(&self.name, || format!("asks for {about}"));
        let answer =
            self.deployment.http_with_retries(&self.name, caller, method, path, None, body).await;
        self.deployment.env.history.note(&self.name, || format!("gets {answer:?} for {about}"));
        if let Some((status, _)) = answer {
            let changes = &mut locked(&self.deployment.env.ledger).changes;
            changes[change].answered = Some((Instant::now(), status));
        }
    }
}
