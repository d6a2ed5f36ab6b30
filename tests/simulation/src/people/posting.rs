//! The messages of a person.

use std::time::Duration;

use axum::http::Method;
use serde_json::json;
use smartspace_domain::{append_limits::AppendLimit, ids::SpaceId};
use tokio::time::sleep;

use crate::{
    client::{Caller, is_of_space},
    ledger::SentMessage,
    locked, markers,
    people::Person,
};

/// How many messages a burst has.
const BURST: usize = 4;

/// How many of a thousand texts without a mention are questions, if people ask any.
const QUESTIONS: u64 = 600;

/// How many of a thousand texts have characters that a queue may refuse.
const ODD_TEXTS: u64 = 100;

impl Person {
    /// Writes a message.
    pub(super) fn text(&self, place: &str) -> String {
        let ledger = locked(&self.deployment.env.ledger);
        let named = &ledger.agents
            [self.deployment.env.chance.below(place, ledger.agents.len() as u64) as usize]
            .1;
        let mention = if self.deployment.env.chance.happens(place, 500) {
            format!("@{named} ")
        } else {
            String::new()
        };
        // Now and then a text that is too long for the message's own item.
        let long = if self.deployment.env.chance.happens(place, 50) {
            "x".repeat(5_000)
        } else {
            String::new()
        };
        // Now and then characters that XML 1.0 does not have, or that it has and JSON escapes.
        let odd = if self.deployment.env.chance.happens(&format!("{place}/odd"), ODD_TEXTS) {
            ["\u{fffe}", "\u{ffff}", "\u{1}\u{b}", "\u{7f}\u{85}\u{1fffe}"]
                [self.deployment.env.chance.below(&format!("{place}/odd"), 4) as usize]
        } else {
            ""
        };
        let asks = format!("{place}/asks");
        let chance = &self.deployment.env.chance;
        let is_question = self.deployment.env.parameters.questions
            && mention.is_empty()
            && chance.happens(&asks, QUESTIONS);
        let marker = if self.deployment.env.parameters.changes {
            format!(" {}", markers::of(place))
        } else {
            String::new()
        };
        format!("{mention}{place}{marker}{long}{odd}{}", if is_question { "?" } else { "" })
    }

    /// Records a message, with its id and number if it was accepted.
    pub(super) fn note(&self, text: &str, space: SpaceId, accepted: Option<(String, u64)>) {
        self.deployment.env.history.note(&self.name, || match &accepted {
            Some((id, seq)) => format!("learns that {text:.40} is {id}, number {seq} of {space}"),
            None => format!("does not learn what became of {text:.40} in {space}"),
        });
        locked(&self.deployment.env.ledger).sent_messages.push(SentMessage {
            person: self.id,
            space,
            text: text.to_owned(),
            accepted,
        });
    }

    /// Sends a message over HTTP, or a burst of messages if the space accepts few in a second, or
    /// if the seed has bursts.
    pub(super) async fn say_some(&mut self, place: &str, space: SpaceId) {
        self.say(place, space).await;
        let parameters = &self.deployment.env.parameters;
        let has_few = parameters.append_limit != AppendLimit::SPACE;
        let burst = if has_few { BURST } else { parameters.burst };
        for number in 1..burst {
            self.say(&format!("{place}/{number} more"), space).await;
        }
    }

    /// Asks an agent something, in the calm phase.
    pub(crate) async fn ask_an_agent(&self, place: &str, space: SpaceId) {
        let named = {
            let ledger = locked(&self.deployment.env.ledger);
            let number = self.deployment.env.chance.below(place, ledger.agents.len() as u64);
            ledger.agents[number as usize].1.clone()
        };
        let text = format!("@{named} {}/{place}", self.name);
        let path = format!("/v1/spaces/{space}/messages");
        let body = json!({"text": text});
        let caller = Caller::Entity(self.id);
        let answer = self
            .deployment
            .http_with_retries(&self.name, caller, Method::POST, &path, Some(place), Some(&body))
            .await;
        let accepted = answer.and_then(|(status, made)| match status {
            201 => Some((made["id"].as_str()?.to_owned(), made["seq"].as_u64()?)),
            _ => None,
        });
        self.note(&text, space, accepted);
    }

    /// Sends a message over HTTP, and retries with the same key until the outcome is known.
    async fn say(&mut self, place: &str, space: SpaceId) {
        let text = self.text(place);
        let path = format!("/v1/spaces/{space}/messages");
        let body = json!({"text": text});
        self.deployment.env.history.note(&self.name, || format!("says {text:.40} in {space}"));
        let answer = if self.deployment.env.chance.happens(place, 850) {
            self.deployment
                .http_with_retries(
                    &self.name,
                    Caller::Entity(self.id),
                    Method::POST,
                    &path,
                    Some(place),
                    Some(&body),
                )
                .await
        } else {
            // Without a key the message is sent once, and perhaps lost.
            self.deployment
                .http(&self.name, Caller::Entity(self.id), Method::POST, &path, None, Some(&body))
                .await
                .ok()
        };
        let accepted = answer.and_then(|(status, made)| match status {
            201 => Some((made["id"].as_str()?.to_owned(), made["seq"].as_u64()?)),
            _ => None,
        });
        self.note(&text, space, accepted);
    }

    /// Sends a message over the socket, and retries with the same key.
    pub(super) async fn send(&mut self, place: &str, space: SpaceId) {
        let mut text = self.text(place);
        text.truncate(200);
        for _ in 0..4 {
            let frame = json!({
                "action": "send", "spaceId": space, "text": text, "idempotencyKey": place,
            });
            let from = self.deployment.env.wall();
            match self.request(frame).await {
                Some(answer) if answer["type"] == "sent" => {
                    let accepted =
                        answer["messageId"].as_str().map(str::to_owned).zip(answer["seq"].as_u64());
                    return self.note(&text, space, accepted);
                }
                Some(answer) if answer["status"] == 429 => {
                    if is_of_space(&answer) {
                        self.deployment.note_refusal(self.id, &space.to_string(), &text, from);
                    }
                    let Some(seconds) = answer["retryAfter"].as_u64().filter(|wait| *wait > 0)
                    else {
                        self.deployment.env.report(10, format!("a refusal has no wait: {answer}"));
                        break;
                    };
                    sleep(Duration::from_secs(seconds)).await;
                }
                Some(answer) if answer["status"].as_u64().is_some_and(|status| status < 500) => {
                    break;
                }
                Some(answer) if answer["status"] == 500 => {
                    self.deployment.env.report(0, format!("`send` over a socket got {answer}"));
                    break;
                }
                _ => self.reconnect().await,
            }
        }
        self.note(&text, space, None);
    }
}
