//! People who talk all the time, over HTTP and over sockets, repeat what was not answered, and come back when the product does.

use std::{
    cell::Cell,
    collections::BTreeMap,
    ops::Range,
    rc::Rc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::{sync::watch, task::JoinSet, time::sleep};

use super::chance::Chance;
use crate::{client::Client, routes::seq, socket::Socket};

const SPACES: usize = 3;
/// How long somebody thinks before the next message, in milliseconds: while it comes back, so that it is not how fast this machine is that
/// counts, and else.
const CALM: Range<u64> = 1000..4000;
const BUSY: Range<u64> = 100..500;
/// How long what was missed may take to come.
const CAUGHT_UP_WITHIN: Duration = Duration::from_secs(20);

/// A space with people in it, and with all agents.
#[derive(Clone)]
pub(super) struct Space {
    pub(super) id: String,
    /// The first one asks after each start; the others talk.
    pub(super) people: Vec<String>,
}

/// All spaces, and who asks.
#[derive(Clone)]
pub(super) struct Town {
    pub(super) spaces: Vec<Space>,
    admin_key: String,
}

/// What the first agent says to a person's message.
pub(super) fn answer_to(text: &str) -> String {
    format!("I heard {text}")
}

/// What the second agent says to the first one's answer.
pub(super) fn remark_on(answer: &str) -> String {
    format!("So it was {answer}")
}

impl Town {
    /// Makes the spaces, the people, and two agents who are in all of them: one answers people, the other remarks on its answers.
    pub(super) async fn found(url: &str, admin_key: &str) -> Self {
        let client = Client::new(url.to_owned(), admin_key.to_owned());
        let script =
            |rule: Value| json!({ "model": { "provider": "scripted", "name": "s", "script": { "wordDelayMs": 4, "rules": [rule] } } });
        let says = |text: String| json!({ "calls": [{ "tool": "send_message", "input": { "text": text } }] });
        let answers = json!({ "when": { "sender": "human" }, "steps": [says(answer_to("{{message}}"))] });
        let reads = json!({ "text": "Let me see.", "calls": [{ "tool": "read_messages", "input": { "limit": 3 } }] });
        let remarks = json!({ "when": { "sender": "agent", "contains": answer_to("") }, "steps": [reads, says(remark_on("{{message}}"))] });
        let agents = [client.agent_with("Answerer", script(answers)).await, client.agent_with("Remarker", script(remarks)).await];
        let mut spaces = Vec::new();
        for name in 0..SPACES {
            let mut people = Vec::new();
            for person in ["Asker", "Writer", "Speaker"] {
                people.push(client.person(&format!("{person} {name}")).await);
            }
            let members: Vec<&String> = people.iter().chain(&agents).collect();
            spaces.push(Space { id: client.space(&format!("Space {name}"), &members).await, people });
        }
        Self { spaces, admin_key: admin_key.to_owned() }
    }

    /// The operator, asking at this address.
    pub(super) fn client(&self, url: &str) -> Client {
        Client::new(url.to_owned(), self.admin_key.clone())
    }
}

/// What a client was told of a message of its own.
#[derive(Clone, Debug)]
pub(super) struct Accepted {
    pub(super) space: String,
    pub(super) text: String,
    pub(super) id: String,
    pub(super) seq: u64,
}

/// What one client did and saw.
#[derive(Default)]
pub(super) struct Done {
    pub(super) accepted: Vec<Accepted>,
    /// What its sockets showed, of which space.
    pub(super) seen: Option<(String, BTreeMap<u64, Value>)>,
    /// Requests that were repeated because no answer came.
    pub(super) repeated: usize,
}

/// The clients at work.
pub(super) struct Load {
    clients: JoinSet<Done>,
    /// Where the product is; nowhere while it is down.
    place: watch::Sender<Option<Client>>,
    ending: watch::Sender<bool>,
    calm: Rc<Cell<bool>>,
    town: Town,
}

impl Load {
    /// Sends everybody to talk.
    pub(super) fn begin(town: &Town, url: &str, chance: &mut Chance) -> Self {
        let (place, ending) = (watch::Sender::new(Some(town.client(url))), watch::Sender::new(false));
        let calm = Rc::default();
        let mut clients = JoinSet::new();
        for (number, space) in town.spaces.iter().enumerate() {
            for (kind, person) in [("written", 1), ("spoken", 2)] {
                let talker = Talker {
                    name: format!("{kind} {number}"),
                    space: space.id.clone(),
                    person: space.people[person].clone(),
                    place: place.subscribe(),
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
        Self { clients, place, ending, calm, town: town.clone() }
    }

    /// The product is about to go: nobody need look for it.
    pub(super) fn pause(&self) {
        self.place.send_replace(None);
    }

    /// The product is here.
    pub(super) fn go_on(&self, url: &str) {
        self.place.send_replace(Some(self.town.client(url)));
    }

    /// Whether people talk less.
    pub(super) fn calm(&self, calm: bool) {
        self.calm.set(calm);
    }

    /// Lets everybody finish, and see what was said in the end.
    pub(super) async fn end(self) -> Vec<Done> {
        self.ending.send_replace(true);
        self.clients.join_all().await
    }
}

/// One client.
struct Talker {
    name: String,
    space: String,
    person: String,
    place: watch::Receiver<Option<Client>>,
    ending: watch::Receiver<bool>,
    calm: Rc<Cell<bool>>,
    chance: Chance,
    done: Done,
}

impl Talker {
    /// Talks over HTTP.
    async fn write(mut self) -> Done {
        for number in 0.. {
            if *self.ending.borrow() {
                break;
            }
            let text = format!("{} {number}", self.name);
            let first = self.posted(&text).await;
            // Some don't trust the answer.
            if self.chance.below(5) == 0 {
                assert_eq!(self.posted(&text).await["id"], first["id"], "the same key makes the same message");
            }
            self.accept(&text, first["id"].as_str(), first["seq"].as_u64());
            self.think().await;
        }
        self.done
    }

    /// Posts until it is answered.
    async fn posted(&mut self, text: &str) -> Value {
        loop {
            let client = self.here().await;
            match client.try_send(client.posting(&self.space, &self.person, text, Some(text))).await {
                Ok(reply) if reply.status == 503 => {}
                Ok(reply) => return reply.must_be(201),
                Err(_) => {}
            }
            self.done.repeated += 1;
            sleep(Duration::from_millis(5)).await;
        }
    }

    /// Talks over a socket, and keeps what it hears.
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
                let request = json!({ "action": "send", "spaceId": self.space, "text": text, "idempotencyKey": text });
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
            hear(&socket, &self.space, &mut seen);
        }
        self.catch_up(&mut seen).await;
        self.done.seen = Some((self.space, seen));
        self.done
    }

    /// A connection that follows the space from where the last one broke off, unless the product is gone again.
    async fn connected(&mut self, seen: &BTreeMap<u64, Value>) -> Option<Socket> {
        let client = self.here().await;
        let request = client.request(reqwest::Method::POST, "/v1/socketTickets").bearer_auth(&client.key);
        let made = client.try_send(request.json(&json!({ "entityId": self.person }))).await.ok()?.must_be(201);
        let socket = Socket::try_open(made["url"].as_str().unwrap()).await.ok()?;
        let request = json!({ "action": "subscribe", "spaceId": self.space, "afterSeq": whole(seen) });
        let subscribed = socket.try_request(request).await?;
        assert_eq!(subscribed["type"], "subscribed", "{subscribed}");
        Some(socket)
    }

    /// Sees the end of what was said, with the last connection: everything is quiet then.
    async fn catch_up(&mut self, seen: &mut BTreeMap<u64, Value>) {
        let client = self.here().await;
        client.quiet_within(&self.space, Duration::from_mins(2)).await;
        let last = client.messages(&self.space).await.last().map_or(0, seq);
        let until = Instant::now() + CAUGHT_UP_WITHIN;
        while whole(seen) < last {
            assert!(Instant::now() < until, "{} has seen {} of {last} messages", self.name, whole(seen));
            let Some(socket) = self.connected(seen).await else { continue };
            // What is replayed ends with the last message, or with the two hundredth.
            socket.shows(&self.space, "the last message", CAUGHT_UP_WITHIN, |view| view.messages.contains_key(&last).then_some(())).await;
            hear(&socket, &self.space, seen);
            if whole(seen) < last {
                // Whoever misses a message fetches it.
                let missed = client.get(&format!("/v1/spaces/{}/messages?after={}&limit=200", self.space, whole(seen))).await.must_be(200);
                seen.extend(missed["items"].as_array().unwrap().iter().map(|message| (seq(message), message.clone())));
            }
        }
    }

    /// The product, once it is there.
    async fn here(&mut self) -> Client {
        self.place.wait_for(Option::is_some).await.unwrap().clone().unwrap()
    }

    fn accept(&mut self, text: &str, id: Option<&str>, seq: Option<u64>) {
        let accepted = Accepted { space: self.space.clone(), text: text.to_owned(), id: id.unwrap().to_owned(), seq: seq.unwrap() };
        self.done.accepted.push(accepted);
    }

    async fn think(&mut self) {
        let range = if self.calm.get() { CALM } else { BUSY };
        sleep(self.chance.millis(range)).await;
    }
}

/// Takes in what a connection showed; what it showed before must be the same.
fn hear(socket: &Socket, space: &str, seen: &mut BTreeMap<u64, Value>) {
    for (seq, message) in socket.view(space).messages {
        let before = seen.insert(seq, message.clone());
        assert!(before.is_none_or(|before| before["id"] == message["id"]), "two messages at {seq}: {message}");
    }
}

/// How far it was seen without a gap.
fn whole(seen: &BTreeMap<u64, Value>) -> u64 {
    (1..).zip(seen.keys()).take_while(|(expected, seq)| expected == *seq).count() as u64
}
