//! The load: clients that post messages all the time, with the HTTP API and over sockets, repeat
//! unanswered requests, and reconnect after each start.

use std::{
    cell::Cell,
    collections::BTreeMap,
    ops::Range,
    rc::Rc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::{sync::watch, task::JoinSet, time::sleep};

use crate::{
    crash::kills::chance::Chance,
    support::{client::Client, routes::seq, socket::Socket},
};

const SPACES: usize = 3;
/// The pause of a client between two messages, in milliseconds, while the process recovers. It is
/// long, so that the recovery time does not depend on the speed of the machine.
const CALM: Range<u64> = 1000..4000;
/// The pause otherwise.
const BUSY: Range<u64> = 100..500;
/// The limit for a client to receive all messages that it missed.
const CAUGHT_UP_WITHIN: Duration = Duration::from_secs(20);

/// A space with people and both agents.
#[derive(Clone)]
pub(crate) struct Space {
    pub(crate) id: String,
    /// The first one posts after each start. The others are clients of the load.
    pub(crate) people: Vec<String>,
}

/// All spaces, and the operator.
#[derive(Clone)]
pub(crate) struct Town {
    pub(crate) spaces: Vec<Space>,
    admin_key: String,
}

/// The first agent's answer to a message of a person.
pub(crate) fn answer_to(text: &str) -> String {
    format!("I heard {text}")
}

/// The second agent's remark on an answer of the first one.
pub(crate) fn remark_on(answer: &str) -> String {
    format!("So it was {answer}")
}

impl Town {
    /// Creates the spaces, their people, and two agents that are in all of them: one answers
    /// people, and the other remarks on the answers.
    pub(crate) async fn found(url: &str, admin_key: &str) -> Self {
        let client = Client::new(url.to_owned(), admin_key.to_owned());
        let sends = |text: String| {
            let call = json!({ "tool": "send_message", "input": { "text": text } });
            json!({ "calls": [call] })
        };
        let answers =
            json!({ "when": { "sender": "human" }, "steps": [sends(answer_to("{{message}}"))] });
        let reads = json!({
            "text": "Let me see.",
            "calls": [{ "tool": "read_messages", "input": { "limit": 3 } }],
        });
        let remarks = json!({
            "when": { "sender": "agent", "contains": answer_to("") },
            "steps": [reads, sends(remark_on("{{message}}"))],
        });
        let agents = [
            client.agent_with("Answerer", scripted(answers)).await,
            client.agent_with("Remarker", scripted(remarks)).await,
        ];
        let mut spaces = Vec::new();
        for name in 0..SPACES {
            let mut people = Vec::new();
            for person in ["Asker", "Writer", "Speaker"] {
                people.push(client.person(&format!("{person} {name}")).await);
            }
            let members: Vec<&String> = people.iter().chain(&agents).collect();
            spaces
                .push(Space { id: client.space(&format!("Space {name}"), &members).await, people });
        }
        Self { spaces, admin_key: admin_key.to_owned() }
    }

    /// The operator's client for this URL.
    pub(crate) fn client(&self, url: &str) -> Client {
        Client::new(url.to_owned(), self.admin_key.clone())
    }
}

/// An agent's settings with a scripted model of one rule.
fn scripted(rule: Value) -> Value {
    let script = json!({ "wordDelayMs": 4, "rules": [rule] });
    json!({ "model": { "provider": "scripted", "name": "s", "script": script } })
}

/// A message of a client that the product accepted.
#[derive(Clone, Debug)]
pub(crate) struct Accepted {
    pub(crate) space: String,
    pub(crate) text: String,
    pub(crate) id: String,
    pub(crate) seq: u64,
}

/// What one client did and received.
#[derive(Default)]
pub(crate) struct Done {
    pub(crate) accepted: Vec<Accepted>,
    /// The space that its sockets followed, and the received messages by `seq`.
    pub(crate) seen: Option<(String, BTreeMap<u64, Value>)>,
    /// The number of requests that were repeated because no answer arrived.
    pub(crate) repeated: usize,
}

/// The running clients.
pub(crate) struct Load {
    clients: JoinSet<Done>,
    /// A client for the current process, or `None` while the process is down.
    product: watch::Sender<Option<Client>>,
    ending: watch::Sender<bool>,
    calm: Rc<Cell<bool>>,
    town: Town,
}

impl Load {
    /// Starts all clients.
    pub(crate) fn begin(town: &Town, url: &str, chance: &mut Chance) -> Self {
        let product = watch::Sender::new(Some(town.client(url)));
        let ending = watch::Sender::new(false);
        let calm = Rc::default();
        let mut clients = JoinSet::new();
        for (number, space) in town.spaces.iter().enumerate() {
            for (kind, person) in [("written", 1), ("spoken", 2)] {
                let talker = Talker {
                    name: format!("{kind} {number}"),
                    space: space.id.clone(),
                    person: space.people[person].clone(),
                    product: product.subscribe(),
                    ending: ending.subscribe(),
                    calm: Rc::clone(&calm),
                    chance: chance.branch(),
                    done: Done::default(),
                };
                if kind == "written" {
                    clients.spawn_local(talker.write())
                } else {
                    clients.spawn_local(talker.speak())
                };
            }
        }
        Self { clients, product, ending, calm, town: town.clone() }
    }

    /// Pauses the clients while the process is down.
    pub(crate) fn pause(&self) {
        self.product.send_replace(None);
    }

    /// Resumes the clients with a new process.
    pub(crate) fn resume(&self, url: &str) {
        self.product.send_replace(Some(self.town.client(url)));
    }

    /// Sets whether the clients post less often.
    pub(crate) fn calm(&self, calm: bool) {
        self.calm.set(calm);
    }

    /// Stops all clients, after each has received all messages.
    pub(crate) async fn end(self) -> Vec<Done> {
        self.ending.send_replace(true);
        self.clients.join_all().await
    }
}

/// One client, as one person in one space.
struct Talker {
    name: String,
    space: String,
    person: String,
    product: watch::Receiver<Option<Client>>,
    ending: watch::Receiver<bool>,
    calm: Rc<Cell<bool>>,
    chance: Chance,
    done: Done,
}

impl Talker {
    /// Posts messages with the HTTP API.
    async fn write(mut self) -> Done {
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
                Ok(reply) if reply.status == 503 => {}
                Ok(reply) => return reply.must_be(201),
                Err(_) => {}
            }
            self.done.repeated += 1;
            sleep(Duration::from_millis(5)).await;
        }
    }

    /// Posts messages over sockets, and records the received ones.
    async fn speak(mut self) -> Done {
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
                    Some(refused) => assert_eq!(refused["status"], 503, "{refused}"),
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
    async fn client(&mut self) -> Client {
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
