//! People: they speak with keys, come back after their connection broke, join and leave, and cancel runs. What they do about forms stands in
//! [`crate::answers`].

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use axum::http::Method;
use serde_json::{Value, json};
use smartspace_domain::ids::{ConnectionId, EntityId, SpaceId};
use tokio::time::{Instant, sleep, timeout};

use crate::{
    door::As,
    ledger::{Canceled, Removed, Said},
    locked,
    view::View,
    world::World,
};

/// A person with a browser.
pub struct Person {
    /// Which one.
    pub index: usize,
    /// Its id.
    pub id: EntityId,
    /// What it sees.
    pub view: Arc<View>,
    pub(crate) world: Arc<World>,
    pub(crate) name: String,
    pub(crate) answers: u64,
    connection: Option<ConnectionId>,
    connections: u64,
    requests: u64,
}

impl Person {
    /// A person who has not looked yet.
    pub fn new(world: &Arc<World>, index: usize, id: EntityId) -> Self {
        let (name, view) = (format!("person {index}"), Arc::default());
        Self { index, id, view, world: Arc::clone(world), name, answers: 0, connection: None, connections: 0, requests: 0 }
    }

    /// Does what it does, one thing after the other.
    pub async fn live(mut self) -> Self {
        let world = Arc::clone(&self.world);
        self.connect().await;
        for deed in 0..world.plan.deeds {
            let place = format!("{}/{deed}", self.name);
            let pause = match world.chance.below(&place, 12) {
                0 => Duration::from_secs(40),
                1..5 => Duration::ZERO,
                _ => Duration::from_secs(3),
            };
            sleep(world.chance.time(&place, Duration::ZERO, pause)).await;
            if world.undone.contains(&(self.index, deed)) {
                continue;
            }
            let space = {
                let ledger = locked(&world.ledger);
                ledger.spaces[world.chance.below(&place, ledger.spaces.len() as u64) as usize]
            };
            match world.chance.below(&place, 100) {
                0..50 => self.say(&place, space).await,
                50..65 => self.send(&place, space).await,
                65..76 => self.cancel(&place).await,
                76..86 => self.take_out(&place, space).await,
                86..93 => self.reconnect().await,
                93..96 => self.ping().await,
                96..99 => self.rename(&place).await,
                _ => self.retire(&place).await,
            }
            self.answer_forms(&format!("{place}/form")).await;
            if self.connection.as_ref().is_none_or(|connection| !world.connections.is_open(connection)) {
                self.connect().await;
            }
        }
        self.answer_the_last(world.plan.deeds).await;
        self
    }

    fn text(&self, place: &str) -> String {
        let ledger = locked(&self.world.ledger);
        let named = &ledger.agents[self.world.chance.below(place, ledger.agents.len() as u64) as usize].1;
        let mention = if self.world.chance.happens(place, 500) { format!("@{named} ") } else { String::new() };
        // Now and then a text that does not fit a message's own item.
        let long = if self.world.chance.happens(place, 50) { "x".repeat(5_000) } else { String::new() };
        format!("{mention}{place}{long}")
    }

    fn note(&self, text: &str, space: SpaceId, accepted: Option<(String, u64)>) {
        self.world.history.note(&self.name, || match &accepted {
            Some((id, seq)) => format!("is told that {text:.40} is {id}, number {seq} of {space}"),
            None => format!("is not told what became of {text:.40} in {space}"),
        });
        locked(&self.world.ledger).said.push(Said { person: self.id, space, text: text.to_owned(), accepted });
    }

    /// Says something over HTTP, again with the same key until it knows.
    async fn say(&mut self, place: &str, space: SpaceId) {
        let text = self.text(place);
        let path = format!("/v1/spaces/{space}/messages");
        let body = json!({"text": text});
        self.world.history.note(&self.name, || format!("says {text:.40} in {space}"));
        let answer = if self.world.chance.happens(place, 850) {
            self.world.http_until(&self.name, As::Entity(self.id), Method::POST, &path, Some(place), Some(&body)).await
        } else {
            // Without a key it is said at most once, and perhaps not at all.
            self.world.http(&self.name, As::Entity(self.id), Method::POST, &path, None, Some(&body)).await.ok()
        };
        let accepted = answer.and_then(|(status, made)| match status {
            201 => Some((made["id"].as_str()?.to_owned(), made["seq"].as_u64()?)),
            _ => None,
        });
        self.note(&text, space, accepted);
    }

