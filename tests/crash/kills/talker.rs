//! A client of the load: it posts messages, repeats unanswered requests, reconnects, and checks
//! what it receives.

use std::{
    cell::Cell,
    collections::BTreeMap,
    ops::Range,
    rc::Rc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::{sync::watch, time::sleep};

use crate::{
    crash::kills::chance::Chance,
    support::{client::Client, routes::seq, socket::Socket},
};

/// The pause of a client between two messages, in milliseconds, while the process recovers. It is
/// long, so that the recovery time does not depend on the speed of the machine.
const CALM: Range<u64> = 1000..4000;

const BUSY: Range<u64> = 100..500;

/// The limit for a client to receive all messages that it missed.
const CAUGHT_UP_WITHIN: Duration = Duration::from_secs(20);

/// A message of a client that the product accepted.
#[derive(Clone, Debug)]
pub(crate) struct Accepted {
    pub(crate) space: String,
    pub(crate) text: String,
    pub(crate) id: String,
    pub(crate) seq: u64,
}

/// The record of one client: its posts, and the messages that it received.
#[derive(Default)]
pub(crate) struct Done {
    pub(crate) accepted: Vec<Accepted>,
    /// The space that its sockets followed, and the received messages by `seq`.
    pub(crate) seen: Option<(String, BTreeMap<u64, Value>)>,
    /// The number of requests that were repeated because no answer arrived.
    pub(crate) repeated: usize,
}

/// One client, as one person in one space.
pub(crate) struct Talker {
    pub(crate) name: String,
    pub(crate) space: String,
    pub(crate) person: String,
    pub(crate) product: watch::Receiver<Option<Client>>,
    pub(crate) ending: watch::Receiver<bool>,
    pub(crate) calm: Rc<Cell<bool>>,
    pub(crate) chance: Chance,
    pub(crate) done: Done,
}

impl Talker {
    /// Posts messages with the HTTP API.
    pub(crate) async fn write(mut self) -> Done {
        for number in 0.. {
            if *self.ending.borrow() {
                break;
            }
            let text = format!("{} {number}", self.name);
            let first = self.post_until_answered(&text).await;
            // Every fifth request is repeated although it was answered.
            if self.chance.below(5) == 0 {
                let again = self.post_until_answered(&text).await;
                assert_eq!(again["id"], first["id"], "one key made two messages");
            }
            self.accept(&text, first["id"].as_str(), first["seq"].as_u64());
            self.think().await;
        }
        self.done
    }

    /// Posts a message, again and again until it is answered.
    async fn post_until_answered(&mut self, text: &str) -> Value {
        loop {
            let client = self.client().await;
            let request = client.post_request(&self.space, &self.person, text, Some(text));
            match client.try_send(request).await {
                // All talkers together write more than one space accepts in a second.
                Ok(reply) if [429, 503].contains(&reply.status) => {}
                Ok(reply) => return reply.must_be(201),
                Err(_) => {}
            }
            self.done.repeated += 1;
            sleep(Duration::from_millis(5)).await;
        }
    }

    /// Posts messages over sockets, and records the received ones.
    pub(crate) async fn speak(mut self) -> Done {
        let mut seen = BTreeMap::new();
        let mut number = 0;
        while !*self.ending.borrow() {
            let Some(socket) = self.connected(&seen).await else {
                sleep(Duration::from_millis(5)).await;
                continue;
            };
            while !*self.ending.borrow() {
                let text = format!("{} {number}", self.name);
                let request = json!({
                    "action": "send",
                    "spaceId": self.space,
                    "text": text,
                    "idempotencyKey": text,
                });
                match socket.try_request(request).await {
                    Some(sent) if sent["type"] == "sent" => {
                        self.accept(&text, sent["messageId"].as_str(), sent["seq"].as_u64());
                        number += 1;
                    }
                    Some(refused) => {
                        assert!(refused["status"] == 429 || refused["status"] == 503, "{refused}");
                    }
                    None => {
                        self.done.repeated += 1;
                        break;
                    }
                }
                self.think().await;
            }
            record(&socket, &self.space, &mut seen);
        }
        self.catch_up(&mut seen).await;
        self.done.seen = Some((self.space, seen));
        self.done
    }

    /// Opens a socket that is subscribed from the first missing message on. `None` if the process
    /// is killed meanwhile.
    async fn connected(&mut self, seen: &BTreeMap<u64, Value>) -> Option<Socket> {
        let client = self.client().await;
        let request =
            client.request(reqwest::Method::POST, "/v1/socketTickets").bearer_auth(&client.key);
        let made = client
            .try_send(request.json(&json!({ "entityId": self.person })))
            .await
            .ok()?
            .must_be(201);
        let socket = Socket::try_open(made["url"].as_str().unwrap()).await.ok()?;
        let request =
            json!({ "action": "subscribe", "spaceId": self.space, "afterSeq": gapless(seen) });
        let subscribed = socket.try_request(request).await?;
        assert_eq!(subscribed["type"], "subscribed", "{subscribed}");
        Some(socket)
    }

    /// Receives all messages that are still missing, once all runs have ended.
    async fn catch_up(&mut self, seen: &mut BTreeMap<u64, Value>) {
        let client = self.client().await;
        client.quiet_within(&self.space, Duration::from_mins(2)).await;
        let last = client.messages(&self.space).await.last().map_or(0, seq);
        let until = Instant::now() + CAUGHT_UP_WITHIN;
        while gapless(seen) < last {
            assert!(
                Instant::now() < until,
                "{} has seen {} of {last} messages",
                self.name,
                gapless(seen)
            );
            let Some(socket) = self.connected(seen).await else { continue };
            // A replay has at most 200 messages, up to the last one.
            socket
                .shows(&self.space, "the last message", CAUGHT_UP_WITHIN, |view| {
                    view.messages.contains_key(&last).then_some(())
                })
                .await;
            record(&socket, &self.space, seen);
            let after = gapless(seen);
            if after < last {
                // As clients do, fetch the messages before the replay.
                let path = format!("/v1/spaces/{}/messages?after={after}&limit=200", self.space);
                let missed = client.get(&path).await.must_be(200);
                let missed = missed["items"].as_array().unwrap().iter();
                seen.extend(missed.map(|message| (seq(message), message.clone())));
            }
        }
    }

    /// Waits for the process. Returns a client for it.
    pub(crate) async fn client(&mut self) -> Client {
        self.product.wait_for(Option::is_some).await.unwrap().clone().unwrap()
    }

    fn accept(&mut self, text: &str, id: Option<&str>, seq: Option<u64>) {
        let accepted = Accepted {
            space: self.space.clone(),
            text: text.to_owned(),
            id: id.unwrap().to_owned(),
            seq: seq.unwrap(),
        };
        self.done.accepted.push(accepted);
    }

    async fn think(&mut self) {
        let range = if self.calm.get() { CALM } else { BUSY };
        sleep(self.chance.millis(range)).await;
    }
}

/// Adds the messages that a socket received, and checks that each `seq` has only one.
fn record(socket: &Socket, space: &str, seen: &mut BTreeMap<u64, Value>) {
    for (seq, message) in socket.view(space).messages {
        let before = seen.insert(seq, message.clone());
        assert!(
            before.is_none_or(|before| before["id"] == message["id"]),
            "two messages at {seq}: {message}"
        );
    }
}

/// The last `seq` before the first gap.
fn gapless(seen: &BTreeMap<u64, Value>) -> u64 {
    (1..).zip(seen.keys()).take_while(|(expected, seq)| expected == *seq).count() as u64
}