    /// Says something over the socket, again with the same key.
    async fn send(&mut self, place: &str, space: SpaceId) {
        let text = self.text(place);
        for _ in 0..4 {
            let frame = json!({"action": "send", "spaceId": space, "text": &text[..text.len().min(200)], "idempotencyKey": place});
            match self.request(frame).await {
                Some(answer) if answer["type"] == "sent" => {
                    let accepted = answer["messageId"].as_str().map(str::to_owned).zip(answer["seq"].as_u64());
                    return self.note(&text[..text.len().min(200)], space, accepted);
                }
                Some(answer) if answer["status"].as_u64().is_some_and(|status| status < 500) => break,
                Some(answer) if answer["status"] == 500 => {
                    self.world.complain(0, format!("a socket's send was answered with {answer}"));
                    break;
                }
                _ => self.reconnect().await,
            }
        }
        self.note(&text[..text.len().min(200)], space, None);
    }

    /// Cancels a run that it sees at work.
    async fn cancel(&mut self, place: &str) {
        let active = self.view.with(|seen| seen.active.iter().cloned().collect::<Vec<_>>());
        if active.is_empty() {
            return;
        }
        let run = active[self.world.chance.below(place, active.len() as u64) as usize].clone();
        self.world.history.note(&self.name, || format!("cancels {run}"));
        let answer =
            self.world.http_until(&self.name, As::Entity(self.id), Method::POST, &format!("/v1/runs/{run}/cancel"), None, None).await;
        if answer.is_some_and(|(status, _)| status == 202) {
            let mut after = BTreeMap::new();
            let spaces = locked(&self.world.ledger).spaces.clone();
            for space in spaces {
                let Some(seq) = self.last_number(space).await else { return };
                after.insert(space, seq);
            }
            self.world.history.note(&self.name, || format!("is told that {run} is canceled; {after:?}"));
            locked(&self.world.ledger).canceled.push(Canceled { run, after });
        }
    }

    async fn last_number(&self, space: SpaceId) -> Option<u64> {
        let answer = self.world.http_until(&self.name, As::Operator, Method::GET, &format!("/v1/spaces/{space}"), None, None).await;
        answer.filter(|(status, _)| *status == 200)?.1["seq"].as_u64()
    }

    /// Takes someone out of a space, and lets it in again after a while.
    async fn take_out(&mut self, place: &str, space: SpaceId) {
        let entity = self.someone(place);
        let path = format!("/v1/spaces/{space}/members/{entity}");
        // One at a time, so that it is known who is out.
        let busy = !locked(&self.world.ledger).moving.insert((space, entity));
        if busy {
            return;
        }
        self.world.history.note(&self.name, || format!("takes {entity} out of {space}"));
        let answer = self.world.http_until(&self.name, As::Operator, Method::DELETE, &path, None, None).await;
        let at = Instant::now();
        let mut noted = None;
        if answer.is_some_and(|(status, _)| status == 204)
            && let Some(after) = self.last_number(space).await
        {
            {
                let removed = &mut locked(&self.world.ledger).removed;
                noted = Some(removed.len());
                removed.push(Removed { entity, space, at, after, back: None, back_after: None });
            }
            self.world.history.note(&self.name, || format!("is told that {entity} is out of {space}, after number {after}"));
            sleep(self.world.chance.time(place, Duration::ZERO, Duration::from_secs(20))).await;
        }
        let before = self.last_number(space).await;
        if let Some(noted) = noted {
            let removed = &mut locked(&self.world.ledger).removed[noted];
            (removed.back, removed.back_after) = (Some(Instant::now()), before);
        }
        self.world.history.note(&self.name, || format!("lets {entity} into {space} again"));
        locked(&self.world.ledger).let_in.insert((space, entity));
        self.world.http_until(&self.name, As::Operator, Method::PUT, &path, None, None).await;
        locked(&self.world.ledger).moving.remove(&(space, entity));
    }

    fn someone(&self, place: &str) -> EntityId {
        let ledger = locked(&self.world.ledger);
        let all: Vec<_> = ledger.people.iter().copied().chain(ledger.agents.iter().map(|(id, _)| *id)).collect();
        all[self.world.chance.below(place, all.len() as u64) as usize]
    }

    /// Gives someone another name, which its spaces are told of one by one.
    async fn rename(&mut self, place: &str) {
        let entity = self.someone(place);
        let body = json!({"name": format!("Renamed {}", place.replace('/', "-"))});
        self.world.history.note(&self.name, || format!("renames {entity}"));
        self.world.http_until(&self.name, As::Operator, Method::PATCH, &format!("/v1/entities/{entity}"), None, Some(&body)).await;
    }

    /// Retires an agent, for good.
    async fn retire(&mut self, place: &str) {
        let agents = locked(&self.world.ledger).agents.clone();
        let agent = agents[self.world.chance.below(place, agents.len() as u64) as usize].0;
        self.world.history.note(&self.name, || format!("retires {agent}"));
        let path = format!("/v1/entities/{agent}");
        let answer = self.world.http_until(&self.name, As::Operator, Method::DELETE, &path, None, None).await;
        // It leaves its spaces behind the answer.
        sleep(self.world.chance.time(place, Duration::ZERO, Duration::from_mins(1))).await;
        let spaces = locked(&self.world.ledger).spaces.clone();
        for space in spaces.into_iter().filter(|_| answer.as_ref().is_some_and(|(status, _)| *status == 204)) {
            let at = Instant::now();
            let shown = self.world.http_until(&self.name, As::Operator, Method::GET, &format!("/v1/spaces/{space}"), None, None).await;
            let Some((200, shown)) = shown else { continue };
            let is_gone =
                shown["members"].as_array().is_some_and(|members| members.iter().all(|member| member["id"] != agent.to_string().as_str()));
            if let (true, Some(after)) = (is_gone, shown["seq"].as_u64()) {
                locked(&self.world.ledger).removed.push(Removed { entity: agent, space, at, after, back: None, back_after: None });
            }
        }
    }

    pub(crate) async fn reconnect(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.world.history.note(&self.name, || "goes away and comes back".into());
            self.world.connections.close(&connection);
            if let Some(process) = self.world.some_process(&self.name).filter(|_| self.world.chance.happens(&self.name, 700)) {
                let world = Arc::clone(&self.world);
                tokio::spawn(async move {
                    let gone = async { process.socket.disconnect(&connection).await };
                    tokio::select! {
                        biased;
                        () = process.life.over() => {}
                        done = gone => if let Err(error) = done { world.history.note(&connection.0, || format!("could not be forgotten: {error}")) },
                    }
                });
            }
        }
        self.connect().await;
    }

    /// Opens a socket with a ticket, and follows every space from where it knows everything.
    async fn connect(&mut self) {
        for wait in [100, 1_000, 3_000, 5_000, 10_000, 20_000] {
            if self.try_connect().await {
                return;
            }
            sleep(Duration::from_millis(wait)).await;
        }
    }

    async fn try_connect(&mut self) -> bool {
        let Ok((201, ticket)) = self.world.http(&self.name, As::Entity(self.id), Method::POST, "/v1/socketTickets", None, None).await
        else {
            return false;
        };
        let Some(process) = self.world.some_process(&self.name) else { return false };
        self.connections += 1;
        let id = ConnectionId(format!("c{}.{}", self.index, self.connections));
        let connected = tokio::select! {
            biased;
            () = process.life.over() => return false,
            connected = process.socket.connect(ticket["ticket"].as_str().unwrap_or_default(), &id) => connected,
        };
        if connected.is_err() {
            return false;
        }
        self.world.connections.open(id.clone(), Arc::clone(&self.view));
        self.connection = Some(id);
        let spaces = locked(&self.world.ledger).spaces.clone();
        for space in spaces {
            let after = self.view.with(|seen| seen.contiguous(&space.to_string()));
            let answer = self.request(json!({"action": "subscribe", "spaceId": space, "afterSeq": after})).await;
            let Some(answer) = answer else { return false };
            if answer["from"].as_u64().is_some_and(|from| from > after + 1) {
                self.fetch(space).await;
            }
        }
        true
    }

    /// Asks what it missed, and fetches it.
    async fn ping(&mut self) {
        let spaces = locked(&self.world.ledger).spaces.clone();
        let known: BTreeMap<_, _> =
            spaces.iter().map(|space| (*space, self.view.with(|seen| seen.contiguous(&space.to_string())))).collect();
        let Some(answer) = self.request(json!({"action": "ping", "spaces": known})).await else { return };
        for space in spaces {
            if !answer["spaces"][space.to_string()].is_null() {
                self.fetch(space).await;
            }
        }
    }

    /// Fetches what it misses of a space over HTTP. Whether it has everything now, as far as it can know.
    pub async fn fetch(&self, space: SpaceId) -> bool {
        loop {
            let after = self.view.with(|seen| seen.contiguous(&space.to_string()));
            let path = format!("/v1/spaces/{space}/messages?after={after}&limit=20");
            let Some((200, page)) = self.world.http_until(&self.name, As::Entity(self.id), Method::GET, &path, None, None).await else {
                return false;
            };
            self.view.fetched(&page);
            if page["items"].as_array().is_none_or(Vec::is_empty) {
                return true;
            }
            // A number that is nowhere: the oracle will say so.
            if self.view.with(|seen| seen.contiguous(&space.to_string())) == after {
                return false;
            }
        }
    }

    /// A request over the socket; none where no answer comes.
    pub(crate) async fn request(&mut self, mut frame: Value) -> Option<Value> {
        let connection = self.connection.clone()?;
        self.requests += 1;
        let id = self.requests;
        frame["id"] = id.into();
        self.world.receive(&connection, &frame.to_string()).await.ok()?;
        timeout(Duration::from_secs(10), self.view.answer(id)).await.ok()
    }
}
